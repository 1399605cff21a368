// Settings: their kinds, each of which says its shape in words, and those that every deployable shares.
import { randomBytes } from 'node:crypto';
import { isAddressRange } from '../client-address.ts';
import { isPasswordHash } from '../password.ts';
import { InvalidSetting, type Setting, type Settings } from './config.ts';
import { Secret } from './secret.ts';

type Options<T> = { readonly summary: string; readonly default?: T; readonly generate?: () => string; readonly isInternal?: true };
type Kind<T> = Pick<Setting<T>, 'shape' | 'parse'> & { readonly isSecret?: boolean };

const setting = <T>(name: string, kind: Kind<T>, { default: value, ...options }: Options<T>): Setting<T> => ({
  name,
  isSecret: false,
  ...kind,
  ...options,
  ...(value !== undefined && { fallback: { value } }),
});

/** The same setting, undefined when absent. */
export const optional = <T>(inner: Setting<T>): Setting<T | undefined> => ({ ...inner, fallback: { value: undefined } });

export const text = (name: string, options: Options<string>) => setting(name, { shape: 'text', parse: (value) => value }, options);

export function integer(name: string, options: Options<number> & { readonly min: number; readonly max: number }): Setting<number> {
  const shape = `integer ${options.min}–${options.max}`;
  const parse = (value: string) => {
    const number = /^\d{1,15}$/.test(value.trim()) ? Number(value) : NaN;
    if (number >= options.min && number <= options.max) return number;
    throw new InvalidSetting(`must be an ${shape}`);
  };
  return setting(name, { shape, parse }, options);
}

export function decimal(name: string, options: Options<number> & { readonly min: number; readonly max: number }): Setting<number> {
  const shape = `number ${options.min}–${options.max}`;
  const parse = (value: string) => {
    const number = /^\d{1,9}(\.\d{1,9})?$/.test(value.trim()) ? Number(value) : NaN;
    if (number >= options.min && number <= options.max) return number;
    throw new InvalidSetting(`must be a ${shape}`);
  };
  return setting(name, { shape, parse }, options);
}

export function choice<const C extends string>(name: string, choices: readonly C[], options: Options<NoInfer<C>>): Setting<C> {
  const parse = (value: string) => {
    const found = choices.find((one) => one === value.trim().toLowerCase());
    if (found !== undefined) return found;
    throw new InvalidSetting(`must be one of ${choices.join(', ')}`);
  };
  return setting<C>(name, { shape: choices.join(' \\| '), parse }, options);
}

const split = (value: string) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

export const list = (name: string, options: Options<readonly string[]>) =>
  setting<readonly string[]>(name, { shape: 'comma-separated list', parse: split }, options);

/** A list of one thing. @param read undefined for an entry that is none; a fault tells such entries by their place */
function listOf(name: string, { what, read }: { what: string; read: (entry: string) => string | undefined }, options: Options<readonly string[]>) {
  const parse = (value: string) => {
    const entries = split(value).map(read);
    const wrong = entries.flatMap((entry, index) => (entry === undefined ? [index + 1] : []));
    if (wrong.length > 0) throw new InvalidSetting(`must hold ${what}; not so entry ${wrong.join(', ')}`);
    return entries.filter((entry) => entry !== undefined);
  };
  return setting<readonly string[]>(name, { shape: 'comma-separated list', parse }, options);
}

/** Addresses and CIDR ranges. */
export const addressRanges = (name: string, options: Options<readonly string[]>) =>
  listOf(name, { what: 'addresses or CIDR ranges such as 10.0.0.0/8', read: (entry) => (isAddressRange(entry) ? entry : undefined) }, options);

/** Origins as browsers send them. */
export const origins = (name: string, options: Options<readonly string[]>) =>
  listOf(name, { what: 'origins such as https://app.example.org, without a path, or *', read: readOrigin }, options);

function readOrigin(entry: string): string | undefined {
  if (entry === '*') return entry;
  const { protocol = '', origin = '', href = '' } = URL.parse(entry) ?? {};
  return /^https?:$/.test(protocol) && href === `${origin}/` ? origin : undefined;
}

export function url(name: string, protocols: readonly string[], options: Options<string>): Setting<string> {
  return setting(name, { shape: `URL (${protocols.join(', ')})`, parse: (value) => parseUrl(value, protocols) }, options);
}

