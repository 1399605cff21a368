// The job `cleanup`: what is older than its retention goes.
import { dropPartitionsBefore } from '../../platform/postgres/partitions.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import type { Job } from './runner.ts';

const dayMs = 86_400_000;

type CleanupParts = { readonly database: Database; readonly clock?: () => Date };

export const createCleanup = ({ database, clock = () => new Date() }: CleanupParts): Job => ({
  name: 'cleanup',
  isExclusive: true,
  async run({ counts }) {
    const before = (days: number) => new Date(clock().getTime() - days * dayMs);
    counts.processed += (await dropPartitionsBefore(database, 'event_payloads', before(30))).length;
    counts.processed += (await dropPartitionsBefore(database, 'events', before(180))).length;
  },
});
