// What senders did and the database does not know yet: bounded, whatever happens to the database.
import { bucketOf, oldestBucket } from './window.ts';

export type Activity = {
  readonly login: string;
  isBot: boolean;
  eventCount: number;
  firstAt: Date;
  lastAt: Date;
  readonly buckets: Map<number, number>;
};

export type Unwritten = {
  /** False when there was no room for another sender. */
  add(login: string, isBot: boolean, at: Date): boolean;
  bucketsOf(login: string): ReadonlyMap<number, number>;
  readonly size: number;
  readonly eventCount: number;
  /** Hands over up to `limit` senders, those that have waited longest first. */
  take(limit: number): Activity[];
  /** Takes back what could not be written; buckets that no longer count at `now` are dropped. */
  putBack(activities: readonly Activity[], now: Date): void;
};

const none: ReadonlyMap<number, number> = new Map();

export function createUnwritten(maxSenders: number): Unwritten {
  const waiting = new Map<string, Activity>();

  function merge(later: Activity, earlier: Activity): void {
    later.eventCount += earlier.eventCount;
    if (earlier.firstAt < later.firstAt) later.firstAt = earlier.firstAt;
    if (earlier.lastAt > later.lastAt) later.lastAt = earlier.lastAt;
    for (const [bucket, count] of earlier.buckets) later.buckets.set(bucket, (later.buckets.get(bucket) ?? 0) + count);
  }

  function forgetBefore(activity: Activity, oldest: number): void {
    for (const bucket of activity.buckets.keys()) if (bucket < oldest) activity.buckets.delete(bucket);
  }

  return {
    add(login, isBot, at) {
      const bucket = bucketOf(at);
      const activity = waiting.get(login);
      if (activity) {
        activity.isBot = isBot;
        activity.eventCount++;
        if (at < activity.firstAt) activity.firstAt = at;
        if (at > activity.lastAt) activity.lastAt = at;
        activity.buckets.set(bucket, (activity.buckets.get(bucket) ?? 0) + 1);
        return true;
      }
      if (waiting.size >= maxSenders) return false;
      waiting.set(login, { login, isBot, eventCount: 1, firstAt: at, lastAt: at, buckets: new Map([[bucket, 1]]) });
      return true;
    },
    bucketsOf: (login) => waiting.get(login)?.buckets ?? none,
    get size() {
      return waiting.size;
    },
    get eventCount() {
      return [...waiting.values()].reduce((sum, { eventCount }) => sum + eventCount, 0);
    },
    take(limit) {
      const taken = [...waiting.values()].slice(0, limit);
      for (const { login } of taken) waiting.delete(login);
      return taken;
    },
    putBack(activities, now) {
      const oldest = oldestBucket(now);
      for (const activity of activities) {
        const since = waiting.get(activity.login);
        if (since) merge(since, activity);
        else waiting.set(activity.login, activity);
        forgetBefore(since ?? activity, oldest);
      }
    },
  };
}
