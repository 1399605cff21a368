// The webhook relay put together; what tests construct.
import { forges } from '../forges/forges.ts';
import type { Message } from '../platform/broker/broker.ts';
import { startEvents } from '../platform/events/events.ts';
import { type App, createApp } from '../platform/http/app.ts';
import { createAddressOf } from '../platform/client-address.ts';
import { createBodyMemory } from '../platform/http/body-memory.ts';
import { authorization } from '../platform/http/credentials.ts';
import { createSignatures } from '../platform/http/signatures.ts';
import { type AnyRoute, asksDatabase, tagged } from '../platform/http/route.ts';
import type { Health } from '../platform/health.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Database } from '../platform/postgres/pool.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import { systemClock } from '../platform/time.ts';
import { version } from '../platform/version.ts';
import { createAlerts } from './alerts.ts';
import type { RelayConfig } from './config.ts';
import { connectionRoutes, createAdministration } from './connections/administration.ts';
import type { Connections } from './connections/connections.ts';
import { changesRoute } from './connections/changes.ts';
import { createPublishedConnections, measureLeft, publishedRoute } from './connections/published.ts';
import { createPublisher, type Publisher } from './connections/publisher.ts';
import { queuesRoute } from './connections/queues.ts';
import { countsRoute } from './counts.ts';
import { createDatabaseState } from './database.ts';
import { createDeliveries, type Deliveries, deliveryRoutes } from './deliveries.ts';
import { createHealthReport, reportRoutes } from './health.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createDeliveryCounter, measureConnections, measureQueues } from './metrics.ts';
import { createRejected, rejectedRoutes } from './rejected/rejected.ts';
import { createRejectedStore } from './rejected/store.ts';
import { createScoring, type Scoring } from './scoring/scoring.ts';
import { createSenders, senderRoute, type Senders } from './senders/senders.ts';
import { createSenderStore } from './senders/store.ts';
import { createFailedPayloads } from './spool/failed-payloads.ts';
import { createReplayer } from './spool/replayer.ts';
import { createSpool, type Spool } from './spool/spool.ts';
import { createSpooled, type Spooled, spooledRoutes } from './spool/spooled.ts';
import { createRefuseUnpublished } from './unpublished.ts';
import { createDailyUsage, dailyUsageRoute } from './usage/daily.ts';
import { watchLimits } from './usage/near-limit.ts';
import { createReservations } from './usage/reservations.ts';
import { createUsageStore } from './usage/store.ts';
import { createUsage, type Usage, usageRoutes } from './usage/usage.ts';

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
  const { config, connections } = parts;
  const publishing = createPublishing(parts);
  const { databaseState, usage, publisher } = publishing;
  const { spool, spooled } = startSpool(parts, publisher);
  watchUsage(parts, usage);
  const scoring = createScoring(config);
  const senders = parts.lifecycle.opened(
    'senders',
    createSenders({ ...parts, store: createSenderStore(parts.database), frequencyFactor: scoring.frequencyFactor }),
  );
  const deliveries = receiveDeliveries(parts, { usage, publisher, scoring, senders, spool });
  const routes: AnyRoute[] = [
    ...tagged(
      { name: 'Deliveries', description: 'The webhooks of GitHub, Gitea and Forgejo' },
      deliveryRoutes({ ...config, deliveries, bodyMemory: createBodyMemory(bodyBytes(config), config.maxPayloadBytes) }),
    ),
    ...administrationRoutes(parts, { ...publishing, senders, spooled }).map(asksDatabase),
    ...tagged({ name: 'Queues', description: 'Queues of the connections' }, [queuesRoute(connections, parts.clock)]),
    ...tagged(reports, reportRoutes(createHealthReport(connections, usage, databaseState))),
  ];
  return createApp({
    ...parts,
    description: { title: 'webhook-relay', summary: 'Takes webhooks of the forge, scores them and publishes them to a message broker.', version },
    routes,
    areas: [
      {
        prefix: '/broker',
        guard: authorization('Bearer', config.authTokens, { description: 'A value of `Broker__AuthToken`.', ofConsole: config.consoleTokens }),
      },
    ],
    addressOf: createAddressOf(config.trustedProxies),
    corsOrigins: config.corsOrigins,
    caseSensitivePaths: false,
  });
}

const reports = { name: 'Reports', description: 'Senders, and the health of the relay' };

type AdministrationUses = Pick<ReturnType<typeof createPublishing>, 'store' | 'usage' | 'published' | 'daily'> & {
  readonly senders: Senders;
  readonly spooled: Spooled;
};

