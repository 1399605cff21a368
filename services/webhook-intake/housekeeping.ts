// What the intake looks after in its own tables while it serves: partitions, two months ahead.
import { runPeriodically } from '../platform/process/periodic-job.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { makePartitions } from '../platform/postgres/partitions.ts';
import type { Database } from '../platform/postgres/pool.ts';

export const partitionedTables = ['events', 'event_payloads'] as const;

const everyMs = 60 * 60 * 1000;

export function keepPartitions(parts: { readonly database: Database; readonly lifecycle: Lifecycle; readonly log: Log }): void {
  runPeriodically(parts, {
    name: 'intake.partitions',
    everyMs,
    work: async () => {
      for (const table of partitionedTables) await makePartitions(parts.database, table, new Date());
    },
  });
}
