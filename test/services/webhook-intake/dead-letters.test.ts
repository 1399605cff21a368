// Dead letters over HTTP: two embedded brokers, and one that is away.
import { expect } from 'chai';
import type { Broker } from '../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createDeadLetters } from '../../../services/webhook-intake/dead-letters.ts';
import { toOpen } from '../../../services/webhook-intake/jobs/dead-letters.ts';
import { forgeTopology } from '../../../services/webhook-relay/contract.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/wait.ts';
import { createDashboard, type Dashboard } from './dashboard/ground.ts';
import { message } from './deliveries.ts';

const consumeOptions = { batchSize: 10, prefetch: 10 };
const away = 'postgres://stranger@127.0.0.1:1/nothing';

describe('dead letters over HTTP', function () {
  this.timeout(120_000);
  let dashboard: Dashboard;
  let places: readonly TestDatabase[];
  let brokers: readonly Broker[];
  let connections: readonly { readonly name: string; readonly url: string }[];

  before(async () => {
    places = [await createTestDatabase(), await createTestDatabase()];
    brokers = places.map(({ url }) => connectBroker(url, forgeTopology, { log: silentLog, name: 'test' }));
    await Promise.all(brokers.map((broker) => broker.ready(60_000)));
    const deadLetters = createDeadLetters(() => Promise.resolve(connections.map((one) => toOpen(one, { queueType: 'classic' }))));
    dashboard = await createDashboard({ deadLetters });
  });
  beforeEach(async () => {
    connections = places.map(({ url }, index) => ({ name: `BROKER_URL_${index + 1}`, url }));
    for (const broker of brokers) {
      const consumers = forgeTopology.queues.map(({ name }) => broker.consume(name, consumeOptions, async (batch) => batch.map(() => 'ack')));
      for (const { name } of forgeTopology.queues) await eventually(async () => (await broker.depth(name)) === 0);
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      await broker.dropDeadLetters({ limit: 1000 });
    }
  });
  after(async () => {
    await dashboard.close();
    await Promise.all(brokers.map((broker) => broker.close()));
    await Promise.all(places.map((place) => place.drop()));
  });

  /** Both queues refuse what is published. */
  async function die(index: number, events: readonly string[]) {
    const broker = brokers[index] ?? expect.fail('no such broker');
    const before = await broker.depth('forge.dead');
    const consumers = forgeTopology.queues.map(({ name }) =>
      broker.consume(name, consumeOptions, async (batch) => batch.map(({ type }) => ({ deadLetter: `no row for ${type}` }))),
    );
    const messages = events.map((event) => message({ event, payload: { event } }));
    for (const one of messages) await broker.publish(one, 10_000);
    await eventually(async () => expect(await broker.depth('forge.dead')).to.equal(before + events.length * 2));
    await Promise.all(consumers.map((consumer) => consumer.stop()));
    return messages;
  }
  const list = (query: Readonly<Record<string, string | number>> = {}) => dashboard.get('/dead-letters', { query });
  const sendBack = (body: object = {}) => dashboard.post('/dead-letters/send-back', { body });
  const drop = (body: object) => dashboard.post('/dead-letters/drop', { body });

  it('lists those of every connection with their reasons', async () => {
    const [issues] = await die(0, ['issues']);
    await die(1, ['push']);
    const { body } = await list();
    expect(body.items).to.have.length(4);
    const { diedAt, ...first } = body.items[0] ?? {};
    expect(diedAt).to.be.a('string');
    expect(first).to.deep.include({
      connection: 'BROKER_URL_1',
      messageId: issues?.id,
      event: 'issues',
      cause: 'refused',
      reason: 'no row for issues',
      returns: 0,
    });
    expect(body['connections']).to.deep.equal([
      { connection: 'BROKER_URL_1', error: null },
      { connection: 'BROKER_URL_2', error: null },
    ]);
  });

  it('lists those of a connection, queue, reason or message', async () => {
    const [, push] = await die(0, ['issues', 'push']);
    await die(1, ['push']);
    const count = async (query: Readonly<Record<string, string | number>>) => (await list(query)).body.items.length;
    expect(await count({ connection: 'BROKER_URL_2' })).to.equal(2);
    expect(await count({ queue: 'FORGE-database' })).to.equal(3);
    expect(await count({ reason: 'ROW for push' })).to.equal(4);
    expect(await count({ messageId: push?.id ?? '' })).to.equal(2);
    expect(await count({ exactReason: 'no row for push' })).to.equal(4);
    expect(await count({ exactReason: 'row for push' })).to.equal(0);
    expect(await count({ limit: 1 })).to.equal(2);
    expect((await list({ connection: 'BROKER_URL_9' })).status).to.equal(404);
    for (const query of [{ queue: 'other' }, { limit: 1001 }]) expect((await list(query)).status, JSON.stringify(query)).to.equal(400);
  });

  it('shows a message with headers and body, once for each queue', async () => {
    const [issues] = await die(0, ['issues']);
    const { status, body } = await dashboard.get('/dead-letters/{messageId}', { path: { messageId: issues?.id ?? '' } });
    expect(status).to.equal(200);
    expect(body.items.map(({ queue, body: text }) => [queue, text]).sort()).to.deep.equal([
      ['forge', '{"event":"issues"}'],
      ['forge-database', '{"event":"issues"}'],
    ]);
    expect((await dashboard.get('/dead-letters/{messageId}', { path: { messageId: 'x' } })).status).to.equal(404);
  });

  it('sends back what is selected, to the queue that it came from', async () => {
    await die(0, ['issues', 'push']);
    const { body } = await sendBack({ queue: 'forge', reason: 'push' });
    expect(body).to.deep.include({ done: 1 });
    expect(await brokers[0]?.depth('forge')).to.equal(1);
    expect((await list()).body.items).to.have.length(3);
    expect((await sendBack()).body).to.deep.include({ done: 3 });
    expect((await list()).body.items).to.have.length(0);
  });

  it('drops what is selected, and nothing without a selection', async () => {
    const [issues] = await die(0, ['issues', 'push']);
    for (const body of [{}, { connection: 'BROKER_URL_1' }, { reason: ' ' }, { exactReason: '' }, { limit: 0 }])
      expect((await drop(body)).status, JSON.stringify(body)).to.equal(400);
    expect((await drop({ messageId: issues?.id })).body).to.deep.include({ done: 2 });
    expect((await drop({ exactReason: 'row for push' })).body).to.deep.include({ done: 0 });
    expect((await drop({ reason: 'row', limit: 1 })).body).to.deep.include({ done: 1 });
    expect((await drop({ exactReason: 'no row for push', limit: 0 })).status).to.equal(400);
    expect((await list()).body.items).to.have.length(1);
  });

  it('says which connection could not be asked, and works on the others', async () => {
    await die(0, ['issues']);
    connections = [...connections.slice(0, 1), { name: 'BROKER_URL_7', url: away }];
    const { status, body } = await list();
    expect([status, body.items.length]).to.deep.equal([200, 2]);
    expect(Object(body['connections'])[1]).to.deep.include({ connection: 'BROKER_URL_7' });
    expect(Object(body['connections'])[1].error).to.be.a('string');
    expect((await sendBack()).body).to.deep.include({ done: 2 });
    expect((await dashboard.get('/dead-letters/{messageId}', { path: { messageId: 'x' } })).status).to.equal(503);
  });
});
