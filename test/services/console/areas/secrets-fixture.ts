// The secrets service for the tests of the console's area of them: a real one, and for each test an application with two environments.
import {
  consume,
  manage,
  migrations,
  newApplication,
  putSecret,
  secretValue,
  startService,
  type TestApplication,
  type TestService,
} from '../../secrets/service.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { type Proxy, startProxy, type Step } from '../proxy.ts';
import { type Browser, type Page, useConsole } from '../service.ts';

export const hostile = `<script>alert(1)</script>`;
export const consoleToken = secretValue('the token of the console');
export const inDays = (days: number) => new Date(Date.now() + days * 86_400_000 + 60_000).toISOString();
export const placeOf = ({ status, headers }: Page) => [status, headers.get('location')];
/** The script gets it to take an action back. */
export const undoOf = ({ text }: Page) => JSON.parse(text).undo;
/** The link to the next page. */
export const nextIn = (text: string) => (/href="([^"]*after=[^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');

/** A file in a form, as a browser sends it. */
export async function upload(browser: Pick<Browser, 'ask'>, path: string, { file, ...fields }: Readonly<Record<string, string>>): Promise<Page> {
  const form = new FormData();
  form.append('file', new Blob([file ?? '']), '.env');
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return browser.ask(path, { method: 'POST', body: form }, { 'Sec-Fetch-Site': 'same-origin' });
}

export function useSecrets() {
  let database: TestDatabase;
  let service: TestService;
  let app: TestApplication;
  let proxy: Proxy;
  const console = useConsole(async () => {
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startService({ databaseUrl: database.url, environment: { Console__SecretsToken: consoleToken } });
    proxy = await startProxy(() => service.url);
    return { environment: { Console__SecretsUrl: proxy.url, Console__SecretsToken: consoleToken } };
  });
  beforeEach(async () => {
    proxy.meet(() => undefined);
    app = await newApplication(service.url);
    await manage(service.url, 'POST', `/${app.slug}/environments`, { name: 'Production' });
  });
  after(async () => {
    proxy.close();
    await service.close();
    await database.drop();
  });
  const versionsPath = (name: string, environment: string) => `/${app.slug}/secrets/${encodeURIComponent(name)}/versions/${environment}`;
  return {
    console,
    get url() {
      return service.url;
    },
    get app() {
      return app;
    },
    /** The fate of calls of the console, until the end of the test. */
    meet: (step: Step) => proxy.meet(step),
    /** As the administrator, below the application. */
    manage: (method: string, path: string, body?: unknown) => manage(service.url, method, `/${app.slug}${path}`, body),
    put: (name: string, item: Readonly<Record<string, unknown>> = {}) => putSecret(service.url, app.slug, name, { value: secretValue(name), ...item }),
    /** As the application gets it. */
    async read(name: string, environment = 'local') {
      const { body } = await consume(service.url, app.key, `/secrets/${encodeURIComponent(name)}?environment=${environment}`);
      return Object(body);
    },
    versions: async (name: string, environment = 'local') =>
      [(await manage(service.url, 'GET', versionsPath(name, environment))).body].flat().map((one) => Object(one)),
    /** A page of the application in the console. */
    at: (rest = '') => `/secrets/${app.slug}${rest}`,
  };
}