function parseUrl(value: string, protocols: readonly string[]): string {
  const parsed = URL.canParse(value) ? new URL(value) : undefined;
  if (parsed && protocols.includes(parsed.protocol.slice(0, -1))) return value;
  throw new InvalidSetting(`must be a URL that begins with ${protocols.map((one) => `${one}://`).join(' or ')}`);
}

export const secret = (name: string, options: Options<Secret>) =>
  setting(name, { shape: 'secret', isSecret: true, parse: (value) => new Secret(value) }, options);

/** A URL with a password in it. */
export const secretUrl = (name: string, protocols: readonly string[], options: Options<Secret>) =>
  setting(name, { shape: `URL (${protocols.join(', ')})`, isSecret: true, parse: (value) => new Secret(parseUrl(value, protocols)) }, options);

const leastLength = 16;

/** Several valid credentials, so that one can be rotated without a gap. In production one that can be guessed is refused. */
export function secretList(name: string, options: Options<readonly Secret[]>): Setting<readonly Secret[]> {
  const parse = (value: string, isProduction = false) => {
    const items = split(value);
    if (items.length === 0) throw new InvalidSetting('holds no value');
    if (isProduction && items.some((item) => item.length < leastLength)) throw new InvalidSetting(`must have at least ${leastLength} characters in each value`);
    return items.map((item) => new Secret(item));
  };
  return setting<readonly Secret[]>(name, { shape: 'comma-separated secrets', isSecret: true, parse }, options);
}

/** Secrets of Standard Webhooks: `whsec_` and base64, or any other text. A secret that cannot be decoded would be a key that anyone can guess. */
export function webhookSecretList(name: string, options: Options<readonly Secret[]>): Setting<readonly Secret[]> {
  const secrets = secretList(name, options);
  const parse = (value: string, isProduction = false) => {
    const wrong = split(value).flatMap((item, index) => (/^whsec_(?![A-Za-z0-9+/]{16,}={0,2}$)/.test(item) ? [index + 1] : []));
    if (wrong.length > 0) throw new InvalidSetting(`must have base64 of at least 12 bytes after whsec_; not so entry ${wrong.join(', ')}`);
    return secrets.parse(value, isProduction);
  };
  return { ...secrets, parse };
}

/** Hashes of passwords, in the form of `hashPassword`. */
export function passwordHashList(name: string, options: Options<readonly Secret[]>): Setting<readonly Secret[]> {
  const hashes = secretList(name, options);
  const parse = (value: string) => {
    const parsed = hashes.parse(value);
    if (!parsed.every((hash) => isPasswordHash(hash.reveal()))) throw new InvalidSetting('must be what `signalbox digest hash-password` prints');
    return parsed;
  };
  return { ...hashes, parse };
}

/** A credential for a first installation: 32 random bytes, URL-safe. */
export const randomCredential = () => randomBytes(32).toString('base64url');

/**
 * A credential that the console alone has, of each service another one: a service takes it beside its own, so that it can be revoked alone.
 * The service and the console read the same setting. Internal: no one types it.
 */
export const consoleCredential = (name: string, service: string) =>
  optional(
    secretList(name, {
      summary: `The console's own credential for the ${service}, which takes each value of the list; the console sends the first`,
      generate: randomCredential,
      isInternal: true,
    }),
  );

/** The settings that can be generated for a first installation: names, and their makers. */
export const generators = (groups: readonly Settings[]) =>
  groups.flatMap((settings) => Object.values(settings)).flatMap(({ name, generate }) => (generate ? [[name, generate] as const] : []));

/** Settings of the process that a deployable runs in. */
export const processSettings = {
  metricsPort: integer('METRICS_PORT', { summary: 'Prometheus metrics, and health of what has no public port', min: 0, max: 65_535, default: 9090 }),
  logLevel: choice('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace'], { summary: 'The least level that is logged', default: 'info' }),
  appEnv: choice('APP_ENV', ['production', 'development'], {
    summary: 'In production a stopping service is unready and serves on for 10 s, until load balancers have noticed',
    default: 'production',
  }),
  otlpEndpoint: optional(
    url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http', 'https'], { summary: 'The OTLP receiver that traces are sent to over HTTP, without /v1/traces' }),
  ),
};

export const commonSettings = {
  port: integer('PORT', { summary: 'The public port', min: 0, max: 65_535, default: 8080 }),
  databaseUrl: secretUrl('DATABASE_URL', ['postgres', 'postgresql'], { summary: 'The Postgres database' }),
  trustedProxies: addressRanges('TrustedProxies', {
    summary: 'Addresses and CIDR ranges of proxies whose X-Forwarded-For names the client, by whose address limits count',
    default: [],
  }),
  corsOrigins: origins('Cors__AllowedOrigins', { summary: 'Origins that browsers may call from', default: [] }),
};
