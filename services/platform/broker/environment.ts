// The broker connections that the environment names: BROKER_URL_<n> and BROKER_LIMIT_<n>, overridden by those of a dotenv file.
import { ConfigError, type Environment, collectFault, InvalidSetting, settingText, type SettingFamily } from '../config/config.ts';
import type { Log } from '../log.ts';
import { type BrokerUrlParts, parseBrokerUrl } from './broker-url.ts';
import { readDotenv, UnreadableFile } from './dotenv.ts';

export type BrokerConnection = BrokerUrlParts & {
  /** Its position by ascending n, from 1; gaps in n do not count. */
  readonly index: number;
  /** `BROKER_URL_<n>`: stays the same when others come and go. */
  readonly name: string;
  /** Messages a month; none is no limit of its own, 0 is none at all. */
  readonly limit?: number;
};

export type ReadingOptions = {
  /** Other connections are in use: a file that is missing or blank, or that leaves no connection at all, is a fault then. */
  readonly isReload?: boolean;
  /** Told of what is passed over. */
  readonly log?: Pick<Log, 'warn'>;
};

/**
 * In the environment and in the file alike each setting also works as `<NAME>_FILE`.
 * @param file of dotenv; at a start one that is not there counts as empty
 * @throws ConfigError with every fault
 */
export async function readBrokerConnections(environment: Environment, file?: string, options: ReadingOptions = {}): Promise<BrokerConnection[]> {
  const over = file === undefined ? {} : await readOver(file, options);
  const faults: string[] = [];
  const setting = <T>(name: string, parse: (text: string) => T): T | undefined =>
    collectFault(faults, name, () => {
      const text = layeredText([over, environment], name);
      return text === '' ? undefined : parse(text);
    });
  const found = numbers({ ...environment, ...over }).flatMap((n) => {
    const name = `BROKER_URL_${n}`;
    const url = setting(name, parseBrokerUrl);
    const limit = setting(`BROKER_LIMIT_${n}`, parseLimit);
    return url ? [{ name, ...url, ...(limit !== undefined && { limit }) }] : [];
  });
  if (options.isReload === true && found.length === 0 && faults.length === 0)
    faults.push('no BROKER_URL_n is set; to publish nothing on a connection, set its BROKER_LIMIT_n to 0');
  if (faults.length > 0) throw new ConfigError(faults);
  // A URL holds a password.
  return found.map(({ url, ...shown }, index) => Object.defineProperty({ index: index + 1, ...shown, url }, 'url', { enumerable: false }));
}

/** A deployable's own settings and the broker connections, with the faults of both told together. */
export async function readWithBrokers<C extends { readonly environmentFile: string | undefined }>(
  environment: Environment,
  readConfig: (environment: Environment) => C,
): Promise<{ readonly config: C; readonly connections: readonly BrokerConnection[] }> {
  const faults: string[] = [];
  const note = (error: unknown): undefined => {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(...error.faults);
  };
  const config = await new Promise<C>((resolve) => resolve(readConfig(environment))).catch(note);
  const connections = await readBrokerConnections(environment, config?.environmentFile).catch(note);
  // With a file the first connection may come later.
  if (config?.environmentFile === undefined && connections?.length === 0) faults.push('BROKER_URL_1 is required and not set');
  if (!config || !connections || faults.length > 0) throw new ConfigError(faults);
  return { config, connections };
}

async function readOver(file: string, { isReload = false, log }: ReadingOptions): Promise<Environment> {
  try {
    const { settings, unknownLines, isBlank } = await readDotenv(file);
    // Truncated by whoever writes it: what is meant has more in it, if only a comment.
    if (isReload && isBlank) throw new ConfigError(['the file of broker connections is empty']);
    if (unknownLines.length > 0)
      log?.warn({ lines: unknownLines }, 'lines of the file of broker connections that name neither a BROKER_URL_n nor a BROKER_LIMIT_n are passed over');
    return settings;
  } catch (error) {
    // A Secret that is mounted as optional appears when it is created.
    if (isReload || !(error instanceof UnreadableFile && error.isMissing)) throw error;
    log?.warn('the file of broker connections is not there yet');
    return {};
  }
}

const urlName = /^BROKER_URL_([1-9]\d*)(_FILE)?$/;

function numbers(settings: Environment): number[] {
  const named = Object.entries(settings).flatMap(([name, value]) => (value?.trim() ? (urlName.exec(name)?.[1] ?? []) : []));
  return [...new Set(named.map(Number))].sort((a, b) => a - b);
}

/** Of the first that has the setting, in either of its forms. */
function layeredText(layers: readonly [Environment, Environment], name: string): string {
  const layer = layers.find((one) => one[name] !== undefined || one[`${name}_FILE`] !== undefined);
  return (layer && settingText(layer, name))?.trim() ?? '';
}

function parseLimit(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new InvalidSetting('must be a whole number of messages, 0 or more');
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
