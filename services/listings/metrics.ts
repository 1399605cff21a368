// Metrics of the geocoding worker, read from the database: the worker may be another process, and mostly has ended when Prometheus asks.
import { forScrape, type Metrics } from '../platform/metrics.ts';
import type { GeocodingStore } from './geocoding/store.ts';
import type { MailStore } from './mails/store.ts';

type MeasuredParts = {
  readonly geocoding: Pick<GeocodingStore, 'state'>;
  readonly mails: Pick<MailStore, 'countFailed'>;
  readonly metrics: Metrics;
  readonly clock: () => Date;
};

export function measureWorker({ geocoding, mails, metrics, clock }: MeasuredParts): void {
  const gauge = (name: string, help: string, ask: () => Promise<number>) => {
    const answer = forScrape(ask);
    metrics.gauge({
      name,
      help,
      labels: [],
      async collect(reading) {
        const value = await answer();
        if (value !== undefined) reading.set(value);
      },
    });
  };
  gauge('signalbox_geocoder_failing_seconds', 'How long the geocoder has answered nothing that it was asked; 0 while it answers.', async () => {
    const { failingSince } = (await geocoding.state()) ?? {};
    return failingSince ? Math.max(0, (clock().getTime() - failingSince.getTime()) / 1000) : 0;
  });
  gauge('signalbox_alert_mails_failed', 'Alert mails that are kept and could not be parsed, so far.', () => mails.countFailed());
}
