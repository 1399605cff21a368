// Counts deliveries by what became of them.
import type { Metrics } from '../platform/metrics.ts';

/** published · unsigned: 401 · exhausted: 503 · spooled and lost: 400, kept on disk or not. */
export type DeliveryOutcome = 'published' | 'unsigned' | 'exhausted' | 'spooled' | 'lost';

export type DeliveryMetrics = { count(outcome: DeliveryOutcome): void };

export function createDeliveryMetrics(metrics: Metrics): DeliveryMetrics {
  const deliveries = metrics.counter({ name: 'signalbox_relay_deliveries_total', help: 'Deliveries received, by what became of them.', labels: ['outcome'] });
  return { count: (outcome) => deliveries.inc({ outcome }) };
}
