// The relay of the tests: the whole app on a real database and real brokers, listening on a loopback port.
import { createHmac } from 'node:crypto';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import type { Broker } from '../../../services/platform/broker/broker.ts';
import { readBrokerConnections } from '../../../services/platform/broker/environment.ts';
import { createHealth, type Health } from '../../../services/platform/health.ts';
import { createLifecycle, type Lifecycle } from '../../../services/platform/process/lifecycle.ts';
import { listen } from '../../../services/platform/http/server.ts';
import { type Log, silentLog } from '../../../services/platform/log.ts';
import { createMetrics, type Metrics } from '../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../services/platform/postgres/pool.ts';
import { createRelay } from '../../../services/webhook-relay/app.ts';
import { readConfig } from '../../../services/webhook-relay/config.ts';
import { type Connections, createConnections } from '../../../services/webhook-relay/connections/connections.ts';
import { forgeTopology } from '../../../services/webhook-relay/contract.ts';
import { usagePool, generalPool } from '../../../services/webhook-relay/database.ts';
import { temporaryDirectory } from '../../support/guard.ts';
import { eventually } from '../../support/wait.ts';

export const migrations = new URL('../../../services/webhook-relay/migrations/', import.meta.url);
export const secret = 'It is a secret of the tests';
export const token = 'the administrator';

export type RelayOptions = {
  readonly databaseUrl: string;
  /** Over those that every test has; BROKER_URL_n among them. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: () => Date;
  readonly log?: Log;
  /** False for a test of brokers that cannot be reached. */
  readonly awaitBrokers?: boolean;
  readonly replayEveryMs?: number;
  /** How long a reload waits for its new connections; as the relay has it unless given. */
  readonly handOverMs?: number;
};

export type TestRelay = {
  readonly url: string;
  readonly database: Pool;
  readonly connections: Connections;
  readonly spoolDirectory: string;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly lifecycle: Lifecycle;
  close(): Promise<void>;
};

export async function startRelay({
  databaseUrl,
  environment = {},
  clock = () => new Date(),
  log = silentLog,
  awaitBrokers = true,
  replayEveryMs = 1000,
  handOverMs,
}: RelayOptions): Promise<TestRelay> {
  const spoolDirectory = environment['FailedPayloads__Directory'] ?? temporaryDirectory('spool');
  const all = {
    DATABASE_URL: databaseUrl,
    Broker__AuthToken: token,
    Forge__WebhookSecrets: secret,
    FailedPayloads__Directory: spoolDirectory,
    ...environment,
  };
  const config = await readConfig(all);
  const lifecycle = createLifecycle(log);
  const metrics = createMetrics();
  const health = createHealth();
  const database = lifecycle.opened('database', createPool(databaseUrl, { ...generalPool, log }));
  const usageDatabase = lifecycle.opened('usage database', createPool(databaseUrl, { ...usagePool(config.budgetMs), log }));
  const connections = lifecycle.opened(
    'connections',
    await createConnections({
      read: (isReload) => readBrokerConnections(all, config.environmentFile, { isReload, log }),
      connect: ({ name, url }, up): Broker => connectBroker(url, forgeTopology, { log, name, onConnected: up }),
      defaultLimit: config.monthlyLimit,
      clock,
      log,
      ...(handOverMs !== undefined && { handOverMs }),
    }),
  );
  if (awaitBrokers) await Promise.all(connections.all.map((connection) => connection.ready(30_000)));
  const app = createRelay({ config, connections, database, usageDatabase, health, lifecycle, log, metrics, clock, replayEveryMs });
  const listening = lifecycle.opened('port', await listen(app.handler, { port: 0, host: '127.0.0.1', drainMs: 1000 }));
  return {
    url: `http://127.0.0.1:${listening.port}`,
    database,
    connections,
    spoolDirectory,
    health,
    metrics,
    lifecycle,
    close: () => lifecycle.stop(),
  };
}

export const sign = (body: string | Buffer, key = secret) => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;

export const payload = { action: 'opened', sender: { login: 'octocat', type: 'User' }, issue: { title: 'Found a bug' }, installation: { id: 42 } };

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: Readonly<Record<string, unknown>> };

/** Delivers as the forge does: signed JSON. */
export async function deliver(url: string, body: unknown = payload, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${url}/Forge`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-GitHub-Event': 'issues', 'X-Hub-Signature-256': sign(text), ...headers },
    body: text,
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Readonly<Record<string, unknown>> };
}

/** A request of the administrator. */
export async function administer(url: string, method: string, path: string): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { method, headers: { Authorization: `Bearer ${token}` } });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Readonly<Record<string, unknown>> };
}

/** Messages of the used connections that are counted for this month. */
export async function counts(database: Pool): Promise<Record<string, number>> {
  const rows = await database.driver.query<{ broker: string; count: number }>('select broker, message_count::int as count from broker_usage order by broker');
  return Object.fromEntries(rows.rows.map(({ broker, count }) => [broker, count]));
}

export const findConnection = (connections: Pick<Connections, 'all'>, name: string) => connections.all.find(({ target }) => target.name === name);

/** Waits until both queues hold so many messages. */
export async function depthsBecome(relay: TestRelay, broker: string, messages: number): Promise<void> {
  const own = connectBroker(findConnection(relay.connections, broker)?.target.url ?? '', forgeTopology, { log: silentLog, name: 'test' });
  try {
    await own.ready(30_000);
    await eventually(async () => {
      const depths = await Promise.all(forgeTopology.queues.map(({ name }) => own.depth(name)));
      if (depths.some((depth) => depth !== messages)) throw new Error(`depths of ${broker} are ${depths.join(' and ')}, not ${messages}`);
    });
  } finally {
    await own.close();
  }
}
