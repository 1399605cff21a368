// One message: reservations kept or given back, connections tried in turn; on a real database, with obedient brokers.
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Broker, Message, PublishResult } from '../../../../services/platform/broker/broker.ts';
import { readBrokerConnections } from '../../../../services/platform/broker/environment.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createPool, type Pool, statement } from '../../../../services/platform/postgres/pool.ts';
import { type Connections, createConnections } from '../../../../services/webhook-relay/connections/connections.ts';
import { createPublishedConnections } from '../../../../services/webhook-relay/connections/published.ts';
import { createPublisher } from '../../../../services/webhook-relay/connections/publisher.ts';
import { createDatabaseState } from '../../../../services/webhook-relay/database.ts';
import { createReservations } from '../../../../services/webhook-relay/usage/reservations.ts';
import { createUsageStore } from '../../../../services/webhook-relay/usage/store.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { obedientBroker } from '../broker.ts';
import { counts, findConnection, migrations } from '../relay.ts';

const confirmed: PublishResult = { outcome: 'confirmed' };
const failed = (outcome: 'unpublished' | 'refused' | 'unknown'): PublishResult => ({ outcome, reason: outcome });

/** A broker that gives the answers of a test, and remembers the messages. */
function createObedientBroker(answers: PublishResult[]) {
  const published: Message[] = [];
  const broker: Broker = {
    ...obedientBroker,
    publish: (message) => {
      published.push(message);
      return Promise.resolve(answers.shift() ?? confirmed);
    },
  };
  return { broker, published, connectAgain: () => undefined as void };
}

const message: Message = { id: 'm-1', type: 'push', body: Buffer.from('{}'), contentType: 'application/json', priority: 5, timestamp: new Date(), headers: {} };
const soon = () => performance.now() + 8000;

