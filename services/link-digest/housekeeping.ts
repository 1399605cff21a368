// Deletes raw mails after their retention time, if one is set.
import type { Log } from '../platform/log.ts';
import type { Database } from '../platform/postgres/pool.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import { runPeriodically } from '../platform/process/periodic-job.ts';
import { dayMs } from '../platform/time.ts';
import { createArrivalStore } from './newsletters/arrival-store.ts';

type HousekeepingParts = {
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly clock: () => Date;
  /** Undefined: mails are kept for ever. */
  readonly rawMailsDays: number | undefined;
};

const everyMs = 60 * 60_000;

/** Runs at once and then every hour, on one replica at a time, until the lifecycle stops. */
export function startHousekeeping(parts: HousekeepingParts): void {
  const { database, log, clock, rawMailsDays } = parts;
  if (rawMailsDays === undefined) return;
  const store = createArrivalStore(database);
  const work = async () => {
    const mails = await store.deleteRaw(new Date(clock().getTime() - rawMailsDays * dayMs));
    if (mails > 0) log.info({ mails }, 'expired mails deleted');
  };
  runPeriodically(parts, { name: 'digest.housekeeping', everyMs, work });
}
