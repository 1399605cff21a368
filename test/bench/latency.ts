// Latency: from the POST of a delivery to its rows and to a followed page of the console, and the processor time that it costs from end to end.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'amqplib';
import pg from 'pg';
import { silentLog } from '../../services/platform/log.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { migrations as consoleMigrations, password } from '../services/console/service.ts';
import { examples } from '../services/webhook-intake/deliveries.ts';
import { migrations as intakeMigrations } from '../services/webhook-intake/intake-database.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { startPostgres } from '../support/postgres.ts';
import { rabbitmqAvailable, type RabbitmqServer, startRabbitmq } from '../support/rabbitmq.ts';
import { processorMs, processorMsBelow } from '../support/usage.ts';
import { eventually } from '../support/wait.ts';
import { cookiesOf } from './console.ts';
import { type Bench, type BenchRow, compare, interleaved, median, type Pace, type Sides, within } from './support/bench.ts';
import { deliveryHeaders, deliveryPath } from './support/forge-delivery.ts';
import type { LatencyLoad, LatencyResult, Quantiles } from './support/latency-load.ts';
import { type Program, runProgram, startBound, startService, startWorker } from './support/programs.ts';
import { needWrk, runWrk } from './support/wrk.ts';

const secret = 'a secret of the benchmark';
const token = 'token-of-the-latency-bench';
const payloadBytes = 21 * 1024;
const connections = 32;
const goal = { atMost: 3 };
const ownMs = 100;
/** The goal of the console: nineteen deliveries of twenty are on a page that follows by then. */
const pageMs = 2000;
/** Numbers of deliveries have ten digits, as no other number of the payload, and fit an `int`. */
const mark = 2_147_000_007;

const boundTables = `create schema bound;
  create table bound.queue (id bigint generated always as identity primary key, headers jsonb not null, body bytea not null);
  create table bound.events (id bigint generated always as identity primary key, delivery_id text not null, headers jsonb not null, body bytea not null);
  create index on bound.events (delivery_id)`;

const committed = (row: string) => `delivery_id as id, extract(epoch from pg_xact_commit_timestamp(${row}.xmin))::float8 * 1000 as at`;
const rowsOfOurs = {
  'event log': `select ${committed('events')} from intake.events where delivery_id = any($1::text[])`,
  // A worker updates the issue's own row later; its delivery's is written by the transaction that inserts it.
  'typed table': `select ${committed('tracked_deliveries')} from intake.tracked_deliveries where delivery_id = any($1::text[])
    and exists (select from intake.issues where forge = 'github.com' and object_key = tracked_deliveries.delivery_id)`,
};
const rowsOfBound = { row: `select ${committed('events')} from bound.events where delivery_id = any($1::text[])` };

/** The forge's example of an opened issue, filled up to 21 KB. */
function createTemplate(): string {
  const payload = examples.find((example) => example.event === 'issues' && example.payload['action'] === 'opened')?.payload;
  if (!payload) throw new Error('there is no example of an opened issue');
  const filled = (bytes: number) =>
    JSON.stringify({ ...payload, issue: { ...Object(payload['issue']), id: mark, number: mark, title: 'A signal', body: 'x'.repeat(bytes) } });
  return filled(payloadBytes - filled(0).length);
}

async function startOurs(databaseUrl: string, brokerUrl: string) {
  const shared = { DATABASE_URL: databaseUrl, BROKER_URL_1: brokerUrl };
  const relay = await startService('webhook-relay', {
    ...shared,
    Broker__AuthToken: 'a token of the benchmark',
    Broker__MonthlyMessageLimit: '100000000',
    Forge__WebhookSecrets: secret,
    FailedPayloads__Directory: join(temporaryDirectory('bench'), 'spool'),
  });
  const workers = [await startWorker('service', shared), await startWorker('database-service', shared)];
  const intake = await startService('webhook-intake', { ...shared, Intake__AccessTokens: token });
  const console = await startService('console', {
    DATABASE_URL: databaseUrl,
    APP_ENV: 'development',
    Console__AdminPassword: password,
    Console__IntakeUrl: `http://127.0.0.1:${intake.port}`,
    Console__IntakeToken: token,
  });
  const page = { url: `http://127.0.0.1:${console.port}/events/follow`, cookie: await cookiesOf(console.port) };
  return { port: relay.port, page, programs: [relay, ...workers], end: () => [relay, ...workers, intake, console].forEach((program) => program.end()) };
}

async function startBounds(databaseUrl: string, brokerUrl: string | undefined): Promise<readonly [publisher: Program, inserter: Program]> {
  if (brokerUrl === undefined)
    return [await startBound('relay-bound.ts', databaseUrl, secret, '', 'with headers'), await startBound('insert-bound.ts', databaseUrl)];
  const administration = await connect(brokerUrl);
  const channel = await administration.createChannel();
  await channel.assertExchange('bound', 'fanout', { durable: true });
  await channel.assertQueue('bound', { durable: true });
  await channel.bindQueue('bound', 'bound', '');
  await administration.close();
  return [await startBound('relay-bound.ts', brokerUrl, secret, 'bound', 'with headers'), await startBound('insert-bound.ts', databaseUrl, brokerUrl, 'bound')];
}

