import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import knex from 'knex';
import pg from 'pg';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createPool, type Pool, type PoolOptions, statement, withVerifiedTls } from '../../../services/platform/postgres/pool.ts';
import { isUnavailable } from '../../../services/platform/postgres/errors.ts';
import { startMuteable } from '../../support/muteable.ts';
import { createTestDatabase, startPostgres, type TestDatabase } from '../../support/postgres.ts';
import { startSwitch } from '../../support/switch.ts';
import { eventually } from '../../support/wait.ts';

const names = statement<{ name: string }>('names', 'select name from things order by name');
const insert = statement<unknown, [name: string]>('insert', 'insert into things (name) values ($1)');
const backend = statement<{ pid: number }>('backend', 'select pg_backend_pid() as pid');
const endBackend = statement<unknown, [pid: number]>('end backend', 'select pg_terminate_backend($1)');

describe('createPool', () => {
  let database: TestDatabase;
  let pool: Pool;
  const opened: Pool[] = [];
  const open = (url: string, options: Partial<PoolOptions> = {}) => {
    const one = createPool(url, { schema: 'things', log: silentLog, ...options });
    opened.push(one);
    return one;
  };
  const pidOf = async (some: Pool) => (await some.first(backend))?.pid ?? 0;

  before(async () => {
    database = await createTestDatabase();
    pool = open(database.url);
    await pool.driver.query('create schema things; create table things (name text constraint things_name_unique unique)');
  });
  beforeEach(() => pool.driver.query('truncate things'));
  after(async () => {
    await Promise.all(opened.map((one) => one.close()));
    await database.drop();
  });

  it('tells how many connections are open and in use, and how many questions wait for one', async () => {
    const metrics = createMetrics();
    const small = open(database.url, { metrics, name: 'small', maxConnections: 1 });
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const holding = small.transaction(async (inTransaction) => {
      await inTransaction.first(backend);
      await held;
    });
    await eventually(() => small.driver.totalCount === 1 && small.driver.idleCount === 0);
    const waiting = small.first(backend);
    const labels = 'schema="things",pool="small"';
    await eventually(async () => expect(await metrics.text()).to.include(`signalbox_database_waiting{${labels}} 1\n`));
    expect(await metrics.text())
      .to.include(`signalbox_database_connections{${labels},state="busy"} 1\n`)
      .and.to.include(`signalbox_database_connections{${labels},state="idle"} 0\n`)
      .and.to.include(`signalbox_database_connections_limit{${labels}} 1\n`);
    release();
    await Promise.all([holding, waiting]);
    const again = small.first(backend);
    expect(small.driver.waitingCount, 'queued for a tick').to.equal(1);
    expect(await metrics.text())
      .to.include(`signalbox_database_waiting{${labels}} 0\n`)
      .and.to.include(`signalbox_database_connections{${labels},state="idle"} 1\n`);
    await again;
  });

  it('gives bigint and numeric as numbers, times as dates, json as values', async () => {
    const types = statement<Record<string, unknown>>(
      'types',
      `
      select 9007199254740991::bigint as big, 1.5::numeric as exact, count(*) as count, true as yes, null as nothing,
        '2026-01-02T03:04:05.678Z'::timestamptz as at, '{"a":[1]}'::jsonb as json, array[1,2]::int[] as list from things`,
    );
    expect(await pool.first(types)).to.deep.equal({
      big: 9007199254740991,
      exact: 1.5,
      count: 0,
      yes: true,
      nothing: null,
      at: new Date('2026-01-02T03:04:05.678Z'),
      json: { a: [1] },
      list: [1, 2],
    });
  });

  it('looks into its own schema and bounds the time of a statement', async () => {
    const settings = statement<{ path: string; timeout: string }>(
      'settings',
      `select current_setting('search_path') as path, current_setting('statement_timeout') as timeout`,
    );
    expect(await open(database.url, { statementMs: 1234 }).first(settings)).to.deep.equal({ path: 'things', timeout: '1234ms' });
    const slow = await open(database.url, { statementMs: 20 })
      .all(statement('slow', 'select pg_sleep(60)'))
      .catch((error: unknown) => error);
    expect(slow).to.be.instanceOf(pg.DatabaseError).and.to.include({ code: '57014' });
  });

  it('has the server end the session of a client that is gone within a minute', async () => {
    const settings = statement<Record<'idle' | 'interval' | 'count', string>>(
      'keepalives',
      `select current_setting('tcp_keepalives_idle') as idle, current_setting('tcp_keepalives_interval') as interval, current_setting('tcp_keepalives_count') as count`,
    );
    const { idle, interval, count } = (await pool.first(settings)) ?? { idle: 0, interval: 0, count: 0 };
    expect(Number(idle) + Number(interval) * Number(count)).to.be.within(30, 60);
  });

  it('fails a statement that waits too long for a lock, where it has a limit', async () => {
    const one = open(database.url);
    await one.run(insert, 'held');
    await one.transaction(async (inTransaction) => {
      await inTransaction.all(statement('hold', "select 1 from things where name = 'held' for update"));
      const waited = await open(database.url, { lockMs: 20 })
        .run(statement('change', "update things set name = name where name = 'held'"))
        .catch((error: unknown) => error);
      expect(waited).to.be.instanceOf(pg.DatabaseError).and.to.include({ code: '55P03' });
    });
  });

  it('prepares a statement by its name, once a connection', async () => {
    const one = open(database.url, { maxConnections: 1 });
    await one.run(insert, 'a');
    await one.run(insert, 'b');
    const prepared = statement<{ name: string; runs: number }>('prepared', 'select name, generic_plans + custom_plans as runs from pg_prepared_statements');
    expect(await one.all(prepared)).to.deep.include({ name: 'insert', runs: 2 });
  });

  it('refuses one name for two texts', async () => {
    const one = open(database.url, { maxConnections: 1 });
    await one.all(statement('same', 'select 1'));
    expect(String(await one.all(statement('same', 'select 2')).catch((error: unknown) => error))).to.match(/must be unique/);
  });

  it('answers all, the first or none, and how many rows were changed', async () => {
    expect(await pool.first(names)).to.equal(undefined);
    expect(await pool.run(insert, 'b')).to.equal(1);
    await pool.run(insert, 'a');
    expect(await pool.all(names)).to.deep.equal([{ name: 'a' }, { name: 'b' }]);
    expect(await pool.first(names)).to.deep.equal({ name: 'a' });
    expect(await pool.run(statement('rename', `update things set name = name || '!'`))).to.equal(2);
  });

  it('runs what knex builds, values through bindings', async () => {
    const build = knex({ client: 'pg' });
    await pool.run(insert, `Robert'); drop table things; --`);
    expect(await pool.select(build('things').select('name').where('name', `Robert'); drop table things; --`))).to.have.length(1);
  });

  it('keeps a connection whose statement was refused', async () => {
    const one = open(database.url, { maxConnections: 1 });
    const before = await pidOf(one);
    await one.run(insert, 'a');
    const error = await one.run(insert, 'a').catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(Error).and.include({ code: '23505', constraint: 'things_name_unique' });
    expect(await pidOf(one)).to.equal(before);
  });

  describe('transaction', () => {
    it('commits what was done, and is seen by others only then', async () => {
      const result = await pool.transaction(async (inTransaction) => {
        await inTransaction.run(insert, 'a');
        expect(await pool.all(names)).to.deep.equal([]);
        return 'done';
      });
      expect(result).to.equal('done');
      expect(await pool.all(names)).to.deep.equal([{ name: 'a' }]);
    });

    it('rolls back when its work throws, rethrows, and gives the connection back', async () => {
      const one = open(database.url, { maxConnections: 1 });
      const failure = new Error('changed my mind');
      const thrown = await one
        .transaction(async (inTransaction) => {
          await inTransaction.run(insert, 'a');
          throw failure;
        })
        .catch((error: unknown) => error);
      expect(thrown).to.equal(failure);
      expect(await one.all(names)).to.deep.equal([]);
    });

    it('rolls back when a statement fails, though its work swallows that', async () => {
      await pool.run(insert, 'a');
      await pool.transaction(async (inTransaction) => {
        await inTransaction.run(insert, 'b');
        await inTransaction.run(insert, 'a').catch(() => undefined);
      });
      expect(await pool.all(names)).to.deep.equal([{ name: 'a' }]);
    });

    it('refuses a transaction or a lock inside', async () => {
      for (const nested of ['transaction', 'whileLocked'] as const) {
        const error = await pool
          .transaction((inside) => (nested === 'transaction' ? inside.transaction(() => Promise.resolve()) : inside.whileLocked('x', () => Promise.resolve())))
          .catch((failure: unknown) => failure);
        expect(error, nested).to.be.instanceOf(TypeError);
      }
    });

    it('fails when its connection is lost between two statements, and the next one works', async () => {
      const one = open(database.url, { maxConnections: 1 });
      const error = await one
        .transaction(async (inTransaction) => {
          await inTransaction.run(insert, 'a');
          await pool.run(endBackend, (await inTransaction.first(backend))?.pid ?? 0);
          await eventually(
            async () => (await pool.all(statement<{ n: number }, [number]>('n', 'select 1 as n from pg_stat_activity where pid = $1'), 0)).length === 0,
          );
          await inTransaction.run(insert, 'b');
        })
        .catch((failure: unknown) => failure);
      expect(isUnavailable(error)).to.equal(true);
      await one.transaction((inTransaction) => inTransaction.run(insert, 'c'));
      expect(await one.all(names)).to.deep.equal([{ name: 'c' }]);
    });
  });

  describe('whileLocked', () => {
    it('lets one of two pools work at a time, by name', async () => {
      const other = open(database.url);
      const outcome = await pool.whileLocked('chore', async () => ({
        same: await other.whileLocked('chore', () => Promise.resolve('twice')),
        another: await other.whileLocked('another chore', () => Promise.resolve('beside')),
      }));
      expect(outcome).to.deep.equal({ same: undefined, another: 'beside' });
      expect(await other.whileLocked('chore', () => Promise.resolve('after'))).to.equal('after');
    });

    it('frees the lock when its work fails, and keeps its error', async () => {
      const failure = new Error('the work failed');
      expect(await pool.whileLocked('chore', () => Promise.reject(failure)).catch((error: unknown) => error)).to.equal(failure);
      expect(await open(database.url).whileLocked('chore', () => Promise.resolve('free'))).to.equal('free');
    });

    it('outlives the loss of the connection that holds the lock', async () => {
      const holder = open(database.url, { maxConnections: 1 });
      const pid = await pidOf(holder);
      const done = await holder.whileLocked('chore', async () => {
        await pool.run(endBackend, pid);
        await eventually(async () => (await pool.whileLocked('chore', () => Promise.resolve(true))) === true);
        return 'done';
      });
      expect(done).to.equal('done');
      expect(await pidOf(holder)).to.not.equal(pid);
    });
  });

  describe('when the server', () => {
    it('is not there, opening is fine and questions fail as unavailable', async () => {
      const nowhere = open('postgres://nobody:x@127.0.0.1:1/none');
      const error = await nowhere.all(names).catch((failure: unknown) => failure);
      expect(isUnavailable(error)).to.equal(true);
    });

    it('hangs, closing ends all the same, and so do the questions under way', async () => {
      const hanging = await startMuteable(new URL(database.url));
      const own = createPool(hanging.url, { schema: 'public', log: silentLog });
      const ask = () => own.first(statement<{ one: number }>('one', 'select 1 as one'));
      await Promise.all([ask(), ask()]);
      hanging.mute();
      const asked = ask().catch((error: unknown) => error);
      await own.close();
      expect(isUnavailable(await asked)).to.equal(true);
      hanging.close();
    });

    it('hangs, a transaction fails once its bound has passed, as a single statement does', async () => {
      const hanging = await startMuteable(new URL(database.url));
      const own = createPool(hanging.url, { schema: 'public', log: silentLog, answerMs: 1000 });
      const ask = (on: Pick<Pool, 'first'>) => on.first(statement<{ one: number }>('one', 'select 1 as one'));
      await Promise.all([ask(own), ask(own)]);
      const failed = async (work: () => Promise<unknown>) => {
        const begun = performance.now();
        const error = await work().catch((thrown: unknown) => thrown);
        return { isUnavailable: isUnavailable(error), isInTime: performance.now() - begun < 1900 };
      };
      const outcomes = await Promise.all([
        failed(() =>
          own.transaction(async (inTransaction) => {
            await ask(inTransaction);
            hanging.mute();
            await ask(inTransaction);
          }),
        ),
        failed(async () => {
          await eventually(() => own.driver.idleCount < 2);
          hanging.mute();
          await ask(own);
        }),
      ]);
      expect(outcomes).to.deep.equal([
        { isUnavailable: true, isInTime: true },
        { isUnavailable: true, isInTime: true },
      ]);
      await own.close();
      hanging.close();
    });

    it('hangs, work under a lock fails with its first statement without an answer', async () => {
      const hanging = await startMuteable(new URL(database.url));
      const own = createPool(hanging.url, { schema: 'public', log: silentLog, answerMs: 1000 });
      let failed = (_: string) => undefined as void;
      const first = new Promise<string>((resolve) => (failed = resolve));
      const locked = own.whileLocked('chore', async () => {
        hanging.mute();
        await own.first(backend).catch((error: unknown) => {
          setImmediate(failed, 'the statement');
          throw error;
        });
      });
      const ended = locked.catch((error: unknown) => isUnavailable(error));
      expect(await Promise.race([ended, first])).to.equal(true);
      await own.close();
      hanging.close();
    });

    it('is gone without a word, one question fails and the next ones have new connections', async () => {
      const port = Number(new URL(database.url).port);
      const address = await startSwitch(port);
      const url = new URL(database.url);
      url.port = String(address.port);
      const own = createPool(url.href, { schema: 'public', log: silentLog, maxConnections: 4, answerMs: 1000 });
      const ask = () => own.first(statement<{ one: number }>('one', 'select 1 as one'));
      const hold = () => own.first(statement('hold', 'select pg_sleep(0.2)'));
      await Promise.all([hold(), hold(), hold(), hold()]);
      expect(own.driver.idleCount).to.equal(4);
      address.silence();
      address.leadTo(port);
      expect(isUnavailable(await ask().catch((error: unknown) => error))).to.equal(true);
      expect(await Promise.all([ask(), ask(), ask(), ask()])).to.deep.equal(Array.from({ length: 4 }, () => ({ one: 1 })));
      await own.close();
      address.close();
    });

    it('is a standby, questions fail as unavailable until it is promoted', async () => {
      const server = await startPostgres();
      const admin = open(server.url);
      await admin.driver.query(`do $$ begin execute format('copy (select 1) to %L', current_setting('data_directory') || '/standby.signal'); end $$`);
      await server.stop();
      await server.start();
      const own = createPool(server.url, { schema: 'public', log: silentLog });
      const ask = () => own.first(statement<{ one: number }>('one', 'select 1 as one'));
      const error = await ask().catch((failure: unknown) => failure);
      expect(isUnavailable(error)).to.equal(true);
      expect(error).to.have.property('message').that.includes('standby');
      expect(own.driver.totalCount).to.equal(0);
      const promoting = new pg.Client({ connectionString: server.url });
      await promoting.connect();
      await promoting.query('select pg_promote()');
      await promoting.end();
      expect(await ask()).to.deep.equal({ one: 1 });
      await own.close();
      await server.close();
    });

    it('is gone without a word, its kernel is asked after 10 s whether it is there', async function () {
      if (!existsSync('/proc/net/tcp')) return this.skip();
      const own = open(database.url);
      const { rows } = await own.driver.query<{ port: number }>('select inet_client_port() as port');
      expect(keepAliveMsOf(rows[0]?.port ?? 0, Number(new URL(database.url).port))).to.be.within(1, 10_000);
    });

    it('takes a connection and then hangs, a question fails as unavailable', async () => {
      // AuthenticationOk and ReadyForQuery, and no answer to a question.
      const hanging = createServer((socket) => {
        socket.on('error', () => undefined).once('data', () => socket.write(Buffer.from('520000000800000000' + '5a0000000549', 'hex')));
      }).listen(0, '127.0.0.1');
      await once(hanging, 'listening');
      const { port } = hanging.address() as AddressInfo;
      const own = createPool(`postgres://me:x@127.0.0.1:${port}/none`, { schema: 'public', log: silentLog, connectMs: 500 });
      expect(isUnavailable(await own.all(names).catch((error: unknown) => error))).to.equal(true);
      await own.close();
      hanging.close();
    });

    it('restarts, idle connections are replaced without a word to the caller', async () => {
      const server = await startPostgres();
      const own = createPool(server.url, { schema: 'public', log: silentLog });
      const ask = () => own.first(statement<{ one: number }>('one', 'select 1 as one'));
      await Promise.all([ask(), ask(), ask()]);
      await server.stop();
      expect(isUnavailable(await ask().catch((error: unknown) => error))).to.equal(true);
      await server.start();
      expect(await ask()).to.deep.equal({ one: 1 });
      await server.kill();
      await eventually(async () => isUnavailable(await ask().catch((error: unknown) => error)));
      await server.start();
      expect(await eventually(ask)).to.deep.equal({ one: 1 });
      await own.close();
      await server.close();
    });
  });
});

