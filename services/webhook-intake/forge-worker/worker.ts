// The forge queue's worker: deliveries become events in the log.
import type { BatchHandler } from '../../platform/broker/broker.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { createBatchWorker } from '../batch-worker.ts';
import type { MatchingRules } from '../rules/rules.ts';
import { type LoggedEvent, readEvent } from './event.ts';
import type { EventStore } from './store.ts';

export type ForgeWorkerParts = {
  readonly store: EventStore;
  readonly matchingRules: MatchingRules;
  readonly metrics: Metrics;
  readonly log: Log;
};

export function createForgeWorker({ store, matchingRules, metrics, log }: ForgeWorkerParts): BatchHandler {
  async function storeAll(events: readonly LoggedEvent[]): Promise<boolean[]> {
    const stored = await store.storeBatch(events.map((event) => ({ event, rules: matchingRules(event) })));
    return events.map(({ id }) => stored.has(id));
  }
  return createBatchWorker({ queue: 'forge', read: readEvent, store: storeAll }, { metrics, log });
}
