// Logs deliveries without a valid signature. Anyone can send those: what they can cost is bounded, in memory and in the database.
import type { IncomingHttpHeaders } from 'node:http';
import { type BatchLimits, createBatchWriter } from '../../platform/postgres/batch-writer.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { readIdentity } from '../message.ts';
import { shownHeaders } from './shown-headers.ts';
import type { RejectedRow, RejectedStore } from './store.ts';

type RejectedDelivery = {
  /** A UUID. */
  readonly id: string;
  readonly receivedAt: Date;
  readonly headers: IncomingHttpHeaders;
  readonly payload: Buffer;
};

export type Rejected = {
  /** Never throws and never waits; what comes faster than it may be written is dropped and counted. */
  record(delivery: RejectedDelivery): void;
  /** Writes what waits, as far as the database can be asked. Never rejects. */
  close(): Promise<void>;
};

export type RejectedParts = {
  readonly store: RejectedStore;
  readonly log: Log;
  readonly metrics?: Pick<Metrics, 'counter'>;
  readonly limits?: Partial<Limits>;
};

type Limits = BatchLimits & { readonly maxRows: number };

/** Rows of the table that are kept, the newest. */
export const maxRejectedRows = 10_000;
const maxPayloadBytes = 64 * 1024;
// At most 16 MiB wait, and a flood costs the database at most a hundred rows, 6.4 MB, a second and replica.
const usualLimits: Limits = { maxWaiting: 256, batchSize: 50, pauseMs: 500, batchesPerPause: 1, closeMs: 2000, maxRows: maxRejectedRows };

export function createRejected({ store, log, metrics, limits }: RejectedParts): Rejected {
  const { maxRows, ...batchLimits } = { ...usualLimits, ...limits };
  const dropped = metrics?.counter({
    name: 'signalbox_relay_rejected_dropped_total',
    help: 'Deliveries without a valid signature that were not logged',
    labels: [],
  });
  let droppedSinceTold = 0;

  function drop(): void {
    droppedSinceTold++;
    dropped?.inc();
  }

  // With the batches, not with each: a flood must not flood the log.
  function tellDropped(): void {
    if (droppedSinceTold > 0) log.warn({ dropped: droppedSinceTold }, 'rejected deliveries were not logged: too many at once, or not storable');
    droppedSinceTold = 0;
  }

  const writer = createBatchWriter<RejectedRow>({
    async write(rows) {
      await store.add(rows, maxRows);
      tellDropped();
    },
    onFailure: (error) => log.warn({ error, waiting: writer.waiting }, 'rejected deliveries could not be logged'),
    onRefused: drop,
    limits: batchLimits,
  });

  return {
    record({ id, receivedAt, headers, payload }) {
      if (!writer.hasRoom) return drop();
      const { targetType: _, ...identity } = readIdentity(headers, id);
      // A copy: a view would keep all of a large body in memory.
      const beginning = Buffer.from(payload.subarray(0, maxPayloadBytes));
      writer.add({ id, receivedAt, ...identity, headers: shownHeaders(headers), payload: beginning, payloadBytes: payload.length });
    },

    async close() {
      const waiting = await writer.close();
      if (waiting > 0) log.warn({ waiting }, 'rejected deliveries were lost in stopping');
    },
  };
}
