// The listing triage service of the tests: the whole app on a real database, listening on a loopback port.
import { readServiceConfig } from '../../../services/listings/config.ts';
import { createListingsApp } from '../../../services/listings/app.ts';
import { createOutbox } from '../../../services/platform/events/events.ts';
import { createHealth, type Health } from '../../../services/platform/health.ts';
import { listen } from '../../../services/platform/http/server.ts';
import { type Log, silentLog } from '../../../services/platform/log.ts';
import { createMetrics, type Metrics } from '../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../services/platform/postgres/pool.ts';
import { createLifecycle, type Lifecycle } from '../../../services/platform/process/lifecycle.ts';
import * as support from '../../support/call.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

export const migrations = new URL('../../../services/listings/migrations/', import.meta.url);
export const token = 'the token of the tests';

export type ServiceOptions = {
  readonly databaseUrl: string;
  /** Over those that every test has. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: () => Date;
  readonly log?: Log;
};

export type TestService = {
  readonly url: string;
  readonly database: Pool;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  close(): Promise<void>;
};

export async function startService({ databaseUrl, environment = {}, clock = () => new Date(), log = silentLog }: ServiceOptions): Promise<TestService> {
  const config = readServiceConfig({ DATABASE_URL: databaseUrl, Listings__AccessTokens: token, RateLimit__PerMinute: '1000000', ...environment });
  const lifecycle = createLifecycle(log);
  const health = createHealth();
  const metrics = createMetrics();
  const database = lifecycle.opened('database', createPool(databaseUrl, { schema: 'listings', log }));
  const app = createListingsApp({ config, database, health, lifecycle, log, metrics, clock });
  const listening = lifecycle.opened('port', await listen(app.handler, { port: 0, host: '127.0.0.1', drainMs: 1000 }));
  return { url: `http://127.0.0.1:${listening.port}`, database, health, lifecycle, metrics, close: () => lifecycle.stop() };
}

export type Answer = Omit<support.Answer, 'body'> & { readonly body: unknown };
export type Call = support.Call & { readonly method?: string; readonly path: string };

/** A request with no credential but those given. */
export const call = (url: string, { method = 'GET', path, ...sent }: Call): Promise<Answer> => support.call(url, method, path, sent);

/** With the token. */
export const ask = (url: string, { headers, ...wanted }: Call): Promise<Answer> =>
  call(url, { ...wanted, headers: { Authorization: `Bearer ${token}`, ...headers } });

/** A database and a service on it, for the tests of one file. */
export function useService({
  createDatabase = createTestDatabase,
  ...options
}: Omit<ServiceOptions, 'databaseUrl'> & { readonly createDatabase?: typeof createTestDatabase } = {}) {
  let database: TestDatabase | undefined;
  let service: TestService | undefined;
  before(async () => {
    database = await createDatabase({ schema: 'listings', migrations });
    service = await startService({ databaseUrl: database.url, ...options });
  });
  after(async () => {
    await service?.close();
    await database?.drop();
  });
  const running = () => {
    if (!service) throw new TypeError('the service is there only while its tests run');
    return service;
  };
  return {
    get url() {
      return running().url;
    },
    get service() {
      return running();
    },
    get databaseUrl() {
      return database?.url ?? '';
    },
    ask: (method: string, path: string, body?: unknown) => ask(running().url, { method, path, body }),
  };
}

/** Settings of an ingest that tells nothing. */
export const untold = { outbox: createOutbox({ eventsUrl: undefined }), withdrawnAfterDays: 30 };

/** A listing on its way in. */
export const listing = (sourceId: string, more: Readonly<Record<string, unknown>> = {}) => ({
  sourceId,
  sourceUrl: `https://www.daft.ie/for-rent/${sourceId}/1`,
  address: `${sourceId} Main Street, Dublin 2`,
  priceMonthly: 1850,
  ...more,
});

/** Takes listings in, in place of all that were there. @returns their ids, by sourceId */
export async function fill(
  { url, service }: Pick<ReturnType<typeof useService>, 'url' | 'service'>,
  listings: readonly object[],
): Promise<Record<string, string>> {
  await service.database.driver.query('truncate properties cascade');
  const taken = await ask(url, { method: 'POST', path: '/api/ingest/properties', body: listings });
  if (taken.status !== 200 || !taken.text.includes('"rejected":[]')) throw new Error(`they were not taken: ${taken.status} ${taken.text}`);
  const { rows } = await service.database.driver.query<{ source_id: string; id: string }>('select source_id, id from properties');
  return Object.fromEntries(rows.map(({ source_id, id }) => [source_id, id]));
}

/** A member of a JSON answer. */
export const member = (answer: Pick<Answer, 'body'>, name: string): unknown => Reflect.get(Object(answer.body), name);

/** The sourceIds of a page, in its order. */
export const sourceIds = (page: Pick<Answer, 'body'>): unknown[] => [member(page, 'items')].flat().map((item) => Reflect.get(Object(item), 'sourceId'));

/** The names of the faults of a refusal. */
export const faults = (refusal: Pick<Answer, 'body'>): string[] => Object.keys(Object(member(refusal, 'errors')));
