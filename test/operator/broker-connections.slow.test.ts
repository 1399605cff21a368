// BrokerConnection: on the real API server, with real relays that follow the file; only the kubelet is played, by what it does to a pod that was changed.
import { expect } from 'chai';
import pg from 'pg';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createBrokerConnections } from '../../services/operator/broker-connections/controller.ts';
import type { Resource } from '../../services/operator/cluster/cluster.ts';
import { annotationOf, resourceOf, secretResource } from '../../services/operator/secrets.ts';
import { connectBroker } from '../../services/platform/broker/connect.ts';
import { silentLog } from '../../services/platform/log.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { examples, message } from '../services/webhook-intake/deliveries.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { kubernetes } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { eventually, freePort } from '../support/wait.ts';
import { createTestCluster, runControllers, type RunningOperator, type TestCluster } from './operator.ts';

const connections = resourceOf('BrokerConnection');
const podResource: Resource = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' };
/** Not the usual one: the pod says which. */
const fileKey = 'connections.env';
const token = 'the token of the relays of the operator';
const relayLabels = { 'app.kubernetes.io/component': 'webhook-relay', 'signalbox.dev/brokers': 'followed' };
/** No scheduler has this name, so the pod never runs. */
const podSpec = (containers: readonly object[]) => ({
  schedulerName: 'nobody',
  containers,
  volumes: [{ name: 'brokers', secret: { secretName: 'brokers', optional: true } }],
});

