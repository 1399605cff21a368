// The workers of one process, as its API has them, with jobs of the test's own.
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import type { Database } from '../../../../services/platform/postgres/pool.ts';
import { createRunner, type Job } from '../../../../services/webhook-intake/jobs/runner.ts';
import { createRunStore } from '../../../../services/webhook-intake/jobs/store.ts';
import { createWorkers } from '../../../../services/webhook-intake/jobs/workers.ts';

export const createTestWorkers = (database: Database, jobs: readonly Job[], stopping = new AbortController().signal) =>
  createWorkers({
    store: createRunStore(database),
    runner: createRunner({ database, log: silentLog, metrics: createMetrics() }),
    jobs,
    stopping,
  });

/** A job that begins to work when it is called, and ends when the test says so. */
export function createGatedJob({ name = 'cleanup', isExclusive = true }: Partial<Pick<Job, 'name' | 'isExclusive'>> = {}) {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const job: Job = {
    name,
    isExclusive,
    async run({ counts }) {
      counts.processed = 3;
      counts.failed = 1;
      begun.resolve();
      await end.promise;
    },
  };
  return { job, begun: begun.promise, end: () => end.resolve(), fail: (error: Error) => end.reject(error) };
}
