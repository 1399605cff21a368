// Disk: the bytes that Postgres keeps for a delivery, an issue, a mail, a link, a version and a read, in tables, indexes and the write-ahead log.
import { readConfig } from '../../services/link-digest/config.ts';
import { createMailHandler } from '../../services/link-digest/ingest/consumer.ts';
import { toMessage } from '../../services/link-digest/ingest/queue.ts';
import { createNewsletterReader } from '../../services/link-digest/mails/reader.ts';
import { createArrivals } from '../../services/link-digest/newsletters/arrivals.ts';
import type { BatchHandler, Message } from '../../services/platform/broker/broker.ts';
import { silentLog } from '../../services/platform/log.ts';
import { createMetrics } from '../../services/platform/metrics.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { makePartitions } from '../../services/platform/postgres/partitions.ts';
import { createPool, type Pool, statement } from '../../services/platform/postgres/pool.ts';
import { createDatabaseServiceWorker } from '../../services/webhook-intake/forge/database-service-worker.ts';
import { createServiceWorker } from '../../services/webhook-intake/forge/service-worker.ts';
import { partitionedTables } from '../../services/webhook-intake/jobs/housekeeping.ts';
import { environmentOf, migrations as digestMigrations } from '../services/link-digest/store.ts';
import { adminToken, consume, manage, masterKeys, migrations as secretsMigrations, newApplication, putSecret } from '../services/secrets/service.ts';
import { examples, message } from '../services/webhook-intake/deliveries.ts';
import { migrations as intakeMigrations } from '../services/webhook-intake/intake-database.ts';
import { startPostgres } from '../support/postgres.ts';
import { eventually } from '../support/wait.ts';
import { type Bench, type BenchRow, compare, type Pace } from './support/bench.ts';
import { mailsOf } from './digest.ts';
import { startService } from './support/programs.ts';

const deliveriesOfRound = 4 * examples.length;
const issuesOfRound = 1000;
const secrets = 100;
const versionsOfRound = 4;
const readsOfRound = 400;
const valueBytes = 100;
const batchSize = 100;
/** Nothing here is measured in time. */
const options = { log: silentLog, connectMs: 120_000, statementMs: 120_000 };

type Bytes = { readonly tables: number; readonly indexes: number; readonly wal: number };

const sizes = statement<Bytes, [schema: string, tables: readonly string[] | null]>(
  'bench.sizes',
  `select sum(pg_table_size(pg_class.oid))::float8 as tables, sum(pg_indexes_size(pg_class.oid))::float8 as indexes,
     pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal
   from pg_class join pg_namespace on pg_namespace.oid = relnamespace
   where nspname = $1 and relkind = 'r' and ($2::text[] is null or relname = any($2))`,
);
const measureSizes = async (database: Pool, schema: string, tables: readonly string[] | null = null): Promise<Bytes> =>
  (await database.first(sizes, schema, tables)) ?? { tables: 0, indexes: 0, wal: 0 };

type Cost = { readonly of: string; readonly count: number; /** Bytes of one, as they come in. */ readonly sent: number };

/** The rows of what came between two measurements. */
const rowsOf = ({ of, count, sent }: Cost, before: Bytes, after: Bytes): readonly BenchRow[] =>
  (['tables', 'indexes', 'wal'] as const)
    .filter((place) => after[place] > before[place])
    .map((place) =>
      compare({ ours: [(after[place] - before[place]) / count], bound: [sent] }, (bytes) => bytes, { measure: `${of}: ${place}`, unit: 'bytes' }),
    );

async function handleAll(handle: BatchHandler, messages: readonly Message[]): Promise<void> {
  for (let from = 0; from < messages.length; from += batchSize) {
    const batch = messages.slice(from, from + batchSize).map((one) => ({ ...one, attempt: 1, redelivered: false }));
    if ((await handle(batch)).some((outcome) => outcome !== 'ack')) throw new Error('a message was not stored');
  }
}

const bytesOfOne = (messages: readonly Message[]) => messages.reduce((sum, { body }) => sum + body.length, 0) / messages.length;

/** The example of an opened issue, under a number of its own. */
function issueMessage(number: number): Message {
  const payload = examples.find((example) => example.event === 'issues' && example.payload['action'] === 'opened')?.payload;
  return message({ event: 'issues', payload: { ...payload, issue: { ...Object(payload?.['issue']), id: 1_000_000 + number, number } } });
}

type Part = (url: string, rounds: number) => Promise<readonly BenchRow[]>;