describe('the publisher', () => {
  let test: TestDatabase;
  let database: Pool;
  before(async () => {
    test = await createTestDatabase({ schema: 'relay', migrations });
    database = createPool(test.url, { schema: 'relay', log: silentLog });
  });
  beforeEach(() => database.driver.query("truncate broker_usage, published_connections; update active_connection set broker = ''"));
  after(async () => {
    await database.close();
    await test.drop();
  });

  const opened: Connections[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((connections) => connections.close())));

  async function setUp(answers: readonly PublishResult[][], limit = 100) {
    const brokers = answers.map((given) => createObedientBroker([...given]));
    const environment = Object.fromEntries(brokers.map((_, index) => [`BROKER_URL_${index + 1}`, 'amqp://localhost']));
    const connections: Connections = await createConnections({
      read: () => readBrokerConnections(environment),
      connect: ({ index }, up) => {
        const one = brokers[index - 1] ?? createObedientBroker([]);
        one.connectAgain = up;
        return one.broker;
      },
      defaultLimit: limit,
      clock: () => new Date(),
      log: silentLog,
    });
    opened.push(connections);
    const store = createUsageStore(database);
    const state = createDatabaseState(() => store.active(), silentLog, new AbortController().signal);
    const reservations = createReservations({ store, connections, database: state, clock: () => new Date() });
    const published = createPublishedConnections({ database, log: silentLog, clock: () => new Date() });
    const publisher = createPublisher({ connections, reservations, published, metrics: createMetrics() });
    return { publisher, connections, brokers, published };
  }
  const countsBecome = (expected: Readonly<Record<string, number>>) => eventually(async () => expect(await counts(database)).to.deep.equal(expected));

  it('returns the reservation of a publish that failed, and tries the next connection', async () => {
    const { publisher, connections } = await setUp([[failed('unpublished')], []]);
    expect(await publisher.publish(message, soon())).to.deep.equal({ outcome: 'published', broker: 'BROKER_URL_2' });
    await countsBecome({ BROKER_URL_1: 0, BROKER_URL_2: 1 });
    expect(findConnection(connections, 'BROKER_URL_1')).to.include({ isUsable: false, lastError: 'unpublished' });
  });

  it('keeps the reservation of a publish whose outcome is unknown, and tries the next connection', async () => {
    const { publisher, connections } = await setUp([[failed('unknown')], []]);
    expect(await publisher.publish(message, soon())).to.deep.equal({ outcome: 'published', broker: 'BROKER_URL_2' });
    await countsBecome({ BROKER_URL_1: 1, BROKER_URL_2: 1 });
    expect(findConnection(connections, 'BROKER_URL_1')?.isUsable).to.equal(false);
  });

  it('returns the reservation of a message that is refused for its own sake, and opens no breaker', async () => {
    const { publisher, connections } = await setUp([[failed('refused')], [failed('refused')]]);
    expect(await publisher.publish(message, soon())).to.deep.include({ outcome: 'refused' });
    await countsBecome({ BROKER_URL_1: 0, BROKER_URL_2: 0 });
    expect(connections.all.map(({ isUsable }) => isUsable)).to.deep.equal([true, true]);
    expect((await publisher.publish(message, soon())).outcome).to.equal('published');
  });

  it('tries a refused message on every connection, since another may take it', async () => {
    const { publisher } = await setUp([[failed('refused')], []]);
    expect(await publisher.publish(message, soon())).to.deep.equal({ outcome: 'published', broker: 'BROKER_URL_2' });
  });

  it('does not wait for a reservation beyond its time, and gives it back', async () => {
    const { publisher, brokers } = await setUp([[]]);
    await database.transaction(async (inTransaction) => {
      await inTransaction.run(statement('hold', 'lock table broker_usage'));
      expect(await publisher.publish(message, performance.now() + 900)).to.deep.include({ outcome: 'unavailable', reason: 'no time was left to publish it' });
    });
    await countsBecome({ BROKER_URL_1: 0 });
    expect(brokers[0]?.published).to.deep.equal([]);
  });

  it('counts a message as unavailable, not refused, when one connection could not be asked', async () => {
    const { publisher } = await setUp([[failed('refused')], [failed('unpublished')]]);
    expect(await publisher.publish(message, soon())).to.deep.equal({ outcome: 'unavailable', reason: 'BROKER_URL_1: refused; BROKER_URL_2: unpublished' });
  });

  it('leaves a connection alone after a failure: the next message does not wait for it', async () => {
    const { publisher, brokers } = await setUp([[failed('unknown'), failed('unknown')], []]);
    await publisher.publish(message, soon());
    await publisher.publish(message, soon());
    expect(brokers.map(({ published }) => published.length)).to.deep.equal([1, 2]);
  });

  it('tries a connection again as soon as it was made anew, and tells that it can be used', async () => {
    const { publisher, connections, brokers } = await setUp([[failed('unknown')]]);
    if (brokers[0]) brokers[0].broker.depth = () => new Promise(() => undefined);
    let told = 0;
    connections.onUsable(() => (told += 1));
    await publisher.publish(message, soon());
    expect(findConnection(connections, 'BROKER_URL_1')).to.include({ isUsable: false });
    brokers[0]?.connectAgain();
    expect(findConnection(connections, 'BROKER_URL_1')).to.include({ isUsable: true });
    expect(told).to.equal(1);
    expect((await publisher.publish(message, soon())).outcome).to.equal('published');
  });

  it('shows a connection as not connected after a failure, until it answers again', async () => {
    const { publisher, connections, brokers } = await setUp([[failed('unknown')]]);
    const depth = Promise.withResolvers<number>();
    if (brokers[0]) brokers[0].broker.depth = () => depth.promise;
    let told = 0;
    connections.onUsable(() => (told += 1));
    await publisher.publish(message, soon());
    expect(findConnection(connections, 'BROKER_URL_1')?.isUsable).to.equal(false);
    depth.resolve(0);
    await eventually(() => findConnection(connections, 'BROKER_URL_1')?.isUsable === true);
    expect(told).to.equal(1);
  });

  it('tries no connection twice for one message', async () => {
    const { publisher, brokers } = await setUp([
      [failed('refused'), failed('refused')],
      [failed('refused'), failed('refused')],
    ]);
    await publisher.publish(message, soon());
    expect(brokers.map(({ published }) => published.length)).to.deep.equal([1, 1]);
  });

  it('publishes nothing when the time is over, and returns the reservation', async () => {
    const { publisher, brokers } = await setUp([[]]);
    expect((await publisher.publish(message, performance.now())).outcome).to.equal('unavailable');
    await countsBecome({ BROKER_URL_1: 0 });
    expect(brokers[0]?.published).to.deep.equal([]);
  });

  it('packs bodies above 256 KiB, and only those', async () => {
    const { publisher, brokers } = await setUp([[]]);
    const body = (bytes: number) => Buffer.alloc(bytes, 'a');
    await publisher.publish({ ...message, body: body(262_144) }, soon());
    await publisher.publish({ ...message, body: body(262_145) }, soon());
    const [plain, packed] = brokers[0]?.published ?? [];
    expect([plain?.contentEncoding, plain?.body.length]).to.deep.equal([undefined, 262_144]);
    expect(packed?.contentEncoding).to.equal('gzip');
    expect(packed && gunzipSync(packed.body).equals(body(262_145))).to.equal(true);
  });

  it('waits for a connection that has not stood yet, and then publishes', async () => {
    const { publisher, brokers } = await setUp([[]]);
    const [one] = brokers;
    if (!one) throw new TypeError('there is a broker');
    const state = { isConnected: false };
    Object.defineProperty(one.broker, 'isConnected', { get: () => state.isConnected });
    const publishing = publisher.publish(message, soon());
    setTimeout(() => {
      state.isConnected = true;
      one.connectAgain();
    }, 50);
    expect((await publishing).outcome).to.equal('published');
  });

  it('waits no longer for one than its time allows', async () => {
    const { publisher, brokers } = await setUp([[]]);
    Object.defineProperty(brokers[0]?.broker, 'isConnected', { value: false });
    const begun = performance.now();
    expect((await publisher.publish(message, begun + 1000)).outcome).to.equal('unavailable');
    expect(performance.now() - begun).to.be.below(1000);
  });

  it('records the connections that it published to, without user and password', async () => {
    const { publisher, connections, published } = await setUp([[]]);
    await publisher.publish(message, soon());
    await publisher.publish(message, soon());
    const { connections: recorded } = await published.list(connections.all);
    expect(recorded).to.have.length(1);
    const { firstPublishedAt, lastPublishedAt, ...one } = recorded[0] ?? {};
    expect(one).to.deep.equal({ name: 'BROKER_URL_1', scheme: 'amqp', host: 'localhost', port: 5672, virtualHost: '/', isConfigured: true });
    expect([firstPublishedAt, lastPublishedAt].every((time) => time instanceof Date)).to.equal(true);
    expect((await published.list([])).connections[0]?.isConfigured).to.equal(false);
  });
});
