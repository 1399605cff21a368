// The broker connections that the environment names, BROKER_URL_<n> and BROKER_LIMIT_<n> overridden by a dotenv file, and its changes.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import type { SettingFamily } from '../config.ts';
import { type BrokerUrlParts, parseBrokerUrl } from './broker-url.ts';

export type BrokerConnection = BrokerUrlParts & {
  /** Its position by ascending n, from 1; gaps in n do not count. */
  readonly index: number;
  /** `BROKER_URL_<n>`: stays the same when others come and go. */
  readonly name: string;
  /** Messages a month; none is no limit of its own, 0 is none at all. */
  readonly limit?: number;
};

type Environment = Readonly<Record<string, string | undefined>>;

const urlName = /^BROKER_URL_([1-9]\d*)$/;

/** Rejects with one error that names every faulty setting, and never a value. */
export async function readBrokerConnections(environment: Environment, file?: string): Promise<BrokerConnection[]> {
  const settings = { ...environment, ...(file ? await readSettings(file) : {}) };
  const faults: string[] = [];
  const found: Omit<BrokerConnection, 'index'>[] = [];
  for (const n of numbers(settings)) {
    const name = `BROKER_URL_${n}`;
    const limitName = `BROKER_LIMIT_${n}`;
    const parts = parseBrokerUrl(settings[name] ?? '');
    const limit = settings[limitName]?.trim() ?? '';
    if (typeof parts === 'string') faults.push(`${name} ${parts}`);
    if (limit !== '' && !isWholeNumber(limit)) faults.push(`${limitName} must be a whole number of messages, 0 or more`);
    if (typeof parts === 'string') continue;
    found.push({ name, ...parts, ...(limit === '' ? {} : { limit: Number(limit) }) });
  }
  if (faults.length > 0) throw new Error(`broker settings: ${faults.join('; ')}`);
  // A URL holds a password.
  return found.map(({ url, ...shown }, index) => Object.defineProperty({ index: index + 1, ...shown, url }, 'url', { enumerable: false }));
}

async function readSettings(file: string): Promise<Environment> {
  try {
    return parseEnv(await readFile(file, 'utf8'));
  } catch (error) {
    // A Secret that is mounted as optional appears when it is created.
    if (isMissing(error)) return {};
    throw error;
  }
}

function numbers(settings: Environment): number[] {
  return Object.entries(settings)
    .flatMap(([name, value]) => (value?.trim() ? (urlName.exec(name)?.[1] ?? []) : []))
    .map(Number)
    .sort((a, b) => a - b);
}

const isWholeNumber = (text: string) => /^\d+$/.test(text) && Number.isSafeInteger(Number(text));

export type BrokerFileWatch = {
  close(): void;
};

/** Compares with the content at the time of this call, so watch first and read after. A missing file counts as empty
 *  content of its own. Polling: Kubernetes swaps a symbolic link two levels up, which file events do not show. */
export function watchBrokerFile(file: string, onChange: () => void, { intervalMs }: { readonly intervalMs: number }): BrokerFileWatch {
  let known = contentOf(file);
  let isClosed = false;

  async function look(): Promise<void> {
    const content = await readFile(file).then(hash, (error: unknown) => unreadable(error, known));
    if (isClosed) return;
    if (content !== known) {
      known = content;
      onChange();
    }
    timer = setTimeout(() => void look(), intervalMs).unref();
  }

  let timer = setTimeout(() => void look(), intervalMs).unref();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

const missing = 'missing';
const hash = (content: Buffer) => createHash('sha256').update(content).digest('hex');

// What cannot be read for another reason, as in the midst of a swap, has not changed yet.
const unreadable = (error: unknown, known: string) => (isMissing(error) ? missing : known);
const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

function contentOf(file: string): string {
  try {
    return hash(readFileSync(file));
  } catch (error) {
    return unreadable(error, 'unreadable');
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
