// The webhook relay put together; what tests construct.
import { createAddressOf } from '../platform/client-address.ts';
import { createBodyMemory } from './body-memory.ts';
import { authorization, createCredentials } from '../platform/credentials.ts';
import type { Health } from '../platform/health.ts';
import { type App, createApp } from '../platform/http.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Database } from '../platform/database.ts';
import { version } from '../platform/version.ts';
import { createAlerts } from './alerts.ts';
import type { RelayConfig } from './config.ts';
import { type Administration, createAdministration } from './connections/administration.ts';
import type { Connections } from './connections/connections.ts';
import { createDeliveries } from './deliveries.ts';
import { createDeliveryMetrics } from './delivery-metrics.ts';
import { createHealthReporter } from './health-report.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createPublishing, type Publishing, replayOn } from './publishing.ts';
import { createRejected } from './rejected/rejected.ts';
import { createRejectedStore } from './rejected/store.ts';
import { createRoutes } from './routes.ts';
import { createScoring } from './scoring/scoring.ts';
import { readTables } from './scoring/tables.ts';
import { createSenders } from './senders/senders.ts';
import { createSenderStore } from './senders/store.ts';
import { createSignatures } from './signature.ts';
import { createFailedPayloads } from './spool/failed-payloads.ts';
import { createReplayer } from './spool/replayer.ts';
import { createSpool } from './spool/spool.ts';
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
  /** How long spooled deliveries wait for the next try, where no connection comes back before. */
  readonly replayEveryMs?: number;
};

export type Relay = { readonly app: App; readonly administration: Administration };

const systemClock = () => new Date();

export function createRelay(parts: RelayParts): Relay {
  const { config, connections, log } = parts;
  const publishing = createPublishing({ clock: systemClock, ...parts });
  const { store, state, overviews } = publishing;
  const { deliveries, senders } = createReceiving(parts, publishing);
  const administration = createAdministration({ connections, overviews, store, log });
  const routes = createRoutes({
    deliveries,
    administration,
    usage: createUsage({ store, overviews, clock: parts.clock ?? systemClock }),
    senders,
    healthReporter: createHealthReporter({ connections, overviews, database: state }),
    maxPayloadBytes: config.maxPayloadBytes,
    bodyMemory: createBodyMemory(config.maxBodyMemoryBytes),
  });
  const app = createApp({
    ...parts,
    description: { title: 'webhook-relay', summary: 'Takes webhooks of the forge, scores them and publishes them to a message broker.', version },
    routes,
    areas: [{ prefix: '/broker', guard: authorization('Bearer', createCredentials(config.authTokens)) }],
    addressOf: createAddressOf(config.trustedProxies),
    corsOrigins: config.corsOrigins,
    caseSensitivePaths: false,
  });
  return { app, administration };
}

/** The way of a delivery, and what goes on beside it: statistics, the log of rejected ones, replay, housekeeping. */
function createReceiving(parts: RelayParts, { publisher, overviews }: Publishing) {
  const { config, connections, database, health, lifecycle, log, metrics, clock = systemClock, replayEveryMs = 1000 } = parts;
  const scoring = createScoring({ tables: readTables(config.scoringFile), ownerLogins: config.ownerLogins, ownBotLogins: config.ownBotLogins });
  const senderParts = { store: createSenderStore(database), frequencyFactor: scoring.frequencyFactor, log, clock, metrics };
  const senders = lifecycle.opened('senders', createSenders(senderParts));
  const rejected = lifecycle.opened('rejected deliveries', createRejected({ store: createRejectedStore(database), log, metrics }));

  const spool = createSpool({ directory: config.spoolDirectory, log, clock, metrics });
  health.addCheck('spool', () => spool.isWritable());
  const failedPayloads = createFailedPayloads(database);
  const publish = replayOn(publisher);
  const replayer = createReplayer({ spool, failedPayloads, publish, lifecycle, log, metrics, intervalMs: replayEveryMs, handOverOnStop: true });
  connections.onUsable(() => replayer.nudge());
  startHousekeeping({ database, spool, lifecycle, log, clock });

  const deliveries = createDeliveries({
    signatures: createSignatures(config.webhookSecrets),
    scoring,
    senders,
    rejected,
    publisher,
    spool,
    alerts: lifecycle.opened('alerts', createAlerts({ url: config.alertUrl, log })),
    metrics: createDeliveryMetrics(metrics),
    activeBroker: async () => (await overviews.recent()).active ?? '',
    log,
    clock,
  });
  return { deliveries, senders };
}
