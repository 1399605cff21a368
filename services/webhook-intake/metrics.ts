// What the queue workers show to Prometheus.
import type { Metrics } from '../platform/metrics.ts';

const outcomes = ['stored', 'duplicate', 'refused', 'unreadable'] as const;
export type DeliveryOutcome = (typeof outcomes)[number];

type WorkerOptions = {
  readonly worker: string;
  readonly queue: string;
  /** Age of the oldest delivery that the worker has in hand. */
  readonly oldestSeconds: () => number;
};

export function createWorkerMetrics(metrics: Metrics, { worker, queue, oldestSeconds }: WorkerOptions) {
  const runs = metrics.counter({
    name: 'signalbox_worker_runs_total',
    help: 'Batches that a worker has worked on, by outcome: a failed one is tried again as a whole.',
    labels: ['worker', 'outcome'],
    series: ['succeeded', 'failed'].map((outcome) => ({ worker, outcome })),
  });
  metrics.gauge({
    name: 'signalbox_worker_oldest_message_seconds',
    help: 'Age, since the relay received it, of the oldest delivery that the worker is at, or that it could not store yet; 0 when there is none.',
    labels: ['worker'],
    collect: (gauge) => gauge.set({ worker }, oldestSeconds()),
  });
  const deliveries = metrics.counter({
    name: 'signalbox_intake_deliveries_total',
    help: 'Deliveries by queue and by what became of them: stored, duplicate, refused (tried again), unreadable (dead)',
    labels: ['queue', 'outcome'],
    series: outcomes.map((outcome) => ({ queue, outcome })),
  });
  const delay = metrics.histogram({
    name: 'signalbox_intake_delay_seconds',
    help: 'From reception by the relay to the end of work on it, by queue',
    labels: ['queue'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 3600],
  });
  return { runs, deliveries, delay };
}

type ConnectionState = { readonly name: string; readonly isConnected: boolean };

export function measureConnections(metrics: Metrics, worker: string, states: () => readonly ConnectionState[]): void {
  metrics.gauge({
    name: 'signalbox_worker_connected',
    help: 'Whether the worker is connected to each broker connection that it consumes.',
    labels: ['worker', 'broker'],
    collect(gauge) {
      for (const { name, isConnected } of states()) gauge.set({ worker, broker: name }, isConnected ? 1 : 0);
    },
  });
}
