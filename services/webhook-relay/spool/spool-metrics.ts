// What the spool shows to Prometheus.
import type { Metrics } from '../../platform/metrics.ts';
import type { SpoolFile } from './file-name.ts';

export type SpoolLists = {
  /** The files not yet replayed or refused, oldest first. */
  readonly outstanding: () => Promise<readonly SpoolFile[]>;
  /** How many lie in the folder `refused`. */
  readonly refused: () => Promise<number>;
};

export type SpoolCounts = { written(): void; failed(): void; refused(): void };

export function measureSpool(metrics: Metrics, lists: SpoolLists, clock: () => Date): SpoolCounts {
  // A directory that cannot be read must not take the other metrics with it: it shows as not a number.
  const outstanding = () => lists.outstanding().catch(() => undefined);
  metrics.gauge({
    name: 'signalbox_spool_files',
    help: 'Deliveries in the spool directory that wait for their replay',
    labels: [],
    collect: async (gauge) => gauge.set((await outstanding())?.length ?? NaN),
  });
  metrics.gauge({
    name: 'signalbox_spool_oldest_age_seconds',
    help: 'Age of the oldest delivery in the spool directory, 0 when there is none',
    labels: [],
    collect: async (gauge) => {
      const files = await outstanding();
      const now = clock().getTime();
      const since = files && (files[0]?.spooledAt.getTime() ?? now);
      gauge.set(since === undefined ? NaN : Math.max(0, now - since) / 1000);
    },
  });
  metrics.gauge({
    name: 'signalbox_spool_refused_files',
    help: 'Deliveries that were given up and lie in the folder refused, for a person to look at',
    labels: [],
    collect: async (gauge) => gauge.set(await lists.refused().catch(() => NaN)),
  });
  const writes = metrics.counter({
    name: 'signalbox_spool_writes_total',
    help: 'Deliveries to be spooled: written, or failed and so not kept anywhere',
    labels: ['outcome'],
  });
  const refused = metrics.counter({
    name: 'signalbox_spool_refused_total',
    help: 'Spool files moved aside: corrupt, or refused by every connection again and again',
    labels: [],
  });
  return {
    written: () => writes.inc({ outcome: 'written' }),
    failed: () => writes.inc({ outcome: 'failed' }),
    refused: () => refused.inc(),
  };
}