const ofDeliveries: Part = async (url, rounds) => {
  await migrate(url, { schema: 'intake', directory: intakeMigrations }, silentLog);
  const database = createPool(url, { schema: 'intake', ...options });
  for (const table of partitionedTables) await makePartitions(database, table, new Date());
  const logged = Array.from({ length: rounds * deliveriesOfRound }, (_, index) => message(examples[index % examples.length] ?? { event: 'push', payload: {} }));
  const issues = Array.from({ length: rounds * issuesOfRound }, (_, index) => issueMessage(index));
  const empty = await measureSizes(database, 'intake');
  await handleAll(createServiceWorker({ database, metrics: createMetrics(), log: silentLog }), logged);
  const withEvents = await measureSizes(database, 'intake');
  await handleAll(createDatabaseServiceWorker({ database, metrics: createMetrics(), log: silentLog, isOwn: () => true }), issues);
  const withIssues = await measureSizes(database, 'intake');
  await database.close();
  return [
    ...rowsOf({ of: 'a delivery in the event log', count: logged.length, sent: bytesOfOne(logged) }, empty, withEvents),
    ...rowsOf({ of: 'its issue in the typed table', count: issues.length, sent: bytesOfOne(issues) }, withEvents, withIssues),
  ];
};

const storedLinks = statement<{ count: number; bytes: number }>(
  'bench.links',
  'select count(*) as count, avg(octet_length(url) + octet_length(title)) as bytes from links',
);

const ofMails: Part = async (url, rounds) => {
  await migrate(url, { schema: 'digest', directory: digestMigrations }, silentLog);
  const database = createPool(url, { schema: 'digest', ...options });
  const newsletters = createArrivals(database, { weights: readConfig(environmentOf(url)), clock: () => new Date() });
  const { handle } = createMailHandler({ newsletters, read: createNewsletterReader(), log: silentLog, metrics: createMetrics() });
  const mails = Array.from({ length: rounds }, (_, round) => mailsOf(round)).flatMap((ofRound) => ofRound.map(toMessage));
  const ofMail = ['raw_mails', 'newsletters'];
  const [empty, emptyMails] = [await measureSizes(database, 'digest'), await measureSizes(database, 'digest', ofMail)];
  await handleAll(handle, mails);
  const [all, ofMails] = [await measureSizes(database, 'digest'), await measureSizes(database, 'digest', ofMail)];
  const { count, bytes } = (await database.first(storedLinks)) ?? { count: NaN, bytes: NaN };
  await database.close();
  // One statement writes a mail with its links: its part of the log cannot be told apart.
  const ofLinks = (sizes: Bytes, mails: Bytes): Bytes => ({ tables: sizes.tables - mails.tables, indexes: sizes.indexes - mails.indexes, wal: 0 });
  return [
    ...rowsOf({ of: `a mail with its ${Math.round(count / mails.length)} new links`, count: mails.length, sent: bytesOfOne(mails) }, empty, all),
    ...rowsOf({ of: 'of it a link', count, sent: bytes }, ofLinks(empty, emptyMails), ofLinks(all, ofMails)),
  ];
};

const auditedReads = statement<{ count: number }>('bench.reads', `select count(*) as count from audit_entries where action = 'secret.read'`);

const ofSecrets: Part = async (url, rounds) => {
  await migrate(url, { schema: 'secrets', directory: secretsMigrations }, silentLog);
  const service = await startService('secrets', { DATABASE_URL: url, Management__AdminApiKey: adminToken, Encryption__MasterKeys: masterKeys });
  const database = createPool(url, { schema: 'secrets', ...options });
  const at = `http://127.0.0.1:${service.port}`;
  const { slug, key } = await newApplication(at);
  const names = Array.from({ length: secrets }, (_, index) => `secret-${index}`);
  const item = { environmentSlug: 'local', value: 'x'.repeat(valueBytes) };
  for (const name of names) await putSecret(at, slug, name, item);
  const first = await measureSizes(database, 'secrets');
  for (let version = 0; version < rounds * versionsOfRound; version++)
    for (const name of names) await manage(at, 'POST', `/${slug}/secrets/${name}/values`, [item]);
  const written = await measureSizes(database, 'secrets');
  const reads = rounds * readsOfRound;
  for (let read = 0; read < reads; read++) await consume(at, key, `/secrets/${names[read % secrets]}?environment=local`);
  // The audit is written behind the answers.
  await eventually(async () => (await database.first(auditedReads))?.count === reads);
  service.end();
  const withReads = await measureSizes(database, 'secrets');
  await database.close();
  return [
    ...rowsOf({ of: 'a version, with its audit', count: rounds * versionsOfRound * secrets, sent: valueBytes }, first, written),
    ...rowsOf({ of: 'a read, its audit', count: reads, sent: valueBytes }, written, withReads),
  ];
};

async function run({ rounds }: Pace): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const part of [ofDeliveries, ofMails, ofSecrets]) {
    // Autovacuum writes to the log, too, and at any time.
    const postgres = await startPostgres({ settings: { fsync: 'off', synchronous_commit: 'off', autovacuum: 'off' } });
    try {
      rows.push(...(await part(postgres.url, rounds)));
    } finally {
      await postgres.close();
    }
  }
  return rows;
}

export const bench: Bench = { summary: 'bytes that Postgres writes for one of each; bound: the bytes that came in', run };
