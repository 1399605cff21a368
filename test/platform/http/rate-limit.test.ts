import { expect } from 'chai';
import pg from 'pg';
import type { Limit } from '../../../services/platform/http/credentials.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createPool, type Pool, statement } from '../../../services/platform/postgres/pool.ts';
import { Common, Problem } from '../../../services/platform/problem.ts';
import { createRateLimit, type RateLimit, type RateLimitParts, type Window } from '../../../services/platform/http/rate-limit.ts';
import { connectRedis, type RedisConnection } from '../../../services/platform/redis.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { describeWith } from '../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { redis, sharedRedis, startRedis } from '../../support/redis.ts';
import { eventually } from '../../support/wait.ts';
import { captureLog } from '../captured-log.ts';

/** A store that is slow for its machine's load is not away. */
const window: Window = { name: 'api', requests: 3, seconds: 60, storeMs: 30_000 };

/** The seconds that may be left of a window of 60 s which began no sooner than `since`, by `performance.now()`. */
const leftSince = (since: number) => [Math.floor(60 - (performance.now() - since) / 1000), 60] as const;

async function verdict(limit: Limit, key: string): Promise<'passed' | 'refused'> {
  try {
    await limit.count(key);
    return 'passed';
  } catch (error) {
    if (error instanceof Problem && error.status === 429) return 'refused';
    throw error;
  }
}
const refusalOf = async (limit: Limit, key: string): Promise<Problem> => {
  const error = await limit.count(key).then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (error instanceof Problem) return error;
  throw new Error('it was not refused');
};

type Store = Pick<RateLimitParts, 'redis' | 'database'>;

