// The job `cleanup`: what is older than its retention goes; of the event log whole months, of everything else a batch at a time.
import { dropPartitionsBefore } from '../../platform/postgres/partitions.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { dayMs } from '../../platform/time.ts';
import type { Retention } from '../config.ts';
import { batchRows, expireReleases, expireSourceEvents, expiries } from './retention.ts';
import type { Job } from './runner.ts';
import { runSteps, type Step, type StepsParts } from './steps.ts';

export type CleanupParts = StepsParts & { readonly database: Database; readonly retention: Retention; readonly clock?: () => Date };

export function createCleanup({ database, retention, clock = () => new Date(), ...parts }: CleanupParts): Job {
  return {
    name: 'cleanup',
    isExclusive: true,
    run: (run) => runSteps(cleanupSteps(database, retention, clock()), run, parts),
  };
}

function cleanupSteps(database: Database, retention: Retention, now: Date): Step[] {
  const before = (days: number) => new Date(now.getTime() - days * dayMs);
  const rows = (name: string, deleteBatch: typeof expiries.buckets, limit: Date) => batches(name, () => database.run(deleteBatch, limit, batchRows));
  // A payload without its event cannot be asked for.
  const payloads = before(Math.min(retention.payloadDays, retention.eventDays));
  const events = before(retention.eventDays);
  const keys = before(retention.deduplicationKeyDays);
  return [
    months('months of payloads', () => dropPartitionsBefore(database, 'event_payloads', payloads)),
    months('months of events', () => dropPartitionsBefore(database, 'events', events)),
    rows('payloads in no month', expiries.payloadsInNoMonth, monthOf(payloads)),
    rows('events in no month', expiries.eventsInNoMonth, monthOf(events)),
    batches('events of direct sources', () => expireSourceEvents(database, before(retention.sourceEventDays))),
    rows('deduplication keys', expiries.deduplicationKeys, keys),
    rows('tracked deliveries', expiries.trackedDeliveries, keys),
    rows('repeated deliveries', expiries.duplicates, keys),
    rows('statistics buckets', expiries.buckets, before(retention.bucketDays)),
    rows('statistics by the hour', expiries.hours, before(retention.hourDays)),
    ...expiries.typedRows.map(({ name, deleteBatch }) => rows(name.replace('_', ' '), deleteBatch, before(retention.typedRowDays))),
    rows('workflow runs', expiries.workflowRuns, before(retention.workflowRunDays)),
    batches('releases', () => expireReleases(database, retention.releasesPerRepository)),
    rows('sent messages', expiries.sentMessages, before(retention.sentNotificationDays)),
    rows('notifications', expiries.notifications, before(retention.sentNotificationDays)),
    rows('runs of workers', expiries.workerRuns, before(retention.workerRunDays)),
  ];
}

/** Months are dropped whole; what lies outside of them is no older than that. */
const monthOf = (limit: Date) => new Date(Date.UTC(limit.getUTCFullYear(), limit.getUTCMonth(), 1));

const months = (name: string, drop: () => Promise<readonly string[]>): Step => ({
  name,
  run: async () => ({ processed: (await drop()).length, failed: 0 }),
});

/** Until a batch finds nothing, or the time is over. */
const batches = (name: string, deleteBatch: () => Promise<number>): Step => ({
  name,
  async run(deadline) {
    const counts = { processed: 0, failed: 0 };
    while (!deadline.aborted) {
      const deleted = await deleteBatch();
      if (deleted === 0) break;
      counts.processed += deleted;
    }
    return counts;
  },
});
