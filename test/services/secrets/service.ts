// The secrets service of the tests: the whole app on a real database, listening on a loopback port.
import { randomBytes } from 'node:crypto';
import { createHealth, type Health } from '../../../services/platform/health.ts';
import { createLifecycle, type Lifecycle } from '../../../services/platform/process/lifecycle.ts';
import { listen } from '../../../services/platform/http/server.ts';
import type { Log } from '../../../services/platform/log.ts';
import { createMetrics, type Metrics } from '../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../services/platform/postgres/pool.ts';
import { createSecretsApp } from '../../../services/secrets/app.ts';
import { readConfig } from '../../../services/secrets/config.ts';
import type { ApiServer } from '../../../services/secrets/consumer/account-tokens.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { leakWatch, watchedLog } from './leak-watch.ts';
import { hideSettings } from './hidden-settings.ts';
import { storedSecrets } from './stored.ts';

export const migrations = new URL('../../../services/secrets/migrations/', import.meta.url);
export const adminToken = 'the administrator of the tests';
export const masterKeys = `first:${Buffer.alloc(32, 1).toString('base64')}`;

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  /** As it came. */
  readonly text: string;
  /** Undefined when it is not JSON. */
  readonly body: unknown;
};

export type ServiceOptions = {
  readonly databaseUrl: string;
  /** Over those that every test has. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: () => Date;
  readonly log?: Log;
  readonly apiServer?: ApiServer;
};

export type TestService = {
  readonly url: string;
  readonly database: Pool;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  close(): Promise<void>;
};

export async function startService({
  databaseUrl,
  environment = {},
  clock = () => new Date(),
  log = watchedLog('the log of a service').log,
  apiServer,
}: ServiceOptions): Promise<TestService> {
  const settings = {
    DATABASE_URL: databaseUrl,
    Management__AdminApiKey: adminToken,
    Management__MaxFailedCredentials: '1000000',
    Encryption__MasterKeys: masterKeys,
    ...environment,
  };
  hideSettings(settings, leakWatch);
  const config = readConfig(settings);
  const lifecycle = createLifecycle(log);
  const health = createHealth();
  const metrics = createMetrics();
  const database = lifecycle.opened('database', createPool(databaseUrl, { schema: 'secrets', log, maxConnections: 8 }));
  const writeDatabase = lifecycle.opened('write database', createPool(databaseUrl, { schema: 'secrets', log, lockMs: 2000 }));
  const app = createSecretsApp({ config, database, writeDatabase, health, lifecycle, log, metrics, clock, apiServer });
  const listening = lifecycle.opened('port', await listen(app.handler, { port: 0, host: '127.0.0.1', drainMs: 1000, takesList: config.vault === 'on' }));
  const close = async () => {
    // A test may have stopped it, or taken the database away.
    const stored = lifecycle.stopping.aborted ? [] : await storedSecrets(database, settings.Encryption__MasterKeys).catch(() => []);
    await lifecycle.stop();
    for (const { what, secret } of stored) leakWatch.hide(what, secret);
  };
  return { url: `http://127.0.0.1:${listening.port}`, database, health, lifecycle, metrics, close };
}

export type Call = { readonly method?: string; readonly path: string; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };

/** A value that no sentence holds by chance, and that nothing may say. */
export function secretValue(label: string): string {
  const value = `${label} ${randomBytes(8).toString('hex')}`;
  leakWatch.hide('a value', value);
  return value;
}

/** A value whose length is what is tested: the watch passes it over. */
export function shortValue(value: string): string {
  leakWatch.passOver(value);
  return value;
}

// Processes that are not started here are given these, too.
hideSettings({ Management__AdminApiKey: adminToken, Encryption__MasterKeys: masterKeys }, leakWatch);

/** Nothing may show the values that a test sends, nor the keys that it gets. */
function hideSecrets(path: string, body: unknown, answer: unknown): void {
  const values = path.endsWith('/values') ? [body].flat().map((item) => Reflect.get(Object(item), 'value') as unknown) : [];
  for (const value of values) if (typeof value === 'string') leakWatch.hide('a value', value);
  const key: unknown = Reflect.get(Object(answer), 'plainApiKey');
  if (typeof key === 'string') for (const part of [key, key.slice('key_'.length)]) leakWatch.hide('the key of an application', part);
}

/** A request with no credential but those given. A string is sent as it is, anything else as JSON. */
export async function call(url: string, { method = 'GET', path, body, headers = {} }: Call): Promise<Answer> {
  const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const response = await fetch(url + path, {
    method,
    headers: { ...json, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = text !== '' && response.headers.get('content-type')?.includes('json') === true;
  const answer: unknown = isJson ? JSON.parse(text) : undefined;
  hideSecrets(path, body, answer);
  return { status: response.status, headers: response.headers, text, body: answer };
}

const root = '/api/management/applications';

/** As the administrator, below /api/management/applications. */
export const manage = (url: string, method: string, path = '', body?: unknown): Promise<Answer> =>
  call(url, { method, path: root + path, body, headers: { Authorization: `Bearer ${adminToken}` } });

/** As an application, below /api/consumer. */
export const consume = (url: string, key: string, path: string): Promise<Answer> => call(url, { path: `/api/consumer${path}`, headers: { 'X-Api-Key': key } });

/** A member of a JSON answer. */
export function member(answer: Answer, name: string): unknown {
  return typeof answer.body === 'object' && answer.body !== null ? Reflect.get(answer.body, name) : undefined;
}

let count = 0;

export type TestApplication = { readonly slug: string; readonly key: string };

/** A new application, with an environment `local`. */
export async function newApplication(url: string, name = `app ${++count}`): Promise<TestApplication> {
  const created = await manage(url, 'POST', '', { name });
  if (created.status !== 201) throw new Error(`no application was made: ${created.status} ${created.text}`);
  return { slug: String(member(created, 'slug')), key: String(member(created, 'plainApiKey')) };
}

/** Adds the secret when there is none of that name, and appends a value. */
export async function putSecret(url: string, slug: string, name: string, item: Readonly<Record<string, unknown>>): Promise<void> {
  const path = `/${slug}/secrets`;
  await manage(url, 'POST', path, { name });
  const stored = await manage(url, 'POST', `${path}/${encodeURIComponent(name)}/values`, [{ environmentSlug: 'local', ...item }]);
  if (stored.status !== 200) throw new Error(`no value was stored: ${stored.status} ${stored.text}`);
}

/** A database and a service on it, for the tests of one file. */
export function useService(options: Omit<ServiceOptions, 'databaseUrl'> = {}) {
  let database: TestDatabase | undefined;
  let service: TestService | undefined;
  before(async () => {
    database = await createTestDatabase({ schema: 'secrets', migrations });
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
  };
}
