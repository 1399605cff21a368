// The broker connections that the environment names: BROKER_URL_<n> and BROKER_LIMIT_<n>, overridden by those of a dotenv file.
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigError, type Environment, collectFault, InvalidSetting, readAll, settingText, type SettingFamily } from '../config/config.ts';
import { DotenvError, type DotenvFault, parseDotenv } from '../config/dotenv.ts';
import { codeOf, hasCode } from '../errors.ts';
import type { Log } from '../log.ts';

export type BrokerConnection = {
  /** Not enumerable, so that neither a log line nor JSON shows it; a spread copy has none. */
  readonly url: string;
  readonly scheme: string;
  readonly host: string;
  readonly port: number;
  /** RabbitMQ's virtual host; for the embedded broker its database. */
  readonly virtualHost: string;
  /** Its position by ascending n, from 1; gaps in n do not count. */
  readonly index: number;
  /** `BROKER_URL_<n>`: stays the same when others come and go. */
  readonly name: string;
  /** Messages a month; none is no limit of its own, 0 is none at all. */
  readonly limit?: number;
};

type ReadingOptions = {
  /** Other connections are in use: a file that is missing or blank, or that leaves no connection at all, is a fault then. */
  readonly isReload?: boolean;
  /** Told of what is ignored. */
  readonly log?: Pick<Log, 'warn'>;
};

/**
 * In the environment and in the file alike each setting also works as `<NAME>_FILE`.
 * @param file of dotenv; at a start one that is not there counts as empty
 * @throws ConfigError with every fault
 */
export const readBrokerConnections = async (environment: Environment, file?: string, options: ReadingOptions = {}): Promise<BrokerConnection[]> =>
  connectionsOf(environment, await textOf(file), options);

export type BrokerSettings = ReturnType<typeof createBrokerSettings>;

/** The same for a process that follows its file. */
export function createBrokerSettings(environment: Environment, file: string | undefined, log: Pick<Log, 'warn'>) {
  let lastRead: string | null | undefined;
  return {
    /** @throws ConfigError with every fault */
    async read(isReload: boolean): Promise<BrokerConnection[]> {
      lastRead = await textOf(file);
      return connectionsOf(environment, lastRead, { isReload, log });
    },
    /**
     * Whether the file differs from the last one that `read` returned. An unreadable file counts as unchanged.
     * To be polled: Kubernetes swaps a symbolic link two levels up, which file events do not show.
     */
    hasChanged: async (): Promise<boolean> => (await textOf(file).catch(() => lastRead)) !== lastRead,
    /** Calls back at each event of the file's folder, so that a state of the file between two looks is seen; where none can be had, never. */
    watch(onEvent: () => void, stopping: AbortSignal): void {
      if (file === undefined || stopping.aborted) return;
      try {
        watch(dirname(file), { signal: stopping, persistent: false }, onEvent).on('error', () => undefined);
      } catch {
        // The folder is not there, or the system has no more watches: the looks remain.
      }
    },
  };
}

/** A deployable's own settings and the broker connections, with the faults of both told together. */
export async function readWithBrokers<C extends { readonly environmentFile: string | undefined }>(
  environment: Environment,
  readConfig: (environment: Environment) => C | Promise<C>,
): Promise<{ readonly config: C; readonly connections: readonly BrokerConnection[] }> {
  let file: string | undefined;
  const readOwn = async () => {
    const config = await readConfig(environment);
    file = config.environmentFile;
    return config;
  };
  const readConnections = async () => {
    const connections = await readBrokerConnections(environment, file);
    // With a file the first connection may come later.
    if (file === undefined && connections.length === 0) throw new ConfigError(['BROKER_URL_1 is required and not set']);
    return connections;
  };
  const [config, connections] = await readAll(readOwn, readConnections);
  return { config, connections };
}

/** Null when it is not there. @throws ConfigError when it cannot be read for another reason */
async function textOf(file: string | undefined): Promise<string | null | undefined> {
  try {
    return file === undefined ? undefined : await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw new ConfigError([`the file of broker connections cannot be read (${codeOf(error) ?? 'unreadable'})`]);
  }
}

const settingName = /^BROKER_(URL|LIMIT)_([1-9]\d*)(_FILE)?$/;