/** Until the kernel's next keep-alive probe on the connection between two ports, in hundredths of a second in the kernel's table. */
function keepAliveMsOf(from: number, to: number): number {
  const ends = [from, to].map((port) => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`).join(' ');
  const line = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .find((one) => one.includes(ends));
  const [, left] = / 02:([0-9A-F]{8}) /.exec(line ?? '') ?? [];
  return left === undefined ? 0 : parseInt(left, 16) * 10;
}

describe('withVerifiedTls', () => {
  for (const [given, wanted] of [
    ['postgres://db/one?sslmode=require', 'postgres://db/one?sslmode=verify-full'],
    ['postgres://db/one?schema=a&sslmode=prefer&b=c', 'postgres://db/one?schema=a&sslmode=verify-full&b=c'],
    ['postgres://db/one?sslmode=verify-ca', 'postgres://db/one?sslmode=verify-full'],
    ['postgres://db/one?sslmode=disable', 'postgres://db/one?sslmode=disable'],
    ['postgres://db/one?sslmode=require&uselibpqcompat=true', 'postgres://db/one?sslmode=require&uselibpqcompat=true'],
    ['postgres://db/one', 'postgres://db/one'],
  ] as const)
    it(`makes ${wanted} of ${given}`, () => {
      expect(withVerifiedTls(given)).to.equal(wanted);
    });
});
