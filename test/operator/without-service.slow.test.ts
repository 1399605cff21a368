// A real operator without a secrets service: what SecretApplications and SyncedSecrets say then.
import { expect } from 'chai';
import { z } from 'zod';
import { listAll } from '../../services/operator/cluster/client.ts';
import type { Resource } from '../../services/operator/cluster/cluster.ts';
import type { Kind } from '../../services/operator/definitions.ts';
import { resourceOf } from '../../services/operator/secrets.ts';
import { kubernetes } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { eventually } from '../support/wait.ts';
import { createTestCluster, type TestCluster } from './operator.ts';

const events: Resource = { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events' };
const Regarding = z.object({ regarding: z.object({ kind: z.string(), name: z.string() }) });
const key = { name: 'shop-key', key: 'api-key' };
const objects = [
  { kind: 'SecretApplication', spec: { applicationName: 'Shop', apiKeySecretRef: key }, told: { slug: 'shop' } },
  { kind: 'SyncedSecret', spec: { apiKeySecretRef: key, environment: 'local' }, told: { target: 'shop', versions: { password: 3 } } },
] as const;

describeWith(kubernetes, 'an operator without a secrets service', function () {
  this.timeout(120_000);
  let cluster: TestCluster;
  let operator: RunningProcess;

  before(async () => {
    cluster = await createTestCluster();
    for (const { kind, spec, told } of objects) {
      const { metadata } = await cluster.apply(resourceOf(kind), { metadata: { name: 'shop' }, spec });
      // The status of an operator that had a service.
      const ready = { type: 'Ready', status: 'True', reason: 'Synced', message: 'all of it', lastTransitionTime: metadata.creationTimestamp };
      const status = { ...told, observedGeneration: 1, conditions: [{ ...ready, observedGeneration: 1 }] };
      await cluster.cluster.applyStatus(resourceOf(kind), metadata, status);
    }
    operator = start();
  });
  after(async () => {
    await operator.kill();
    await cluster.close();
  });

  function start(): RunningProcess {
    const { namespace, kubeconfig } = cluster;
    return startProcess(['operator'], {
      env: { KUBECONFIG: kubeconfig, METRICS_PORT: '0', Operator__Namespace: namespace, Operator__LeaseNamespace: namespace },
    });
  }
  const saysWhy = (kind: Kind, name: string) =>
    eventually(
      async () => {
        const ready = await cluster.readyOf(kind, name);
        expect(ready).to.include({ status: 'False', reason: 'ServiceUnavailable' });
        expect(ready?.message).to.include('secrets.url').and.include('Secrets__BaseUrl');
      },
      { withinMs: 60_000 },
    );

  for (const { kind, told } of objects)
    it(`has a ${kind} say which setting is missing, beside what it said last`, async () => {
      await saysWhy(kind, 'shop');
      expect((await cluster.find(resourceOf(kind), 'shop'))?.['status']).to.deep.include(told);
    });

  it('writes that once, with one Event each', async () => {
    const versions = () => Promise.all(objects.map(async ({ kind }) => (await cluster.find(resourceOf(kind), 'shop'))?.metadata.resourceVersion));
    const before = await versions();
    operator.signal('SIGTERM');
    await operator.exited;
    operator = start();
    for (const { kind, spec } of objects) {
      // A new object is reconciled after those of the start.
      await cluster.apply(resourceOf(kind), { metadata: { name: 'next' }, spec });
      await saysWhy(kind, 'next');
    }
    expect(await versions()).to.deep.equal(before);
    const { objects: recorded } = await listAll(cluster.transport, events, { namespace: cluster.namespace });
    const regarding = recorded.filter(({ reason }) => reason === 'ServiceUnavailable').map((event) => Regarding.parse(event).regarding);
    for (const { kind } of objects) expect(regarding.filter((each) => each.kind === kind && each.name === 'shop')).to.have.length(1);
  });
});
