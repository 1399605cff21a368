// Steady load on relay, dashboard, secrets, bookmarks and link digest at once, and the account of it.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../support/wait.ts';
import type { Clients, Delivered, SecretReader } from './clients.ts';
import { say, seconds } from './say.ts';

export type Load = {
  /** Ends it, waits for what is under way. @returns the account */
  stop(): Promise<Account>;
};

export type Failure = { readonly what: string; readonly sentAt: Date; readonly tookMs: number; readonly reason: string };

export type Account = {
  readonly deliveries: readonly Delivered[];
  readonly reads: number;
  readonly failures: readonly Failure[];
  /** The longest pause of the load itself: failures during a long one are the machine's. */
  readonly longestStillMs: number;
};

export type LoadParts = { readonly clients: Clients; readonly secret: SecretReader; readonly perSecond: number };

/** So many deliveries, dashboard reads and secret reads a second, and of bookmarks or newsletters, whether earlier ones were answered or not. */
export function startLoad({ clients, secret, perSecond }: LoadParts): Load {
  const begun = performance.now();
  const stillness = monitorEventLoopDelay();
  stillness.enable();
  const failures: Failure[] = [];
  const deliveries: Delivered[] = [];
  const pending = new Set<Promise<void>>();
  let reads = 0;
  const attempt = async (what: string, work: () => Promise<string | undefined>) => {
    const sentAt = new Date();
    const reason = await work().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (reason !== undefined) failures.push({ what, sentAt, tookMs: Date.now() - sentAt.getTime(), reason });
  };
  const read = (what: string, work: () => Promise<unknown>) => {
    reads++;
    return attempt(what, async () => {
      await work();
      return undefined;
    });
  };
  const deliver = () =>
    attempt('a delivery', async () => {
      const delivered = await clients.deliver();
      deliveries.push(delivered);
      return delivered.status === 202 ? undefined : `${delivered.status} ${delivered.body.slice(0, 200)}`;
    });
  const track = (work: Promise<void>) => {
    pending.add(work);
    void work.finally(() => pending.delete(work));
  };
  let stopped = false;
  const running = (async () => {
    for (let round = 1; !stopped; round++) {
      track(deliver());
      track(read('a dashboard read', clients.readDashboard));
      track(read('a secret read', secret.read));
      track(round % 2 === 0 ? read('a read of bookmarks', clients.bookmarks) : read('a read of newsletters', clients.newsletters));
      await pause(Math.max(0, begun + (round * 1000) / perSecond - performance.now()));
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await running;
      await Promise.all(pending);
      stillness.disable();
      return { deliveries, reads, failures, longestStillMs: stillness.max / 1e6 };
    },
  };
}

/** Throws when one request of the account failed. */
export function expectNoFailure({ deliveries, reads, failures, longestStillMs }: Account): void {
  say(`  ${deliveries.length} deliveries and ${reads} reads, ${failures.length} failed; the load stood still for ${seconds(longestStillMs)} at most`);
  if (failures.length > 0) throw new Error(`${failures.length} requests failed:\n  ${failures.slice(0, 20).map(describeFailure).join('\n  ')}`);
}

/** With the time by the clock of the logs. */
export const describeFailure = ({ what, sentAt, tookMs, reason }: Failure): string => `${what} of ${sentAt.toISOString()} after ${tookMs} ms: ${reason}`;

/** Waits until each of the deliveries is in the event log, and throws when one is there twice. */
export async function expectExactlyOnce(clients: Clients, deliveryIds: readonly string[], withinMs = 180_000): Promise<void> {
  const log = await eventually(
    async () => {
      const found = await clients.eventLog();
      const missing = deliveryIds.filter((id) => !found.has(id));
      if (missing.length > 0)
        throw new Error(`${missing.length} of ${deliveryIds.length} deliveries are not in the event log, such as ${missing.slice(0, 3).join(', ')}`);
      return found;
    },
    { withinMs, everyMs: 1000 },
  );
  const twice = deliveryIds.filter((id) => (log.get(id) ?? 0) > 1);
  if (twice.length > 0) throw new Error(`in the event log more than once: ${twice.slice(0, 5).join(', ')}`);
  say(`  ${deliveryIds.length} deliveries are in the event log, each once`);
}
