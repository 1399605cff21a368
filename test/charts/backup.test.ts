// Backups as the chart has them; test/install/backup.slow.test.ts runs their scripts.
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describeWith } from '../support/need.ts';
import { apiServer, createTestNamespace, type TestNamespace } from './api-server.ts';
import { chart, helm, render } from './chart.ts';
import { find, keyOf, type Manifest, ofKind } from './manifests.ts';

const on = { backup: { enabled: true } };
const podOf = (manifests: readonly Manifest[], name: string) => find(manifests, `CronJob/${name}`).spec?.jobTemplate?.spec.template.spec;
const outside = { postgres: { enabled: false, external: { host: 'db.example.test', createRoles: false } } };

describeWith(helm, 'backup', () => {
  it('is nothing by default', async () => {
    expect((await render()).map(keyOf).filter((key) => /backup|restore/.test(key))).to.deep.equal([]);
  });

  for (const name of ['backup', 'restore'])
    it(`runs ${name}.sh as it is: Kubernetes expands variables in arguments, and halves dollar signs`, async () => {
      const text = (await readFile(join(chart, 'files/backup', `${name}.sh`), 'utf8')).trim();
      const [container] = podOf(await render(on), `signalbox-${name}`)?.containers ?? [];
      expect(container?.args?.map((line) => line.trim().replaceAll(/^ +$/gm, ''))).to.deep.equal([text]);
      expect(text).to.not.match(/\$\$|\$\(\w+\)/);
    });

  it('gives the dump the password of its role, and the restore that of the administrator', async () => {
    const manifests = await render(on);
    const keys = (name: string) => podOf(manifests, name)?.containers[0]?.env?.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? []);
    expect(keys('signalbox-backup')).to.deep.equal(['postgres-backup-password']);
    expect(keys('signalbox-restore')).to.deep.equal(['postgres-admin-password']);
  });

  it('has the role made by the migrate Job', async () => {
    const [migrate] = ofKind(await render(on), 'Job').filter(({ metadata }) => metadata.name.includes('migrate'));
    expect(migrate?.spec?.template?.spec.containers[0]?.args).to.include('--with-backup');
  });

  it('has no restore where the role may not replace schemas', async () => {
    const keys = (await render({ ...on, ...outside })).map(keyOf);
    expect(keys).to.include('CronJob/signalbox-backup').and.not.include('CronJob/signalbox-restore');
  });

  it('verifies an external server by the authority that was given, else by the public ones', async () => {
    const withTls = (values: object) => render({ ...on, postgres: { enabled: false, external: { host: 'db.example.test', ...values } } });
    const authority = async (values: object) =>
      podOf(await withTls(values), 'signalbox-backup')?.containers[0]?.env?.find(({ name }) => name === 'PGSSLROOTCERT')?.value;
    expect(await authority({ sslmode: 'verify-full', caSecret: 'db-ca' })).to.equal('/etc/signalbox/postgres-ca/ca.crt');
    expect(await authority({ sslmode: 'verify-full' })).to.equal('system');
    expect(await authority({ sslmode: 'require' })).to.equal(undefined); // libpq refuses `system` with weaker modes
  });

  it('keeps its claim at an uninstall and from Argo CD, and takes one that is there', async () => {
    const claim = find(await render(on), 'PersistentVolumeClaim/signalbox-backup');
    expect(claim.metadata.annotations).to.include({ 'helm.sh/resource-policy': 'keep', 'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false' });
    expect(ofKind(await render({ backup: { enabled: true, persistence: { existingClaim: 'dumps' } } }), 'PersistentVolumeClaim')).to.deep.equal([]);
  });
});

describeWith(apiServer, 'the example of a copy to a bucket', () => {
  let namespace: TestNamespace;
  before(async () => {
    namespace = await createTestNamespace();
  });
  after(() => namespace.drop());

  it('is taken by the API server, and names the claim of the chart', async () => {
    const example: Manifest = parse(await readFile(join(chart, '../../k8s/examples/backup/to-bucket.yaml'), 'utf8'));
    const { code, stderr } = await namespace.dryRun([example]);
    expect(code, stderr).to.equal(0);
    expect(stderr).to.not.match(/warning/i);
    expect(JSON.stringify(example)).to.include(`"claimName":"${find(await render(on), 'PersistentVolumeClaim/signalbox-backup').metadata.name}"`);
  });
});
