// How often each sender delivers, over all replicas: counted in memory, written and read back in batches about once a second.
import { Content, route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { sleepUntil, withTimeout } from '../../platform/time.ts';
import { SenderStatistics } from '../contract.ts';
import { answerInTime } from '../database.ts';
import { storableName } from '../scoring/scoring.ts';
import type { Activity, BucketRow, Buckets, SenderRow, SenderStore } from './store.ts';

export type SendersParts = {
  readonly store: SenderStore;
  readonly frequencyFactor: (eventsPerMinute: number) => number;
  readonly log: Log;
  readonly clock: () => Date;
  readonly metrics: Metrics;
};

/** A sender that this replica has seen. */
type Sender = {
  lastAt: number;
  /** Events of the last ten minutes, on all replicas. */
  buckets: Buckets;
  /** Its activity since the last turn that wrote. */
  unwritten: Activity | undefined;
};

/** Kept in memory, some 1.3 KB each; in an outage of the database as many more may wait to be written. */
const maxSenders = 10_000;
/** Senders in one statement. */
const batchSize = 1000;
/** A turn leaves the database a fifth of the second in which counts are to be written. */
const turnEveryMs = 800;
/** The counts of other replicas are read for senders that were seen within this time. */
const activeMs = 60_000;
/** So many cost some 20 ms a turn, most of it in the database; in a flood of more senders a busy one is among the newest. */
const maxActive = 250;
/** GET /Stats is open: its answer must not grow without end. */
const maxStatistics = 10_000;
/** How long closing waits for a database that hangs. */
const closeMs = 2000;
/** How far back a sender's events count. */
export const windowMs = 600_000;
const windowMinutes = windowMs / 60_000;
const bucketMs = 30_000;

export const bucketOf = (at: Date): number => at.getTime() - (at.getTime() % bucketMs);
/** The first bucket that still counts at `now`. */
export const oldestBucket = (now: Date): Date => new Date(bucketOf(now) - windowMs + bucketMs);

export type Senders = ReturnType<typeof createSenders>;

export function createSenders({ store, frequencyFactor, log, clock, metrics }: SendersParts) {
  const recent = createRecentSenders();
  /** Taken from the senders and not yet known to be written. */
  let due: Activity[] = [];
  const lost = metrics.counter({ name: 'signalbox_relay_sender_events_lost_total', help: 'Events that no sender statistics count', labels: [] });
  const closing = new AbortController();
  let isFailing = false;
  let lastTurn = Promise.resolve();
  let asked: Promise<SenderStatistics> | undefined;

  const eventsWaiting = () => [...due, ...recent.unwritten()].reduce((sum, { eventCount }) => sum + eventCount, 0);

  /** If only the answer to a commit was lost, its batch is counted twice: statistics may err, deliveries must not wait. */
  async function writeDue(): Promise<void> {
    for (; due.length > 0; due = due.slice(batchSize)) await store.add(due.slice(0, batchSize));
  }

  async function readBack(): Promise<void> {
    const now = clock();
    const active = recent.active(now);
    if (active.length > 0) recent.count(active, await store.countsOf(active, oldestBucket(now), now));
  }

  async function turn(): Promise<void> {
    try {
      await writeDue(); // rows that an earlier turn could not write
      due = recent.takeUnwritten();
      await writeDue();
      await readBack();
      if (isFailing) log.info('writing sender statistics succeeded again');
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ error }, 'writing sender statistics failed, kept in memory and retrying');
      isFailing = true;
    }
  }

  /** Writes what was recorded before the call. Never rejects: rows that could not be written are kept for the next turn.
   *  One turn at a time: reading back relies on nothing being on its way to the database. */
  const flush = (): Promise<void> => (lastTurn = lastTurn.then(turn));

  async function loop(): Promise<void> {
    while (await sleepUntil(closing.signal, turnEveryMs)) await flush();
  }
  void loop();

  async function ask(): Promise<SenderStatistics> {
    await flush();
    const now = clock();
    return describe(await store.latest(oldestBucket(now), now, maxStatistics), frequencyFactor);
  }

  return {
    /** Over the last ten minutes. Counts of other replicas follow about a second later, once this one has seen the sender. */
    eventsPerMinute: (login: string): number => recent.countSince(storableName(login), oldestBucket(clock())) / windowMinutes,
    /** Never throws and never waits. A delivery without a sender is not counted. */
    record(login: string, isBot: boolean, at: Date): void {
      if (login !== '' && !recent.add(storableName(login), isBot, at)) lost.inc();
    },
    /** The senders that were active last, by login. Simultaneous requests ask the database once. Rejects when it cannot be asked. */
    statistics: (): Promise<SenderStatistics> => (asked ??= ask().finally(() => (asked = undefined))),
    flush,
    async close(): Promise<void> {
      closing.abort();
      const known = eventsWaiting();
      const events = await withTimeout(flush().then(eventsWaiting), closeMs, () => known);
      if (events > 0) log.warn({ events }, 'sender statistics lost at shutdown');
    },
  };
}

