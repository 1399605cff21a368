// The record of consumed connections in a real Postgres, kept by several workers at once; what they consume are real embedded brokers.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Broker } from '../../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { type Connection, type Consumption, createConsumption } from '../../../../services/webhook-intake/connections/consumption.ts';
import { type ConnectionRecord, createRecord } from '../../../../services/webhook-intake/connections/record.ts';
import { createConnectionStore } from '../../../../services/webhook-intake/connections/store.ts';
import { createUrlSealing } from '../../../../services/webhook-intake/connections/url-sealing.ts';
import { forgeTopology } from '../../../../services/webhook-relay/contract.ts';
import { captureLog } from '../../../platform/captured-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { formsOf } from '../../secrets/leak-watch.ts';
import { message } from '../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';

const hourMs = 3_600_000;
const connect = (url: string) => connectBroker(url, forgeTopology, { log: silentLog, name: 'test' });
const secretPassword = 'correct-horse-battery-staple';
/** Nothing listens there. */
const nowhere = { name: 'BROKER_URL_3', url: `amqp://worker:${secretPassword}@127.0.0.1:1/vhost` };

type TestWorker = {
  readonly consumption: Consumption;
  readonly record: ConnectionRecord;
  readonly handled: string[];
  readonly lines: () => readonly { readonly level: string; readonly msg: string; readonly [member: string]: unknown }[];
  readonly names: () => string[];
  /** Moves its clock on. */
  readonly pass: (ms: number) => void;
  end(): Promise<void>;
};

