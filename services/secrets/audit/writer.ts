// Writes audit entries in batches; bounded, and written to the end on stop.
import { type BatchLimits, createBatchWriter } from '../../platform/postgres/batch-writer.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { AuditEntry, AuditStore } from './store.ts';

export type AuditWriter = {
  /** False when too many wait: what is to be recorded must not be done then. */
  readonly hasRoom: boolean;
  record(entry: AuditEntry): void;
  /** Writes all that waits, as far as the database can be asked. Never rejects. */
  close(): Promise<void>;
};

export type AuditWriterParts = {
  readonly store: Pick<AuditStore, 'add'>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly limits?: Partial<BatchLimits>;
};

// A full queue holds some 10 MB; a crash loses the entries of the last quarter of a second.
const usualLimits: BatchLimits = { maxWaiting: 20_000, batchSize: 1000, pauseMs: 250, closeMs: 5000 };

export function createAuditWriter({ store, log, metrics, limits }: AuditWriterParts): AuditWriter {
  const lost = metrics.counter({ name: 'signalbox_secrets_audit_lost_total', help: 'Audit entries that the database refused', labels: [] });
  const writer = createBatchWriter<AuditEntry>({
    write: (entries) => store.add(entries),
    onFailure: (error) => log.error({ error, waiting: writer.waiting }, 'audit entries could not be written'),
    onRefused: (entry, error) => {
      lost.inc();
      log.error({ error, entry }, 'an audit entry was refused');
    },
    limits: { ...usualLimits, ...limits },
  });
  metrics.gauge({ name: 'signalbox_secrets_audit_waiting', help: 'Audit entries not written yet', labels: [], collect: (gauge) => gauge.set(writer.waiting) });

  return {
    get hasRoom() {
      return writer.hasRoom;
    },
    record: (entry) => writer.add(entry),
    async close() {
      const waiting = await writer.close();
      if (waiting > 0) log.error({ waiting }, 'audit entries were lost in stopping');
    },
  };
}
