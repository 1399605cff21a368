// Behaviour of the embedded broker alone: atomic fanout, live owners, shared tables, Postgres's own limits.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import pg from 'pg';
import type { Broker, Topology } from '../../../../services/platform/broker/broker.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { collect, connect, generousMs, message, newTopology, publish, until } from '../fixture.ts';

describe('the embedded adapter', function () {
  this.timeout(300_000);
  let database: TestDatabase;
  let observer: pg.Client;
  const open: Broker[] = [];

  async function connected(topology: Topology, url = database.url): Promise<Broker> {
    const broker = connect(url, topology);
    open.push(broker);
    await broker.ready(generousMs);
    return broker;
  }

  before(async () => {
    database = await createTestDatabase();
    observer = new pg.Client({ connectionString: database.url });
    await observer.connect();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((broker) => broker.close()));
  });
  after(async () => {
    await observer.end();
    await database.drop();
  });

  it('lets several processes set up the same schema at once', async () => {
    const fresh = await createTestDatabase();
    const { topology, first } = newTopology();
    const brokers = await Promise.all(Array.from({ length: 4 }, () => connected(topology, fresh.url)));
    await Promise.all(brokers.map((broker, index) => publish(broker, message(`m${index}`))));
    expect(await brokers[0]?.depth(first)).to.equal(4);
    await Promise.all(open.splice(0).map((broker) => broker.close()));
    await fresh.drop();
  });

  it('keeps its tables in the schema that the URL names', async () => {
    const { topology, first } = newTopology();
    const url = new URL(database.url);
    url.searchParams.set('schema', 'other_broker');
    const broker = await connected(topology, url.href);
    await publish(broker, message('a'));
    const { rows } = await observer.query('select count(*)::int as count from other_broker.job where name = $1', [first]);
    expect(rows).to.deep.equal([{ count: 1 }]);
  });

  it('works for a role that owns its schema and may create no other', async () => {
    const fresh = await createTestDatabase();
    const role = `broker_${process.pid}`;
    const url = new URL(fresh.url);
    const admin = new pg.Client({ connectionString: fresh.url });
    await admin.connect();
    await admin.query(`create role ${role} login password 'owner'; create schema broker authorization ${role}`);
    url.username = role;
    url.password = 'owner';
    const { topology } = newTopology();
    const broker = await connected(topology, url.href);
    await publish(broker, message('a'));
    await broker.close();
    await admin.query(`drop schema broker cascade; drop role ${role}`);
    await admin.end();
    await fresh.drop();
  });

  it('consumes and keeps its session while another role holds the lock by which consumers are counted', async () => {
    const { topology, first } = newTopology();
    const url = new URL(database.url);
    url.searchParams.set('schema', 'locked');
    await observer.query(`select pg_advisory_lock(1936287598, hashtext($1::text))`, [`locked.${first}`]);
    const broker = await connected(topology, url.href);
    const seen = collect(broker, first);
    await publish(broker, message('a'));
    await until(() => seen.deliveries.length === 1, 'it is consumed');
    expect((await broker.stateOf(first)).consumers).to.equal(0);
    const { rows } = await observer.query(`select query from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`);
    expect(rows).to.deep.equal([]);
    await observer.query('select pg_advisory_unlock_all()');
  });

  it('refuses a schema that is no plain name', () => {
    const { topology } = newTopology();
    expect(() => connect('postgres://127.0.0.1/x?schema=a"b', topology)).to.throw(TypeError, 'schema');
  });

  it('writes every copy of a message or none', async () => {
    const { topology, first, second } = newTopology();
    const broker = await connected(topology);
    await observer.query(`alter table broker.job_common add constraint no_second check (name <> '${second}')`);
    const result = await broker.publish(message('a'), generousMs);
    expect(result).to.include({ outcome: 'unpublished' });
    await observer.query('alter table broker.job_common drop constraint no_second');
    expect(await broker.depth(first)).to.equal(0);
    await publish(broker, message('b'));
    expect(await broker.depth(second)).to.equal(1);
  });

  it('answers `unknown` for what is being written when time runs out, `unpublished` for what waits behind it', async () => {
    const { topology } = newTopology();
    const broker = await connected(topology);
    await observer.query('begin; lock table broker.job_common in access exclusive mode');
    const writing = broker.publish(message('a'), 500);
    const ungranted = 'select count(*)::int as count from pg_locks where not granted';
    await until(async () => (await observer.query<{ count: number }>(ungranted)).rows[0]?.count !== 0, 'the first is being written');
    const behind = broker.publish(message('b'), 500);
    const outcomes = [(await writing).outcome, (await behind).outcome];
    await observer.query('rollback');
    expect(outcomes).to.deep.equal(['unknown', 'unpublished']);
    await publish(broker, message('c'));
  });

  it('answers `refused` for text that Postgres cannot hold, and takes the messages beside it', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    const bad = message('bad', { type: 'a\0b' });
    const results = await Promise.all([message('a'), bad, message('b')].map((one) => broker.publish(one, generousMs)));
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(['confirmed', 'refused', 'confirmed']);
    expect(await broker.depth(first)).to.equal(2);
  });

  it('carries headers that Postgres itself cannot hold', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    const headers = { 'x-action': 'a\0b', 'x-sender': '\ud800' };
    const { deliveries } = collect(broker, first);
    await publish(broker, message('a', { headers }));
    await until(() => deliveries.length === 1, 'the message arrives');
    expect(deliveries[0]?.headers).to.deep.equal(headers);
  });

  it('wakes a waiting consumer at once', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    const { deliveries, times } = collect(broker, first);
    const medianOfTen = async () => {
      const latencies: number[] = [];
      for (let round = 0; round < 10; round += 1) {
        const before = deliveries.length;
        await publish(broker, message(`m${before}`));
        const sent = performance.now();
        await until(() => deliveries.length > before, 'the message arrives');
        latencies.push((times[before] ?? Infinity) - sent);
      }
      return latencies.sort((a, b) => a - b)[5] ?? Infinity;
    };
    // By looking alone it would be nearly the 500 ms between two looks, each time: each message comes just after one. A machine under load gets several tries.
    await until(async () => (await medianOfTen()) < 300, 'most come at once');
  });

  it('claims no more for a batch than its bytes allow, and one message of any size', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    const body = randomBytes(400_000);
    await publish(broker, ...['a', 'b', 'c', 'd', 'e'].map((id) => message(id, { body })), message('large', { body: randomBytes(3_000_000) }));
    const batches: number[] = [];
    broker.consume(first, { batchSize: 10, prefetch: 10, maxBytes: 1_200_000 }, (batch) => {
      batches.push(batch.length);
      return Promise.resolve(batch.map(() => 'ack' as const));
    });
    await until(() => batches.reduce((sum, size) => sum + size, 0) === 6, 'all are handled');
    expect(batches).to.deep.equal([2, 2, 1, 1]);
  });

  it('keeps no trace of what is done', async () => {
    const { topology, first, second } = newTopology();
    const broker = await connected(topology);
    await publish(broker, ...Array.from({ length: 20 }, (_, index) => message(`m${index}`)));
    collect(broker, first);
    collect(broker, second);
    await until(async () => (await jobs(first)) + (await jobs(second)) === 0, 'the tables are empty');
  });

  it('connects again when its backends are terminated', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    const { deliveries } = collect(broker, first);
    await observer.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'broker test'`);
    await until(() => broker.lastError !== null, 'the loss is noticed');
    await broker.ready(generousMs);
    await publish(broker, message('a'));
    await until(() => deliveries.length === 1, 'the consumer works again');
  });

  it('says nothing of the password when it is wrong', async () => {
    const { topology } = newTopology();
    const url = new URL(database.url);
    url.password = 'hunter2-wrong';
    const broker = connect(url.href, topology);
    open.push(broker);
    await until(() => broker.lastError?.includes('password authentication failed') === true, 'the fault is noticed');
    expect(broker.lastError).to.not.include('hunter2');
  });

  async function jobs(queue: string): Promise<number> {
    const { rows } = await observer.query<{ count: number }>('select count(*)::int as count from broker.job where name = $1', [queue]);
    return rows[0]?.count ?? -1;
  }
});
