// Routes for operators beyond the interface document: queues, usage by day, changes, spooled deliveries, counts.
import { mkdir, readdir, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { encodeCursor } from '../../../services/platform/schema.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import { forgeTopology } from '../../../services/webhook-relay/contract.ts';
import { createFailedPayloads } from '../../../services/webhook-relay/spool/failed-payloads.ts';
import { describeWith } from '../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { rabbitmq, sharedRabbitmq } from '../../support/rabbitmq.ts';
import { eventually, freePort } from '../../support/wait.ts';
import { administer, deliver, depthsBecome, migrations, payload, startRelay, type TestRelay } from './relay.ts';
import { createMessage } from './spool/fixtures.ts';

type Item = Readonly<Record<string, unknown>>;
const itemsOf = (body: Item, member = 'items') => body[member] as readonly Item[];

describe('a relay and its operator', () => {
  let database: TestDatabase;
  let relay: TestRelay;
  const day = '2026-03-15';
  before(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    const environment = { BROKER_URL_1: database.url, BROKER_URL_2: `${database.url}?schema=broker_two`, BROKER_LIMIT_1: '2' };
    relay = await startRelay({ databaseUrl: database.url, environment, clock: () => new Date(`${day}T12:00:00Z`) });
  });
  after(async () => {
    await relay.close();
    await database.drop();
  });
  const get = async (path: string) => (await administer(relay.url, 'GET', path)).body;

  it('needs the token for each of the routes', async () => {
    for (const path of ['queues', 'usage/daily', 'changes', 'spooled', 'spooled/x', 'counts', 'rejected/x/payload'])
      expect((await fetch(`${relay.url}/broker/${path}`)).status, path).to.equal(401);
    for (const [method, path] of [
      ['POST', 'spooled/x/retry'],
      ['DELETE', 'spooled/x'],
    ] as const)
      expect((await fetch(`${relay.url}/Broker/${path}`, { method })).status, path).to.equal(401);
  });

  it('tells who switched, when the active connection moved at its limit, and who reset a count', async () => {
    expect(itemsOf(await get('/Broker/changes'))).to.deep.equal([]);
    await administer(relay.url, 'POST', '/Broker/switch/2');
    await administer(relay.url, 'POST', '/Broker/switch/1');
    for (let count = 0; count < 3; count++) expect((await deliver(relay.url)).status).to.equal(202);
    await administer(relay.url, 'DELETE', '/broker/usage/current/BROKER_URL_1');
    await administer(relay.url, 'DELETE', '/broker/usage/current/nothing');
    const changes = itemsOf(await get('/Broker/changes'));
    const shown = changes.map(({ kind, broker, previous, changedBy }) => [kind, broker, previous, changedBy === null]);
    expect(shown).to.deep.equal([
      ['reset', 'BROKER_URL_1', null, false],
      ['moved', 'BROKER_URL_2', 'BROKER_URL_1', true],
      ['switched', 'BROKER_URL_1', 'BROKER_URL_2', false],
      ['switched', 'BROKER_URL_2', null, false],
    ]);
    expect(changes[0]?.['changedBy']).to.match(/^[0-9a-f]{8}$/);
    expect(JSON.stringify(changes)).not.to.include('the administrator');
    const first = await get('/Broker/changes?limit=3');
    expect(itemsOf(await get(`/Broker/changes?limit=3&after=${String(first['next'])}`))).to.deep.equal(changes.slice(3));
    expect((await administer(relay.url, 'GET', '/Broker/changes?after=x')).status).to.equal(400);
  });

  it('counts confirmed messages by day and connection, also after a reset', async () => {
    const expected = [
      { day, broker: 'BROKER_URL_1', messageCount: 2 },
      { day, broker: 'BROKER_URL_2', messageCount: 1 },
    ];
    expect(itemsOf(await get('/broker/usage/daily'), 'days')).to.deep.equal(expected);
    expect(itemsOf(await get(`/broker/usage/daily?from=${day}&to=${day}`), 'days')).to.deep.equal(expected);
    expect(itemsOf(await get('/broker/usage/daily?to=2026-03-14'), 'days')).to.deep.equal([]);
    for (const query of ['from=yesterday', 'from=2026-02-30', 'from=2020-01-01&to=2026-01-01', 'from=0000-01-01', 'to=0001-01-01'])
      expect((await administer(relay.url, 'GET', `/broker/usage/daily?${query}`)).status, query).to.equal(400);
  });

  it('lists the queues with their depth and the age of the oldest message', async () => {
    const { body } = await administer(relay.url, 'GET', '/Broker/queues');
    const queues = itemsOf(body, 'queues');
    const shown = queues.map(({ broker, queue, messages, oldestAt }) => [broker, queue, messages, oldestAt === null]);
    expect(shown).to.deep.equal([
      ['BROKER_URL_1', 'forge', 2, false],
      ['BROKER_URL_1', 'forge-database', 2, false],
      ['BROKER_URL_1', 'forge.dead', 0, true],
      ['BROKER_URL_2', 'forge', 1, false],
      ['BROKER_URL_2', 'forge-database', 1, false],
      ['BROKER_URL_2', 'forge.dead', 0, true],
    ]);
    expect(Date.parse(String(queues[0]?.['oldestAt']))).to.be.within(Date.now() - 60_000, Date.now() + 1000);
    expect(queues[2]?.['oldestSeconds']).to.equal(null);
  });

  it('counts all of it', async () => {
    const broker = connectBroker(database.url, forgeTopology, { log: silentLog, name: 'test' });
    await broker.ready(30_000);
    const consumer = broker.consume('forge', { batchSize: 1, prefetch: 1 }, (batch) => Promise.resolve(batch.map(() => ({ deadLetter: 'for the test' }))));
    await eventually(async () => (await broker.depth('forge.dead')) === 2);
    await consumer.stop();
    await broker.close();
    await createFailedPayloads(relay.database).insert({ message: createMessage(), reason: 'none', spooledAt: new Date() }, 0);
    await relay.database.driver.query('update failed_payloads set refused_at = now()');
    await deliver(relay.url, payload, { 'X-Hub-Signature-256': 'sha256=0' });
    await eventually(async () =>
      expect(await get('/Broker/counts')).to.deep.equal({
        connections: 2,
        connected: 2,
        rejected: 1,
        lost: 0,
        spooled: 0,
        givenUp: 1,
        queued: 4,
        deadLetters: 2,
      }),
    );
  });
});

