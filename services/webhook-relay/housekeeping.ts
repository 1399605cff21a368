// What the relay throws away, and when.
import { keepHouse } from '../platform/housekeeping.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import type { Database } from '../platform/postgres.ts';
import { maxRejectedRows } from './rejected/rejected.ts';
import { createRejectedStore } from './rejected/store.ts';
import { createSenderStore } from './senders/store.ts';
import { windowMs } from './senders/window.ts';
import { createFailedPayloads } from './spool/failed-payloads.ts';
import { periodOf } from './usage/period.ts';
import { createUsageStore } from './usage/store.ts';

type Retention = {
  readonly rejectedDays: number;
  readonly rejectedRows: number;
  /** Of rows of failed_payloads whose delivery was published. */
  readonly replayedDays: number;
  readonly usageMonths: number;
};

const usualRetention: Retention = { rejectedDays: 14, rejectedRows: maxRejectedRows, replayedDays: 7, usageMonths: 24 };

export type HousekeepingParts = {
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly clock: () => Date;
  readonly retention?: Partial<Retention>;
};

const everyMs = 5 * 60_000;
const dayMs = 86_400_000;
// Replicas whose clocks differ still find what they count by.
const bucketsKeptMs = 2 * windowMs;

/** At once and then every five minutes, on one replica at a time, until the lifecycle stops. */
export function startHousekeeping(parts: HousekeepingParts): void {
  const { log } = parts;
  const tasks = createTasks(parts);
  // One after the other under one lock: a lock each would hold most of the pool's connections at once.
  const work = async () => {
    for (const [what, deleteOld] of Object.entries(tasks)) {
      try {
        const deleted = await deleteOld();
        if (deleted > 0) log.info({ what, deleted }, 'old rows were deleted');
      } catch (error) {
        log.warn({ what, error }, 'old rows could not be deleted, it will be tried again');
      }
    }
  };
  keepHouse(parts, { name: 'relay.housekeeping', everyMs, work });
}

type Tasks = Readonly<Record<string, () => Promise<number>>>;

function createTasks({ database, clock, retention }: HousekeepingParts): Tasks {
  const { rejectedDays, rejectedRows, replayedDays, usageMonths } = { ...usualRetention, ...retention };
  const before = (ms: number) => new Date(clock().getTime() - ms);
  const rejected = createRejectedStore(database);
  const senders = createSenderStore(database);
  const usage = createUsageStore(database);
  const failedPayloads = createFailedPayloads(database);

  return {
    expiredRejections: () => rejected.deleteBefore(before(rejectedDays * dayMs)),
    surplusRejections: () => rejected.keepNewest(rejectedRows),
    senderBuckets: () => senders.deleteBucketsBefore(before(bucketsKeptMs)),
    replayedPayloads: () => failedPayloads.deleteReplayedBefore(before(replayedDays * dayMs)),
    usage: () => usage.deleteBefore(monthsBack(clock(), usageMonths)),
  };
}

/** The period that many months before that of `now`. */
const monthsBack = (now: Date, months: number) => periodOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)));
