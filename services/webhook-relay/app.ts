// The webhook relay put together; what tests construct.
import type { Message } from '../platform/broker/broker.ts';
import { type App, createApp } from '../platform/http/app.ts';
import { createAddressOf } from '../platform/client-address.ts';
import { createBodyMemory } from '../platform/http/body-memory.ts';
import { authorization } from '../platform/http/credentials.ts';
import type { Health } from '../platform/health.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Database } from '../platform/postgres/pool.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import { systemClock } from '../platform/time.ts';
import { version } from '../platform/version.ts';
import { createAlerts } from './alerts.ts';
import type { RelayConfig } from './config.ts';
import { createAdministration } from './connections/administration.ts';
import type { Connections } from './connections/connections.ts';
import { createPublisher, type Publisher } from './connections/publisher.ts';
import { createDatabaseState } from './database.ts';
import { budgetMs, createDeliveries } from './deliveries.ts';
import { createHealthReport } from './health.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createDeliveryCounter, measureConnections, measureQueues } from './metrics.ts';
import { createRejected } from './rejected/rejected.ts';
import { createRejectedStore } from './rejected/store.ts';
import { createRoutes } from './routes.ts';
import { createScoring } from './scoring/scoring.ts';
import { createSenders } from './senders/senders.ts';
import { createSenderStore } from './senders/store.ts';
import { createForgeSignatures } from './signatures.ts';
import { createFailedPayloads } from './spool/failed-payloads.ts';
import { createReplayer } from './spool/replayer.ts';
import { createSpool, type Spool } from './spool/spool.ts';
import { createReservations } from './usage/reservations.ts';
import { createUsageStore } from './usage/store.ts';
import { createUsage } from './usage/usage.ts';

type RelayParts = {
  readonly config: RelayConfig;
  readonly connections: Connections;
  readonly database: Database;
  /** Where messages are counted; with timeouts that leave a delivery time for the spool. */
  readonly usageDatabase: Database;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock?: () => Date;
  /** How long spooled deliveries wait for the next try, where no connection comes back before. */
  readonly replayEveryMs?: number;
};
type Parts = Required<RelayParts>;

export function createRelay(given: RelayParts): App {
  const parts: Parts = { clock: systemClock, replayEveryMs: 1000, ...given };
  const { config, connections, database, lifecycle, log, metrics, clock } = parts;
  const { store, databaseState, usage, publisher } = createPublishing(parts);
  const spool = startSpool(parts, publisher);
  const scoring = createScoring(config);
  const senders = lifecycle.opened('senders', createSenders({ ...parts, store: createSenderStore(database), frequencyFactor: scoring.frequencyFactor }));
  const rejected = createRejected({ store: createRejectedStore(database), maxRows: config.rejectedRows, log, metrics });
  const deliveries = createDeliveries({
    signatures: createForgeSignatures(config.webhookSecrets),
    rejected: lifecycle.opened('rejected deliveries', rejected),
    scoring,
    senders,
    publisher,
    spool,
    alerts: lifecycle.opened('alerts', createAlerts(config.alertUrl, log)),
    maxValues: config.maxPayloadValues,
    activeBroker: async () => (await usage.recent()).active ?? '',
    counter: createDeliveryCounter(metrics),
    log,
    clock,
  });
  const routes = createRoutes({
    deliveries,
    administration: createAdministration(connections, { usage, store, log }),
    usage,
    senders,
    reportHealth: createHealthReport(connections, usage, databaseState),
    maxPayloadBytes: config.maxPayloadBytes,
    bodyMemory: createBodyMemory(bodyBytes(config), config.maxPayloadBytes),
  });
  return createApp({
    ...parts,
    description: { title: 'webhook-relay', summary: 'Takes webhooks of the forge, scores them and publishes them to a message broker.', version },
    routes,
    areas: [{ prefix: '/broker', guard: authorization('Bearer', config.authTokens, { description: 'A value of `Broker__AuthToken`.' }) }],
    addressOf: createAddressOf(config.trustedProxies),
    corsOrigins: config.corsOrigins,
    caseSensitivePaths: false,
  });
}

/** Half of the memory: the other half is for what is parsed of a body, and for its packed copy. A relay has 512 MiB in all. */
const bodyBytes = ({ maxBodyMemoryBytes, maxPayloadBytes }: RelayConfig) => Math.max(maxPayloadBytes, Math.floor(maxBodyMemoryBytes / 2));

/** Usage in the database, reservations, and the way to the connections. */
function createPublishing({ connections, usageDatabase, lifecycle, log, metrics, clock }: Parts) {
  const store = createUsageStore(usageDatabase);
  const databaseState = createDatabaseState(() => store.active(), log, lifecycle.stopping);
  const reservations = lifecycle.opened('reservations', createReservations({ store, connections, database: databaseState, clock }));
  const usage = createUsage({ store, reservations, connections, database: databaseState, clock });
  connections.onUsable(usage.changed); // after a reload the list is another
  const publisher = createPublisher(connections, reservations, metrics);
  measureConnections(metrics, { connections, usage, database: databaseState });
  measureQueues(metrics, connections);
  return { store, databaseState, usage, publisher };
}

/** Written when nothing can be published, replayed when it can, and cleared of what is old. */
function startSpool(parts: Parts, publisher: Publisher): Spool {
  const { config, connections, database, health, replayEveryMs } = parts;
  const spool = createSpool({ ...parts, directory: config.spoolDirectory });
  health.addCheck('spool', () => spool.isWritable());
  // Published like any other delivery, with a budget of its own.
  const publish = async (message: Message) => {
    const { outcome } = await publisher.publish(message, performance.now() + budgetMs);
    return outcome === 'exhausted' ? 'unavailable' : outcome;
  };
  const failedPayloads = createFailedPayloads(database);
  const replayer = createReplayer({ ...parts, spool, failedPayloads, publish, intervalMs: replayEveryMs });
  connections.onUsable(() => replayer.nudge());
  startHousekeeping({ ...parts, spool, retention: config });
  return spool;
}
