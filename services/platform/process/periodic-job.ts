// Recurring upkeep of a deployable's own tables: one replica at a time, at once and then at an interval.
import type { Lifecycle } from './lifecycle.ts';
import type { Log } from '../log.ts';
import type { Database } from '../postgres/pool.ts';
import { every } from '../time.ts';

type PeriodicJob = {
  /** Names the lock that replicas share. */
  readonly name: string;
  readonly everyMs: number;
  readonly work: () => Promise<void>;
};

/** Loops until stopped; a job that fails is logged and comes round again. */
export function runPeriodically({ database, lifecycle, log }: { database: Database; lifecycle: Lifecycle; log: Log }, job: PeriodicJob): void {
  const running = every(job.everyMs, lifecycle.stopping, async () => {
    try {
      await database.whileLocked(`signalbox.${job.name}`, job.work);
    } catch (error) {
      log.warn({ job: job.name, error }, 'periodic job failed; retrying at its next time');
    }
  });
  lifecycle.onStop(job.name, () => running);
}