/** The senders that this replica has seen, in the order in which they were last seen. */
function createRecentSenders() {
  const senders = new Map<string, Sender>();

  /** Undefined when there is no room for another one: all that are known wait to be written. */
  function see(login: string, at: Date): Sender | undefined {
    const sender = senders.get(login) ?? { lastAt: 0, buckets: new Map<number, number>(), unwritten: undefined };
    const [oldest] = senders;
    if (oldest && senders.size >= maxSenders && !senders.has(login)) {
      if (oldest[1].unwritten) return undefined;
      senders.delete(oldest[0]);
    }
    senders.delete(login);
    senders.set(login, sender);
    sender.lastAt = Math.max(sender.lastAt, at.getTime());
    return sender;
  }

  const unwritten = () => [...senders.values()].flatMap((sender) => sender.unwritten ?? []);

  return {
    unwritten,
    takeUnwritten(): Activity[] {
      const taken = unwritten();
      for (const sender of senders.values()) sender.unwritten = undefined;
      return taken;
    },
    /** @returns whether there was room for the sender */
    add(login: string, isBot: boolean, at: Date): boolean {
      const sender = see(login, at);
      if (!sender) return false;
      const { eventCount, firstAt, buckets } = sender.unwritten ?? { eventCount: 0, firstAt: at, buckets: new Map<number, number>() };
      sender.unwritten = { login, isBot, eventCount: eventCount + 1, firstAt, lastAt: at, buckets };
      for (const counted of [sender.buckets, buckets]) count(counted, bucketOf(at), 1);
      return true;
    },
    countSince(login: string, from: Date): number {
      const counting = [...(senders.get(login)?.buckets ?? [])].filter(([bucket]) => bucket >= from.getTime());
      return counting.reduce((sum, [, events]) => sum + events, 0);
    },
    /** The newest 250 that were seen within a minute. Senders idle for ten minutes are forgotten. */
    active(now: Date): string[] {
      const idle = [...senders].filter(([, { lastAt, unwritten: waiting }]) => lastAt < now.getTime() - windowMs && !waiting);
      for (const [login] of idle) senders.delete(login);
      const active = [...senders].filter(([, { lastAt }]) => lastAt >= now.getTime() - activeMs);
      return active.slice(-maxActive).map(([login]) => login);
    },
    /** Takes over the counts of all replicas for these senders. */
    count(logins: readonly string[], counts: readonly BucketRow[]): void {
      const known = Map.groupBy(counts, ({ login }) => login);
      for (const login of logins) {
        const sender = senders.get(login);
        if (!sender) continue;
        sender.buckets = new Map(known.get(login)?.map(({ start, count: events }) => [start.getTime(), events]));
        // Events that were recorded while the database answered are not in its counts.
        for (const [bucket, events] of sender.unwritten?.buckets ?? []) count(sender.buckets, bucket, events);
      }
    },
  };
}

function describe(rows: readonly SenderRow[], frequencyFactor: (eventsPerMinute: number) => number): SenderStatistics {
  const described = rows.map(({ login, isBot, eventCount, firstAt: firstActivity, lastAt: lastActivity, recentCount }) => {
    const timeSpanMinutes = Math.round((lastActivity.getTime() - firstActivity.getTime()) / 600) / 100;
    const eventsPerMinute = recentCount / windowMinutes;
    const frequencyMultiplier = frequencyFactor(eventsPerMinute);
    return [login, { eventCount, firstActivity, lastActivity, timeSpanMinutes, eventsPerMinute, frequencyMultiplier, isBot }] as const;
  });
  return Object.fromEntries(described);
}

/** Buckets that no longer count are deleted, so that an outage does not let them grow. */
function count(buckets: Buckets, bucket: number, events: number): void {
  buckets.set(bucket, (buckets.get(bucket) ?? 0) + events);
  for (const other of buckets.keys()) if (other <= bucket - windowMs) buckets.delete(other);
}

/** A text has up to 2 MB, so simultaneous requests share one, also where a client does not read it. */
const statisticsTexts = new WeakMap<SenderStatistics, Buffer>();

function textOfStatistics(statistics: SenderStatistics): Buffer {
  const bytes = statisticsTexts.get(statistics) ?? Buffer.from(JSON.stringify(statistics));
  statisticsTexts.set(statistics, bytes);
  return bytes;
}

export const senderRoute = (senders: Pick<Senders, 'statistics'>) =>
  route({
    method: 'get',
    path: '/Stats',
    operationId: 'listSenders',
    access: 'open',
    summary: 'Shows the activity of senders',
    description: 'The answer has the 10 000 senders that were active last, over all replicas, at most a second late. Only accepted deliveries count.',
    answers: { 200: SenderStatistics },
    handle: async () => new Content('application/json; charset=utf-8', textOfStatistics(await answerInTime(senders.statistics()))),
  });
