// What the relay throws away, and when.
import { setTimeout as sleep } from 'node:timers/promises';
import { runPeriodically } from '../platform/process/periodic-job.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import type { Database } from '../platform/postgres/pool.ts';
import { maxRejectedRows } from './rejected/rejected.ts';
import { createRejectedStore } from './rejected/store.ts';
import { createSenderStore } from './senders/store.ts';
import { windowMs } from './senders/recent-senders.ts';
import { createFailedPayloads } from './spool/failed-payloads.ts';
import type { Spool } from './spool/spool.ts';
import { createUsageStore, periodOf } from './usage/store.ts';

type Retention = {
  readonly rejectedDays: number;
  readonly rejectedRows: number;
  /** Of rows of failed_payloads whose delivery was published. */
  readonly replayedDays: number;
  /** Of deliveries that were given up, in the spool's folder `refused` and in failed_payloads. */
  readonly refusedDays: number;
  readonly usageMonths: number;
};

const usualRetention: Retention = { rejectedDays: 14, rejectedRows: maxRejectedRows, replayedDays: 7, refusedDays: 30, usageMonths: 24 };

export type HousekeepingParts = {
  readonly database: Database;
  readonly spool: Pick<Spool, 'refused'>;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly clock: () => Date;
  readonly retention?: Partial<Retention>;
};

const everyMs = 5 * 60_000;
const dayMs = 86_400_000;
// Replicas whose clocks differ still find what they count by.
const bucketsKeptMs = 2 * windowMs;

/** At once and then every five minutes, until the lifecycle stops: rows on one replica at a time, files on each. */
export function startHousekeeping(parts: HousekeepingParts): void {
  // One after the other under one lock: a lock each would hold most of the pool's connections at once.
  runPeriodically(parts, { name: 'relay.housekeeping', everyMs, work: () => deleteAll(rowTasks(parts), parts.log) });
  keepFiles(parts);
}

/** The spool is this process's own: no lock, and no database that may be down. */
function keepFiles(parts: HousekeepingParts): void {
  const { stopping } = parts.lifecycle;
  const loop = async () => {
    while (!stopping.aborted) {
      await deleteAll(fileTasks(parts), parts.log);
      await sleep(everyMs, undefined, { signal: stopping }).catch(() => undefined); // stopping ends the wait
    }
  };
  const running = loop();
  parts.lifecycle.onStop('relay.housekeeping of files', () => running);
}

type Tasks = Readonly<Record<string, () => Promise<number>>>;

async function deleteAll(tasks: Tasks, log: Log): Promise<void> {
  for (const [what, deleteOld] of Object.entries(tasks)) {
    try {
      const deleted = await deleteOld();
      if (deleted > 0) log.info({ what, deleted }, 'what was kept long enough was deleted');
    } catch (error) {
      log.warn({ what, error }, 'what was kept long enough could not be deleted, it will be tried again');
    }
  }
}

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * dayMs);

function fileTasks({ spool, clock, retention }: HousekeepingParts): Tasks {
  const { refusedDays } = { ...usualRetention, ...retention };
  return { refusedFiles: () => spool.refused.deleteBefore(daysBefore(clock(), refusedDays)) };
}

function rowTasks({ database, clock, retention }: HousekeepingParts): Tasks {
  const { rejectedDays, rejectedRows, replayedDays, refusedDays, usageMonths } = { ...usualRetention, ...retention };
  const before = (days: number) => daysBefore(clock(), days);
  const rejected = createRejectedStore(database);
  const senders = createSenderStore(database);
  const usage = createUsageStore(database);
  const failedPayloads = createFailedPayloads(database);

  return {
    expiredRejections: () => rejected.deleteBefore(before(rejectedDays)),
    surplusRejections: () => rejected.keepNewest(rejectedRows),
    senderBuckets: () => senders.deleteBucketsBefore(new Date(clock().getTime() - bucketsKeptMs)),
    replayedPayloads: () => failedPayloads.deleteReplayedBefore(before(replayedDays)),
    refusedPayloads: () => failedPayloads.deleteRefusedBefore(before(refusedDays)),
    usage: () => usage.deleteBefore(monthsBack(clock(), usageMonths), periodOf(clock())),
  };
}

/** The period that many months before that of `now`. */
const monthsBack = (now: Date, months: number) => periodOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)));
