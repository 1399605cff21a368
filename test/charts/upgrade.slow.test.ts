// Changes that the next version of the chart, or a changed value, may make to installed objects.
import { expect } from 'chai';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { apiServer, createTestNamespace } from './api-server.ts';
import { merged, type Values } from '../support/values.ts';
import { chartOfVersion, helm, manifestsOf, render, renderText } from './chart.ts';
import { brokenBy } from './immutable.ts';
import { containersOf, keyOf, type Manifest, ofKind, podsOf } from './manifests.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();

const versioned = /helm\.sh\/chart|app\.kubernetes\.io\/version/;

describeWith(helm, 'the next version of the chart', () => {
  let next: string;
  before(async () => {
    next = await chartOfVersion('99.1.0', '99.1.0', temporaryDirectory('chart'));
  });

  for (const set of ['the defaults', 'everything on', 'a relay with claims', 'workers as CronJobs']) {
    it(`keeps what Kubernetes refuses to change, and no Job's name with another spec (${set})`, async () => {
      // The version of the image is set: without it the Jobs change with appVersion, and take another name.
      const values = merged(sets.get(set) ?? {}, { image: { tag: 'fixed' } });
      const [before, after] = [await render(values), await render(values, { folder: next })];
      expect(after.map(keyOf)).to.deep.equal(before.map(keyOf));
      expect(brokenBy(before, after)).to.deep.equal([]);
    });

    it(`rolls no pod whose image is the same (${set})`, async () => {
      const values = merged(sets.get(set) ?? {}, { image: { tag: 'fixed' } });
      const [before, after] = [podsOf(await render(values)), podsOf(await render(values, { folder: next }))];
      for (const [index, { owner, pod }] of before.entries()) if (owner.kind !== 'Pod') expect(after[index]?.pod, keyOf(owner)).to.deep.equal(pod);
    });
  }

  it('runs the migrations of another image in a Job of another name', async () => {
    const jobs = async (tag: string) => ofKind(await render({ image: { tag } }), 'Job').map(({ metadata }) => metadata.name);
    const [first, second] = [await jobs('1.0.0'), await jobs('1.1.0')];
    const migrations = (names: readonly string[]) => names.filter((name) => name.includes('-migrate-'));
    expect(migrations(first)).to.have.length(1);
    expect(migrations(second)).to.have.length(1).and.not.to.deep.equal(migrations(first));
  });

  it('puts no label of a version into a selector or a claim', async () => {
    for (const manifest of await render(sets.get('everything on'))) {
      const { selector, volumeClaimTemplates, podSelector, template } = manifest.spec ?? {};
      expect(JSON.stringify([selector, volumeClaimTemplates, podSelector, template?.spec.topologySpreadConstraints]), keyOf(manifest)).not.to.match(versioned);
    }
  });
});

describeWith(helm, 'an Argo CD that tracks by labels', () => {
  const kept = { 'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false', 'helm.sh/resource-policy': 'keep' };

  it('finds nothing of its own on the Secret, which no manifest has', async () => {
    const pods = podsOf(await render()).filter(({ owner }) => owner.metadata.name.includes('-credentials-'));
    const [container] = pods.flatMap(({ pod }) => containersOf(pod));
    expect(container?.args).to.include.members(['--label', 'signalbox.dev/release=signalbox']);
    expect(container?.args?.join(' ')).not.to.contain('app.kubernetes.io/instance');
  });

  it('leaves every claim', async () => {
    const claims: readonly unknown[] = ofKind(await render(sets.get('a relay with claims')), 'StatefulSet').flatMap(
      ({ spec }) => spec?.volumeClaimTemplates ?? [],
    );
    expect(claims).to.have.length(3);
    for (const claim of claims) expect(claim).to.have.property('metadata').with.property('annotations').that.includes(kept);
  });
});

describeWith(helm, 'a changed setting', () => {
  const annotationsOf = async (values: Values) =>
    new Map(podsOf(await render(values)).map(({ owner, pod }) => [keyOf(owner).replace(/-[0-9a-f]{8}$/, ''), JSON.stringify(pod)]));

  /** Whose pods the value rolls. */
  const rolled = async (values: Values, base: Values = {}) => {
    const [before, after] = [await annotationsOf(base), await annotationsOf(merged(base, values))];
    return [...before].filter(([key, pod]) => after.get(key) !== pod && !key.startsWith('Job/') && !key.startsWith('Pod/')).map(([key]) => key);
  };

  it('rolls the pods of its service, and no others', async () => {
    expect(await rolled({ services: { secrets: { settings: { Audit__RetentionDays: '30' } } } })).to.deep.equal(['Deployment/signalbox-secrets']);
  });

  it('of RabbitMQ rolls RabbitMQ', async () => {
    expect(await rolled({ rabbitmq: { extraConfiguration: 'heartbeat = 30' } })).to.deep.equal(['StatefulSet/signalbox-rabbitmq']);
  });

  it('of Postgres rolls Postgres', async () => {
    expect(await rolled({ postgres: { parameters: { work_mem: '16MB' } } })).to.deep.equal(['StatefulSet/signalbox-postgres']);
  });
});

describeWith(apiServer, 'an upgrade on the API server', function () {
  this.timeout(600_000);
  const changes: Readonly<Record<string, Values>> = {
    'another version': {},
    'other labels': { commonLabels: { team: 'other' } },
    'another image': { image: { tag: '99.0.0' }, global: { imageRegistry: 'other.example.test' } },
    'other settings, sizes and replicas': {
      defaults: { settings: { LOG_LEVEL: 'debug' }, replicas: 3, resources: { requests: { cpu: '1' } } },
      postgres: { parameters: { work_mem: '1MB' } },
      rabbitmq: { extraConfiguration: 'heartbeat = 30' },
    },
    'everything on': sets.get('everything on') ?? {},
  };

  // Helm creates the pod of `helm test` again each time, and it is never applied.
  const isInstalled = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] === undefined;

  // A relay with claims takes no autoscaler.
  const kept: Readonly<Record<string, Values>> = { 'a relay with claims': { services: { 'webhook-relay': { autoscaling: { enabled: false } } } } };

  for (const set of ['the defaults', 'a relay with claims', 'workers as CronJobs']) {
    it(`takes every change of ${set}`, async () => {
      const { apply, dryRun, drop } = await createTestNamespace();
      const next = await chartOfVersion('99.1.0', '99.1.0', temporaryDirectory('chart'));
      const base = sets.get(set) ?? {};
      expect((await apply((await render(base)).filter(isInstalled))).stderr).to.equal('');
      for (const [change, values] of Object.entries(changes)) {
        const changed = (await render(merged(merged(base, values), kept[set] ?? {}), { folder: next })).filter(isInstalled);
        expect((await dryRun(changed)).stderr, change).to.equal('');
      }
      await drop();
    });
  }

  it('refuses a changed selector: the check can fail', async () => {
    const { apply, dryRun, drop } = await createTestNamespace();
    const text = await renderText();
    expect((await apply(manifestsOf(text))).code).to.equal(0);
    const { code, stderr } = await dryRun(manifestsOf(text.replaceAll('app.kubernetes.io/component: secrets', 'app.kubernetes.io/component: vault')));
    expect(code).to.equal(1);
    expect(stderr).to.contain('field is immutable');
    await drop();
  });
});
