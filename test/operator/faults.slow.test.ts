// The core of the operator during and after faults of the API server: a controller copies ConfigMaps into Secrets through the fault proxy.
import { expect } from 'chai';
import { group } from '../../services/operator/contract.ts';
import type { Controller } from '../../services/operator/manager.ts';
import { configMapResource, secretResource } from '../../services/operator/secrets.ts';
import { silentLog } from '../../services/platform/log.ts';
import { createFaultProxy, type Fault, type FaultProxy } from '../support/fault-proxy.ts';
import { kubernetes, sharedApiServer } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { eventually } from '../support/wait.ts';
import { createTestCluster, runControllers, type RunningOperator, type TestCluster } from './operator.ts';

const label = 'copied-by-test';
/** The operator keeps no annotations of others. */
const annotation = `${group}/state`;
/** So long each fault lasts, in ms; with the timing of production where `TEST_FAULT_SECONDS` says how long. */
const givenMs = Number(process.env['TEST_FAULT_SECONDS'] ?? 0) * 1000;
const faultMs = givenMs || 3000;

/** A Secret for each ConfigMap of the label, while there is one. */
const copying: Controller = {
  name: 'copying',
  watches: [{ resource: configMapResource, labelSelector: label, metadataOnly: true, concerns: ({ metadata }) => [`${metadata.namespace}/${metadata.name}`] }],
  async reconcile(key, { cluster, caches }) {
    const [namespace = '', name = ''] = key.split('/');
    const wanted = caches['ConfigMap']?.get({ namespace, name });
    const copy = await cluster.get(secretResource, { namespace, name });
    if (!wanted && copy) await cluster.remove(secretResource, copy.metadata);
    const state = wanted?.metadata.annotations?.[annotation] ?? '';
    if (!wanted || copy?.metadata.annotations?.[annotation] === state) return {};
    if (copy) await cluster.patch(secretResource, copy.metadata, { metadata: { annotations: { [annotation]: state } } });
    else await cluster.create(secretResource, { metadata: { namespace, name, annotations: { [annotation]: state } } });
    return {};
  },
};

describeWith(kubernetes, 'the operator through faults of the API server', () => {
  let cluster: TestCluster;
  let proxy: FaultProxy;
  let operator: RunningOperator;

  before(async () => {
    cluster = await createTestCluster();
    proxy = await createFaultProxy((await sharedApiServer()).config);
    const timing = givenMs ? undefined : { silenceMs: 4000, backOff: { firstMs: 100, longestMs: 1000 } };
    operator = await runControllers(() => [copying], cluster.namespace, { log: silentLog, config: proxy.config, timing });
  });
  after(async () => {
    await operator.stop();
    await proxy.close();
    await cluster.close();
  });

  const asked = () => proxy.takeCalls().filter(({ method }) => method === 'GET').length;
  const put = (name: string, state: string) =>
    cluster.apply(configMapResource, { metadata: { name, labels: { [label]: 'yes' }, annotations: { [annotation]: state } } });
  const isCopied = (name: string, state: string | undefined) =>
    eventually(async () => expect((await cluster.find(secretResource, name))?.metadata.annotations?.[annotation]).to.equal(state));

  const faults: readonly Fault[] = ['cut', 'hang', 'slow', 410, 429, 500, 'duplicated', 'reordered'];
  for (const fault of faults)
    it(`converges after: ${fault}`, async () => {
      const [changed, gone, made] = ['changed', 'gone', 'made'].map((name) => `${name}-${fault}`);
      if (changed === undefined || gone === undefined || made === undefined) throw new Error('no names');
      for (const name of [changed, gone]) await put(name, 'before');
      for (const name of [changed, gone]) await isCopied(name, 'before');
      proxy.takeCalls();
      proxy.set(fault);
      await put(changed, 'after');
      await cluster.remove(configMapResource, gone);
      await put(made, 'after');
      await new Promise((resolve) => setTimeout(resolve, faultMs));
      proxy.set('none');
      expect(asked(), 'requests during the fault').to.be.below(60);
      await isCopied(changed, 'after');
      await isCopied(made, 'after');
      await isCopied(gone, undefined);
      await put(changed, 'later');
      await isCopied(changed, 'later');
    });

  it('writes nothing once all is as it should be', async () => {
    await put('settled', 'once');
    await isCopied('settled', 'once');
    proxy.takeCalls();
    // Once more all is listed, and nothing is another.
    proxy.set('cut');
    proxy.set('none');
    await eventually(() => asked() > 0);
    await put('last', 'once');
    await isCopied('last', 'once');
    expect(proxy.takeCalls().filter(({ method }) => method !== 'GET')).to.have.length(1);
  });
});
