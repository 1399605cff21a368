// The job `maintenance`: partitions ahead of time, claims whose holder died, runs whose process was killed.
import type { Database } from '../../platform/postgres/pool.ts';
import { keepPartitions } from '../housekeeping.ts';
import { processRows } from '../typed/store.ts';
import { type Job, Stopped } from './runner.ts';
import { createRunStore } from './store.ts';

type MaintenanceParts = { readonly database: Database; readonly clock?: () => Date };

export const createMaintenance = ({ database, clock = () => new Date() }: MaintenanceParts): Job => ({
  name: 'maintenance',
  isExclusive: true,
  async run({ counts, stopping }) {
    await keepPartitions(database, clock());
    counts.processed += await createRunStore(database).failStale();
    while (!stopping.aborted && (await processRows(database)));
    if (stopping.aborted) throw new Stopped();
  },
});
