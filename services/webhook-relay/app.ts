// The webhook relay put together; what tests construct.
import type { Message } from '../platform/broker/broker.ts';
import { createAddressOf } from '../platform/client-address.ts';
import { createByteBudget } from '../platform/byte-budget.ts';
import { authorization, createCredentials } from '../platform/credentials.ts';
import type { Health } from '../platform/health.ts';
import { type App, createApp } from '../platform/http.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Database } from '../platform/postgres.ts';
import { version } from '../platform/version.ts';
import { createAlerts } from './alerts.ts';
import type { RelayConfig } from './config.ts';
import { type Administration, createAdministration } from './connections/administration.ts';
import type { Connections } from './connections/connections.ts';
import { createPublishMetrics } from './connections/publish-metrics.ts';
import { createPublisher, type Publisher } from './connections/publisher.ts';
import { createDatabaseState } from './database-state.ts';
import { budgetMs, createDeliveries } from './deliveries.ts';
import { createDeliveryMetrics } from './delivery-metrics.ts';
import { createHealthReporter } from './health-report.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createRejected } from './rejected/rejected.ts';
import { createRejectedStore } from './rejected/store.ts';
import { createRoutes } from './routes.ts';
import { createScoring } from './scoring/scoring.ts';
import { readTables } from './scoring/tables.ts';
import { createSenders } from './senders/senders.ts';
import { createSenderStore } from './senders/store.ts';
import { createSignatures } from './signature.ts';
import { createFailedPayloads } from './spool/failed-payloads.ts';
import { createReplayer, type ReplayOutcome } from './spool/replayer.ts';
import { createSpool } from './spool/spool.ts';
import { measureUsage } from './usage-metrics.ts';
import { createOverviews } from './usage/overview.ts';
import { createReservations } from './usage/reservations.ts';
import { createUsageStore } from './usage/store.ts';
import { createUsage } from './usage/usage.ts';

export type RelayParts = {
  readonly config: RelayConfig;
  readonly connections: Connections;
  readonly database: Database;
  /** Counts messages; with timeouts that leave a delivery time for the spool. */
  readonly counters: Database;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock?: () => Date;
};

export type Relay = { readonly app: App; readonly administration: Administration };

const replayEveryMs = 1000;

export async function createRelay(parts: RelayParts): Promise<Relay> {
  const { config, connections, database, counters, health, lifecycle, log, metrics, clock = () => new Date() } = parts;

  const store = createUsageStore(counters);
  const state = createDatabaseState({ ping: () => store.active(), log, stopping: lifecycle.stopping });
  const quotas = () => connections.quotas;
  const overviews = createOverviews({ store, quotas, defaultLimit: config.monthlyLimit, database: state, clock });
  const reservations = lifecycle.opened('reservations', createReservations({ store, quotas, database: state, clock }));
  const publisher = createPublisher({ connections, reservations, metrics: createPublishMetrics(metrics) });
  measureUsage(metrics, { connections, overviews });

  const { ownerLogins, ownBotLogins } = config;
  const scoring = createScoring({ tables: await readTables(config.scoringFile), ownerLogins, ownBotLogins });
  const senders = lifecycle.opened(
    'senders',
    createSenders({ store: createSenderStore(database), frequencyFactor: scoring.frequencyFactor, log, clock, metrics }),
  );
  const rejected = lifecycle.opened('rejected deliveries', createRejected({ store: createRejectedStore(database), log, metrics }));
  const spool = createSpool({ directory: config.spoolDirectory, log, clock, metrics });
  health.addCheck('spool', () => spool.isWritable());
  createReplayer({
    spool,
    failedPayloads: createFailedPayloads(database),
    publish: createReplay(publisher),
    lifecycle,
    log,
    metrics,
    intervalMs: replayEveryMs,
    handOverOnStop: true,
  });

  startHousekeeping({ database, lifecycle, log, clock });

  const alerts = lifecycle.opened('alerts', createAlerts({ url: config.alertUrl, log }));
  const deliveries = createDeliveries({
    signatures: createSignatures(config.webhookSecrets),
    scoring,
    senders,
    rejected,
    publisher,
    spool,
    alerts,
    metrics: createDeliveryMetrics(metrics),
    activeBroker: async () => (await overviews.recent()).active ?? '',
    log,
    clock,
  });
  const administration = createAdministration({ connections, overviews, store, log });
  const routes = createRoutes({
    deliveries,
    administration,
    usage: createUsage({ store, overviews, clock }),
    senders,
    healthReporter: createHealthReporter({ connections, overviews, database: state }),
    maxPayloadBytes: config.maxPayloadBytes,
    bodyMemory: createByteBudget(config.maxBodyMemoryBytes),
  });
  const app = createApp({
    description: { title: 'webhook-relay', summary: 'Takes webhooks of the forge, scores them and publishes them to a message broker.', version },
    routes,
    areas: [{ prefix: '/broker', guard: authorization('Bearer', createCredentials(config.authTokens)) }],
    health,
    log,
    metrics,
    addressOf: createAddressOf(config.trustedProxies),
    corsOrigins: config.corsOrigins,
    caseSensitivePaths: false,
  });
  return { app, administration };
}

/** Spooled deliveries are published like any other, with a budget of their own. */
const createReplay =
  (publisher: Publisher) =>
  async (message: Message): Promise<ReplayOutcome> => {
    const { outcome } = await publisher.publish(message, performance.now() + budgetMs);
    return outcome === 'exhausted' ? 'unavailable' : outcome;
  };
