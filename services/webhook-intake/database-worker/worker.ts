// The forge-database queue's worker: deliveries become the newest state of what they are about.
import type { BatchHandler } from '../../platform/broker/broker.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { createBatchWorker } from '../batch-worker.ts';
import { readForgeEvent } from './forge-event.ts';
import type { TypedStore } from './store.ts';

export type DatabaseWorkerParts = { readonly store: TypedStore; readonly metrics: Metrics; readonly log: Log };

export const createDatabaseWorker = ({ store, metrics, log }: DatabaseWorkerParts): BatchHandler =>
  createBatchWorker({ queue: 'forge-database', read: readForgeEvent, store: store.storeBatch }, { metrics, log });
