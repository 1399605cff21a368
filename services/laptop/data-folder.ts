// The data folder of a laptop: its lock, and the credentials of the first start, in a file that only its owner reads.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConfigError, type Environment, isGiven, notGiven, settingText, withDefaults } from '../platform/config/config.ts';
import { DotenvError, parseDotenv } from '../platform/config/dotenv.ts';
import { codeOf, hasCode } from '../platform/errors.ts';
import { createFolderLock } from '../platform/process/folder-lock.ts';
import { writeWhole } from '../platform/process/whole-file.ts';
import { every } from '../platform/time.ts';
import { ownDatabaseUrl } from './postgres-server.ts';

/** The setting of the password of the laptop's own Postgres. */
export const postgresPassword = 'Laptop__PostgresPassword';

/** Where the services of the last start listen, and the servers that were given to it, as settings of commands that run beside them. */
const addressesFile = (data: string) => join(data, 'addresses.env');

/** @param addresses by the names of settings; URLs of servers hold passwords */
export async function writeAddresses(data: string, addresses: Readonly<Record<string, string>>): Promise<void> {
  const text = ['# Written at each start.\n', ...Object.entries(addresses).map(([name, value]) => `${name}=${quoted(value)}\n`)].join('');
  await writeWhole(addressesFile(data), (partial) => writeFile(partial, text, { mode: 0o600 }));
}

/** A dotenv file has no escape for a quote. */
function quoted(value: string): string {
  const quote = value.includes("'") ? '`' : "'";
  return `${quote}${value}${quote}`;
}

/** @returns settings by name; none when nothing was started here */
export async function readAddresses(data: string): Promise<Readonly<Record<string, string>>> {
  const file = addressesFile(data);
  return parseCredentials(await readFile(file, 'utf8').catch(whenMissing), file);
}

/** Settings of every deployable on a laptop unless the environment has them, beside generated credentials and addresses. */
export const laptopSettings = (databaseUrl: string, data: string) => ({
  APP_ENV: 'development',
  BROKER_URL_1: databaseUrl,
  Ingest__BrokerUrl: databaseUrl,
  // The worker does, which runs beside it.
  Ingest__Consume: 'false',
  FailedPayloads__Directory: join(data, 'spool'),
  DATABASE_URL: databaseUrl,
});

/** `mkdir` of Node 24 with `recursive` never ends where a parent takes no folders and says ENOENT, as /proc does. */
export async function makeFolder(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder));
  await mkdir(folder).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw new Error(`${folder} cannot be made (${codeOf(error)}): give --data another folder`, { cause: error });
  });
}

const lockOf = (data: string) => createFolderLock(join(data, 'up.lock'));
const touchEveryMs = 2500;

/** @throws Error that names the process which runs on the folder */
export async function requireFree(data: string): Promise<void> {
  const holder = await lockOf(data).holder();
  if (holder) throw isTaken(data, holder);
}

const isTaken = (data: string, { pid }: { readonly pid: number }) =>
  new Error(`Signalbox already runs on this folder as process ${pid} (${data}); stop that one first, or give --data another folder`);

/** One `signalbox up` a data folder. @throws Error that names the process which holds it */
export async function takeInstanceLock(data: string): Promise<{ close(): Promise<void> }> {
  const lock = lockOf(data);
  const holder = await lock.hold();
  if (holder) throw isTaken(data, holder);
  const closing = new AbortController();
  const held = every(touchEveryMs, closing.signal, async () => void (await lock.hold().catch(() => undefined))); // a full disk is reported by its writers
  return {
    async close() {
      closing.abort();
      await held;
      await lock.close();
    },
  };
}

/** The generated credentials, and settings that a person has added. @returns none before the first start */
export async function keptSettings(data: string): Promise<Readonly<Record<string, string>>> {
  const file = join(data, 'credentials.env');
  return parseCredentials(await readFile(file, 'utf8').catch(whenMissing), file);
}

/**
 * Every setting that can be generated: from the environment when given there, else from the file, else made and kept.
 * @param environment what is given in it is neither made nor answered
 * @param makers of what will run: name → maker
 */
export async function credentials(
  file: string,
  environment: Environment,
  makers: ReadonlyMap<string, () => string>,
): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(file, 'utf8').catch(whenMissing);
  const kept = parseCredentials(text, file);
  const isMissing = (name: string) => kept[name] === undefined && !isGiven(kept, name) && !isGiven(environment, name);
  const fresh = [...makers].filter(([name]) => isMissing(name)).map(([name, make]) => [name, make()] as const);
  if (fresh.length > 0) await add(file, text, fresh);
  return notGiven(environment, { ...kept, ...Object.fromEntries(fresh) });
}

