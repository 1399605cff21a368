// How often each sender delivers, over all replicas: counted in memory, written and read back in batches about once a second.
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { sleepUntil, withTimeout } from '../../platform/time.ts';
import type { SenderStatistics } from '../contract.ts';
import { storableName } from '../scoring/scoring.ts';
import { bucketOf, bucketStart, createRecentSenders, oldestBucket, windowMs } from './recent-senders.ts';
import type { Activity, SenderRow, SenderStore } from './store.ts';

export type SendersParts = {
  readonly store: SenderStore;
  readonly frequencyFactor: (eventsPerMinute: number) => number;
  readonly log: Log;
  readonly clock: () => Date;
  readonly metrics?: Pick<Metrics, 'counter'>;
  readonly limits?: Partial<Limits>;
};

type Limits = {
  /** Senders kept in memory, each of those seen recently and those not written yet: some 1.3 KB a sender. */
  readonly maxSenders: number;
  /** Senders in one statement. */
  readonly batchSize: number;
  readonly turnEveryMs: number;
};

// A turn leaves the database a fifth of the second in which counts are to be written.
const usualLimits: Limits = { maxSenders: 10_000, batchSize: 1000, turnEveryMs: 800 };
/** GET /Stats is open: its answer must not grow without end. */
const maxStatistics = 10_000;
/** How long closing waits for a database that hangs. */
const closeMs = 2000;
const windowMinutes = windowMs / 60_000;

export type Senders = ReturnType<typeof createSenders>;

export function createSenders({ store, frequencyFactor, log, clock, metrics, limits }: SendersParts) {
  const { maxSenders, batchSize, turnEveryMs } = { ...usualLimits, ...limits };
  const recent = createRecentSenders(maxSenders);
  const pending = createPending(maxSenders);
  const lost = metrics?.counter({ name: 'signalbox_relay_sender_events_lost_total', help: 'Events that no sender statistics count', labels: [] });
  const closing = new AbortController();
  let isFailing = false;
  let lastTurn = Promise.resolve();
  let asked: Promise<SenderStatistics> | undefined;

  async function write(): Promise<void> {
    for (let left = pending.size; left > 0; left -= batchSize) {
      const batch = pending.take(batchSize);
      try {
        await store.add(batch);
      } catch (error) {
        // If only the answer to the commit was lost they are counted twice: statistics may err, deliveries must not wait.
        pending.putBack(batch, clock());
        throw error;
      }
    }
  }

  async function readBack(): Promise<void> {
    const now = clock();
    const logins = recent.active(now);
    if (logins.length === 0) return;
    const counts = await store.countsOf(logins, bucketStart(oldestBucket(now)), now);
    for (const login of logins) recent.clear(login);
    for (const { login, start, count } of counts) recent.count(login, bucketOf(start), count);
    // What was recorded while the database answered is not in its counts.
    for (const login of logins) for (const [bucket, count] of pending.bucketsOf(login)) recent.count(login, bucket, count);
  }

  async function turn(): Promise<void> {
    try {
      await write();
      await readBack();
      if (isFailing) log.info('writing sender statistics succeeded again');
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ error }, 'writing sender statistics failed, kept in memory and retrying');
      isFailing = true;
    }
  }

  /** Writes what was recorded before the call. Never rejects: what could not be written is kept for the next turn.
   *  One turn at a time: reading back relies on nothing being on its way to the database. */
  const flush = (): Promise<void> => (lastTurn = lastTurn.then(turn));

  async function loop(): Promise<void> {
    while (await sleepUntil(closing.signal, turnEveryMs)) await flush();
  }
  void loop();

  async function ask(): Promise<SenderStatistics> {
    await flush();
    const now = clock();
    const rows = await store.latest(bucketStart(oldestBucket(now)), now, maxStatistics);
    return Object.fromEntries(rows.map((row) => [row.login, describe(row)]));
  }

  function describe({ isBot, eventCount, firstAt, lastAt, recentCount }: SenderRow): SenderStatistics[string] {
    const eventsPerMinute = recentCount / windowMinutes;
    return {
      eventCount,
      firstActivity: firstAt,
      lastActivity: lastAt,
      timeSpanMinutes: Math.round((lastAt.getTime() - firstAt.getTime()) / 600) / 100,
      eventsPerMinute,
      frequencyMultiplier: frequencyFactor(eventsPerMinute),
      isBot,
    };
  }

  return {
    /** Of the last ten minutes. What other replicas counted is in it about a second later, once this one has seen the sender. */
    eventsPerMinute: (login: string): number => recent.total(storableName(login), clock()) / windowMinutes,
    /** Never throws and never waits. A delivery without a sender is not counted. */
    record(login: string, isBot: boolean, at: Date): void {
      if (login === '') return;
      const name = storableName(login);
      recent.add(name, at);
      if (!pending.add(name, isBot, at)) lost?.inc();
    },
    /** Of the senders that were active last, by login. However many ask at once, the database is asked once. Rejects when it cannot be asked. */
    statistics: (): Promise<SenderStatistics> =>
      (asked ??= ask().finally(() => {
        asked = undefined;
      })),
    flush,
    async close(): Promise<void> {
      closing.abort();
      const known = pending.eventCount;
      const flushed = flush().then(() => pending.eventCount);
      const events = await withTimeout(flushed, closeMs, () => known);
      if (events > 0) log.warn({ events }, 'sender statistics lost at shutdown');
    },
  };
}

/** What senders did and the database does not know yet: bounded, whatever happens to the database. */
function createPending(maxSenders: number) {
  const waiting = new Map<string, Activity>();

  function merge(activity: Activity): Activity {
    const known = waiting.get(activity.login);
    if (!known) {
      waiting.set(activity.login, activity);
      return activity;
    }
    known.eventCount += activity.eventCount;
    if (activity.firstAt < known.firstAt) known.firstAt = activity.firstAt;
    if (activity.lastAt > known.lastAt) known.lastAt = activity.lastAt;
    for (const [bucket, count] of activity.buckets) known.buckets.set(bucket, (known.buckets.get(bucket) ?? 0) + count);
    return known;
  }

  return {
    /** False when there was no room for another sender. */
    add(login: string, isBot: boolean, at: Date): boolean {
      if (waiting.size >= maxSenders && !waiting.has(login)) return false;
      merge({ login, isBot, eventCount: 1, firstAt: at, lastAt: at, buckets: new Map([[bucketOf(at), 1]]) }).isBot = isBot;
      return true;
    },
    bucketsOf: (login: string): Iterable<readonly [bucket: number, count: number]> => waiting.get(login)?.buckets ?? [],
    get size() {
      return waiting.size;
    },
    get eventCount() {
      return [...waiting.values()].reduce((sum, { eventCount }) => sum + eventCount, 0);
    },
    /** Hands over up to `limit` senders, those that have waited longest first. */
    take(limit: number): Activity[] {
      const taken = [...waiting.values()].slice(0, limit);
      for (const { login } of taken) waiting.delete(login);
      return taken;
    },
    /** Takes back what could not be written; buckets that no longer count at `now` are dropped. */
    putBack(activities: readonly Activity[], now: Date): void {
      for (const { buckets } of activities.map(merge)) {
        for (const bucket of buckets.keys()) if (bucket < oldestBucket(now)) buckets.delete(bucket);
      }
    },
  };
}
