// How much waits in an area: for the badges of the navigation, which no page waits for longer than a moment, and for the first page.
import { z } from 'zod';
import { describeError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { withTimeout } from '../platform/time.ts';
import { Stats } from '../link-digest/contract.ts';
import { PropertyPage } from '../listings/contract.ts';
import { Counts } from '../webhook-intake/dashboard/contract.ts';
import type { Area, ServiceName } from './contract.ts';
import type { Asked, Behalf } from './upstream/client.ts';
import type { Upstreams } from './upstream/upstreams.ts';

type Counter = {
  readonly service: ServiceName;
  /** Undefined where the service does not know. */
  readonly count: (asked: Asked) => Promise<number | undefined>;
};

export const countLinks = async (digest: Asked) => (await digest.get('/api/stats', z.object({ data: Stats }))).data.statusCounts.Awaiting;
export const countListings = async (listings: Asked) => (await listings.get('/api/properties', PropertyPage, { status: 'inbox', limit: 1 })).total;

const counters = {
  links: { service: 'digest', count: countLinks },
  listings: { service: 'listings', count: countListings },
  system: { service: 'intake', count: async (intake) => (await intake.get('/api/v1/counts', Counts)).deadLetters ?? undefined },
} as const satisfies Readonly<Partial<Record<Area, Counter>>>;
type Counted = keyof typeof counters;
const isCounted = (area: Area): area is Counted => Object.hasOwn(counters, area);

const freshMs = 10_000;
/** A service that fails is left alone for as long. */
const failedMs = 60_000;
const askMs = 2000;
/** An older number is not shown. */
const shownMs = 60_000;
/** A page waits for as long where a number is not fresh. */
const waitMs = 50;

type Known = { readonly count: number | undefined; readonly at: number };

type WaitingParts = { readonly upstreams: Pick<Upstreams, 'ask' | 'has'>; readonly log: Log; readonly now?: () => number };

export function createWaiting({ upstreams, log, now = () => performance.now() }: WaitingParts) {
  const known = new Map<Counted, Known>();
  const asking = new Map<Counted, Promise<void>>();

  const isFresh = (found: Known | undefined) => found !== undefined && now() - found.at < (found.count === undefined ? failedMs : freshMs);

  function ask(area: Counted, behalf: Omit<Behalf, 'signal'>): void {
    const { service, count } = counters[area];
    const work = count(upstreams.ask(service, { ...behalf, signal: AbortSignal.timeout(askMs) })).catch((error: unknown) => {
      log.debug({ area, upstream: service, reason: describeError(error) }, 'counting what waits failed');
      return undefined;
    });
    const done = work.then((found) => {
      // A change in between may have made the answer an old one.
      if (asking.get(area) !== done) return;
      asking.delete(area);
      known.set(area, { count: found, at: now() });
    });
    asking.set(area, done);
  }

  return {
    /** Asks the services whose numbers are old, beside the work on a page. */
    begin(areas: readonly Area[], behalf: Omit<Behalf, 'signal'>): void {
      for (const area of areas.filter(isCounted)) {
        if (!isFresh(known.get(area)) && !asking.has(area) && upstreams.has(counters[area].service)) ask(area, behalf);
      }
    },
    /** Waits a moment for the numbers that are asked for; the one before is shown until a new one is there, for a minute at most. */
    async ready(): Promise<void> {
      if (asking.size > 0)
        await withTimeout(
          Promise.all(asking.values()).then(() => undefined),
          waitMs,
          () => undefined,
        );
    },
    of(area: Area): number | undefined {
      const found = isCounted(area) ? known.get(area) : undefined;
      return found && now() - found.at < shownMs ? found.count : undefined;
    },
    /** After a change in the area. */
    changed(area: Area): void {
      if (!isCounted(area)) return;
      known.delete(area);
      asking.delete(area);
    },
  };
}

export type Waiting = ReturnType<typeof createWaiting>;
