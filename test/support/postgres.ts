// Real Postgres for tests: one fast server for the run with a database for each suite, and further servers to stop and kill.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgresServer } from '../../services/laptop/postgres-server.ts';
import { silentLog } from '../../services/platform/log.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { atEndOfRun } from './end-of-run.ts';
import { guardProcess, isAlive, temporaryDirectory } from './guard.ts';
import { askForServer, type SharedServer } from './shared-servers.ts';
import { eventually, freePort } from './wait.ts';

export type TestDatabase = { readonly url: string; drop(): Promise<void> };

export type PostgresServer = {
  /** The URL of the database `postgres` as superuser; the same after every start. */
  readonly url: string;
  /** The id of the process above all of its others. @throws while it does not run */
  pid(): number;
  /** Ends it as `pg_ctl stop -m fast` does; the data stay. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** SIGKILL, as if the power had failed. */
  kill(): Promise<void>;
  /** Stops it and removes the data. */
  close(): Promise<void>;
};

export type PostgresOptions = {
  /** Server parameters, as for `-c name=value`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Programs of another Postgres than npm's. */
  readonly programs?: { readonly initdb: string; readonly pg_ctl: string };
};

const password = 'test';

/** A separate server with durable settings, for tests that stop or kill it. */
export async function startPostgres({ settings = {}, programs }: PostgresOptions = {}): Promise<PostgresServer> {
  const directory = temporaryDirectory('postgres');
  const port = String(await freePort());
  const launch = async () => {
    const server = await startPostgresServer({ directory, password, ...(programs && { programs }), settings: { max_connections: '200', ...settings, port } });
    const pid = Number((await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8')).split('\n', 1)[0]);
    return { server, pid, guarded: guardProcess(pid) };
  };
  let running: Awaited<ReturnType<typeof launch>> | undefined = await launch();

  const stop = async () => {
    const stopping = running;
    running = undefined;
    await stopping?.server.close();
    stopping?.guarded.ended();
  };
  return {
    url: `postgres://signalbox:${password}@127.0.0.1:${port}/postgres`,
    pid: () => {
      if (!running) throw new TypeError('Postgres does not run');
      return running.pid;
    },
    stop,
    start: async () => {
      // After a kill, orphaned processes hold the shared memory for a moment.
      running ??= await eventually(launch, { withinMs: 30_000, everyMs: 200 });
    },
    kill: async () => {
      const killed = running;
      running = undefined;
      if (!killed) return;
      process.kill(killed.pid, 'SIGKILL');
      await eventually(() => !isAlive(killed.pid));
      killed.guarded.ended();
    },
    close: async () => {
      await stop();
      await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

let shared: Promise<string> | undefined;

/** Fast settings for data that need not survive a crash. */
export const unsafe = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

async function startShared(): Promise<string> {
  const outside = process.env['TEST_DATABASE_URL'];
  if (outside) return outside;
  const shared = await askForServer('postgres');
  return shared?.['url'] ?? (await startUnsafe()).urls.url;
}

/** Closed at the end of this process's run. */
export async function startUnsafe(): Promise<SharedServer<'url'>> {
  const server = await startPostgres({ settings: { ...unsafe, max_connections: '400' } });
  atEndOfRun(() => server.close());
  return { pid: server.pid(), urls: { url: server.url } };
}

/** The administrator's URL of the server that all test files share: `TEST_DATABASE_URL`, or one that is started for this run. */
export const sharedPostgres = (): Promise<string> => (shared ??= startShared());

export type TestDatabaseOptions = { readonly schema: string; readonly migrations: URL };

/** Creates a database, with schemas and their migrations by cloning a template that is migrated once per process of the run. */
export async function createTestDatabase(...schemas: readonly TestDatabaseOptions[]): Promise<TestDatabase> {
  return createDatabase(schemas.length > 0 ? await templateFor(schemas) : undefined);
}

/** A new database of locale C, as CloudNativePG creates them; empty, or with a schema and its migrations. */
export async function createDatabaseOfLocaleC(options?: TestDatabaseOptions): Promise<TestDatabase> {
  const database = await createDatabase(`template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`);
  if (options) await migrate(database.url, { schema: options.schema, directory: options.migrations }, silentLog);
  return database;
}

const templates = new Map<string, Promise<string>>();

function templateFor(schemas: readonly TestDatabaseOptions[]): Promise<string> {
  const key = schemas.map(({ schema, migrations }) => `${schema} ${migrations.href}`).join();
  const template = templates.get(key) ?? createTemplate(schemas);
  templates.set(key, template);
  return template;
}

async function createTemplate(schemas: readonly TestDatabaseOptions[]): Promise<string> {
  const { url, drop } = await createDatabase();
  atEndOfRun(drop);
  for (const { schema, migrations } of schemas) await migrate(url, { schema, directory: migrations }, silentLog);
  return new URL(url).pathname.slice(1);
}

let count = 0;

async function createDatabase(template = 'template0'): Promise<TestDatabase> {
  const admin = await sharedPostgres();
  const name = `signalbox_test_${process.pid}_${++count}`;
  await execute(admin, `create database ${name} template ${template}`);
  const url = new URL(admin);
  url.pathname = name;
  return { url: url.href, drop: () => execute(admin, `drop database if exists ${name} with (force)`) };
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