describe('spooled deliveries of a relay', () => {
  let database: TestDatabase;
  let relay: TestRelay;
  let url: string;
  beforeEach(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    url = `amqp://user:hush@127.0.0.1:${await freePort()}`;
    const environment = { BROKER_URL_1: url, BROKER_URL_2: database.url, BROKER_LIMIT_2: '0' };
    relay = await startRelay({ databaseUrl: database.url, environment, awaitBrokers: false, replayEveryMs: 3_600_000 });
  });
  afterEach(async () => {
    await relay.close();
    await database.drop();
  });
  const list = async (query = '') => (await administer(relay.url, 'GET', `/Broker/spooled${query}`)).body;
  const spoolOne = async (deliveryId: string) => String((await deliver(relay.url, payload, { 'X-GitHub-Delivery': deliveryId })).body['id']);

  it('are listed oldest first, files and rows, page by page, and shown by their id', async () => {
    const ids = [await spoolOne('f-1'), await spoolOne('f-2')];
    const row = createMessage();
    await createFailedPayloads(relay.database).insert({ message: row, reason: 'no broker', spooledAt: new Date('2026-01-01T00:00:00Z') }, 2);
    const { items, next } = (await list()) as { items: readonly Item[]; next: unknown };
    expect([items.map(({ id, place, state, tries }) => [id, place, state, tries]), next]).to.deep.equal([
      [
        [row.id, 'database', 'waiting', 2],
        [ids[0], 'disk', 'waiting', 0],
        [ids[1], 'disk', 'waiting', 0],
      ],
      null,
    ]);
    expect(items[1]).to.include({ event: 'issues', deliveryId: 'f-1' });
    expect(items[1]?.['reason']).to.include('BROKER_URL_1');
    expect(JSON.stringify(items)).not.to.include('hush');
    const pages: unknown[] = [];
    for (let after = ''; ;) {
      const page = await list(`?limit=1${after}`);
      pages.push(...itemsOf(page).map(({ id }) => id));
      const { next: cursor } = page;
      if (typeof cursor !== 'string') break;
      after = `&after=${cursor}`;
    }
    expect(pages).to.deep.equal([row.id, ...ids]);
    expect((await administer(relay.url, 'GET', `/Broker/spooled/${ids[1]}`)).body).to.deep.equal(items[2]);
    expect((await administer(relay.url, 'GET', `/Broker/spooled/${row.id}`)).body).to.deep.equal(items[0]);
    expect((await list('?after=x'))['status']).to.equal(400);
  });

  it('are deleted for good on request, and answered 404 from then on', async () => {
    const [id, row] = [await spoolOne('f-1'), createMessage()];
    await createFailedPayloads(relay.database).insert({ message: row, reason: 'no broker', spooledAt: new Date() }, 0);
    for (const one of [id, row.id]) {
      expect((await administer(relay.url, 'DELETE', `/Broker/spooled/${one}`)).body).to.deep.equal({ deleted: 1 });
      for (const [method, path] of [
        ['DELETE', ''],
        ['GET', ''],
        ['POST', '/retry'],
      ] as const)
        expect((await administer(relay.url, method, `/Broker/spooled/${one}${path}`)).status, method).to.equal(404);
    }
    expect([itemsOf(await list()), (await readdir(relay.spoolDirectory)).filter((name) => name.endsWith('.payload'))]).to.deep.equal([[], []]);
  });

  it('that were given up are tried at once on request, and published when a connection takes them', async () => {
    const [id, row] = [await spoolOne('f-1'), createMessage()];
    await createFailedPayloads(relay.database).insert({ message: row, reason: 'no broker', spooledAt: new Date() }, 0);
    await relay.database.driver.query('update failed_payloads set refused_at = now(), tries = 3');
    const [file = ''] = (await readdir(relay.spoolDirectory)).filter((name) => name.endsWith('.payload'));
    await mkdir(join(relay.spoolDirectory, 'refused'), { recursive: true });
    await rename(join(relay.spoolDirectory, file), join(relay.spoolDirectory, 'refused', file.replace('.0.payload', '.2.payload')));
    expect(itemsOf(await list()).map(({ state, tries }) => [state, tries])).to.deep.equal([
      ['givenUp', 3],
      ['givenUp', 3],
    ]);
    for (const { reason } of itemsOf(await list())) expect(reason).to.match(/^refused by every connection in 3 tries, mostly for its size; when it came: /);

    await relay.close();
    const environment = { BROKER_URL_1: database.url, FailedPayloads__Directory: relay.spoolDirectory };
    // A start hands nothing back by itself: what was given up waits for a person.
    relay = await startRelay({ databaseUrl: database.url, environment, replayEveryMs: 3_600_000 });
    const waiting = itemsOf(await list());
    for (const { id: one } of waiting)
      expect((await administer(relay.url, 'POST', `/Broker/spooled/${String(one)}/retry`)).body).to.deep.equal({ retried: true });
    await eventually(async () => itemsOf(await list()).length === 0);
    expect([id, row.id]).to.include.members(waiting.map(({ id: one }) => String(one)));
    await depthsBecome(relay, 'BROKER_URL_1', 2);
  });

  it('that are damaged are listed by what their name tells and with what is wrong, and can be deleted', async () => {
    const name = '2026-01-02T030405.678Z_damaged-one.0.payload';
    const refused = join(relay.spoolDirectory, 'refused');
    await mkdir(refused);
    await writeFile(join(refused, name), 'not a spool file');
    expect(itemsOf(await list())[0]).to.deep.equal({
      id: 'damaged-one',
      place: 'disk',
      state: 'givenUp',
      spooledAt: '2026-01-02T03:04:05.678Z',
      reason: 'corrupt: the first line does not end',
      tries: 0,
      event: '',
      deliveryId: '',
    });
    expect((await administer(relay.url, 'DELETE', '/Broker/spooled/damaged-one')).status).to.equal(200);
    const [whole, cut] = [await spoolOne('whole'), await spoolOne('cut')];
    const names = (await readdir(relay.spoolDirectory)).filter((one) => one.endsWith('.payload'));
    for (const one of names) await rename(join(relay.spoolDirectory, one), join(refused, one.replace('.0.', one.includes(whole) ? '.3.' : '.0.')));
    const cutName = (await readdir(refused)).find((one) => one.includes(cut)) ?? '';
    await truncate(join(refused, cutName), (await stat(join(refused, cutName))).size - 1);
    const reasons = Object.fromEntries(itemsOf(await list()).map(({ deliveryId, reason }) => [deliveryId, reason]));
    expect(reasons['cut']).to.match(/^corrupt: the payload has \d+ bytes, the header says \d+$/);
    expect(reasons['whole']).to.contain('refused by every connection').and.not.contain('corrupt');
    expect((await administer(relay.url, 'GET', '/Broker/spooled/..%2F..%2Fetc%2Fpasswd')).status).to.equal(404);
    for (const [method, path] of [
      ['GET', 'a%00b'],
      ['DELETE', '%00'],
      ['POST', '%00/retry'],
    ] as const)
      expect((await administer(relay.url, method, `/Broker/spooled/${path}`)).status, method).to.equal(404);
    const cursor = encodeCursor('spooled', [Number.MAX_SAFE_INTEGER, 'x']);
    expect((await administer(relay.url, 'GET', `/Broker/spooled?after=${cursor}`)).status).to.equal(400);
  });
});

describeWith(rabbitmq, 'the queues of RabbitMQ', () => {
  it('are listed with their depth, and without an age, which RabbitMQ does not tell', async () => {
    const database = await createTestDatabase({ schema: 'relay', migrations });
    const { url } = await (await sharedRabbitmq()).createVhost();
    const relay = await startRelay({
      databaseUrl: database.url,
      environment: { BROKER_URL_1: url, BROKER_URL_2: `amqp://127.0.0.1:${await freePort()}` },
      awaitBrokers: false,
    });
    try {
      await relay.connections.all[0]?.ready(30_000);
      await deliver(relay.url);
      const queues = itemsOf((await administer(relay.url, 'GET', '/Broker/queues')).body, 'queues');
      const shown = queues.map(({ messages, inWork, consumers, oldestAt, oldestSeconds }) => [messages, inWork, consumers, oldestAt, oldestSeconds]);
      expect(shown).to.deep.equal([
        [1, null, 0, null, null],
        [1, null, 0, null, null],
        [0, null, 0, null, null],
        [null, null, null, null, null],
        [null, null, null, null, null],
        [null, null, null, null, null],
      ]);
    } finally {
      await relay.close();
      await database.drop();
    }
  });
});
