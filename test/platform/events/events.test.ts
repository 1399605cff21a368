// Events of Signalbox' own on their way from a transaction to a receiver: a real database, a real server.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { Secret } from '../../../services/platform/config/secret.ts';
import { readSettings } from '../../../services/platform/config/config.ts';
import { createOutbox, eventFaults, eventSettings, type OwnEvent, startEvents } from '../../../services/platform/events/events.ts';
import { createEventStore } from '../../../services/platform/events/store.ts';
import { memberAt } from '../../../services/platform/json.ts';
import { createMetrics, type Metrics } from '../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../services/platform/postgres/pool.ts';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/wait.ts';
import { type CapturedLog, captureLog } from '../captured-log.ts';
import { createEventReceiver, type EventReceiver } from './receiver.ts';

const secrets = [new Secret(`whsec_${Buffer.from('a key of the receiver').toString('base64')}`), new Secret('the next key, as text')];
const timing = { pollMs: 10, backOff: { firstMs: 20, longestMs: 40 } };
const dayMs = 86_400_000;

describe("events of Signalbox' own", () => {
  let test: TestDatabase;
  let database: Pool;
  let receiver: EventReceiver;
  let started: ReturnType<typeof createLifecycle>[];
  before(async () => {
    test = await createTestDatabase();
    database = createPool(test.url, { schema: 'public', log: silentLog });
    await run(await readFile(new URL('../../../services/platform/events/own-events.sql', import.meta.url), 'utf8'));
  });
  after(async () => {
    await database.close();
    await test.drop();
  });
  beforeEach(async () => {
    receiver = await createEventReceiver(secrets.slice(0, 1));
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((lifecycle) => lifecycle.stop()));
    receiver.close();
    await run('truncate own_events');
  });

  const run = (sql: string) => database.select<Record<string, unknown>>({ toSQL: () => ({ toNative: () => ({ sql, bindings: [] }) }) });
  const settings = (url: string | undefined = receiver.url) => ({ eventsUrl: url, eventsSecrets: secrets, ownEventsDays: 7 });
  const event = (object: string, number: number, at = new Date()): OwnEvent => ({ type: 'lamp.lit', object, data: { number, title: 'Lamp' }, at });
  const add = (...events: OwnEvent[]) => database.transaction((inTransaction) => createOutbox(settings()).add(inTransaction, events));
  const unsent = async () => Number((await run('select count(*) from own_events where sent_at is null'))[0]?.['count']);

  type Options = { readonly metrics?: Metrics; readonly captured?: CapturedLog; readonly clock?: () => Date; readonly leaseMs?: number };
  function start({ metrics = createMetrics(), captured = captureLog(), clock = () => new Date(), leaseMs = 60_000 }: Options = {}) {
    const lifecycle = createLifecycle(silentLog);
    started.push(lifecycle);
    return startEvents(settings(), { deployable: 'lamps', database, lifecycle, log: captured.log, metrics, clock, timing: { ...timing, leaseMs } });
  }

  it('are posted with type, time and data, signed as Standard Webhooks has it by every secret', async () => {
    await add(event('a', 1, new Date('2026-01-05T08:00:00.123Z')));
    start();
    await eventually(() => receiver.accepted.length === 1);
    const [{ headers, body } = expect.fail('nothing was received')] = receiver.accepted;
    expect(body).to.equal('{"type":"lamp.lit","timestamp":"2026-01-05T08:00:00.123Z","data":{"number":1,"title":"Lamp"}}');
    expect(headers['content-type']).to.equal('application/json');
    expect(headers['webhook-signature']).to.match(/^v1,\S+ v1,\S+$/);
    await eventually(async () => (await unsent()) === 0);
  });

  it('are stored with the transaction of their change, and not without it', async () => {
    const cancelled = database.transaction(async (inTransaction) => {
      await createOutbox(settings()).add(inTransaction, [event('a', 1)]);
      throw new Error('the change is refused');
    });
    await cancelled.catch(() => undefined);
    expect(await unsent()).to.equal(0);
    await add(event('a', 1), event('a', 2));
    expect(await unsent()).to.equal(2);
  });

  it('are not stored, and nothing is posted, without Events__Url', async () => {
    const off = startEvents({ eventsUrl: undefined, eventsSecrets: secrets, ownEventsDays: 7 }, { ...offParts(), metrics: createMetrics() });
    await database.transaction((inTransaction) => off.add(inTransaction, [event('a', 1)]));
    await database.transaction((inTransaction) => createOutbox({ eventsUrl: undefined }).add(inTransaction, [event('a', 1)]));
    off.wake();
    expect(await unsent()).to.equal(0);
  });
  const offParts = () => ({ deployable: 'lamps', database, lifecycle: createLifecycle(silentLog), log: silentLog, clock: () => new Date() });

  it('of one object keep their order while one fails, and those of other objects go on', async () => {
    let isRefused = true;
    receiver.answer = ({ content }, response) => response.writeHead(isRefused && memberAt(content, 'data', 'number') === 1 ? 500 : 204).end();
    await add(event('failing', 1), event('failing', 2), event('other', 10), event('failing', 3), event('other', 11));
    start();
    await eventually(() => receiver.numbers().length === 2 && receiver.received.length > 4);
    expect(receiver.numbers()).to.deep.equal([10, 11]);
    await add(event('failing', 4), event('other', 12));
    await eventually(() => receiver.numbers().length === 3);
    isRefused = false;
    await eventually(() => receiver.numbers().length === 7);
    expect(receiver.numbers().slice(3)).to.deep.equal([1, 2, 3, 4]);
  });

  it('have the same id at every attempt, and their attempts are counted', async () => {
    const statuses = [500, 429, 301, 404];
    receiver.answer = (_, response) => response.writeHead(statuses.shift() ?? 204).end();
    const [metrics, captured] = [createMetrics(), captureLog()];
    await add(event('a', 1));
    start({ metrics, captured });
    await eventually(async () => (await unsent()) === 0);
    expect(new Set(receiver.received.map(({ id }) => id)).size).to.equal(1);
    expect(receiver.received).to.have.length(5);
    const text = await metrics.text();
    expect(text).to.include('signalbox_own_events_total{deployable="lamps",outcome="failed"} 4');
    expect(text).to.include('signalbox_own_events_total{deployable="lamps",outcome="sent"} 1');
    expect(captured.lines().filter(({ level }) => level === 'warn')).to.have.length(1);
  });

  it('are posted once by several processes together, those of one object in order', async () => {
    const objects = Array.from({ length: 8 }, (_, index) => `object ${index}`);
    for (let number = 0; number < 15; number++) await add(...objects.map((object) => ({ ...event(object, number), data: { number, object } })));
    for (let process = 0; process < 3; process++) start();
    await eventually(async () => (await unsent()) === 0);
    expect(receiver.received).to.have.length(120);
    for (const object of objects) {
      const ofObject = receiver.received.map(({ content }) => memberAt(content, 'data')).filter((data) => memberAt(data, 'object') === object);
      expect(ofObject.map((data) => memberAt(data, 'number'))).to.deep.equal(Array.from({ length: 15 }, (_, number) => number));
    }
  });

  it('are taken over from a process that died with them in hand, when their lease is over', async () => {
    await add(event('a', 1), event('a', 2));
    const died = await createEventStore(database).claim(10, 300);
    expect(died.map(({ data }) => data)).to.deep.equal(['{"number":1,"title":"Lamp"}']);
    start();
    await eventually(() => receiver.numbers().length === 2);
    expect(receiver.numbers()).to.deep.equal([1, 2]);
    // The process was only slow: its outcome no longer counts.
    for (const claimed of died) expect(await createEventStore(database).postpone(claimed, 'late', 0)).to.equal(0);
    await eventually(async () => (await unsent()) === 0);
  });

  it('wait while the receiver is away, and the age of the oldest is a metric', async () => {
    const metrics = createMetrics();
    const { url } = receiver;
    receiver.close();
    await add(event('a', 1, new Date(Date.now() - 3_600_000)), event('b', 2));
    start({ metrics });
    await eventually(async () => expect((await run('select min(attempts) as least from own_events'))[0]?.['least']).to.be.above(2));
    const text = await metrics.text();
    expect(text).to.include('signalbox_own_events_waiting{deployable="lamps"} 2');
    expect(Number(/signalbox_own_events_oldest_seconds\{deployable="lamps"\} (\S+)/.exec(text)?.[1])).to.be.within(3600, 3700);
    const [reason] = await run('select distinct last_error from own_events');
    expect(reason?.['last_error']).to.include('ECONNREFUSED').and.include(new URL(url).port);
  });

  it('have an age of 0 while the clock of the database is behind', async () => {
    await add(event('a', 1, new Date(Date.now() + 3_600_000)));
    expect(await createEventStore(database).waiting()).to.deep.equal({ waiting: 1, oldestSeconds: 0 });
  });

  it('that are older than their retention are deleted when sent, and dropped with an error when not', async () => {
    receiver.answer = (_, response) => response.writeHead(503).end();
    const [metrics, captured] = [createMetrics(), captureLog()];
    const now = Date.now();
    await add(event('old', 1, new Date(now - 8 * dayMs)), event('young', 2), event('sent', 3), event('sent long ago', 4));
    await run(`update own_events set sent_at = now() where object = 'sent'`);
    await run(`update own_events set sent_at = now() - interval '8 days' where object = 'sent long ago'`);
    start({ metrics, captured });
    await eventually(async () =>
      expect((await run('select object from own_events order by object')).map(({ object }) => object)).to.deep.equal(['sent', 'young']),
    );
    await eventually(() => captured.lines().some(({ level, dropped }) => level === 'error' && dropped === 1));
    expect(await metrics.text()).to.include('signalbox_own_events_total{deployable="lamps",outcome="dropped"} 1');
  });

  it('under way when the process stops are finished and recorded', async () => {
    const answering = Promise.withResolvers<void>();
    receiver.answer = (_, response) => void answering.promise.then(() => response.writeHead(204).end());
    await add(event('a', 1), event('a', 2));
    start();
    await eventually(() => receiver.received.length === 1);
    const stopped = started[0]?.stop();
    answering.resolve();
    await stopped;
    expect(receiver.numbers()).to.deep.equal([1]);
    expect(await unsent()).to.equal(1);
  });

  it('outlive a database that is away for a while', async () => {
    const captured = captureLog();
    await add(event('a', 1));
    await run('alter table own_events rename to hidden_events');
    start({ captured });
    await eventually(() => captured.lines().some(({ level }) => level === 'warn'));
    await run('alter table hidden_events rename to own_events');
    await eventually(() => receiver.numbers().length === 1);
  });

  it('are claimed in batches of bounded size, the oldest first', async () => {
    await add(...Array.from({ length: 30 }, (_, number) => event(`object ${number}`, number)));
    const claimed = await createEventStore(database).claim(10, 60_000);
    expect(claimed.map(({ data }) => data).sort()).to.deep.equal(Array.from({ length: 10 }, (_, number) => `{"number":${number},"title":"Lamp"}`).sort());
  });

  it('are not looked at by a claim while they wait behind a failing one of their object', async () => {
    await add(event('failing', 0));
    await add(...Array.from({ length: 10_000 }, (_, number) => event('failing', number)));
    const store = createEventStore(database);
    for (const claimed of await store.claim(10, 60_000)) await store.postpone(claimed, 'refused', 60_000);
    await add(event('other', 1));
    expect((await run('select object from own_events where sent_at is null and due_at <= now()')).map(({ object }) => object)).to.deep.equal(['other']);
    expect((await store.claim(10, 60_000)).map(({ data }) => data)).to.deep.equal(['{"number":1,"title":"Lamp"}']);
  });
});

describe('the settings of events', () => {
  const read = (environment: Record<string, string>) => readSettings({ APP_ENV: 'production', ...environment }, eventSettings, eventFaults);

  it('are all optional, but a URL needs a secret', () => {
    expect(read({})).to.include({ eventsUrl: undefined, eventsSecrets: undefined, ownEventsDays: 7 });
    expect(() => read({ Events__Url: 'http://intake.test/signalbox' })).to.throw('Events__Secret is required with Events__Url');
    expect(read({ Events__Url: 'http://intake.test/signalbox', Events__Secret: 'a secret of the receiver' }).eventsSecrets).to.have.length(1);
  });

  it('refuse a whsec_ that is no base64, which would be a key that anyone can guess', () => {
    for (const value of ['whsec_', 'whsec_!!!!!!!!!!!!!!!!', 'a long enough secret,whsec_ab=='])
      expect(() => read({ Events__Secret: value })).to.throw('Events__Secret must have base64 of at least 12 bytes after whsec_; not so entry');
  });
});
