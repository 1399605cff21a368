// Writes audit entries in batches, off the request's path; bounded, and written to the end on stop.
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { refusesData } from '../../platform/postgres-error.ts';
import type { AuditEntry } from './entry.ts';
import type { AuditStore } from './store.ts';

export type AuditWriter = {
  /** False when too many wait: what is to be recorded must not be done then. */
  readonly hasRoom: boolean;
  record(entry: AuditEntry): void;
  /** Writes all that waits, as far as the database can be asked. Never rejects. */
  close(): Promise<void>;
};

export type AuditWriterParts = {
  readonly store: AuditStore;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly limits?: Partial<Limits>;
};

type Limits = { readonly maxWaiting: number; readonly batchSize: number; readonly pauseMs: number };

// A full queue holds some 10 MB; a crash loses the entries of the last quarter of a second.
const usualLimits: Limits = { maxWaiting: 20_000, batchSize: 1000, pauseMs: 250 };

export function createAuditWriter({ store, log, metrics, limits }: AuditWriterParts): AuditWriter {
  const { maxWaiting, batchSize, pauseMs } = { ...usualLimits, ...limits };
  const waiting: AuditEntry[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<boolean> | undefined;
  metrics.gauge({ name: 'signalbox_secrets_audit_waiting', help: 'Audit entries not written yet', labels: [], collect: (gauge) => gauge.set(waiting.length) });
  const lost = metrics.counter({ name: 'signalbox_secrets_audit_lost_total', help: 'Audit entries that the database refused', labels: [] });

  /** False when the batch is still to be written. */
  async function writeBatch(): Promise<boolean> {
    const batch = waiting.slice(0, batchSize);
    try {
      await store.add(batch);
    } catch (error) {
      log.error({ error, waiting: waiting.length }, 'audit entries could not be written');
      // What waited too long for a lock, or finds no table, is no fault of the entries: they are kept.
      if (!refusesData(error)) return false;
      // One by one only what is refused is lost, and it does not keep the rest from being written.
      if (!(await writeSingly(batch))) return false;
    }
    waiting.splice(0, batch.length);
    return true;
  }

  async function writeSingly(batch: readonly AuditEntry[]): Promise<boolean> {
    for (const entry of batch) {
      try {
        await store.add([entry]);
      } catch (error) {
        if (!refusesData(error)) return false;
        lost.inc();
        log.error({ error, entry }, 'an audit entry was refused');
      }
    }
    return true;
  }

  const write = () =>
    (writing ??= writeBatch().finally(() => {
      writing = undefined;
    }));

  async function writeAll(): Promise<void> {
    while (waiting.length > 0 && (await write()));
  }

  function schedule(): void {
    timer ??= setTimeout(() => {
      void writeAll().then(() => {
        timer = undefined;
        if (waiting.length > 0) schedule();
      });
    }, pauseMs);
  }

  return {
    get hasRoom() {
      return waiting.length < maxWaiting;
    },
    record(entry) {
      waiting.push(entry);
      schedule();
    },
    async close() {
      clearTimeout(timer);
      await writing;
      await writeAll();
      clearTimeout(timer);
      if (waiting.length > 0) log.error({ waiting: waiting.length }, 'audit entries were lost in stopping');
    },
  };
}
