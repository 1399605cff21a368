// Deletes expired rows and files of the relay.
import type { Log } from '../platform/log.ts';
import type { Database } from '../platform/postgres/pool.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import { runPeriodically } from '../platform/process/periodic-job.ts';
import { dayMs, every } from '../platform/time.ts';
import type { RelayConfig } from './config.ts';
import { deleteChangesBefore } from './connections/changes.ts';
import { deletePublishedBefore } from './connections/published.ts';
import { createRejectedStore } from './rejected/store.ts';
import { windowMs } from './senders/senders.ts';
import { createSenderStore } from './senders/store.ts';
import { createFailedPayloads } from './spool/failed-payloads.ts';
import type { Spool } from './spool/spool.ts';
import { deleteDaysBefore } from './usage/daily.ts';
import { deleteNearLimitBefore } from './usage/near-limit.ts';
import { createUsageStore, periodOf } from './usage/store.ts';

type HousekeepingParts = {
  readonly database: Database;
  readonly spool: Pick<Spool, 'deleteRefusedBefore'>;
  readonly retention: Pick<RelayConfig, 'rejectedDays' | 'rejectedRows' | 'replayedDays' | 'refusedDays' | 'usageMonths' | 'senderDays'>;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly clock: () => Date;
};

const everyMs = 5 * 60_000;
// Replicas whose clocks differ still find what they count by.
const bucketsKeptMs = 2 * windowMs;

/** At once and then every five minutes, until the lifecycle stops: rows on one replica at a time, files on each. */
export function startHousekeeping(parts: HousekeepingParts): void {
  const { spool, retention, lifecycle, log, clock } = parts;
  // One after the other under one lock: a lock each would hold most of the pool's connections at once.
  runPeriodically(parts, { name: 'relay.housekeeping', everyMs, work: () => deleteExpired(rowTasks(parts), log) });
  // The spool is this process's own: no lock, and no database that may be down.
  const refusedFiles = () => spool.deleteRefusedBefore(daysBefore(clock(), retention.refusedDays));
  const files = every(everyMs, lifecycle.stopping, () => deleteExpired({ 'refused files': refusedFiles }, log));
  lifecycle.onStop('relay.housekeeping of files', () => files);
}

type Tasks = Readonly<Record<string, () => Promise<number>>>;

async function deleteExpired(tasks: Tasks, log: Log): Promise<void> {
  for (const [what, deleteOld] of Object.entries(tasks)) {
    try {
      const deleted = await deleteOld();
      if (deleted > 0) log.info({ what, deleted }, 'deleted what is expired');
    } catch (error) {
      log.warn({ what, error }, 'deleting what is expired failed; retrying in five minutes');
    }
  }
}

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * dayMs);
/** The period that many months before that of `now`. */
const monthsBefore = (now: Date, months: number) => periodOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)));

function rowTasks({ database, clock, retention }: HousekeepingParts): Tasks {
  const { rejectedDays, rejectedRows, replayedDays, refusedDays, usageMonths, senderDays } = retention;
  const before = (days: number) => daysBefore(clock(), days);
  const oldestPeriod = () => monthsBefore(clock(), usageMonths);
  const rejected = createRejectedStore(database);
  const senders = createSenderStore(database);
  const usage = createUsageStore(database);
  const failedPayloads = createFailedPayloads(database);

  return {
    'expired rejected deliveries': () => rejected.deleteBefore(before(rejectedDays)),
    'surplus rejected deliveries': () => rejected.keepNewest(rejectedRows),
    'sender buckets': () => senders.deleteBucketsBefore(new Date(clock().getTime() - bucketsKeptMs)),
    'senders not seen': () => senders.deleteUnseenSince(before(senderDays)),
    'replayed or refused payloads': () => failedPayloads.deleteOld(before(replayedDays), before(refusedDays)),
    usage: () => usage.deleteBefore(oldestPeriod(), periodOf(clock())),
    'usage by day': () => deleteDaysBefore(database, `${oldestPeriod()}-01`),
    'changes of connections': () => deleteChangesBefore(database, new Date(`${oldestPeriod()}-01`)),
    'events of near limits': () => deleteNearLimitBefore(database, oldestPeriod()),
    'connections that were published to': () => deletePublishedBefore(database, new Date(`${oldestPeriod()}-01`)),
  };
}
