// Deletes ended sessions and old actions.
import type { Log } from '../platform/log.ts';
import type { Database } from '../platform/postgres/pool.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import { runPeriodically } from '../platform/process/periodic-job.ts';
import { dayMs, hourMs } from '../platform/time.ts';
import type { Sessions } from './access/sessions.ts';
import type { ConsoleStore } from './store.ts';

type HousekeepingParts = {
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly clock: () => Date;
  readonly store: Pick<ConsoleStore, 'endOld' | 'deleteActions'>;
  readonly sessions: Pick<Sessions, 'living'>;
  readonly actionsDays: number;
};

export function startHousekeeping({ store, sessions, clock, actionsDays, ...parts }: HousekeepingParts): void {
  runPeriodically(parts, {
    name: 'console housekeeping',
    everyMs: hourMs,
    async work() {
      await store.endOld(sessions.living());
      const before = new Date(clock().getTime() - actionsDays * dayMs);
      while (!parts.lifecycle.stopping.aborted && (await store.deleteActions(before)) > 0);
    },
  });
}
