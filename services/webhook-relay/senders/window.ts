// Counts of one sender's events over the last ten minutes, in buckets of half a minute.

export const windowMs = 600_000;
const bucketMs = 30_000;
const bucketsKept = windowMs / bucketMs;

export const bucketOf = (at: Date): number => Math.floor(at.getTime() / bucketMs);
export const bucketStart = (bucket: number): Date => new Date(bucket * bucketMs);
/** The oldest bucket that still counts at `now`. */
export const oldestBucket = (now: Date): number => bucketOf(now) - bucketsKept + 1;

export type Counts = Iterable<readonly [bucket: number, count: number]>;

export type Window = {
  add(bucket: number, count: number): void;
  /** What was counted in the ten minutes that end with bucket `now`. */
  total(now: number): number;
  replace(counts: Counts): void;
};

export function createWindow(): Window {
  const ring = new Uint32Array(bucketsKept);
  let newest = 0;

  function advance(bucket: number): void {
    const passed = Math.min(bucket - newest, bucketsKept);
    for (let back = 0; back < passed; back++) ring[(bucket - back) % bucketsKept] = 0;
    newest = Math.max(newest, bucket);
  }

  const add: Window['add'] = (bucket, count) => {
    advance(bucket);
    const slot = bucket % bucketsKept;
    if (bucket > newest - bucketsKept) ring[slot] = (ring[slot] ?? 0) + count;
  };
  return {
    add,
    total(now) {
      advance(now);
      let sum = 0;
      for (const count of ring) sum += count;
      return sum;
    },
    replace(counts) {
      ring.fill(0);
      for (const [bucket, count] of counts) add(bucket, count);
    },
  };
}
