// Fills in coordinates of listings, oldest first, from the cache or the geocoder, with a back-off for each listing that the geocoder does not know.
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { backOffMs, dayMs, sleepUntil } from '../../platform/time.ts';
import type { Answer, Provider } from './providers.ts';
import type { GeocodingStore, Unplaced } from './store.ts';

export type GeocodingParts = {
  readonly store: GeocodingStore;
  /** Undefined: no geocoder is asked, and the loop runs all the same. */
  readonly provider: Provider | undefined;
  readonly cacheDays: number;
  readonly stopping: AbortSignal;
  readonly clock: () => Date;
  readonly log: Log;
  readonly metrics: Metrics;
};

const listingsPerRun = 20;
const missBackOff = { firstMs: 60_000, longestMs: dayMs };
/** After this many consecutive requests without a usable answer the geocoder counts as away until the next run. */
const mostFailures = 3;
const outcomes = ['cached', 'found', 'missing', 'failed', 'refused'] as const;

type Outcome = Answer | { readonly kind: 'cached'; readonly latitude: number; readonly longitude: number };

export function createGeocoding({ store, provider, cacheDays, stopping, clock, log, metrics }: GeocodingParts) {
  const lookups = metrics.counter({
    name: 'signalbox_geocoding_lookups_total',
    help: 'Places that the geocoding worker looked up, by what came of it.',
    labels: ['outcome'],
    series: outcomes.map((outcome) => ({ outcome })),
  });
  const after = (ms: number) => new Date(clock().getTime() + ms);

  async function lookUp(from: Provider, listing: Unplaced): Promise<Outcome> {
    const known = await store.cached(from.name, listing, after(-cacheDays * dayMs));
    if (known) return { kind: 'cached', ...known };
    const answer = await from.locate(listing, stopping);
    if (answer.kind === 'found') await store.cache(from.name, listing, answer, clock());
    // Counted from the answer, since a request may be delayed on its way. Also after the last one: the next run, in this or another process,
    // begins with a request.
    await sleepUntil(stopping, from.intervalMs);
    return answer;
  }

  async function miss(listing: Unplaced): Promise<void> {
    const misses = listing.misses + 1;
    await store.backOff(listing, misses, after(backOffMs(misses, missBackOff)));
  }

  /** The geocoder is away or refuses requests, so no listing counts a miss. Failed listings move behind the others, which they must not block. */
  async function giveUp(failed: readonly Unplaced[], reason: string, retryAfterMs: number): Promise<void> {
    for (const listing of failed) await store.backOff(listing, listing.misses, clock());
    await store.setFailing(clock(), after(retryAfterMs));
    log.warn({ reason, retryAfterMs }, 'geocoder unavailable, retrying in a later run');
  }

  async function settle(listing: Unplaced, outcome: Exclude<Outcome, { kind: 'failed' | 'refused' }>): Promise<void> {
    if (outcome.kind === 'missing') return miss(listing);
    await store.place(listing, outcome);
  }

  async function work(from: Provider): Promise<void> {
    let failed: Unplaced[] = [];
    let reason = '';
    const due = await store.due(clock(), listingsPerRun);
    // A listing that the geocoder failed on is due at once: none of them is left.
    if (due.length === 0) await store.setAnswering();
    for (const listing of due) {
      if (stopping.aborted) return;
      const outcome = await lookUp(from, listing);
      if (stopping.aborted && outcome.kind === 'failed') return; // cut off by the stop
      lookups.inc({ outcome: outcome.kind });
      if (outcome.kind === 'refused') return giveUp(failed, outcome.reason, outcome.retryAfterMs);
      if (outcome.kind === 'failed') {
        reason = outcome.reason;
        if (failed.push(listing) === mostFailures) break;
        continue;
      }
      await settle(listing, outcome);
      if (outcome.kind === 'cached') continue;
      // The geocoder answers other requests, so these failed because of their addresses.
      for (const one of failed) await miss(one);
      failed = [];
      await store.setAnswering();
    }
    if (failed.length > 0) await giveUp(failed, reason, 0);
  }

  return {
    /** One run of at most 20 listings. Its start is the heartbeat. */
    async run(): Promise<void> {
      const pausedUntil = await store.beat(clock());
      if (!provider) return void (await store.setAnswering()); // a geocoder that was switched off fails no more
      if (pausedUntil && pausedUntil > clock()) return;
      await work(provider);
    },
  };
}
