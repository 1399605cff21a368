// Periodic jobs of the API process: it creates partitions, two months ahead, and marks the runs of killed processes as failed.
import { runPeriodically } from '../../platform/process/periodic-job.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import type { Log } from '../../platform/log.ts';
import { makePartitions } from '../../platform/postgres/partitions.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import type { RunStore } from './store.ts';

export const partitionedTables = ['events', 'event_payloads'] as const;

const partitionsEveryMs = 60 * 60 * 1000;
const runsEveryMs = 30_000;

export async function keepPartitions(database: Database, now: Date): Promise<void> {
  for (const table of partitionedTables) await makePartitions(database, table, now);
}

type HousekeepingParts = { readonly database: Database; readonly runs: Pick<RunStore, 'failStale'>; readonly lifecycle: Lifecycle; readonly log: Log };

export function startHousekeeping({ runs, ...parts }: HousekeepingParts): void {
  runPeriodically(parts, { name: 'intake.partitions', everyMs: partitionsEveryMs, work: () => keepPartitions(parts.database, new Date()) });
  runPeriodically(parts, { name: 'intake.runs', everyMs: runsEveryMs, work: async () => void (await runs.failStale()) });
}
