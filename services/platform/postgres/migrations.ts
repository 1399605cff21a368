// Migrations: numbered SQL files, applied once each, forward only, by one process at a time.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { describeError } from '../errors.ts';
import type { CheckResult } from '../health.ts';
import type { Log } from '../log.ts';
import { createPool, deadClientOptions, type Pool, statement, transactionOn, withVerifiedTls } from './pool.ts';
import { explainDatabase, isUnmigrated } from './errors.ts';
import { createTextFunctions } from './text.ts';
import { retryUntil, withTimeout } from '../time.ts';

export type MigrationSource = {
  readonly schema: string;
  /** Holds `0001_<thought>.sql` and so on, without a gap. */
  readonly directory: URL;
  /** Extensions to create; where the role may not, an administrator must. */
  readonly extensions?: readonly string[];
};

type Migration = { readonly version: number; readonly name: string; readonly sql: string; readonly hash: string };

async function readMigrations(directory: URL): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const version = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]);
      if (version !== index + 1) throw new TypeError(`migration ${name} must be numbered ${String(index + 1).padStart(4, '0')}`);
      const sql = await readFile(new URL(name, directory), 'utf8');
      return { version, name, sql, hash: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * Brings a schema to its newest version; concurrent processes take turns.
 * A schema that is already newer is left as it is: an older release works on it.
 * @returns the version it has afterwards
 */
export async function migrate(databaseUrl: string, { schema, directory }: MigrationSource, log: Log): Promise<number> {
  const migrations = await readMigrations(directory);
  const client = new pg.Client({
    connectionString: withVerifiedTls(databaseUrl),
    application_name: 'signalbox-migrate',
    connectionTimeoutMillis: 10_000,
    options: deadClientOptions,
  });
  client.on('error', (error) => log.warn({ error }, 'migration lost its database connection'));
  await client.connect();
  try {
    const name = client.escapeIdentifier(schema);
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [`signalbox.migrate.${schema}`]);
    const existing = await client.query('select 1 from pg_namespace where nspname = $1', [schema]);
    if (existing.rowCount === 0) await client.query(`create schema ${name}`);
    await client.query(`set search_path to ${name}`);
    await createTextFunctions(client, schema);
    await client.query(`create table if not exists migrations (
      version int primary key, name text not null, hash text not null, applied_at timestamptz not null default now())`);
    const { rows: applied } = await client.query<{ version: number; hash: string }>('select version, hash from migrations order by version');
    for (const migration of migrations) {
      if (isApplied(migration, applied)) continue;
      await apply(client, migration);
      log.info({ migration: migration.name }, 'migration applied');
    }
    return Math.max(migrations.length, ...applied.map(({ version }) => version));
  } finally {
    await client.end();
  }
}

/** An applied migration differs from the file of its number: the schema was made by another checkout, before a release. */
export class MigrationChanged extends TypeError {
  override readonly name = 'MigrationChanged';
}

function isApplied({ version, name, hash }: Migration, applied: readonly { version: number; hash: string }[]): boolean {
  const before = applied.find((one) => one.version === version);
  if (before && before.hash !== hash) throw new MigrationChanged(`migration ${name} was changed after it had been applied`);
  return before !== undefined;
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  const { version, name, sql, hash } = migration;
  const work = async () => {
    await client.query(sql);
    await client.query('insert into migrations (version, name, hash) values ($1, $2, $3)', [version, name, hash]);
  };
  await transactionOn(client, work).catch((cause: unknown) => {
    throw new Error(`migration ${name} failed`, { cause });
  });
}

const versionNow = statement<{ version: number }>('migrations.version', 'select coalesce(max(version), 0) as version from migrations');

/** Below the time that readiness gives a check. */
const busyMs = 1500;

/**
 * A readiness check: the schema has the version this release needs, or a newer one. It passes as before while all connections are at work for
 * others, whom the server answers: under too much load every pod would be unready at once, and none left to answer anybody.
 */
export async function createSchemaCheck(database: Pool, { schema, directory }: MigrationSource): Promise<() => Promise<CheckResult>> {
  const needed = (await readMigrations(directory)).length;
  let hasPassed = false;
  async function look(): Promise<CheckResult> {
    const row = await database.first(versionNow).catch((error: unknown) => {
      if (!isUnmigrated(error)) throw error;
    });
    const found = row?.version ?? 0;
    hasPassed = found >= needed;
    return hasPassed ? { ok: true } : { ok: false, detail: `schema ${schema} is at version ${found}, version ${needed} is needed: run signalbox migrate` };
  }
  return () => {
    const askedAt = performance.now();
    const looked = look();
    return withTimeout(looked, busyMs, () => (hasPassed && database.answeredAt > askedAt ? { ok: true } : looked));
  };
}

/** @param check of `createSchemaCheck`. @throws Error with a message for people when the database cannot be reached, or its schema is older than this release */
export async function requireSchema(check: () => Promise<CheckResult>): Promise<void> {
  const { ok, detail } = await check().catch(explainDatabase);
  if (!ok) throw new Error(detail);
}

type Waiting = { readonly waitMs: number; readonly stopping: AbortSignal; readonly log: Log };

/** For a job that a scheduler starts while its cluster still starts: waits for the server, the role and `signalbox migrate`. @throws as `requireSchema`, after `waitMs` */
export async function awaitSchema(databaseUrl: string, source: MigrationSource, { waitMs, stopping, log }: Waiting): Promise<void> {
  const database = createPool(databaseUrl, { schema: source.schema, log, maxConnections: 1, statementMs: 5000, answerMs: 8000 });
  const onWait = (reason: string) => log.warn({ reason }, 'waiting for the database and its schema');
  try {
    const check = await createSchemaCheck(database, source);
    await retryUntil({ timeoutMs: waitMs, isTemporary: () => !stopping.aborted, describe: describeError, onWait }, () => requireSchema(check));
  } finally {
    await database.close();
  }
}
