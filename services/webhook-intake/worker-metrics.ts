// What a queue worker shows to Prometheus: its runs, the oldest delivery it has in hand, its connections.
import type { BatchHandler, Delivery } from '../platform/broker/broker.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { ConnectionState } from './connections/consumption.ts';
import { receptionTime } from './envelope.ts';

type Batch = readonly Delivery[];
type InHand = { readonly oldestMs: number; failedAtMs: number | undefined };

/** A batch that failed comes again within seconds; one that has not was given back, and others may have it. */
const comesAgainMs = 15_000;

type RunsParts = { readonly worker: string; readonly handle: BatchHandler; readonly clock?: () => number };

/** @returns the handler, watched */
export function measureRuns(metrics: Metrics, { worker, handle, clock = Date.now }: RunsParts): BatchHandler {
  const runs = metrics.counter({
    name: 'signalbox_worker_runs_total',
    help: 'Batches that a worker has worked on, by outcome: a failed one is tried again as a whole.',
    labels: ['worker', 'outcome'],
  });
  // From 0 on: Prometheus does not see the first of a series that begins with 1.
  for (const outcome of ['succeeded', 'failed'] as const) runs.inc({ worker, outcome }, 0);
  const inHand = new Map<Batch, InHand>();
  metrics.gauge({
    name: 'signalbox_worker_oldest_message_seconds',
    help: 'Age, since the relay received it, of the oldest delivery that the worker is at, or that it could not store yet; 0 when there is none.',
    labels: ['worker'],
    collect: (gauge) => gauge.set({ worker }, oldestSeconds(inHand, clock())),
  });
  return async (batch) => {
    const entry: InHand = { oldestMs: Math.min(...batch.map((delivery) => receptionTime(delivery).getTime())), failedAtMs: undefined };
    inHand.set(batch, entry);
    try {
      const outcomes = await handle(batch);
      runs.inc({ worker, outcome: 'succeeded' });
      inHand.delete(batch);
      return outcomes;
    } catch (error) {
      runs.inc({ worker, outcome: 'failed' });
      entry.failedAtMs = clock();
      dropGivenBack(inHand, clock());
      throw error;
    }
  };
}

function dropGivenBack(inHand: Map<Batch, InHand>, now: number): void {
  for (const [batch, { failedAtMs }] of inHand) if (failedAtMs !== undefined && now - failedAtMs > comesAgainMs) inHand.delete(batch);
}

function oldestSeconds(inHand: Map<Batch, InHand>, now: number): number {
  dropGivenBack(inHand, now);
  return Math.max(0, ...[...inHand.values()].map(({ oldestMs }) => now - oldestMs)) / 1000;
}

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
