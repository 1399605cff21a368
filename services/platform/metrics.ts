// Prometheus metrics of a process, shared by every deployable in it and told apart by the `service` label.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

type Definition<L extends string> = { readonly name: string; readonly help: string; readonly labels: readonly L[] };
type Buckets = { readonly buckets?: readonly number[] };

export type Metrics = {
  counter<L extends string>(definition: Definition<L>): Counter<L>;
  histogram<L extends string>(definition: Definition<L> & Buckets): Histogram<L>;
  /** `collect` is asked at every scrape. */
  gauge<L extends string>(definition: Definition<L> & { readonly collect?: (gauge: Gauge<L>) => void | Promise<void> }): Gauge<L>;
  /** Prometheus text exposition format 0.0.4. */
  text(): Promise<string>;
  readonly contentType: string;
};

/** Seconds; from a cached answer to one that waited for every connection of a broker. */
const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics({ process = false }: { readonly process?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (process) collectDefaultMetrics({ register: registry });
  const shared = new Map<string, unknown>();

  // Two deployables of one process may declare the same metric: both get the one that is there.
  function once<M>(name: string, make: () => M): M {
    if (!shared.has(name)) shared.set(name, make());
    return shared.get(name) as M; // every caller declares a name with one type
  }

  return {
    counter: ({ name, help, labels }) => once(name, () => new Counter({ name, help, labelNames: labels, registers: [registry] })),
    histogram: ({ name, help, labels, buckets = durations }) =>
      once(name, () => new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers: [registry] })),
    gauge<L extends string>({ name, help, labels, collect }: Definition<L> & { collect?: (gauge: Gauge<L>) => void | Promise<void> }) {
      const configuration = { name, help, labelNames: labels, registers: [registry] };
      if (!collect) return once(name, () => new Gauge<L>(configuration));
      return once(
        name,
        () =>
          new Gauge<L>({
            ...configuration,
            collect() {
              return collect(this);
            },
          }),
      );
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
