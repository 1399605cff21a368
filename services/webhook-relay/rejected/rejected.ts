// Logs deliveries without a valid signature. Anyone can send those: what they can cost is bounded, in memory and in the database.
import type { IncomingHttpHeaders } from 'node:http';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { refusesData } from '../../platform/postgres-error.ts';
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

type Limits = { readonly maxWaiting: number; readonly batchSize: number; readonly pauseMs: number; readonly maxRows: number };

/** Rows of the table that are kept, the newest. */
export const maxRejectedRows = 10_000;
const maxPayloadBytes = 64 * 1024;
// At most 16 MiB wait, and a flood costs the database at most a hundred rows, 6.4 MB, a second and replica.
const usualLimits: Limits = { maxWaiting: 256, batchSize: 50, pauseMs: 500, maxRows: maxRejectedRows };

export function createRejected({ store, log, metrics, limits }: RejectedParts): Rejected {
  const { maxWaiting, batchSize, pauseMs, maxRows } = { ...usualLimits, ...limits };
  const dropped = metrics?.counter({
    name: 'signalbox_relay_rejected_dropped_total',
    help: 'Deliveries without a valid signature that were not logged',
    labels: [],
  });
  const waiting: RejectedRow[] = [];
  let droppedSinceWrite = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<boolean> | undefined;

  function drop(count: number): void {
    droppedSinceWrite += count;
    dropped?.inc(count);
  }

  /** False when the batch is still to be written. */
  async function writeBatch(): Promise<boolean> {
    const batch = waiting.slice(0, batchSize);
    try {
      await store.add(batch, maxRows);
    } catch (error) {
      log.warn({ error, waiting: waiting.length }, 'rejected deliveries could not be logged');
      if (!refusesData(error)) return false;
      // The next try would fail the same way, and must not keep the rest from being logged.
      drop(batch.length);
    }
    waiting.splice(0, batch.length);
    if (droppedSinceWrite > 0) log.warn({ dropped: droppedSinceWrite }, 'rejected deliveries were not logged: too many at once, or not storable');
    droppedSinceWrite = 0;
    return true;
  }

  const write = () =>
    (writing ??= writeBatch().finally(() => {
      writing = undefined;
    }));

  function schedule(): void {
    timer ??= setTimeout(() => {
      void write().then(() => {
        timer = undefined;
        if (waiting.length > 0) schedule();
      });
    }, pauseMs);
  }

  return {
    record({ id, receivedAt, headers, payload }) {
      if (waiting.length >= maxWaiting) return drop(1);
      const { targetType: _, ...identity } = readIdentity(headers, id);
      // A copy: a view would keep all of a large body in memory.
      const beginning = Buffer.from(payload.subarray(0, maxPayloadBytes));
      waiting.push({ id, receivedAt, ...identity, headers: shownHeaders(headers), payload: beginning, payloadBytes: payload.length });
      schedule();
    },

    async close() {
      await writing; // which may set the timer once more
      clearTimeout(timer);
      while (waiting.length > 0 && (await write()));
      if (waiting.length > 0) log.warn({ waiting: waiting.length }, 'rejected deliveries were lost in stopping');
    },
  };
}
