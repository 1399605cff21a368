// Counters of what was tried on each broker connection.
import type { PublishResult } from '../../platform/broker/broker.ts';
import type { Metrics } from '../../platform/metrics.ts';

export type PublishMetrics = { count(broker: string, outcome: PublishResult['outcome']): void };

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
  return {
    count(broker, outcome) {
      if (outcome === 'confirmed') publishes.inc({ broker });
      else failures.inc({ broker, outcome });
    },
  };
}
