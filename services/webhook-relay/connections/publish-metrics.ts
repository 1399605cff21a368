// Counters of what was tried on each broker connection.
import type { PublishResult } from '../../platform/broker/broker.ts';
import type { Metrics } from '../../platform/metrics.ts';

export type PublishMetrics = { count(broker: string, outcome: PublishResult['outcome']): void };

const failed = ['unpublished', 'refused', 'unknown'] as const;

export function createPublishMetrics(metrics: Metrics): PublishMetrics {
  const publishes = metrics.counter({
    name: 'signalbox_broker_publishes_total',
    help: 'Messages that a broker connection confirmed.',
    labels: ['broker'],
  });
  const failures = metrics.counter({
    name: 'signalbox_broker_publish_failures_total',
    help: 'Tries to publish that were not confirmed: unpublished, refused for the message itself, or unknown.',
    labels: ['broker', 'outcome'],
  });
  const known = new Set<string>();
  // From 0 on: Prometheus does not see the first of a series that begins with 1.
  function begin(broker: string): void {
    known.add(broker);
    publishes.inc({ broker }, 0);
    for (const outcome of failed) failures.inc({ broker, outcome }, 0);
  }
  return {
    count(broker, outcome) {
      if (!known.has(broker)) begin(broker);
      if (outcome === 'confirmed') publishes.inc({ broker });
      else failures.inc({ broker, outcome });
    },
  };
}
