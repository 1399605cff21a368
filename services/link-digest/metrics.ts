// Gauges of links and mails. Counters of the processing are beside the code that counts.
import { forScrape, type Metrics } from '../platform/metrics.ts';
import { linkStatuses } from './contract.ts';
import type { LinkStore } from './links/store.ts';

export function measureDigest({ links, metrics }: { links: Pick<LinkStore, 'totals'>; metrics: Metrics }): void {
  const ask = forScrape(() => links.totals());
  metrics.gauge({
    name: 'signalbox_digest_links',
    help: 'Links by status.',
    labels: ['status'],
    async collect(reading) {
      const totals = await ask();
      if (totals) for (const status of linkStatuses) reading.set({ status }, totals[status]);
    },
  });
  metrics.gauge({
    name: 'signalbox_digest_mails',
    help: 'Mails by outcome: stored as newsletters, or rejected.',
    labels: ['outcome'],
    async collect(reading) {
      const totals = await ask();
      if (!totals) return;
      reading.set({ outcome: 'stored' }, totals.totalNewsletters);
      reading.set({ outcome: 'rejected' }, totals.totalRejected);
    },
  });
}