describe('the record of consumed connections', function () {
  this.timeout(120_000);
  let database: IntakeDatabase;
  const places: TestDatabase[] = [];
  const publishers: Broker[] = [];
  const logs: (() => string)[] = [];
  let workers: TestWorker[];

  before(async () => {
    database = await createIntakeDatabase();
    places.push(await createTestDatabase(), await createTestDatabase());
    publishers.push(...places.map(({ url }) => connect(url)));
    await Promise.all(publishers.map((broker) => broker.ready(30_000)));
  });
  after(async () => {
    await Promise.all(publishers.map((broker) => broker.close()));
    await Promise.all(places.map((place) => place.drop()));
    await database.close();
  });
  beforeEach(() => (workers = []));
  afterEach(async () => {
    await Promise.all(workers.map(({ consumption }) => consumption.close()));
    await database.empty();
  });

  const place = (index: number): Connection => ({ name: `BROKER_URL_${index + 1}`, url: places[index]?.url ?? '' });
  async function publish(index: number, deliveryId: string): Promise<void> {
    const result = await publishers[index]?.publish(message({ event: 'push', payload: {}, deliveryId }), 10_000);
    expect(result?.outcome).to.equal('confirmed');
  }

  /** All that a process has of its own. */
  async function startWorker(connections: readonly Connection[], { password = 'one', queue = 'forge', handles = true } = {}): Promise<TestWorker> {
    const { log, text, lines } = captureLog();
    logs.push(text);
    const handled: string[] = [];
    let passedMs = 0;
    const consumption = createConsumption({
      queue,
      connect: ({ url }) => connect(url),
      handle: async (batch) => {
        if (!handles) throw new Error('the database is away');
        handled.push(...batch.map(({ headers }) => headers['x-delivery-id'] ?? ''));
        return batch.map(() => 'ack' as const);
      },
      quietMs: 200,
      unreachableMs: hourMs,
      clock: () => Date.now() + passedMs,
      log,
    });
    const sealing = await createUrlSealing(`postgres://intake:${password}@127.0.0.1/signalbox`, queue);
    if (!sealing) throw new Error('there is a password');
    const store = createConnectionStore(database.pool, queue, randomUUID());
    const record = createRecord({ queue, consumption, store, sealing, keptMs: hourMs, log });
    const end = () => record.end().then(consumption.close);
    const names = () => consumption.states().map(({ name }) => name);
    const worker = { consumption, record, handled, lines, names, pass: (ms: number) => void (passedMs += ms), end };
    workers.push(worker);
    consumption.configure(connections);
    await record.keep();
    return worker;
  }

  const noted = () =>
    database.rows<{ name: string; removed: boolean; held: boolean }>(
      'select name, removed_at is not null as removed, held_until > now() as held from consumed_connections order by name, held',
    );
  /** As if all that is on record had been so much longer ago. */
  const age = (ms: number) =>
    database.rows(
      `update consumed_connections set held_until = held_until - $1 * interval '1 ms', removed_at = removed_at - $1 * interval '1 ms',
         reachable_at = reachable_at - $1 * interval '1 ms'`,
      [ms],
    );
  const configured = (name: string) => ({ name, removed: false, held: true });
  const drained = (worker: TestWorker) =>
    eventually(async () => {
      await worker.consumption.tidy();
      expect(worker.consumption.states().every(({ isConfigured }) => isConfigured)).to.equal(true);
    });

  it('has a worker that starts later empty a connection that is no longer configured, and forgets it then', async () => {
    await (await startWorker([place(0), place(1)])).end();
    await publish(1, 'left behind');
    const later = await startWorker([place(0)]);
    await eventually(() => expect(later.handled).to.deep.equal(['left behind']));
    await later.record.keep();
    expect(await noted()).to.deep.equal([configured('BROKER_URL_1'), { name: 'BROKER_URL_2', removed: true, held: true }]);
    await drained(later);
    await later.record.keep();
    expect(await noted()).to.deep.equal([configured('BROKER_URL_1')]);
  });

  it('keeps what a worker did not get to for the next one', async () => {
    await (await startWorker([place(0), place(1)])).end();
    await publish(1, 'twice left behind');
    const failing = await startWorker([place(0)], { handles: false });
    await eventually(() => failing.consumption.states().every(({ isConnected }) => isConnected));
    await failing.end();
    const next = await startWorker([place(0)]);
    await eventually(() => expect(next.handled).to.deep.equal(['twice left behind']));
  });

  it('leaves to another worker what that one consumes, until it has been silent for a minute', async () => {
    await startWorker([place(0), place(1)]);
    const other = await startWorker([place(0)]);
    expect(other.names()).to.deep.equal(['BROKER_URL_1']);
    await age(59_000);
    await other.record.keep();
    expect(other.names()).to.deep.equal(['BROKER_URL_1']);
    await age(1000);
    await other.record.keep();
    expect(other.names()).to.have.members(['BROKER_URL_1', 'BROKER_URL_2']);
  });

  it('has a connection emptied again that a worker with an older view has still consumed', async () => {
    const older = await startWorker([place(0), place(1)]);
    const newer = await startWorker([place(0), place(1)]);
    newer.consumption.configure([place(0)]);
    await drained(newer);
    await newer.record.keep();
    await older.record.keep();
    expect((await noted()).map(({ name, removed }) => [name, removed])).to.deep.equal([
      ['BROKER_URL_1', false],
      ['BROKER_URL_1', false],
      ['BROKER_URL_2', false],
    ]);
    await older.end();
    await publish(1, 'from a relay with an older view');
    await newer.record.keep();
    await eventually(() => expect(newer.handled).to.deep.equal(['from a relay with an older view']));
    await drained(newer);
    await newer.record.keep();
    expect(await noted()).to.deep.equal([configured('BROKER_URL_1')]);
  });

  it('lets several workers empty the same connection, and forgets it with the last of them', async () => {
    await (await startWorker([place(0), place(1)])).end();
    for (let number = 0; number < 300; number++) await publish(1, String(number));
    const several = await Promise.all([startWorker([place(0)]), startWorker([place(0)])]);
    await eventually(() => expect(several.flatMap(({ handled }) => handled)).to.have.length(300));
    expect(new Set(several.flatMap(({ handled }) => handled)).size).to.equal(300);
    for (const worker of several) {
      await drained(worker);
      await worker.record.keep();
    }
    expect(await noted()).to.deep.equal([configured('BROKER_URL_1'), configured('BROKER_URL_1')]);
  });

  it('keeps on record what one of them holds while the other sees an empty queue', async () => {
    const holding = await startWorker([place(0), place(1)], { handles: false });
    await eventually(() => holding.consumption.states().every(({ isConnected }) => isConnected));
    await publish(1, 'held');
    await eventually(async () => expect(await publishers[1]?.depth('forge')).to.equal(0));
    const other = await startWorker([place(0), place(1)]);
    for (const worker of [holding, other]) worker.consumption.configure([place(0)]);
    await drained(other);
    await other.record.keep();
    await holding.record.keep();
    // It dies now.
    await holding.consumption.close();
    await age(60_000);
    await other.record.keep();
    await eventually(() => expect(other.handled).to.deep.equal(['held']));
  });

  it('takes a connection that is configured again for configured', async () => {
    const first = await startWorker([place(0), nowhere]);
    first.consumption.configure([place(0)]);
    await first.end();
    expect(await noted()).to.deep.equal([
      { name: 'BROKER_URL_1', removed: false, held: false },
      { name: 'BROKER_URL_3', removed: true, held: false },
    ]);
    const second = await startWorker([place(0), nowhere]);
    second.pass(2 * hourMs);
    await second.consumption.tidy();
    await second.record.keep();
    expect(await noted()).to.deep.equal([configured('BROKER_URL_1'), configured('BROKER_URL_3')]);
  });

  it('keeps the queues apart', async () => {
    await (await startWorker([place(0), place(1)], { queue: 'forge-database' })).end();
    const worker = await startWorker([place(0)]);
    expect(worker.names()).to.deep.equal(['BROKER_URL_1']);
  });

  describe('of an unreachable connection', () => {
    const removed = async () => {
      const first = await startWorker([place(0), nowhere]);
      first.consumption.configure([place(0)]);
      await first.end();
    };

    it('counts the hour over all processes, and gives each a minute to try', async () => {
      await removed();
      await age(hourMs - 90_000);
      const second = await startWorker([place(0)]);
      second.pass(89_000);
      await second.consumption.tidy();
      expect(second.names()).to.contain('BROKER_URL_3');
      await second.end();

      await age(10_000);
      const third = await startWorker([place(0)]);
      third.pass(59_000);
      await third.consumption.tidy();
      expect(third.names()).to.contain('BROKER_URL_3');
      third.pass(1000);
      await third.consumption.tidy();
      await third.record.keep();
      expect(await noted()).to.deep.equal([configured('BROKER_URL_1')]);
      expect(third.lines().map(({ reason }) => reason)).to.contain('it was removed and has been unreachable for too long');
    });

    it('begins the hour with the worker that finds it removed, however long none has run', async () => {
      await (await startWorker([place(0), nowhere])).end();
      await age(48 * hourMs);
      const worker = await startWorker([place(0)]);
      worker.pass(hourMs - 1000);
      await worker.consumption.tidy();
      expect(worker.names()).to.contain('BROKER_URL_3');
      worker.pass(1000);
      await worker.consumption.tidy();
      expect(worker.names()).to.deep.equal(['BROKER_URL_1']);
    });

    it('does not fail one run, which gives it up when the hour is over', async () => {
      await removed();
      const first = await startWorker([place(0)]);
      await first.consumption.drain(AbortSignal.timeout(60_000));
      expect(first.lines().filter(({ level }) => level === 'warn')).to.have.length(1);
      expect(first.lines().find(({ level }) => level === 'warn')).to.include({
        connection: 'BROKER_URL_3',
        msg: 'a removed broker connection cannot be reached',
      });
      await first.end();
      expect((await noted()).map(({ name }) => name)).to.deep.equal(['BROKER_URL_1', 'BROKER_URL_3']);

      await age(hourMs);
      const second = await startWorker([place(0)]);
      await second.consumption.drain(AbortSignal.timeout(60_000));
      await second.end();
      expect((await noted()).map(({ name }) => name)).to.deep.equal(['BROKER_URL_1']);
    });
  });

  describe('after a change of the password', () => {
    const complaints = (worker: TestWorker, level: string) =>
      worker
        .lines()
        .filter((line) => line.level === level && line.msg.includes('password'))
        .map(({ connection }) => connection);

    it('warns of a removed connection by its name, once, and not of those that are still configured', async () => {
      await (await startWorker([place(0), nowhere])).end();
      const worker = await startWorker([place(0)], { password: 'two' });
      await worker.record.keep();
      expect(worker.names()).to.deep.equal(['BROKER_URL_1']);
      expect(complaints(worker, 'warn')).to.deep.equal(['BROKER_URL_3']);
      expect(complaints(worker, 'info')).to.deep.equal(['BROKER_URL_1']);
    });

    it('opens it again when the password is put back within the hour', async () => {
      await (await startWorker([place(0), nowhere])).end();
      await (await startWorker([place(0)], { password: 'two' })).end();
      expect((await startWorker([place(0)])).names()).to.contain('BROKER_URL_3');
    });

    it('forgets it after an hour', async () => {
      await (await startWorker([place(0), nowhere])).end();
      await age(hourMs - 5000);
      const worker = await startWorker([place(0)], { password: 'two' });
      expect((await noted()).map(({ name }) => name)).to.deep.equal(['BROKER_URL_1', 'BROKER_URL_1', 'BROKER_URL_3']);
      await age(5000);
      await worker.record.keep();
      expect(await noted()).to.deep.equal([configured('BROKER_URL_1')]);
    });
  });

  it('shows nothing of a URL to who reads the database or the log', async () => {
    const worker = await startWorker([place(0), nowhere]);
    worker.consumption.configure([place(0)]);
    await worker.end();
    await startWorker([place(0)], { password: 'two' });
    await startWorker([place(0)]);
    const tables = await database.rows<{ name: string }>(
      "select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'intake'::regnamespace",
    );
    const dump: string[] = [];
    for (const { name } of tables) dump.push(...(await database.rows<{ row: string }>(`select t::text as row from ${name} t`)).map(({ row }) => row));
    const said = [...dump, ...logs.map((text) => text())].join('\n');
    expect(dump.join('\n')).to.contain('BROKER_URL_3');
    expect([...formsOf(secretPassword), ...formsOf(nowhere.url)].filter((form) => said.includes(form))).to.deep.equal([]);
  });
});
