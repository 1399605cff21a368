// The console of the tests: the whole app on a real database, with a browser's cookies and headers.
import { createHealth } from '../../../services/platform/health.ts';
import { listen } from '../../../services/platform/http/server.ts';
import { type Log, silentLog } from '../../../services/platform/log.ts';
import { createMetrics, type Metrics } from '../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../services/platform/postgres/pool.ts';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { createConsoleApp } from '../../../services/console/app.ts';
import { readConfig } from '../../../services/console/config.ts';
import type { Declared } from '../../../services/console/pages.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

export const migrations = new URL('../../../services/console/migrations/', import.meta.url);
export const password = 'a password of the tests';
/** Its hash by the least parameters: the usual ones take a tenth of a second for each login. */
const passwordHash = 'scrypt:16384:1:1:p2atl4HoKoPjEu4-VkNxUw:cZyKKGSAljstXs-Vm1zlGIep7waxxVTu35Agox8YKFU';

export type ConsoleOptions = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: () => Date;
  readonly log?: Log;
  readonly upstreamMs?: number;
  readonly heartbeatMs?: number;
  /** Where another program has to know the address before it starts. Default: any. */
  readonly port?: number;
};

export type TestConsole = {
  readonly url: string;
  readonly database: Pool;
  readonly metrics: Metrics;
  readonly declared: readonly Declared[];
  close(): Promise<void>;
};

export async function startConsole(databaseUrl: string, { environment = {}, log = silentLog, port = 0, ...parts }: ConsoleOptions = {}): Promise<TestConsole> {
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    Console__AdminPasswordHash: passwordHash,
    TrustedProxies: '127.0.0.1',
    APP_ENV: 'development',
    ...environment,
  });
  const lifecycle = createLifecycle(log);
  const database = lifecycle.opened('database', createPool(databaseUrl, { schema: 'console', log }));
  const metrics = createMetrics();
  const app = createConsoleApp({ config, database, health: createHealth(), lifecycle, log, metrics, ...parts });
  const listening = lifecycle.opened('port', await listen(app.handler, { port, host: '127.0.0.1', drainMs: 1000 }));
  return { url: `http://127.0.0.1:${listening.port}`, database, metrics, declared: app.declared, close: () => lifecycle.stop() };
}

/** A database and a console on it, for the tests of one file; each test begins without people, sessions and actions. */
export function useConsole(options: ConsoleOptions | (() => Promise<ConsoleOptions>) = {}) {
  let database: TestDatabase;
  let running: TestConsole;
  let tests = 0;
  // The process remembers which address has used up its logins.
  const address = () => `198.51.${Math.floor(tests / 250)}.${(tests % 250) + 1}`;
  before(async () => {
    database = await createTestDatabase({ schema: 'console', migrations });
    running = await startConsole(database.url, typeof options === 'function' ? await options() : options);
  });
  beforeEach(() => void (tests += 1));
  beforeEach(() => running.database.driver.query('truncate people, sessions, actions, rate_limits'));
  after(async () => {
    await running.close();
    await database.drop();
  });
  return {
    get url() {
      return running.url;
    },
    get declared() {
      return running.declared;
    },
    get metrics() {
      return running.metrics;
    },
    get databaseUrl() {
      return database.url;
    },
    query: async (sql: string, values: unknown[] = []) => (await running.database.driver.query(sql, values)).rows,
    /** A browser that has not logged in. */
    browser: (headers: Readonly<Record<string, string>> = {}) => createBrowser(running.url, { 'X-Forwarded-For': address(), ...headers }),
    /** A browser of the first person, logged in. */
    async loggedIn(): Promise<Browser> {
      const browser = createBrowser(running.url, { 'X-Forwarded-For': address() });
      const { status } = await browser.logIn();
      if (status !== 303) throw new Error(`no one was logged in: ${status}`);
      return browser;
    },
    /** A browser of another person, with these roles. */
    async personWith(roles: object): Promise<Browser> {
      const browser = await this.loggedIn();
      await running.database.driver.query('update people set roles = $1', [JSON.stringify(roles)]);
      return browser;
    },
  };
}

export type Page = { readonly status: number; readonly headers: Headers; readonly text: string };
export type Browser = ReturnType<typeof createBrowser>;

/** A list is several fields of one name. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

const encoded = (fields: Fields) =>
  new URLSearchParams(Object.entries(fields).flatMap(([name, values]) => [values].flat().map((value) => [name, value] as [string, string])));

/** Keeps cookies and sends the headers that a browser sends; it follows no redirect. */
export function createBrowser(url: string, own: Readonly<Record<string, string>> = {}) {
  const cookies = new Map<string, string>();
  async function ask(path: string, init: RequestInit, headers: Readonly<Record<string, string>>): Promise<Page> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = { Accept: 'text/html,application/xhtml+xml', ...(cookie && { Cookie: cookie }), ...own, ...headers };
    const response = await fetch(url + path, { redirect: 'manual', ...init, headers: sent });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (line.includes('Max-Age=0')) cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
  const post = (path: string, fields: Fields = {}, headers: Readonly<Record<string, string>> = {}) =>
    ask(path, { method: 'POST', body: encoded(fields) }, { 'Sec-Fetch-Site': 'same-origin', ...headers });
  return {
    cookies,
    get: (path: string, headers: Readonly<Record<string, string>> = {}) => ask(path, {}, headers),
    /** A form of a page of the console. */
    post,
    /** The same by the script. */
    act: (path: string, fields: Fields = {}) => post(path, fields, { Accept: 'application/json' }),
    ask,
    logIn: (name = 'admin', given = password, further: Readonly<Record<string, string>> = {}) => post('/login', { name, password: given, ...further }),
  };
}
