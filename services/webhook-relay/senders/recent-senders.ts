// The senders that this replica has seen in the last ten minutes, each with its counts in buckets of half a minute.

export const windowMs = 600_000;
const bucketMs = 30_000;
const bucketsKept = windowMs / bucketMs;

export const bucketOf = (at: Date): number => Math.floor(at.getTime() / bucketMs);
export const bucketStart = (bucket: number): Date => new Date(bucket * bucketMs);
/** The oldest bucket that still counts at `now`. */
export const oldestBucket = (now: Date): number => bucketOf(now) - bucketsKept + 1;

type Counts = Iterable<readonly [bucket: number, count: number]>;

/** One sender's events over the last ten minutes. */
export function createWindow() {
  const ring = new Uint32Array(bucketsKept);
  let newest = 0;

  function advance(bucket: number): void {
    const passed = Math.min(bucket - newest, bucketsKept);
    for (let back = 0; back < passed; back++) ring[(bucket - back) % bucketsKept] = 0;
    newest = Math.max(newest, bucket);
  }

  function add(bucket: number, count: number): void {
    advance(bucket);
    const slot = bucket % bucketsKept;
    if (bucket > newest - bucketsKept) ring[slot] = (ring[slot] ?? 0) + count;
  }

  return {
    add,
    /** What was counted in the ten minutes that end with bucket `now`. */
    total(now: number): number {
      advance(now);
      return ring.reduce((sum, count) => sum + count, 0);
    },
    replace(counts: Counts): void {
      ring.fill(0);
      for (const [bucket, count] of counts) add(bucket, count);
    },
  };
}

type Seen = { readonly window: ReturnType<typeof createWindow>; lastAt: number };

const activeMs = 60_000;
// So many cost some 20 ms a turn, most of it in the database; in a flood of more senders a busy one is among the newest.
const maxActive = 250;

export function createRecentSenders(maxSenders: number) {
  // In the order in which they were last seen.
  const senders = new Map<string, Seen>();

  function touch(login: string, at: number): Seen['window'] {
    const seen = senders.get(login) ?? { window: createWindow(), lastAt: at };
    seen.lastAt = Math.max(seen.lastAt, at);
    senders.delete(login);
    senders.set(login, seen);
    const [oldest] = senders.keys();
    if (senders.size > maxSenders && oldest !== undefined) senders.delete(oldest);
    return seen.window;
  }

  return {
    add: (login: string, at: Date): void => touch(login, at.getTime()).add(bucketOf(at), 1),
    total: (login: string, bucket: number): number => senders.get(login)?.window.total(bucket) ?? 0,
    replace: (login: string, counts: Counts): void => senders.get(login)?.window.replace(counts),
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
