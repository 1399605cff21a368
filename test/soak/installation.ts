// All of Signalbox as processes of this machine, on a Postgres and a RabbitMQ of their own, each of which may be killed and starts again.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newCredentials } from '../hostile/house.ts';
import { password } from '../services/console/service.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { startProcess } from '../support/processes.ts';
import { type RabbitmqServer, startRabbitmq } from '../support/rabbitmq.ts';
import { freePort } from '../support/wait.ts';
import { createClock } from './clock.ts';
import { createSlot, type Slot } from './slot.ts';
import { createSmallDisk, type SmallDisk } from './small-disk.ts';

export type Installation = {
  readonly postgres: PostgresServer;
  /** Undefined: queues in Postgres. */
  readonly rabbitmq: RabbitmqServer | undefined;
  readonly brokerUrl: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly slots: readonly Slot[];
  /** The spool of the first relay; undefined where this user may not mount one. */
  readonly smallDisk: SmallDisk | undefined;
  urlsOf(service: string): readonly string[];
  close(): Promise<void>;
};

/** Services and workers, and how many of each. */
const services = { 'webhook-relay': 2, 'webhook-intake': 1, 'link-digest': 1, secrets: 2, bookmarks: 1, listings: 1, console: 1 } as const;
const workers = { service: 2, 'database-service': 2, digest: 2, geocoding: 1, maintenance: 1 } as const;

export const sourceToken = 'a-token-of-the-soak';

type Options = {
  readonly broker: 'rabbitmq' | 'postgres';
  /** Receives webhooks of events. */
  readonly webhookUrl: string;
  readonly onEnd: (name: string, code: string, lastLines: readonly string[]) => void;
};

async function writeFiles(webhookUrl: string): Promise<Record<string, string>> {
  const folder = temporaryDirectory('soak');
  const files = { Sources__File: join(folder, 'sources.yaml'), Notifications__RulesFile: join(folder, 'rules.yaml') };
  const source = `{ name: shop, secrets: [${sourceToken}], verification: { by: token }, event: /type, key: /id, title: /title }`;
  await writeFile(files.Sources__File, `sources: [${source}]\n`);
  await writeFile(files.Notifications__RulesFile, `rules: [{ name: shop, when: { source: shop }, webhook: ['${webhookUrl}'] }]\n`);
  return files;
}

/** Resolves when everything is ready. */
export async function startInstallation({ broker, webhookUrl, onEnd }: Options): Promise<Installation> {
  const postgres = await startPostgres();
  const rabbitmq = broker === 'rabbitmq' ? await startRabbitmq() : undefined;
  const brokerUrl = rabbitmq?.url ?? postgres.url;
  const smallDisk = await createSmallDisk(4);
  const ports = new Map<string, readonly number[]>();
  for (const [name, count] of Object.entries(services)) ports.set(name, await Promise.all(Array.from({ length: count }, () => freePort())));
  const urlsOf = (service: string) => (ports.get(service) ?? []).map((port) => `http://127.0.0.1:${port}`);
  const urlOf = (service: string) => urlsOf(service)[0] ?? '';
  const settings: Record<string, string> = {
    ...(await newCredentials()),
    ...(await writeFiles(webhookUrl)),
    APP_ENV: 'development',
    LOG_LEVEL: 'warn',
    DATABASE_URL: postgres.url,
    BROKER_URL_1: brokerUrl,
    Ingest__BrokerUrl: brokerUrl,
    Broker__MonthlyMessageLimit: '100000000',
    Ingest__RateLimitPerHour: '1000000',
    RateLimit__PerMinute: '1000000',
    Notifications__WebhookSecrets: `whsec_${randomBytes(24).toString('base64')}`,
    Events__Url: `${urlOf('webhook-intake')}/signalbox`,
    Console__AdminPassword: password,
    Console__RelayUrl: urlOf('webhook-relay'),
    Console__IntakeUrl: urlOf('webhook-intake'),
    Console__DigestUrl: urlOf('link-digest'),
    Console__SecretsUrl: urlOf('secrets'),
    Console__BookmarksUrl: urlOf('bookmarks'),
    Console__ListingsUrl: urlOf('listings'),
  };
  const migrated = startProcess(['migrate'], { env: settings });
  if ((await migrated.exited).code !== 0) throw new Error(`migrate failed:\n${migrated.lines.join('\n')}`);

  const slots: Slot[] = [];
  async function add(name: string, args: readonly string[], port = 0): Promise<void> {
    const metricsPort = await freePort();
    const isSmall = name === 'webhook-relay-1' && smallDisk !== undefined;
    const FailedPayloads__Directory = isSmall ? smallDisk.directory : temporaryDirectory('spool');
    const clock = createClock();
    const env = { ...settings, ...clock?.env, PORT: String(port), METRICS_PORT: String(metricsPort), FailedPayloads__Directory };
    const slot = createSlot({
      name,
      args,
      options: { env, ...(isSmall && { prefix: smallDisk.prefix }) },
      healthUrl: `http://127.0.0.1:${metricsPort}`,
      clock,
      onEnd,
    });
    slots.push(slot);
    slot.start();
  }
  for (const [name, all] of ports) for (const [index, port] of all.entries()) await add(`${name}-${index + 1}`, ['serve', name], port);
  for (const [name, count] of Object.entries(workers))
    for (let index = 1; index <= count; index++) await add(`worker-${name}-${index}`, ['worker', name, '--loop']);
  await Promise.all(slots.map((slot) => slot.ready()));
  return {
    postgres,
    rabbitmq,
    brokerUrl,
    settings,
    slots,
    smallDisk,
    urlsOf,
    async close() {
      await Promise.all(slots.map((slot) => slot.close()));
      await rabbitmq?.close();
      await postgres.close();
    },
  };
}