/** The servers that both sides work on. */
async function serverPids(client: pg.Client, rabbitmq: RabbitmqServer | undefined): Promise<readonly number[]> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const [, postmaster] = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${rows[0]?.pid}/status`, 'utf8')) ?? [];
  const broker = await rabbitmq?.control('eval', 'os:getpid().');
  return [Number(postmaster), ...(broker === undefined ? [] : [Number(/\d+/.exec(broker)?.[0])])];
}

type Measured = LatencyResult & {
  /** The processor time of a delivery, with what its programs and servers use when nothing comes. */
  readonly cpu: { readonly programs: number; readonly servers: number };
};

async function setUp(isOnRabbitmq: boolean) {
  const postgres = await startPostgres({ settings: { track_commit_timestamp: 'on' } });
  const rabbitmq = isOnRabbitmq ? await startRabbitmq() : undefined;
  await migrate(postgres.url, { schema: 'relay', directory: new URL('../../services/webhook-relay/migrations/', import.meta.url) }, silentLog);
  await migrate(postgres.url, { schema: 'intake', directory: intakeMigrations }, silentLog);
  await migrate(postgres.url, { schema: 'console', directory: consoleMigrations }, silentLog);
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(boundTables);
  const ours = await startOurs(postgres.url, rabbitmq?.url ?? postgres.url);
  const bounds = await startBounds(postgres.url, rabbitmq?.url);
  const servers = await serverPids(client, rabbitmq);
  const template = createTemplate();
  let firstNumber = 1_000_000_000;

  async function measure(load: Pick<LatencyLoad, 'port' | 'rate' | 'seconds' | 'rows' | 'page'>, programs: readonly Program[]): Promise<Measured> {
    const used = () => ({
      programs: programs.reduce((sum, { pid }) => sum + processorMs(pid), 0),
      servers: servers.reduce((sum, pid) => sum + processorMsBelow(pid), 0),
    });
    const before = used();
    const options: LatencyLoad = { ...load, secret, template, mark, firstNumber, connections, databaseUrl: postgres.url };
    const result = (await runProgram('latency-load.ts', options)) as LatencyResult; // latency-load.ts prints it
    const after = used();
    firstNumber += 1_000_000;
    return { ...result, cpu: { programs: (after.programs - before.programs) / result.sent, servers: (after.servers - before.servers) / result.sent } };
  }

  return {
    sides: (rate: number, seconds: number): Sides<() => Promise<Measured>> => ({
      async ours() {
        const load = { port: ours.port, rate, seconds, rows: rowsOfOurs };
        // Once without a page: what those who look cost is none of a delivery's.
        const { seen, ...stored } = await measure({ ...load, page: undefined }, ours.programs);
        const { seen: withPage } = await measure({ ...load, page: ours.page }, ours.programs);
        return { ...stored, seen: { ...withPage, ...seen } };
      },
      bound: () => measure({ port: bounds[0].port, rate, seconds, rows: rowsOfBound, page: undefined }, bounds),
    }),
    /** Deliveries a second that the bound takes and inserts. */
    async rateOfBound(seconds: number): Promise<number> {
      const bodyFile = join(temporaryDirectory('bench'), 'payload.json');
      await writeFile(bodyFile, template);
      const request = { path: deliveryPath, headers: deliveryHeaders(template, { event: 'issues', deliveryId: 'wrk', secret }), bodyFile };
      const count = async () => Number((await client.query<{ count: string }>('select count(*) from bound.events')).rows[0]?.count);
      const begun = performance.now();
      const { perSecond } = await runWrk({ port: bounds[0].port, request, connections, seconds });
      const sent = perSecond * seconds;
      await eventually(async () => (await count()) >= sent, { withinMs: 120_000 });
      const rate = (sent / (performance.now() - begun)) * 1000;
      await client.query('truncate bound.events');
      return rate;
    },
    async close() {
      ours.end();
      for (const bound of bounds) bound.end();
      await client.end();
      await rabbitmq?.close();
      await postgres.close();
    },
  };
}

const none: Quantiles = { p50: NaN, p95: NaN, p99: NaN };

function rowsOf(measured: Sides<readonly Measured[]>, about: string): BenchRow[] {
  const rows: BenchRow[] = [];
  for (const name of [...Object.keys(rowsOfOurs), 'page']) {
    const at = (quantile: keyof Quantiles) => (one: Measured) => (one.seen[name] ?? one.seen['row'] ?? none)[quantile];
    for (const quantile of ['p50', 'p95', 'p99'] as const)
      rows.push(compare(measured, at(quantile), { measure: `${name}, ${about}, ${quantile}`, unit: 'ms', ...(quantile === 'p99' && { goal }) }));
    const late = measured.ours.map((one, round) => at('p99')(one) - at('p99')(measured.bound[round] ?? one));
    rows.push(within('of this p99 our own', { ours: median(late), most: ownMs, unit: 'ms' }));
    if (name === 'page') rows.push(within(`${name}, ${about}, p95 alone`, { ours: median(measured.ours.map(at('p95'))), most: pageMs, unit: 'ms' }));
  }
  return [
    ...rows,
    compare(measured, ({ cpu }) => cpu.programs, { measure: `processor, ${about}, programs`, unit: 'ms' }),
    compare(measured, ({ cpu }) => cpu.programs + cpu.servers, { measure: `processor, ${about}, with servers`, unit: 'ms' }),
  ];
}

async function run({ rounds, seconds }: Pace): Promise<readonly BenchRow[]> {
  needWrk();
  const rows: BenchRow[] = [];
  for (const isOnRabbitmq of rabbitmqAvailable ? [true, false] : [false]) {
    const { sides, rateOfBound, close } = await setUp(isOnRabbitmq);
    const broker = isOnRabbitmq ? 'RabbitMQ' : 'queues in Postgres';
    try {
      const most = await rateOfBound(2 * seconds);
      for (const share of [2, 10]) {
        const rate = Math.round(most / share);
        rows.push(...rowsOf(await interleaved(rounds, sides(rate, 2 * seconds)), `${broker} at ${rate}/s`));
      }
    } finally {
      await close();
    }
  }
  return rows;
}

export const bench: Bench = { summary: 'a delivery of 21 KB from its POST to each place where it is seen; bound: one publish and one insert', run };