function connectionsOf(environment: Environment, text: string | null | undefined, options: ReadingOptions): BrokerConnection[] {
  const over = text === undefined ? {} : settingsOf(text, options);
  // A setting of the file, in either form, is over both forms of the environment.
  const settings: Environment = { ...environment, ...Object.fromEntries(Object.keys(over).map((name) => [otherForm(name), undefined])), ...over };
  const faults: string[] = [];
  const read = <T>(name: string, parse: (text: string) => T): T | undefined =>
    collectFault(faults, name, () => {
      const given = settingText(settings, name)?.trim();
      return given ? parse(given) : undefined;
    });
  const found = numbers(settings).flatMap((n) => {
    const name = `BROKER_URL_${n}`;
    const url = read(name, parseBrokerUrl);
    const limit = read(`BROKER_LIMIT_${n}`, parseLimit);
    return url ? [{ name, ...url, ...(limit !== undefined && { limit }) }] : [];
  });
  if (options.isReload === true && found.length === 0 && faults.length === 0)
    faults.push('no BROKER_URL_n is set; to publish nothing on a connection, set its BROKER_LIMIT_n to 0');
  if (faults.length > 0) throw new ConfigError(faults);
  // A URL holds a password.
  return found.map(({ url, ...shown }, index) => Object.defineProperty({ index: index + 1, ...shown, url }, 'url', { enumerable: false }));
}

const otherForm = (name: string) => (name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : `${name}_FILE`);

/** The numbers of the URLs that are set, ascending. */
function numbers(settings: Environment): number[] {
  const found = Object.entries(settings).flatMap(([name, value]) => {
    const [, kind, number] = settingName.exec(name) ?? [];
    return kind === 'URL' && value?.trim() ? Number(number) : [];
  });
  return [...new Set(found)].sort((a, b) => a - b);
}

function settingsOf(text: string | null, { isReload = false, log }: ReadingOptions): Environment {
  if (text === null) {
    if (isReload) throw new ConfigError(['the file of broker connections is missing (ENOENT)']);
    // A Secret that is mounted as optional appears when it is created.
    log?.warn('the file of broker connections does not exist yet');
    return {};
  }
  // Its writer has truncated it and not written yet: a file without connections has at least a comment.
  if (isReload && text.trim() === '') throw new ConfigError(['the file of broker connections is empty']);
  const entries = dotenvEntries(text);
  const lines = entries.filter(({ name }) => !settingName.test(name)).map(({ line }) => line);
  if (lines.length > 0) log?.warn({ lines }, 'ignored lines of the file of broker connections that set neither a BROKER_URL_n nor a BROKER_LIMIT_n');
  return Object.fromEntries(entries.map(({ name, value }) => [name, value]));
}

function dotenvEntries(text: string) {
  try {
    return parseDotenv(text);
  } catch (error) {
    throw error instanceof DotenvError ? new ConfigError(sentences(error.faults)) : error;
  }
}

/** One for each kind of fault, with the lines by number and never by content: another kind of file may have many. */
function sentences(faults: readonly DotenvFault[]): string[] {
  const kinds = Map.groupBy(faults, ({ says }) => says);
  return [...kinds].map(([says, found]) => {
    const lines = found.map(({ line }) => line);
    return `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')} of the file of broker connections: ${says}`;
  });
}

function parseLimit(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new InvalidSetting('must be a whole number of messages, 0 or more');
}

const defaultPorts: Readonly<Record<string, number>> = { amqp: 5672, amqps: 5671, postgres: 5432, postgresql: 5432 };

/** @throws InvalidSetting in words that repeat nothing of it */
export function parseBrokerUrl(text: string) {
  const url = URL.parse(text.trim());
  if (!url) throw new InvalidSetting('must be a URL');
  const scheme = url.protocol.slice(0, -1);
  const defaultPort = defaultPorts[scheme];
  if (defaultPort === undefined) throw new InvalidSetting(`must begin with ${Object.keys(defaultPorts).join(', ')}`);
  if (!url.hostname) throw new InvalidSetting('must name a host');
  try {
    const path = decodeURIComponent(url.pathname.slice(1));
    const host = url.hostname.replace(/^\[|\]$/g, '');
    return { url: text.trim(), scheme, host, port: Number(url.port) || defaultPort, virtualHost: path || '/' };
  } catch {
    throw new InvalidSetting('has a malformed percent escape in its path');
  }
}

/** For the settings tables of those who call this. */
export const brokerUrlFamily: SettingFamily = {
  name: 'BROKER_URL_<n>',
  shape: 'URL (amqp, amqps, postgres)',
  summary: 'The broker connections, by ascending n; gaps are allowed',
};
export const brokerLimitFamily: SettingFamily = {
  name: 'BROKER_LIMIT_<n>',
  shape: 'integer from 0',
  summary: 'Messages that connection n may publish in a calendar month; 0 publishes nothing there',
};
