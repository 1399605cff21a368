// The house as a stranger meets it: a process for each described service, in production, within the memory that the chart gives it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { deployables } from '../../services/command/deployables.ts';
import { tokenSettings } from '../../services/link-digest/login/settings.ts';
import { createTokens } from '../../services/link-digest/login/tokens.ts';
import { readSettings } from '../../services/platform/config/config.ts';
import { generators, randomCredential } from '../../services/platform/config/settings.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { mebibyte } from '../support/usage.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { freePort } from '../support/wait.ts';

const root = join(import.meta.dirname, '../..');

/** Every service that has an API description; one that is added joins by it. */
export const described: readonly string[] = readdirSync(join(root, 'docs/openapi')).map((file) => file.replace(/\.json$/, ''));

export const descriptionOf = (service: string): unknown => JSON.parse(readFileSync(join(root, `docs/openapi/${service}.json`), 'utf8'));

const Resources = z.object({ resources: z.object({ limits: z.object({ memory: z.string() }) }) });
const Values = z.object({ defaults: Resources.extend({ worker: Resources }), services: z.record(z.string(), Resources.partial()) });

const inBytes = (quantity: string) => Number(/^(\d+)Mi$/.exec(quantity)?.[1] ?? NaN) * mebibyte;

/** The chart's limits of a service, and of a worker. */
export function chartMemory(): { readonly of: (service: string) => number; readonly worker: number } {
  const { defaults, services } = Values.parse(parse(readFileSync(join(root, 'charts/signalbox/values.yaml'), 'utf8')));
  return {
    of: (service) => inBytes((services[service]?.resources ?? defaults.resources).limits.memory),
    worker: inBytes(defaults.worker.resources.limits.memory),
  };
}

export type Running = { readonly name: string; readonly process: RunningProcess; readonly port: number; readonly metricsUrl: string };

export type House = {
  readonly databaseUrl: string;
  /** The environment of every process, with its credentials. */
  readonly settings: Readonly<Record<string, string>>;
  readonly services: readonly Running[];
  /** The spool of the relay. */
  readonly spoolDirectory: string;
  service(name: string): Running;
  startWorker(name: string): Promise<Running>;
  close(): Promise<void>;
};

export type HouseOptions = {
  readonly services?: readonly string[];
  /** The embedded broker in its database unless given. */
  readonly brokerUrl?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** Memory of services that need more than the chart's default. */
  readonly memoryBytes?: Readonly<Record<string, number>>;
  /** Called before anything starts. */
  readonly prepare?: (spoolDirectory: string) => void;
};

/** Credentials as a first installation makes them, for every service, and the token of one that logs in. */
export async function newCredentials(): Promise<Record<string, string>> {
  const all = await deployables.loadAll();
  const made = Object.fromEntries(generators(all.map(({ settings }) => settings)).map(([name, make]) => [name, make()]));
  // The secrets of direct sources are made by vendors, or with them.
  const sources = all.flatMap(({ settings }) => Object.values(settings)).filter(({ name, isSecret }) => isSecret && name.startsWith('Sources__'));
  const secret = randomCredential();
  for (const { name } of sources) made[name] = secret;
  const tokens = createTokens({ config: readSettings(made, tokenSettings), clock: () => new Date() });
  const { token } = await tokens.issue({ subject: 'stranger', username: 'stranger', minutes: 600 });
  return { ...made, TEST_DIGEST_TOKEN: token };
}

/** Starts the services on a migrated database and waits until they are ready. */
export async function startHouse({
  services: names = described,
  brokerUrl,
  settings: given = {},
  memoryBytes = {},
  prepare,
}: HouseOptions = {}): Promise<House> {
  const all = await deployables.loadAll();
  const database = await createTestDatabase(...all.map(({ migrations: { schema, directory } }) => ({ schema, migrations: directory })));
  const spoolDirectory = temporaryDirectory('spool');
  const settings = {
    ...(await newCredentials()),
    DATABASE_URL: database.url,
    BROKER_URL_1: brokerUrl ?? database.url,
    Ingest__BrokerUrl: brokerUrl ?? database.url,
    Broker__MonthlyMessageLimit: '100000000',
    Management__MaxFailedCredentials: '1000000',
    RateLimit__PerMinute: '1000000',
    Ingest__RateLimitPerHour: '1000000',
    Digest__LoginAttempts: '1000000',
    FailedPayloads__Directory: spoolDirectory,
    ...given,
  };
  prepare?.(spoolDirectory);
  const memory = chartMemory();
  const running: Running[] = [];
  async function start(name: string, args: readonly string[], memoryBytes: number): Promise<Running> {
    const [port, metricsPort] = [await freePort(), await freePort()];
    const process = startProcess(args, { env: { ...settings, PORT: String(port), METRICS_PORT: String(metricsPort) }, memoryBytes });
    const one = { name, process, port, metricsUrl: `http://127.0.0.1:${metricsPort}` };
    running.push(one);
    await process.waitForLine(/"msg":"ready"/);
    return one;
  }
  // Listings are not ready before it has run.
  if (names.includes('listings')) await start('geocoding', ['worker', 'geocoding', '--loop'], memory.worker);
  const services = await Promise.all(names.map((name) => start(name, ['serve', name], memoryBytes[name] ?? memory.of(name))));
  return {
    databaseUrl: database.url,
    settings,
    services,
    spoolDirectory,
    service(name) {
      const found = services.find((one) => one.name === name);
      if (!found) throw new Error(`${name} was not started`);
      return found;
    },
    startWorker: (name) => start(name, ['worker', name, '--loop'], memory.worker),
    async close() {
      await Promise.all(running.map(({ process }) => process.kill()));
      await database.drop();
    },
  };
}
