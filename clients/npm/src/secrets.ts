// Reads the secrets and the configuration of one application in one environment.
import { createCredential } from './credential.ts';
import { createLastKnown } from './last-known.ts';
import { getJson, readAddress, RequestFailed, withRetries } from './request.ts';
import type { components } from './secrets-api.ts';
import { createValuesFile } from './values-file.ts';

export { RequestFailed } from './request.ts';

type Schemas = components['schemas'];

export type SecretsOptions = {
  readonly environment: string;
  /** Where the secrets service is. Default: SIGNALBOX_SECRETS_URL. */
  readonly url?: string | undefined;
  /** The key of the application. Default: SIGNALBOX_APPLICATION_KEY, or what is in the file of SIGNALBOX_APPLICATION_KEY_FILE. */
  readonly key?: string | undefined;
  /** A file with the key, or with the token of the pod's ServiceAccount; it is read for each request. */
  readonly keyFile?: string | undefined;
  /** The time for each attempt. Default: 10 s. */
  readonly timeoutMs?: number | undefined;
  /** How often a read is tried that the service could not answer. Default: 5. */
  readonly attempts?: number | undefined;
  /** How long a value is served without a request. Default: 1 minute. */
  readonly ttlMs?: number | undefined;
  /** For how long after that it is still served while the service is unavailable. Default: 1 hour. */
  readonly staleMs?: number | undefined;
  /** A file that keeps the last known values in plain text, readable by its owner, for a start while the service is unavailable. Default: none. */
  readonly file?: string | undefined;
};

export type Secrets = ReturnType<typeof createSecrets>;

export function createSecrets(options: SecretsOptions) {
  const { environment, timeoutMs = 10_000, attempts = 5, ttlMs = 60_000, staleMs = 3_600_000, file } = options;
  if (!environment) throw new TypeError('environment must be the slug of an environment');
  const base = readAddress('url', options.url ?? process.env['SIGNALBOX_SECRETS_URL'], 'SIGNALBOX_SECRETS_URL');
  const credential = createCredential({ name: 'key', variable: 'SIGNALBOX_APPLICATION_KEY', ...keyOf(options) });
  const lastKnown = createLastKnown({ ttlMs, staleMs, file: file === undefined ? undefined : createValuesFile(file, `${base} ${environment}`) });

  async function get<T extends object>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Partial<T>> {
    const url = new URL(`${base}/api/consumer/${path}?${new URLSearchParams({ environment, ...query }).toString()}`);
    return (await getJson<Partial<T> | null>({ url, headers: { 'X-Api-Key': await credential() }, timeoutMs })) ?? {};
  }
  /** @throws RequestFailed for the answer of another server at the address */
  function given<T>(member: T | undefined): T {
    if (member === undefined) throw new RequestFailed(`the answer of ${base} is not one of the secrets service`, { status: 200 });
    return member;
  }
  const read = <T>(name: string, load: () => Promise<T>): Promise<T> =>
    lastKnown.read(name, (tries) => withRetries(load, { attempts: tries === 'all' ? attempts : 1 }));

  async function readAll(): Promise<Readonly<Record<string, string>>> {
    const found: [string, string][] = [];
    for (let after: string | null = ''; after !== null;) {
      const page: Partial<Schemas['ReadSecrets']> = await get('secrets', { values: 'true', after });
      found.push(...given(page.items).map(({ name, value = '' }): [string, string] => [name, value]));
      after = given(page.next);
    }
    return Object.fromEntries(found);
  }

  return {
    /** The newest active value of a secret. */
    get: (name: string): Promise<string> =>
      read(`secret ${name}`, async () => given((await get<Schemas['ReadSecret']>(`secrets/${encodeURIComponent(name)}`)).value)),
    /** Every secret that is served in the environment, or those whose names begin with `prefix`: name → value. */
    async all({ prefix = '' }: { readonly prefix?: string } = {}): Promise<Record<string, string>> {
      const values = await read('secrets', readAll);
      return Object.fromEntries(Object.entries(values).filter(([name]) => name.startsWith(prefix)));
    },
    /** The configuration entries of the environment: key → value. */
    async configuration(): Promise<Record<string, string>> {
      const { items } = await read('configuration', async () => ({ items: given((await get<Schemas['ReadConfigurations']>('configurations')).items) }));
      return Object.fromEntries(items.map(({ key, value }) => [key, value]));
    },
  };
}

/** An option goes before both variables. */
function keyOf({ key, keyFile }: SecretsOptions) {
  if (key !== undefined || keyFile !== undefined) return { value: key, file: keyFile };
  const { SIGNALBOX_APPLICATION_KEY: value, SIGNALBOX_APPLICATION_KEY_FILE: file } = process.env;
  // An empty variable counts as absent.
  return { value: value === '' ? undefined : value, file: file === '' ? undefined : file };
}