describeWith(kubernetes, 'BrokerConnections', function () {
  this.timeout(180_000);
  let cluster: TestCluster;
  let operator: RunningOperator;
  let databases: TestDatabase[];
  let relays: RunningProcess[];
  let kubelet: NodeJS.Timeout;
  const places = () => databases.slice(1).map(({ url }) => url);

  before(async () => {
    cluster = await createTestCluster();
    databases = await Promise.all([createTestDatabase(), createTestDatabase(), createTestDatabase()]);
    const [first] = databases;
    await startProcess(['migrate', 'webhook-relay'], { env: { DATABASE_URL: first?.url ?? '' } }).exited;
    await cluster.apply(secretResource, { metadata: { name: 'credentials' }, data: { token: Buffer.from(token).toString('base64') } });
    const folders = await Promise.all(['relay-0', 'relay-1'].map((name) => startRelay(name, first?.url ?? '')));
    kubelet = setInterval(() => void Promise.all(folders.map(bring)).catch(() => undefined), 100);
    operator = await runControllers(() => [createBrokerConnections()], cluster.namespace, { log: silentLog });
  });
  after(async () => {
    clearInterval(kubelet);
    await operator.stop();
    await Promise.all(relays.map((relay) => relay.kill()));
    await cluster.close();
    await Promise.all(databases.map((database) => database.drop()));
  });

  /** As a relay notes a message that it published. */
  async function noteUsage(broker: string): Promise<void> {
    const client = new pg.Client({ connectionString: databases[0]?.url });
    await client.connect();
    await client.query("insert into relay.broker_usage (broker, period, message_count, monthly_limit, limit_source) values ($1, '2026-01', 1, 9, 'default')", [
      broker,
    ]);
    await client.end();
  }

  type Volume = { readonly pod: string; readonly folder: string; seen: string | undefined };

  async function startRelay(pod: string, databaseUrl: string): Promise<Volume> {
    const folder = join(temporaryDirectory('brokers'), 'volume');
    await mkdir(folder);
    const [port, metricsPort] = [await freePort(), await freePort()];
    const env = {
      DATABASE_URL: databaseUrl,
      APP_ENV: 'development',
      Forge__WebhookSecrets: 'the secret of the forge',
      Broker__AuthToken: token,
      Broker__EnvironmentFile: join(folder, 'brokers.env'),
      FailedPayloads__Directory: temporaryDirectory('spool'),
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
    };
    const relay = startProcess(['serve', 'webhook-relay'], { env });
    (relays ??= []).push(relay);
    await relay.waitForLine(/"msg":"listening"/);
    await createPod(pod, port, metricsPort);
    return { pod, folder, seen: undefined };
  }

  async function createPod(name: string, port: number, metricsPort: number): Promise<void> {
    const ports = [
      { name: 'http', containerPort: port },
      { name: 'metrics', containerPort: metricsPort },
    ];
    const variables = [
      { name: 'Broker__AuthToken', valueFrom: { secretKeyRef: { name: 'credentials', key: 'token' } } },
      { name: 'BROKER_URL_9', value: 'amqp://own' },
      { name: 'Broker__EnvironmentFile', value: `/etc/signalbox/brokers/${fileKey}` },
    ];
    const spec = podSpec([{ name: 'relay', image: 'none', ports, env: variables }]);
    await cluster.apply(podResource, { metadata: { name, labels: relayLabels }, spec });
    const status = { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }], conditions: [{ type: 'Ready', status: 'True' }] };
    await cluster.cluster.applyStatus(podResource, { namespace: cluster.namespace, name }, status);
  }

  /** As the kubelet: when the pod has changed, and not before. */
  async function bring(volume: Volume): Promise<void> {
    const pod = await cluster.find(podResource, volume.pod);
    const reminded = annotationOf(pod, 'brokersChanged');
    if (reminded === volume.seen) return;
    const text = (await cluster.secretData('brokers'))?.[fileKey];
    if (text === undefined) return;
    await writeFile(join(volume.folder, 'brokers.env'), text);
    volume.seen = reminded;
  }

  const connect = async (name: string, position: number, url: string | undefined, more: object = {}) => {
    if (url !== undefined) await cluster.apply(secretResource, { metadata: { name: `${name}-url` }, data: { url: Buffer.from(url).toString('base64') } });
    await cluster.apply(connections, { metadata: { name }, spec: { position, urlSecretRef: { name: `${name}-url`, key: 'url' }, ...more } });
  };
  const becomes = (name: string, reason: string) =>
    eventually(
      async () => {
        const ready = await cluster.readyOf('BrokerConnection', name);
        expect(ready?.reason, ready?.message).to.equal(reason);
        return (await cluster.find(connections, name))?.['status'];
      },
      { withinMs: 60_000 },
    );
  const file = async () => (await cluster.secretData('brokers'))?.[fileKey] ?? '';

  it('is in use on every relay without a restart, and shows what is used of its limit', async () => {
    await connect('first', 1, places()[0], { monthlyLimit: 1000 });
    const status = await becomes('first', 'InUse');
    expect(status).to.include({ broker: 'BROKER_URL_1', active: true, used: 0, limit: 1000, remaining: 1000 });
    expect(status)
      .to.have.property('period')
      .match(/^\d{4}-\d\d$/);
    await connect('second', 2, places()[1]);
    expect(await becomes('second', 'InUse')).to.include({ broker: 'BROKER_URL_2', active: false });
  });

  it('follows a changed limit', async () => {
    await connect('first', 1, undefined, { monthlyLimit: 5 });
    await eventually(async () => expect((await cluster.find(connections, 'first'))?.['status']).to.include({ limit: 5 }), { withinMs: 60_000 });
    await becomes('first', 'InUse');
  });

  it('says Conflict of a position that is taken, by an older one or by the installation, and lets it wait', async () => {
    await connect('late', 1, places()[1]);
    await becomes('late', 'Conflict');
    await connect('own', 9, places()[1]);
    await becomes('own', 'Conflict');
    expect(await file()).not.to.include('BROKER_URL_9');
    await cluster.remove(connections, 'late');
    await cluster.remove(connections, 'own');
  });

  it('says what is wrong with a URL and keeps the last good one', async () => {
    const before = await file();
    await connect('second', 2, 'https://nowhere');
    await becomes('second', 'InvalidUrl');
    expect(await file()).to.equal(before);
    await cluster.remove(secretResource, 'second-url');
    await becomes('second', 'SecretMissing');
    expect(await file()).to.equal(before);
    await connect('second', 2, places()[1]);
    await becomes('second', 'InUse');
  });

  it('leaves at once when nothing was ever published to it, such as one with a wrong address', async () => {
    await connect('unreached', 3, 'amqp://127.0.0.1:1');
    await becomes('unreached', 'NotConnected');
    await cluster.remove(connections, 'unreached');
    await eventually(async () => expect(await file()).not.to.include('BROKER_URL_3'), { withinMs: 30_000 });
  });

  it('leaves the file with limit 0 first, and goes when its queues are empty and nothing waits for a retry', async () => {
    const broker = connectBroker(places()[1] ?? '', forgeTopology, { log: silentLog, name: 'test' });
    await broker.ready(60_000);
    const [example] = examples;
    const { outcome } = await broker.publish(
      message({ event: example?.event ?? 'push', payload: example?.payload ?? {}, deliveryId: '1', priority: 1 }),
      30_000,
    );
    expect(outcome).to.equal('confirmed');
    await noteUsage('BROKER_URL_2');
    await cluster.remove(connections, 'second');
    await eventually(async () => expect(await file()).to.include('BROKER_LIMIT_2=0'), { withinMs: 60_000 });
    const relaySays = async () => annotationOf(await cluster.find(secretResource, 'brokers'), 'draining');
    expect(await relaySays()).to.match(/^\{"2":"2/);
    let done = 0;
    const consumers = forgeTopology.queues.map(({ name }) =>
      broker.consume(name, { batchSize: 10, prefetch: 10 }, (batch) => {
        const outcomes = batch.map(({ attempt }) => (attempt < 3 ? { retry: 'not yet' } : ('ack' as const)));
        done += outcomes.filter((each) => each === 'ack').length;
        return Promise.resolve(outcomes);
      }),
    );
    await eventually(async () => expect(await file()).not.to.include('BROKER_URL_2'), { withinMs: 90_000 });
    expect(done).to.equal(forgeTopology.queues.length);
    expect(await relaySays()).to.equal(undefined);
    await Promise.all(consumers.map((consumer) => consumer.stop()));
    await broker.close();
  });

  it('writes nothing while nothing changes', async () => {
    const versions = async () =>
      Promise.all([cluster.find(connections, 'first'), cluster.find(secretResource, 'brokers'), cluster.find(podResource, 'relay-0')]).then((all) =>
        all.map((each) => each?.metadata.resourceVersion),
      );
    await becomes('first', 'InUse');
    const before = await versions();
    // Due once more, by a change that concerns it and changes nothing.
    await cluster.cluster.patch(secretResource, { namespace: cluster.namespace, name: 'first-url' }, { metadata: { labels: { touched: 'yes' } } });
    await eventually(async () => expect(await becomes('first', 'InUse')).to.include({ limit: 5 }));
    expect(await versions()).to.deep.equal(before);
  });
});

