// Counts deliveries by what became of them.
import type { Metrics } from '../platform/metrics.ts';

/** published · unsigned: 401 · exhausted: 503 · spooled and lost: 400, kept on disk or not. */
const outcomes = ['published', 'unsigned', 'exhausted', 'spooled', 'lost'] as const;
export type DeliveryOutcome = (typeof outcomes)[number];

export type DeliveryMetrics = { count(outcome: DeliveryOutcome): void };

export function createDeliveryMetrics(metrics: Metrics): DeliveryMetrics {
  const deliveries = metrics.counter({ name: 'signalbox_relay_deliveries_total', help: 'Deliveries received, by what became of them.', labels: ['outcome'] });
  // From 0 on: Prometheus does not see the first of a series that begins with 1.
  for (const outcome of outcomes) deliveries.inc({ outcome }, 0);
  return { count: (outcome) => deliveries.inc({ outcome }) };
}