// Both stores keep the same promises. `replica` opens another process's connection to the same store.
function behavesAsLimit(replica: () => Promise<Store>): void {
  let service = 0;
  const parts = async (): Promise<RateLimitParts> => ({
    ...(await replica()),
    service: `test-${process.pid}-${service}`,
    log: silentLog,
    metrics: createMetrics(),
  });
  beforeEach(() => void service++);

  it('lets a key pass so often in its window, and tells what is left', async () => {
    const limit = createRateLimit(await parts(), window);
    const since = performance.now();
    for (const left of [2, 1, 0]) {
      const headers = await limit.count('198.51.100.7');
      expect(headers['RateLimit-Policy']).to.equal('"api";q=3;w=60');
      const [, remaining, seconds] = /^"api";r=(\d+);t=(\d+)$/.exec(headers['RateLimit'] ?? '') ?? [];
      expect(Number(remaining)).to.equal(left);
      expect(Number(seconds)).to.be.within(...leftSince(since));
    }
    expect(await verdict(limit, '198.51.100.7')).to.equal('refused');
    expect(await verdict(limit, '198.51.100.8')).to.equal('passed');
  });

  it('counts all addresses of one IPv6 /64 as one client, and IPv4 in IPv6 clothes as IPv4', async () => {
    const limit = createRateLimit(await parts(), { ...window, requests: 1 });
    expect(await verdict(limit, '2001:db8:1:2::1')).to.equal('passed');
    expect(await verdict(limit, '2001:db8:1:2:3:4:5:6')).to.equal('refused');
    expect(await verdict(limit, '2001:db8:1:3::1')).to.equal('passed');
    expect(await verdict(limit, '::ffff:198.51.100.7')).to.equal('passed');
    expect(await verdict(limit, '198.51.100.7')).to.equal('refused');
    expect(await verdict(limit, '::ffff:198.51.100.8')).to.equal('passed');
  });

  it('refuses with 429, Retry-After and the state of the window', async () => {
    const limit = createRateLimit(await parts(), { ...window, requests: 1 });
    const since = performance.now();
    await limit.count('a');
    for (let round = 0; round < 3; round++) {
      const { headers, detail } = await refusalOf(limit, 'a');
      expect(Number(headers['Retry-After'])).to.be.within(...leftSince(since));
      expect(headers['RateLimit']).to.equal(`"api";r=0;t=${headers['Retry-After']}`);
      expect(headers['RateLimit-Policy']).to.equal('"api";q=1;w=60');
      expect(detail).to.match(/^At most 1 requests in 60 s; the next in \d+ s\.$/);
    }
  });

  it('counts refused attempts only, across replicas, and runs none once they are used up', async () => {
    const [one, other] = [createRateLimit(await parts(), { ...window, requests: 2 }), createRateLimit(await parts(), { ...window, requests: 2 })];
    let run = 0;
    const attempt = (limit: RateLimit, key: string, failure?: Problem) =>
      limit
        .attempt(key, () => {
          run++;
          return failure ? Promise.reject(failure) : Promise.resolve('in');
        })
        .catch((error: unknown) => (error instanceof Problem ? error.status : error));
    for (let round = 0; round < 3; round++) expect(await attempt(one, 'a')).to.equal('in');
    for (let round = 0; round < 3; round++) expect(await attempt(one, 'a', Common.unavailable())).to.equal(503);
    expect(await attempt(one, 'a', Common.unauthorized())).to.equal(401);
    expect(await attempt(other, 'a')).to.equal('in');
    expect(await attempt(other, 'a', Common.unauthorized())).to.equal(401);
    const before = run;
    expect([await attempt(one, 'a'), await attempt(other, 'a')]).to.deep.equal([429, 429]);
    expect(run).to.equal(before);
    expect(await attempt(one, 'b')).to.equal('in');
  });

  it('runs no more attempts at once than may fail', async () => {
    const limit = createRateLimit(await parts(), window);
    let run = 0;
    const wrong = () => limit.attempt('a', () => Promise.reject(Common.unauthorized({ detail: String(run++) })));
    const failures = await Promise.allSettled(Array.from({ length: 20 }, wrong));
    expect(run).to.equal(3);
    expect(failures.filter(({ status }) => status === 'rejected')).to.have.length(20);
  });

  it('counts exactly, across replicas that ask at the same time', async () => {
    const shared = { ...window, requests: 20 };
    const limits = [createRateLimit(await parts(), shared), createRateLimit(await parts(), shared)];
    const verdicts = await Promise.all(Array.from({ length: 60 }, (_, index) => limits[index % 2]).flatMap((limit) => (limit ? [verdict(limit, 'a')] : [])));
    expect(verdicts.filter((one) => one === 'passed')).to.have.length(20);
    expect(verdicts).to.have.length(60);
  });

  it('holds when the process starts anew', async () => {
    const before = createRateLimit(await parts(), { ...window, requests: 1 });
    await before.count('a');
    expect(await verdict(createRateLimit(await parts(), { ...window, requests: 1 }), 'a')).to.equal('refused');
  });

  it('begins a new window when one has passed', async () => {
    const seconds = 4;
    const limit = createRateLimit(await parts(), { ...window, requests: 1, seconds });
    const since = performance.now();
    await limit.count('a');
    expect(await verdict(limit, 'a')).to.equal('refused');
    await eventually(async () => (await verdict(limit, 'a')) === 'passed');
    expect(performance.now() - since).to.be.at.least(seconds * 1000 - 50); // the clocks of two processes
    expect(await verdict(limit, 'a')).to.equal('refused');
  });

  it('tells limits and services apart', async () => {
    const one = await parts();
    const limits = [
      createRateLimit(one, { ...window, requests: 1 }),
      createRateLimit(one, { ...window, requests: 1, name: 'ingest' }),
      createRateLimit({ ...one, service: `${one.service}x` }, { ...window, requests: 1 }),
    ];
    for (const limit of limits) expect(await verdict(limit, 'a')).to.equal('passed');
    for (const limit of limits) expect(await verdict(limit, 'a')).to.equal('refused');
  });

  it('counts what it refused', async () => {
    const one = await parts();
    const limit = createRateLimit(one, { ...window, requests: 1 });
    for (let round = 0; round < 4; round++) await verdict(limit, 'a');
    expect(await one.metrics.text()).to.include(`signalbox_rate_limit_refused_total{deployable="${one.service}",limit="api"} 3`);
  });
}

/** The process counts by itself, one line says so, and the counter tells how many. */
async function countsByItself(store: Store): Promise<void> {
  const { log, lines } = captureLog();
  const metrics = createMetrics();
  const limit = createRateLimit({ ...store, service: 'test', log, metrics }, { ...window, requests: 2, storeMs: 300 });
  expect((await limit.count('a'))['RateLimit']).to.equal('"api";r=1;t=60');
  expect(await limit.attempt('a', () => Promise.resolve('in'))).to.equal('in');
  expect([await verdict(limit, 'a'), await verdict(limit, 'a'), await verdict(limit, 'b')]).to.deep.equal(['passed', 'refused', 'passed']);
  const warnings = lines().filter(({ level }) => level === 'warn');
  expect(warnings).to.have.length(1);
  expect(warnings[0]).to.include({ limit: 'api' });
  expect(await metrics.text()).to.include('signalbox_rate_limit_fallback_total{deployable="test",limit="api"} 5');
}