describeWith(kubernetes, 'a BrokerConnection in a namespace without a relay', () => {
  let cluster: TestCluster;
  let operator: RunningOperator;

  before(async () => {
    cluster = await createTestCluster();
    operator = await runControllers(() => [createBrokerConnections()], cluster.namespace, { log: silentLog });
  });
  after(async () => {
    await operator.stop();
    await cluster.close();
  });

  const saysMissing = (why: string) =>
    eventually(async () => {
      const ready = await cluster.readyOf('BrokerConnection', 'alone');
      expect(ready).to.include({ status: 'False', reason: 'RelayMissing' });
      expect(ready?.message).to.include(why);
    });

  it('says RelayMissing, and writes its file once a relay follows one, though that is not ready', async () => {
    await cluster.apply(secretResource, { metadata: { name: 'alone-url' }, data: { url: Buffer.from('amqp://alone').toString('base64') } });
    await cluster.apply(connections, { metadata: { name: 'alone' }, spec: { position: 1, urlSecretRef: { name: 'alone-url', key: 'url' } } });
    await saysMissing('follows a file of connections');
    expect(await cluster.secretData('brokers')).to.equal(undefined);
    await cluster.apply(podResource, { metadata: { name: 'relay', labels: relayLabels }, spec: podSpec([{ name: 'relay', image: 'none' }]) });
    await saysMissing('is ready');
    expect((await cluster.secretData('brokers'))?.['brokers.env']).to.include("BROKER_URL_1='amqp://alone'");
  });

  it('says TargetNotOwned of a file that is not its own any more, and makes it anew when that is deleted', async () => {
    await cluster.cluster.patch(
      secretResource,
      { namespace: cluster.namespace, name: 'brokers' },
      { metadata: { annotations: { 'signalbox.dev/owner': null } } },
    );
    await eventually(async () => expect((await cluster.readyOf('BrokerConnection', 'alone'))?.reason).to.equal('TargetNotOwned'));
    await cluster.remove(secretResource, 'brokers');
    await eventually(async () => expect((await cluster.secretData('brokers'))?.['brokers.env']).to.include('amqp://alone'));
  });
});
