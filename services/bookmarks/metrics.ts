// Metrics of the catalogue that are read from the database: the worker may be another process, and mostly has ended when Prometheus asks.
import { forScrape, type Metrics } from '../platform/metrics.ts';

export function measureDeadLinks(store: { countDead(): Promise<number> }, metrics: Metrics): void {
  const ask = forScrape(() => store.countDead());
  metrics.gauge({
    name: 'signalbox_bookmarks_dead',
    help: 'Bookmarks whose page is gone.',
    labels: [],
    async collect(reading) {
      const dead = await ask();
      if (dead !== undefined) reading.set(dead);
    },
  });
}
