// Metrics of runs, read from their records: a worker that is a CronJob has ended before it is scraped.
import { forScrape, type Metrics } from '../../platform/metrics.ts';
import type { RunStore } from './store.ts';

export function measureRuns(metrics: Metrics, store: RunStore): void {
  const last = forScrape(() => store.last());
  metrics.gauge({
    name: 'signalbox_worker_last_run_failed',
    help: 'Whether the last run of the worker that has ended failed, in whichever process it was, and no later one has run for ten minutes.',
    labels: ['worker'],
    collect: async (gauge) => (await last())?.forEach(({ worker, isFailed }) => gauge.set({ worker }, isFailed ? 1 : 0)),
  });
  metrics.gauge({
    name: 'signalbox_worker_last_run_seconds',
    help: 'How long the last run of the worker that has ended took.',
    labels: ['worker'],
    collect: async (gauge) => (await last())?.forEach(({ worker, seconds }) => gauge.set({ worker }, seconds)),
  });
  metrics.gauge({
    name: 'signalbox_worker_last_success_timestamp_seconds',
    help: 'When a run of the worker last succeeded, in Unix time.',
    labels: ['worker'],
    collect: async (gauge) => (await last())?.forEach(({ worker, lastSuccessAt }) => lastSuccessAt !== null && gauge.set({ worker }, lastSuccessAt)),
  });
}
