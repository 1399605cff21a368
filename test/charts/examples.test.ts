// k8s/examples: what other operators are given fits their schemas, the values beside it render, and names that one takes from the other are the same.
import { expect } from 'chai';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { describeWith } from '../support/need.ts';
import type { Values } from '../support/values.ts';
import { apiServer, createTestNamespace } from './api-server.ts';
import { helm, render } from './chart.ts';
import { containersOf, find, type Manifest, podsOf } from './manifests.ts';
import { hasModel, unknownMembers, validate } from './models.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'k8s/examples');
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const valuesFiles = globSync('*/values.yaml', { cwd: folder }).sort();
const valuesOf = (file: string): Values => parse(read(file));
const isNamed = (file: string) => file.includes('/') && !file.endsWith('/values.yaml');
const manifestsIn = (file: string): Manifest[] => parseAllDocuments(read(file)).map((document) => document.toJS());
const all = globSync('*/*.yaml', { cwd: folder }).filter(isNamed).flatMap(manifestsIn);
const only = <T>(items: readonly T[]): T => {
  const [item, ...others] = items;
  if (item === undefined || others.length > 0) throw new Error(`one was expected, not ${items.length}`);
  return item;
};
const one = (kind: string): Manifest => only(all.filter((manifest) => manifest.kind === kind));

/** Values that are part of an object, as of an Argo CD application. */
const Inline = z.object({
  spec: z.union([
    z.object({ source: z.object({ helm: z.object({ releaseName: z.literal('signalbox'), valuesObject: z.looseObject({}) }) }) }),
    z.object({ releaseName: z.literal('signalbox'), values: z.looseObject({}) }),
  ]),
});
function inline(kind: string): Values {
  const { spec } = Inline.parse(one(kind));
  return 'source' in spec ? spec.source.helm.valuesObject : spec.values;
}

describe('examples for other operators', () => {
  it('have every value as their schemas want it, and no unknown member', async () => {
    const known = all.filter(hasModel);
    expect(new Set(known.map(({ kind }) => kind))).to.deep.equal(
      new Set(['Application', 'ExternalSecret', 'HelmRelease', 'OCIRepository', 'ScaledObject', 'SecretStore', 'TriggerAuthentication']),
    );
    for (const manifest of known) await validate(manifest);
    expect(unknownMembers(known)).to.deep.equal([]);
  });

  it('ask the secrets service as its reads in the form of Vault have it', () => {
    const Vault = z.object({ server: z.string(), path: z.string(), version: z.string() });
    const Store = z.object({ spec: z.object({ provider: z.object({ vault: Vault }) }) });
    expect(Store.parse(one('SecretStore')).spec.provider.vault).to.deep.equal({
      server: 'http://signalbox-secrets.signalbox',
      path: 'production',
      version: 'v2',
    });
    const External = z.object({ spec: z.object({ data: z.array(z.object({ remoteRef: z.object({ key: z.string(), property: z.literal('value') }) })) }) });
    expect(External.parse(one('ExternalSecret')).spec.data).to.have.length(2);
    expect(JSON.stringify(valuesOf('external-secrets/values.yaml'))).to.contain('"Compatibility__Vault":"on"');
  });

  it('have an entry each in the table of README.md', () => {
    const table = read('README.md');
    for (const file of globSync('*/*.yaml', { cwd: folder })) expect(table).to.contain(`](${file.split('/')[0]})`);
    for (const file of globSync('*.yaml', { cwd: folder })) expect(table).to.contain(`\`${file}\``);
  });
});

describeWith(helm, 'examples of values', () => {
  const secretsOf = async (file: string) => {
    const references = podsOf(await render(valuesOf(file))).flatMap(({ pod }) => containersOf(pod).flatMap(({ env = [] }) => env));
    return references.flatMap(({ valueFrom }) => (valueFrom?.secretKeyRef ? [`${valueFrom.secretKeyRef.name}/${valueFrom.secretKeyRef.key}`] : []));
  };

  it('take Secrets and host that CloudNativePG makes of the cluster', async () => {
    const { name } = one('Cluster').metadata;
    expect(await secretsOf('cloudnative-pg/values.yaml')).to.include(`${name}-superuser/password`);
    // CloudNativePG makes databases in the locale C unless it is given another.
    expect(one('Cluster')).to.have.nested.property('spec.bootstrap.initdb').that.includes({ encoding: 'UTF8', localeProvider: 'icu', icuLocale: 'und' });
    expect(valuesOf('cloudnative-pg/values.yaml'))
      .to.have.nested.property('postgres.external')
      .that.includes({ host: `${name}-rw`, caSecret: `${name}-ca` });
  });

  it('take the URL that the RabbitMQ cluster operator makes, and its quorum queues', async () => {
    const { name } = one('RabbitmqCluster').metadata;
    expect(await secretsOf('rabbitmq-operator/values.yaml')).to.include(`${name}-default-user/connection_string`);
    const authentication = JSON.stringify(one('TriggerAuthentication').spec);
    expect(authentication).to.contain(`"name":"${name}-default-user","key":"connection_string"`);
  });

  it('leave to KEDA the workers that it scales', async () => {
    const rendered = await render(valuesOf('keda/values.yaml'));
    const Target = z.object({ spec: z.object({ scaleTargetRef: z.object({ name: z.string() }) }) });
    const targets = all.filter(({ kind }) => kind === 'ScaledObject').map((manifest) => Target.parse(manifest).spec.scaleTargetRef.name);
    for (const name of targets) expect(find(rendered, `Deployment/${name}`).spec, name).not.to.have.property('replicas');
    expect(targets).to.include.members(['signalbox-webhook-intake-service', 'signalbox-webhook-intake-database-service']);
    expect(rendered.map(({ kind }) => kind)).not.to.include('HorizontalPodAutoscaler');
  });
});

describeWith(apiServer, 'what examples install', function () {
  this.timeout(300_000);

  it('is accepted by an API server that refuses unknown members', async () => {
    const { dryRun, drop } = await createTestNamespace();
    const sets: [string, Values][] = [
      ...valuesFiles.map((file): [string, Values] => [file, valuesOf(file)]),
      ['argo-cd', inline('Application')],
      ['flux', inline('HelmRelease')],
    ];
    expect(sets).to.have.length(6);
    for (const [name, values] of sets) expect((await dryRun(await render(values))).stderr, name).to.equal('');
    await drop();
  });
});
