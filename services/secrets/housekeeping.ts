// Partitions of the audit, one a month: created two months ahead, dropped after the retention time.
import { runPeriodically } from '../platform/process/periodic-job.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { dropPartitionsBefore, makePartitions } from '../platform/postgres/partitions.ts';
import type { Database } from '../platform/postgres/pool.ts';

export type HousekeepingParts = {
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly clock: () => Date;
  readonly auditRetentionDays: number;
};

const everyMs = 60 * 60_000;
const dayMs = 86_400_000;
const table = 'audit_entries';

export function startHousekeeping(parts: HousekeepingParts): void {
  const { database, log, clock, auditRetentionDays } = parts;
  const work = async () => {
    await makePartitions(database, table, clock());
    // Whole months: an entry may stay up to a month longer than it must.
    const dropped = await dropPartitionsBefore(database, table, new Date(clock().getTime() - auditRetentionDays * dayMs));
    if (dropped.length > 0) log.info({ dropped }, 'deleted expired audit partitions');
  };
  runPeriodically(parts, { name: 'secrets.housekeeping', everyMs, work });
}