describe('createRateLimit', () => {
  let test: TestDatabase;
  const pools: Pool[] = [];
  const openPool = (url: string) => {
    const pool = createPool(url, { schema: 'limits', log: silentLog });
    pools.push(pool);
    return pool;
  };
  before(async () => {
    test = await createTestDatabase();
    await openPool(test.url).driver.query(`create schema limits; set search_path to limits;
      create unlogged table rate_limits (key text primary key, points integer not null default 0, expire bigint) with (fillfactor = 50);`);
  });
  after(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
    await test.drop();
  });

  describe('in Postgres', () => {
    behavesAsLimit(() => Promise.resolve({ database: openPool(test.url) }));

    it('keeps neither addresses nor tokens', async () => {
      const database = openPool(test.url);
      await createRateLimit({ database, service: 'private', log: silentLog, metrics: createMetrics() }, window).count('token-hunter2');
      const keys = await database.all(statement<{ key: string }>('keys', `select key from rate_limits where key like 'signalbox:private:%'`));
      expect(keys).to.have.length(1);
      expect(keys[0]?.key).to.match(/^signalbox:private:api:[\w-]{43}$/);
    });

    it('needs no right but to read and write its table', async () => {
      const owner = openPool(test.url);
      await owner.driver.query(`drop role if exists limits_app_${process.pid}; create role limits_app_${process.pid} login password 'x';
        grant usage on schema limits to limits_app_${process.pid}; grant select, insert, update, delete on limits.rate_limits to limits_app_${process.pid}`);
      const url = new URL(test.url);
      url.username = `limits_app_${process.pid}`;
      url.password = 'x';
      const limit = createRateLimit({ database: openPool(url.href), service: 'app', log: silentLog, metrics: createMetrics() }, { ...window, requests: 1 });
      expect([await verdict(limit, 'a'), await verdict(limit, 'a')]).to.deep.equal(['passed', 'refused']);
      await owner.driver.query(`drop owned by limits_app_${process.pid}; drop role limits_app_${process.pid}`).catch((error: unknown) => {
        if (!(error instanceof pg.DatabaseError)) throw error;
      });
    });

    it('counts in the process while the database is unavailable', () => countsByItself({ database: openPool('postgres://nobody:x@127.0.0.1:1/none') }));

    it('counts in the process when the database does not answer in time', async () => {
      const blocker = openPool(test.url);
      await blocker.transaction(async (inTransaction) => {
        await inTransaction.run(statement('lock', 'lock table rate_limits in access exclusive mode'));
        await countsByItself({ database: openPool(test.url) });
      });
    });
  });

  describeWith(redis, 'in Redis', () => {
    const connections: RedisConnection[] = [];
    const open = async (url: string) => {
      const connection = connectRedis(url, { name: 'signalbox-test', log: silentLog, commandMs: 30_000 });
      connections.push(connection);
      await eventually(() => connection.driver.status === 'ready');
      return connection;
    };
    after(async () => {
      await Promise.all(connections.map((connection) => connection.close()));
    });

    behavesAsLimit(async () => ({ redis: await open(await sharedRedis()), database: openPool('postgres://nobody:x@127.0.0.1:1/none') }));

    it('counts in the process while Redis is unavailable, and in Redis when it is back', async () => {
      const server = await startRedis();
      const store = { redis: await open(server.url), database: openPool(test.url) };
      await server.kill();
      await eventually(() => store.redis.driver.status !== 'ready');
      await countsByItself(store);
      await server.start();
      const limit = createRateLimit({ ...store, service: 'test', log: silentLog, metrics: createMetrics() }, { ...window, requests: 1 });
      await eventually(async () => (await verdict(limit, 'a')) === 'refused');
      await store.redis.close();
      await server.close();
    });

    it('counts in the process when Redis does not answer in time', async () => {
      const server = await startRedis();
      const store = { redis: await open(server.url), database: openPool(test.url) };
      const admin = await open(server.url);
      await admin.driver.client('PAUSE', 3_600_000, 'ALL');
      await countsByItself(store);
      await server.close();
    });
  });
});
