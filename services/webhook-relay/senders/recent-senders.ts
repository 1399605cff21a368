// The senders that this replica has seen in the last ten minutes, each with its counts in buckets of half a minute.

export const windowMs = 600_000;
const bucketMs = 30_000;

export const bucketOf = (at: Date): number => Math.floor(at.getTime() / bucketMs);
export const bucketStart = (bucket: number): Date => new Date(bucket * bucketMs);
/** The oldest bucket that still counts at `now`. */
export const oldestBucket = (now: Date): number => bucketOf(now) - windowMs / bucketMs + 1;

type Seen = { lastAt: number; readonly buckets: Map<number, number> };

const activeMs = 60_000;
// So many cost some 20 ms a turn, most of it in the database; in a flood of more senders a busy one is among the newest.
const maxActive = 250;

export function createRecentSenders(maxSenders: number) {
  // In the order in which they were last seen.
  const senders = new Map<string, Seen>();

  /** For a sender that was seen. */
  function count(login: string, bucket: number, events: number): void {
    const buckets = senders.get(login)?.buckets;
    buckets?.set(bucket, (buckets.get(bucket) ?? 0) + events);
  }

  return {
    add(login: string, at: Date): void {
      const { lastAt, buckets } = senders.get(login) ?? { lastAt: 0, buckets: new Map<number, number>() };
      senders.delete(login);
      senders.set(login, { lastAt: Math.max(lastAt, at.getTime()), buckets });
      count(login, bucketOf(at), 1);
      const [oldest] = senders.keys();
      if (senders.size > maxSenders && oldest !== undefined) senders.delete(oldest);
    },
    count,
    /** Of the last ten minutes; what was before is forgotten. */
    total(login: string, now: Date): number {
      const buckets = senders.get(login)?.buckets ?? new Map<number, number>();
      for (const bucket of buckets.keys()) if (bucket < oldestBucket(now)) buckets.delete(bucket);
      return [...buckets.values()].reduce((sum, events) => sum + events, 0);
    },
    /** Forgets the counts of a sender, not that it was seen. */
    clear: (login: string): void => senders.get(login)?.buckets.clear(),
    /** Whose counts are worth asking for: seen within a minute, the newest 250 of them. Forgets senders idle for ten minutes. */
    active(now: Date): string[] {
      const active: string[] = [];
      for (const [login, { lastAt }] of senders) {
        if (lastAt < now.getTime() - windowMs) senders.delete(login);
        else if (lastAt >= now.getTime() - activeMs) active.push(login);
      }
      return active.slice(-maxActive);
    },
  };
}
