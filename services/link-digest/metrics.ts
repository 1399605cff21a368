// What there is, as gauges; what happens to a mail on its way is counted beside the code that does it.
import type { Metrics } from '../platform/metrics.ts';
import { withTimeout } from '../platform/time.ts';
import { linkStatuses } from './contract.ts';
import type { LinkStore } from './links/store.ts';

/** A scrape does not wait longer for a database that hangs. */
const answerMs = 2000;

export function measureDigest({ links, metrics }: { links: Pick<LinkStore, 'totals'>; metrics: Metrics }): void {
  let asked: ReturnType<typeof links.totals> | undefined;
  /** Once for both gauges, and no second time while a database hangs. Without it nothing is known, and nothing is said. */
  function ask() {
    asked ??= links.totals().finally(() => (asked = undefined));
    return withTimeout(asked, answerMs, () => undefined).catch(() => undefined);
  }
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
    help: 'Mails by what became of them: stored as newsletters, or rejected.',
    labels: ['outcome'],
    async collect(reading) {
      const totals = await ask();
      if (!totals) return;
      reading.set({ outcome: 'stored' }, totals.totalNewsletters);
      reading.set({ outcome: 'rejected' }, totals.totalRejected);
    },
  });
}
