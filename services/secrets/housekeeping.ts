// Partitions of the audit, one a month: created two months ahead, dropped after the retention time. Old changes of the feed and counts of reads: deleted.
import { runPeriodically } from '../platform/process/periodic-job.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { dropPartitionsBefore, makePartitions } from '../platform/postgres/partitions.ts';
import type { Database } from '../platform/postgres/pool.ts';
import { dayMs } from '../platform/time.ts';
import { createChangeStore } from './changes/store.ts';
import type { SecretsConfig } from './config.ts';
import { createOverviewStore } from './overview/store.ts';

export type HousekeepingParts = {
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly clock: () => Date;
  readonly config: Pick<SecretsConfig, 'auditRetentionDays' | 'changesRetentionDays'>;
};

const everyMs = 60 * 60_000;
const table = 'audit_entries';

export function startHousekeeping(parts: HousekeepingParts): void {
  const { database, log, clock, config } = parts;
  const daysAgo = (days: number) => new Date(clock().getTime() - days * dayMs);
  const work = async () => {
    await makePartitions(database, table, clock());
    // Whole months: an entry may stay up to a month longer than it must.
    const dropped = await dropPartitionsBefore(database, table, daysAgo(config.auditRetentionDays));
    if (dropped.length > 0) log.info({ dropped }, 'deleted expired audit partitions');
    await createChangeStore(database).prune(daysAgo(config.changesRetentionDays));
    await createOverviewStore(database).pruneReadDays(daysAgo(config.auditRetentionDays));
  };
  runPeriodically(parts, { name: 'secrets.housekeeping', everyMs, work });
}