/** The routes for an operator that ask the database. */
function administrationRoutes({ config, connections, database, log, clock }: Parts, { store, usage, published, daily, senders, spooled }: AdministrationUses) {
  const administration = createAdministration(connections, { usage, store, nearLimitPercent: config.nearLimitPercent, log });
  const rejected = createRejectedStore(database);
  return [
    ...tagged({ name: 'Connections', description: 'Connections to message brokers, one of which is active' }, [
      ...connectionRoutes(administration),
      publishedRoute(published, connections),
      changesRoute(database),
    ]),
    ...tagged({ name: 'Usage', description: 'Messages that were published to each broker, by month and by day' }, [
      dailyUsageRoute(daily),
      ...usageRoutes(usage),
    ]),
    ...tagged(reports, [senderRoute(senders), countsRoute({ connections, rejected, spooled, clock })]),
    ...tagged({ name: 'Rejected', description: 'Deliveries that were answered with a refusal' }, rejectedRoutes(rejected)),
    ...tagged({ name: 'Spooled', description: 'Deliveries that wait to be published' }, spooledRoutes(spooled)),
  ];
}

type DeliveryUses = {
  readonly usage: Usage;
  readonly publisher: Publisher;
  readonly scoring: Scoring;
  readonly senders: Senders;
  readonly spool: Spool;
};

function receiveDeliveries(parts: Parts, { usage, publisher, scoring, senders, spool }: DeliveryUses): Deliveries {
  const { config, database, lifecycle, log, metrics } = parts;
  const alerts = lifecycle.opened('alerts', createAlerts(config.alertUrl, log));
  const rejected = createRejected({ store: createRejectedStore(database), maxRows: config.rejectedRows, log, metrics });
  return createDeliveries({
    ...parts,
    signatures: new Map(forges.map((forge) => [forge, createSignatures(config.webhookSecrets, forge.signature.form)])),
    rejected: lifecycle.opened('rejected deliveries', rejected),
    scoring,
    senders,
    publisher,
    refuseUnpublished: createRefuseUnpublished({ spool, alerts, log }),
    maxValues: config.maxPayloadValues,
    budgetMs: config.budgetMs,
    activeBroker: async () => (await usage.recent()).active ?? '',
    counter: createDeliveryCounter(metrics),
  });
}

/** Half of the memory: the other half is for what is parsed of a body, and for its packed copy. A relay has 512 MiB in all. */
const bodyBytes = ({ maxBodyMemoryBytes, maxPayloadBytes }: RelayConfig) => Math.max(maxPayloadBytes, Math.floor(maxBodyMemoryBytes / 2));

/** Usage in the database, reservations, and the way to the connections. */
function createPublishing({ connections, database, usageDatabase, lifecycle, log, metrics, clock }: Parts) {
  const store = createUsageStore(usageDatabase);
  const databaseState = createDatabaseState(() => store.active(), log, lifecycle.stopping);
  const reservations = lifecycle.opened('reservations', createReservations({ store, connections, database: databaseState, clock }));
  const usage = createUsage({ store, reservations, connections, database: databaseState, clock });
  connections.onUsable(usage.changed); // after a reload the list is another
  const published = createPublishedConnections({ database: usageDatabase, log, clock });
  const publisher = createPublisher({ connections, reservations, published, metrics });
  const daily = lifecycle.opened('usage by day', createDailyUsage({ database, log, clock, takeConfirmed: publisher.takeConfirmed }));
  measureConnections(metrics, { connections, usage, database: databaseState });
  measureQueues(metrics, connections);
  measureLeft(metrics, published, connections);
  return { store, databaseState, usage, publisher, published, daily };
}

/** The event broker.near_limit, and what posts it. */
function watchUsage(parts: Parts, usage: Usage): void {
  const outbox = startEvents(parts.config, { ...parts, deployable: 'webhook-relay' });
  watchLimits({ ...parts, usage: usage.recent, percent: parts.config.nearLimitPercent, outbox, wake: outbox.wake });
}

/** Written when nothing can be published, replayed when it can, and cleared of what is old. */
function startSpool(parts: Parts, publisher: Publisher): { readonly spool: Spool; readonly spooled: Spooled } {
  const { config, connections, database, health, log, replayEveryMs } = parts;
  const spool = createSpool({ ...parts, directory: config.spoolDirectory, maxBytes: config.spoolMaxBytes });
  health.addCheck('spool', () => spool.isWritable());
  // Published like any other delivery, with a budget of its own.
  const publish = async (message: Message) => {
    const { outcome } = await publisher.publish(message, performance.now() + config.budgetMs);
    return outcome === 'exhausted' ? 'unavailable' : outcome;
  };
  const failedPayloads = createFailedPayloads(database);
  const replayer = createReplayer({ ...parts, spool, failedPayloads, publish, intervalMs: replayEveryMs });
  connections.onUsable(() => replayer.nudge());
  startHousekeeping({ ...parts, spool, retention: config });
  return { spool, spooled: createSpooled({ spool, failedPayloads, nudge: replayer.nudge, log }) };
}