/** @throws ConfigError for a line that is none: what cannot be read, a master key say, must not be made anew over it */
export function parseCredentials(text: string, file: string): Readonly<Record<string, string>> {
  try {
    const entries = parseDotenv(text);
    const lines = text.split('\n');
    const quoted = entries.filter(({ line }) => quotesInside.test(lines[line - 1] ?? ''));
    if (quoted.length > 0) throw new DotenvError(quoted.map(({ line }) => ({ line, says: 'quotes inside the value; put all of it in one pair' })));
    return Object.fromEntries(entries.map(({ name, value }) => [name, value]));
  } catch (error) {
    throw error instanceof DotenvError ? new ConfigError(error.faults.map(({ line, says }) => `${file}, line ${line}: ${says}`)) : error;
  }
}

/** A list such as `new,'old'`, whose quotes would be part of the value here, and are dropped by a shell that reads the file. */
const quotesInside = /=[ \t]*[^ \t'"`#][^'"`#]*,[ \t]*(['"`]).*\1/;

const namesServer = /^(DATABASE_URL|BROKER_URL_\d+|Broker__EnvironmentFile|Ingest__BrokerUrl)(_FILE)?$/;
/** Only a command that reads such a setting is meant by it: a shell with the credentials of a laptop has `Jwt__Key`, too. */
const namesService = /^(Jwt__Key|Console__\w+Url|SIGNALBOX(_[A-Z]+)?_URL)(_FILE)?$/;

/** The servers that an environment names, for commands beside what it starts, in other folders too. */
export const serversIn = (environment: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => (value && isServer(name) ? [[name, absolute(name, value)] as const] : [])));

const isServer = (name: string) => namesServer.test(name) || /^FailedPayloads__Directory(_FILE)?$/.test(name);
const absolute = (name: string, value: string) => (/(_FILE|File|Directory)$/.test(name) ? resolve(value) : value);

/**
 * The settings of the services that `signalbox up` runs on this folder, for a command beside them; none where the environment names another database, broker,
 * or service that the command asks.
 * @param reads names of the settings that the command reads
 * @throws Error when none runs
 */
export async function withLaptopSettings(data: string, environment: Environment, reads: readonly string[] = []): Promise<Environment> {
  const isElsewhere = (name: string) => namesServer.test(name) || (namesService.test(name) && reads.includes(name.replace(/_FILE$/, '')));
  const named = Object.keys(environment).filter((name) => isElsewhere(name) && environment[name]);
  const started = await readAddresses(data);
  const isRunning = () => lockOf(data).seemsHeld();
  const isAnother = (name: string) => absolute(name, environment[name] ?? '') !== started[name];
  if (named.length > 0 && (named.some(isAnother) || !(await isRunning()))) return environment;
  const kept = await keptSettings(data);
  const port = await readFile(join(data, 'postgres', 'port'), 'utf8').catch(whenMissing);
  const instead = reads.filter((name) => namesService.test(name)).join(' or ') || 'what --help lists';
  if (port === '' && Object.keys(started).length === 0)
    throw new Error(`${data} holds no Postgres: start Signalbox first (npm start), give --data its folder, or set ${instead}`);
  if (!(await isRunning())) throw new Error(`Signalbox does not run on ${data}: start it first (npm start)`);
  const databaseUrl = settingText(started, 'DATABASE_URL') ?? ownDatabaseUrl(Number(port), kept[postgresPassword] ?? '');
  return [started, laptopSettings(databaseUrl, data), kept].reduce(withDefaults, environment);
}

function whenMissing(error: unknown): string {
  if (hasCode(error, 'ENOENT')) return '';
  throw error;
}

/** Keeps the existing text unchanged: a person may have written it, with quotes of any kind. */
async function add(file: string, text: string, fresh: readonly (readonly [name: string, value: string])[]): Promise<void> {
  const before = text === '' ? '# Generated on the first start; delete the folder to begin anew.\n' : text.replace(/\n?$/, '\n');
  const lines = fresh.map(([name, value]) => `${name}='${value}'\n`);
  await writeWhole(file, (partial) => writeFile(partial, [before, ...lines].join(''), { mode: 0o600 }));
}
