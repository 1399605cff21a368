// How often each sender delivers, over all replicas: counted in memory, written and read back in batches about once a second.
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { withTimeout } from '../../platform/time.ts';
import type { SenderStatistics } from '../contract.ts';
import { storableName } from '../names.ts';
import { createRecentSenders } from './recent-senders.ts';
import type { SenderRow, SenderStore } from './store.ts';
import { createUnwritten } from './unwritten.ts';
import { bucketOf, bucketStart, oldestBucket, windowMs } from './window.ts';

export type Senders = {
  /** Of the last ten minutes. What other replicas counted is in it about a second later, once this one has seen the sender. */
  eventsPerMinute(login: string): number;
  /** Never throws and never waits. A delivery without a sender is not counted. */
  record(login: string, isBot: boolean, at: Date): void;
  /** Of the senders that were active last, by login. Rejects when the database cannot be asked. */
  statistics(): Promise<SenderStatistics>;
  /** Writes what was recorded before the call. Never rejects: what could not be written is kept for the next turn. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

export type SendersParts = {
  readonly store: SenderStore;
  readonly frequencyFactor: (eventsPerMinute: number) => number;
  readonly log: Log;
  readonly clock: () => Date;
  readonly metrics?: Pick<Metrics, 'counter'>;
  readonly limits?: Partial<Limits>;
};

type Limits = {
  /** Senders kept in memory, each of those seen lately and those not written yet: some 1.3 KB a sender. */
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

export function createSenders({ store, frequencyFactor, log, clock, metrics, limits }: SendersParts): Senders {
  const { maxSenders, batchSize, turnEveryMs } = { ...usualLimits, ...limits };
  const recent = createRecentSenders(maxSenders);
  const unwritten = createUnwritten(maxSenders);
  const lost = metrics?.counter({ name: 'signalbox_relay_sender_events_lost_total', help: 'Events that no sender statistics count', labels: [] });
  let isFailing = false;
  let lastTurn: Promise<void> | undefined;
  let asked: Promise<SenderStatistics> | undefined;

  async function write(): Promise<void> {
    for (let left = unwritten.size; left > 0; left -= batchSize) {
      const batch = unwritten.take(batchSize);
      try {
        await store.add(batch);
      } catch (error) {
        // If only the answer to the commit was lost they are counted twice: statistics may err, deliveries must not wait.
        unwritten.putBack(batch, clock());
        throw error;
      }
    }
  }

  async function readBack(): Promise<void> {
    const now = clock();
    const logins = recent.lately(now);
    if (logins.length === 0) return;
    const counts = await store.countsOf(logins, bucketStart(oldestBucket(now)), now);
    // What was recorded while the database answered is not in its counts.
    for (const login of logins) recent.replace(login, [...(counts.get(login) ?? []), ...unwritten.bucketsOf(login)]);
  }

  async function work(): Promise<void> {
    try {
      await write();
      await readBack();
      if (isFailing) log.info('sender statistics are written again');
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ error }, 'sender statistics cannot be written, they are kept in memory');
      isFailing = true;
    }
  }

  /** One at a time: reading back relies on nothing being on its way to the database. */
  function flush(): Promise<void> {
    const turn = (lastTurn ?? Promise.resolve()).then(work);
    lastTurn = turn;
    void turn.then(() => {
      if (lastTurn === turn) lastTurn = undefined;
    });
    return turn;
  }

  const timer = setInterval(() => {
    if (!lastTurn) void flush();
  }, turnEveryMs);

  async function ask(): Promise<SenderStatistics> {
    await flush();
    const now = clock();
    const rows = await store.lately(bucketStart(oldestBucket(now)), now, maxStatistics);
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
    eventsPerMinute: (login) => recent.total(storableName(login), bucketOf(clock())) / windowMinutes,
    record(login, isBot, at) {
      if (login === '') return;
      const name = storableName(login);
      recent.add(name, at);
      if (!unwritten.add(name, isBot, at)) lost?.inc();
    },
    // However many ask at once, the database is asked once.
    statistics: () =>
      (asked ??= ask().finally(() => {
        asked = undefined;
      })),
    flush,
    async close() {
      clearInterval(timer);
      const known = unwritten.eventCount;
      const flushed = flush().then(() => unwritten.eventCount);
      const events = await withTimeout(flushed, closeMs, () => known);
      if (events > 0) log.warn({ events }, 'sender statistics were lost in stopping');
    },
  };
}
