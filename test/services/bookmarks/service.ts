// The bookmark catalogue of the tests: the whole app on a real database, listening on a loopback port.
import { createHealth } from '../../../services/platform/health.ts';
import { listen } from '../../../services/platform/http/server.ts';
import { type Log, silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../services/platform/postgres/pool.ts';
import type { SnapshotLimits } from '../../../services/platform/postgres/snapshots.ts';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { createBookmarksApp } from '../../../services/bookmarks/app.ts';
import { readConfig } from '../../../services/bookmarks/config.ts';
import { type Answer, call } from '../../support/call.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

export const migrations = new URL('../../../services/bookmarks/migrations/', import.meta.url);
export const apiKey = 'a key of the tests';

export { type Answer, call };

export type ServiceOptions = {
  readonly databaseUrl: string;
  readonly clock?: () => Date;
  readonly log?: Log;
  readonly snapshotLimits?: SnapshotLimits;
  readonly apiKeys?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly statementMs?: number;
};

export type TestService = { readonly url: string; readonly database: Pool; close(): Promise<void> };

export async function startService({
  databaseUrl,
  log = silentLog,
  apiKeys = apiKey,
  environment = {},
  statementMs = 30_000,
  ...parts
}: ServiceOptions): Promise<TestService> {
  const config = readConfig({ DATABASE_URL: databaseUrl, Bookmarks__ApiKeys: apiKeys, ...environment });
  const lifecycle = createLifecycle(log);
  const open = (maxConnections: number) => lifecycle.opened('database', createPool(databaseUrl, { schema: 'bookmarks', log, maxConnections, statementMs }));
  const database = open(10);
  const app = createBookmarksApp({
    config,
    database,
    writeDatabase: open(2),
    stopping: lifecycle.stopping,
    health: createHealth(),
    log,
    metrics: createMetrics(),
    ...parts,
  });
  const listening = lifecycle.opened('port', await listen(app.handler, { port: 0, host: '127.0.0.1', drainMs: 1000 }));
  return { url: `http://127.0.0.1:${listening.port}`, database, close: () => lifecycle.stop() };
}

/** A database and a service on it, for the tests of one file; each test begins with an empty catalogue. */
export function useService({
  createDatabase = createTestDatabase,
  ...options
}: Omit<ServiceOptions, 'databaseUrl'> & { readonly createDatabase?: typeof createTestDatabase } = {}) {
  let database: TestDatabase;
  let service: TestService;
  before(async () => {
    database = await createDatabase({ schema: 'bookmarks', migrations });
    service = await startService({ databaseUrl: database.url, ...options });
  });
  beforeEach(async () => {
    await service.database.driver.query('truncate bookmarks, folders, tags');
    await service.database.driver.query('update catalogue set revision = gen_random_uuid()');
  });
  after(async () => {
    await service.close();
    await database.drop();
  });
  const get = (path: string, headers?: Readonly<Record<string, string>>) => call(service.url, 'GET', path, { ...(headers && { headers }) });
  const write =
    (method: string) =>
    (path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
      call(service.url, method, path, { body, headers: { 'X-Api-Key': apiKey, ...headers } });
  const post = write('POST');
  /** @returns what was created */
  async function add(path: string, body: unknown): Promise<Answer['body']> {
    const created = await post(path, body);
    if (created.status !== 201) throw new Error(`nothing was added: ${created.status} ${created.text}`);
    return created.body;
  }
  return {
    get url() {
      return service.url;
    },
    get databaseUrl() {
      return database.url;
    },
    query: async (sql: string, values: unknown[] = []) => (await service.database.driver.query(sql, values)).rows,
    get,
    post,
    put: write('PUT'),
    patch: write('PATCH'),
    remove: write('DELETE'),
    /** A bookmark of this, with a title and an address unless it has others. */
    bookmark: (given: object = {}) => add('/api/bookmarks', { title: 'a title', url: 'https://example.org/', ...given }),
    folder: (given: object = {}) => add('/api/folders', { name: 'a folder', ...given }),
  };
}

export const unknownId = '0197c000-0000-7000-8000-000000000000';
