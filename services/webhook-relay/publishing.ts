// What publishing needs, put together: counters in the database, reservations, connections.
import type { Message } from '../platform/broker/broker.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Connections } from './connections/connections.ts';
import { createPublishMetrics } from './connections/publish-metrics.ts';
import { createPublisher, type Publisher } from './connections/publisher.ts';
import { createDatabaseState, type DatabaseState } from './database-state.ts';
import { budgetMs } from './deliveries.ts';
import type { ReplayOutcome } from './spool/replay.ts';
import { measureQueues } from './queue-metrics.ts';
import { measureUsage } from './usage-metrics.ts';
import { createOverviews, type Overviews } from './usage/usage.ts';
import { createReservations } from './usage/reservations.ts';
import { createUsageStore, type UsageStore } from './usage/store.ts';

export type PublishingParts = {
  readonly connections: Connections;
  /** Counts messages; with timeouts that leave a delivery time for the spool. */
  readonly counters: Database;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: () => Date;
};

export type Publishing = {
  readonly store: UsageStore;
  readonly state: DatabaseState;
  readonly overviews: Overviews;
  readonly publisher: Publisher;
};

export function createPublishing({ connections, counters, lifecycle, log, metrics, clock }: PublishingParts): Publishing {
  const store = createUsageStore(counters);
  const state = createDatabaseState({ ping: () => store.active(), log, stopping: lifecycle.stopping });
  const quotas = () => connections.quotas;
  const overviews = createOverviews({ store, quotas, database: state, clock });
  connections.onUsable(() => overviews.changed()); // after a reload the list is another
  const reservations = lifecycle.opened('reservations', createReservations({ store, quotas, database: state, clock }));
  const publisher = createPublisher({ connections, reservations, metrics: createPublishMetrics(metrics) });
  measureUsage(metrics, { connections, overviews });
  measureQueues(metrics, connections);
  return { store, state, overviews, publisher };
}

/** Spooled deliveries are published like any other, with a budget of their own. */
export const replayOn =
  (publisher: Publisher) =>
  async (message: Message): Promise<ReplayOutcome> => {
    const { outcome } = await publisher.publish(message, performance.now() + budgetMs);
    return outcome === 'exhausted' ? 'unavailable' : outcome;
  };
