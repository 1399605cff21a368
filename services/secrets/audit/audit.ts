// Records acts in the audit in batches, off the path of the requests; bounded, and written to the end on stop.
import { v7 as newId } from 'uuid';
import { type BatchLimits, createBatchWriter } from '../../platform/postgres/batch-writer.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Actor, AuditEntry, Target } from './store.ts';

type Ending = Pick<AuditEntry, 'occurredAt' | 'outcome'> & Partial<Pick<AuditEntry, 'applicationId' | 'version' | 'detail'>>;

export const createEntry = ({ plane, keyId, requestId }: Actor, target: Target, ending: Ending): AuditEntry => ({
  id: newId(),
  occurredAt: ending.occurredAt,
  plane,
  keyId,
  action: target.action,
  application: target.application,
  applicationId: ending.applicationId ?? null,
  environment: target.environment ?? null,
  subject: target.subject ?? null,
  version: ending.version ?? null,
  outcome: ending.outcome,
  detail: ending.detail ?? null,
  requestId,
});

export type Audit = ReturnType<typeof createAudit>;

type AuditParts = {
  readonly store: { add(entries: readonly AuditEntry[]): Promise<unknown> };
  readonly log: Log;
  readonly metrics: Metrics;
  readonly limits?: Partial<BatchLimits>;
};

// A full queue holds some 10 MB; a crash loses the entries of the last 50 ms. Postgres takes 10 ms for a thousand entries: many at once
// would hold up the reads beside them.
const usualLimits: BatchLimits = { maxWaiting: 20_000, batchSize: 1000, pauseMs: 50, closeMs: 5000 };

export function createAudit({ store, log, metrics, limits }: AuditParts) {
  const lost = metrics.counter({ name: 'signalbox_secrets_audit_lost_total', help: 'Audit entries that the database refused', labels: [] });
  const writer = createBatchWriter<AuditEntry>({
    write: (entries) => store.add(entries),
    onFailure: (error) => log.error({ error, waiting: writer.waiting }, 'writing audit entries failed, retrying'),
    onRefused: (entry, error) => {
      lost.inc();
      log.error({ error, entry }, 'audit entry refused by the database and lost');
    },
    limits: { ...usualLimits, ...limits },
  });
  metrics.gauge({ name: 'signalbox_secrets_audit_waiting', help: 'Audit entries not written yet', labels: [], collect: (gauge) => gauge.set(writer.waiting) });

  return {
    /** False when too many wait: what is to be recorded must not be done then. */
    get hasRoom() {
      return writer.hasRoom;
    },
    record: (entry: AuditEntry) => writer.add(entry),
    /** Writes what waits, as far as the database can be asked. Never rejects. */
    async close() {
      const waiting = await writer.close();
      if (waiting > 0) log.error({ waiting }, 'audit entries lost at shutdown');
    },
  };
}
