// The controllers of a process that leads again, on the real API server.
import { expect } from 'chai';
import type { Controller } from '../../services/operator/manager.ts';
import { configMapResource } from '../../services/operator/secrets.ts';
import { silentLog } from '../../services/platform/log.ts';
import { kubernetes } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { eventually } from '../support/wait.ts';
import { createTestCluster, runControllers, type TestCluster } from './operator.ts';

describeWith(kubernetes, 'the controllers of the operator', () => {
  let cluster: TestCluster;
  before(async () => (cluster = await createTestCluster()));
  after(() => cluster.close());

  it('are made anew each time it leads, and told of all there is', async () => {
    const told: string[][] = [];
    const noting = (keys: string[]): Controller => ({
      name: 'noting',
      watches: [{ resource: configMapResource, labelSelector: 'noted', metadataOnly: true, concerns: ({ metadata: { name } }) => [name] }],
      reconcile: (key) => Promise.resolve(keys.push(key)).then(() => ({})),
    });
    await cluster.apply(configMapResource, { metadata: { name: 'there', labels: { noted: 'yes' } } });
    const operator = await runControllers(() => [noting((told[told.length] = []))], cluster.namespace, { log: silentLog });
    await eventually(() => expect(told).to.deep.equal([['there']]));
    await operator.leadAgain();
    await eventually(() => expect(told).to.deep.equal([['there'], ['there']]));
    await operator.stop();
  });
});
