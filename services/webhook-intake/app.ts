// The webhook intake's HTTP side put together; what tests construct.
import type { AddressOf } from '../platform/client-address.ts';
import type { Guard } from '../platform/http/credentials.ts';
import type { Health } from '../platform/health.ts';
import { type AnyRoute, asksDatabase, tagged } from '../platform/http/route.ts';
import { type App, createApp } from '../platform/http/app.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Database } from '../platform/postgres/pool.ts';
import { createSemaphore } from '../platform/semaphore.ts';
import { systemClock } from '../platform/time.ts';
import { version } from '../platform/version.ts';
import { usualMaxPayloadValues } from '../webhook-relay/contract.ts';
import { createEventFeed } from './dashboard/event-feed.ts';
import { usualReplayEvents } from './contract.ts';
import { countsRoute } from './counts.ts';
import { createDeliveries, deliveryRoutes, type ForgeAccess } from './deliveries.ts';
import { eventRoutes } from './dashboard/events.ts';
import { overviewRoutes } from './dashboard/overviews.ts';
import type { PayloadMemory } from './dashboard/payloads.ts';
import { DashboardHeaders, statisticsRoute } from './dashboard/statistics.ts';
import { outboxRoutes } from './dashboard/outbox.ts';
import { createDashboardStore } from './dashboard/store.ts';
import { listRoutes, processingRoutes } from './dashboard/typed-rows.ts';
import { workflowSeriesRoute } from './dashboard/workflow-series.ts';
import { createDeadLetters, deadLetterRoutes, type DeadLetters } from './dead-letters.ts';
import { noRules, type Rules } from './notifications/rules.ts';
import { measureEvents } from './event-log.ts';
import { workerRoutes, type Workers } from './jobs/workers.ts';
import { createRunner } from './jobs/runner.ts';
import { createReplays, replayRoutes, type ReplayRoutesParts } from './replay/replays.ts';
import { createReceive } from './sources/receiving.ts';
import { createSourceRoutes } from './sources/routes.ts';
import type { ConfiguredSource } from './sources/source.ts';

export type IntakeParts = {
  readonly database: Database;
  readonly workers: Workers;
  /** The guard of everything below `/api/v1`. */
  readonly tokenHolder: Guard;
  readonly health: Health;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly addressOf?: AddressOf;
  readonly corsOrigins?: readonly string[];
  /** For payloads on their way to readers. */
  readonly payloadMemory?: PayloadMemory;
  /** Ends the waits of clients that follow the log. */
  readonly stopping?: AbortSignal;
  /** How replays run. Default: on the database of the requests, for every repository. */
  readonly replay?: Pick<ReplayRoutesParts, 'database' | 'runner' | 'isOwn' | 'maxPayloadValues' | 'maxEvents'>;
  /** For redeliveries. */
  readonly forge?: ForgeAccess;
  /** Default: those of no connection. */
  readonly deadLetters?: DeadLetters;
  readonly sources?: readonly ConfiguredSource[];
  /** The notification rules for events of direct sources. Default: none. */
  readonly rules?: Pick<Rules, 'match'>;
  /** Called when there may be something to send. */
  readonly onStored?: () => void;
  readonly clock?: () => Date;
};

/** Unknown query parameters are refused, but on the POST that the interface document describes. */
const ofDashboard = (one: AnyRoute): AnyRoute => ({
  ...asksDatabase(one),
  headers: one.headers ?? DashboardHeaders,
  ...(one.method === 'get' && { isQueryClosed: true }),
});

const payloadMemoryBytes = 128 * 1024 * 1024;
/** Longer than the largest payload takes to be read, and sent to a reader nearby. */
const payloadWaitMs = 5000;

export function createIntakeApp({ database, workers, tokenHolder, ...parts }: IntakeParts): App {
  const { sources = [], rules = noRules, onStored = () => undefined, clock = systemClock, stopping = new AbortController().signal } = parts;
  const count = measureEvents(
    parts.metrics,
    sources.map(({ source }) => ({ source: source.name, forge: '' })),
  );
  const direct = createSourceRoutes(sources, { receive: createReceive({ database, rules, clock, onStored, count }), clock });
  return createApp({
    ...parts,
    description: {
      title: 'webhook-intake',
      summary: 'Webhooks of the forge and of direct sources: the event log, its statistics, and the state of what the forge tells about.',
      version,
    },
    routes: [
      ...dashboardRoutes({ ...parts, database, workers, sources, rules, onStored, clock, stopping }).map(ofDashboard),
      ...tagged({ name: 'Sources', description: 'Where other services send their webhooks; one without a secret is not there' }, direct.routes),
    ],
    areas: [{ prefix: '/api/v1', guard: tokenHolder }, ...direct.areas],
  });
}

type Given = 'sources' | 'rules' | 'onStored' | 'clock' | 'stopping';
type DashboardParts = Omit<IntakeParts, Given | 'tokenHolder'> & Required<Pick<IntakeParts, Given>>;

function dashboardRoutes({ database, workers, sources, rules, onStored, clock, stopping, ...parts }: DashboardParts): AnyRoute[] {
  const { payloadMemory: memory = { bytes: createSemaphore(payloadMemoryBytes), waitMs: payloadWaitMs } } = parts;
  const { deadLetters = createDeadLetters(() => Promise.resolve([])) } = parts;
  const store = createDashboardStore(database);
  const feed = createEventFeed({ database, stopping });
  const usualReplay = { database, isOwn: () => true, maxPayloadValues: usualMaxPayloadValues, maxEvents: usualReplayEvents };
  const { replay = { ...usualReplay, runner: createRunner({ ...parts, database }) } } = parts;
  const replays = createReplays({ ...replay, store, rules, sources, stopping, wake: onStored, log: parts.log });
  const deliveries = createDeliveries({ database, deadLetters, forge: parts.forge, clock });
  const overviews = [statisticsRoute(store), workflowSeriesRoute(store), countsRoute({ database, deadLetters, workers, clock }), ...overviewRoutes(store)];
  const events = [...eventRoutes({ store, feed, memory }), ...replayRoutes(replays)];
  return [
    ...tagged({ name: 'Events', description: 'The log of everything that was received' }, events),
    ...tagged({ name: 'Overviews', description: 'Counts, senders, and the newest of everything' }, overviews),
    ...tagged({ name: 'Current state', description: 'Issues, pull requests, releases and more, as the newest event left them' }, listRoutes(store)),
    ...tagged({ name: 'Processing', description: 'Rows that were not processed yet' }, processingRoutes(store)),
    ...tagged({ name: 'Deliveries', description: 'The way of a delivery, and another one by the forge' }, deliveryRoutes(deliveries)),
    ...tagged({ name: 'Notifications', description: 'Messages about events, sent and waiting' }, outboxRoutes(database, onStored)),
    ...tagged({ name: 'Dead letters', description: 'Messages that the workers gave up' }, deadLetterRoutes(deadLetters)),
    ...tagged({ name: 'Workers', description: 'Programs that work beside the API, and their runs' }, workerRoutes(workers)),
  ];
}
