// Prometheus metrics of a process, shared by every deployable in it and told apart by the label `deployable`.
import { collectDefaultMetrics, Counter, Gauge, type GaugeConfiguration, Histogram, Registry } from 'prom-client';
import { withTimeout } from './time.ts';

type Definition<L extends string> = { readonly name: string; readonly help: string; readonly labels: readonly L[] };
type Labels<L extends string> = Partial<Record<L, string | number>>;

/** Sets the values that a gauge shows from this scrape on. */
export type Reading<L extends string> = { set(value: number): void; set(labels: Labels<L>, value: number): void };

export type Metrics = ReturnType<typeof createMetrics>;

/** Seconds; from a cached answer to one that waited for every connection of a broker. */
const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics({ process = false }: { readonly process?: boolean } = {}) {
  const registry = new Registry();
  if (process) collectDefaultMetrics({ register: registry });
  const shared = new Map<string, unknown>();

  // Two deployables of one process may declare the same metric: both get the one that is there.
  function once<M>(name: string, make: () => M): M {
    if (!shared.has(name)) shared.set(name, make());
    return shared.get(name) as M; // every caller declares a name with one type
  }

  return {
    /** @param definition `series` stand at 0 from the start, so that increase() sees their first event */
    counter<L extends string>({ name, help, labels, series = [] }: Definition<L> & { readonly series?: readonly Labels<L>[] }): Counter<L> {
      const counter = once(name, () => new Counter({ name, help, labelNames: labels, registers: [registry] }));
      for (const one of series) counter.inc(one, 0);
      return counter;
    },
    histogram: <L extends string>({ name, help, labels, buckets = durations }: Definition<L> & { readonly buckets?: readonly number[] }): Histogram<L> =>
      once(name, () => new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers: [registry] })),
    /** `collect` is asked at every scrape, and of several deployables with the same gauge each one's; what none of them sets again is gone. */
    gauge<L extends string>({ name, help, labels, collect }: Definition<L> & { readonly collect?: Collect<L> }): Gauge<L> {
      const { gauge, collects } = once(name, () => collecting({ name, help, labelNames: labels, registers: [registry] }));
      if (collect) collects.push(collect);
      return gauge;
    },
    /** Prometheus text exposition format 0.0.4. */
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** A scrape waits no longer for a server that hangs. */
const answerMs = 2000;

/**
 * A question that gauges put at each scrape: once for all of them, and no second time while the one before hangs.
 * @returns what asks; undefined when there is no answer in time: then nothing is known, and nothing is to be said
 */
export function forScrape<T>(ask: () => Promise<T>): () => Promise<T | undefined> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask().finally(() => (asked = undefined));
    return withTimeout<T | undefined>(asked, answerMs, () => undefined).catch(() => undefined);
  };
}

type Collect<L extends string> = (reading: Reading<L>) => void | Promise<void>;

function collecting<L extends string>(configuration: GaugeConfiguration<L>): { readonly gauge: Gauge<L>; readonly collects: Collect<L>[] } {
  const collects: Collect<L>[] = [];
  const gauge = new Gauge<L>({
    ...configuration,
    async collect() {
      if (collects.length === 0) return;
      const values: [labels: Labels<L>, value: number][] = [];
      const reading = {
        set: (labels: Labels<L> | number, value = 0) => void values.push(typeof labels === 'number' ? [{}, labels] : [labels, value]),
      };
      // At once: of several deployables that hang, a scrape waits for one.
      await Promise.all(collects.map(async (collect) => collect(reading)));
      // Nothing waits from here on: another scrape at the same time sees all of them or those before.
      this.reset();
      // Without labels `reset` says 0, which is an answer.
      if (values.length === 0 && configuration.labelNames?.length === 0) this.remove();
      for (const [labels, value] of values) this.set(labels, value);
    },
  });
  return { gauge, collects };
}
