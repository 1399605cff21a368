// A weighted semaphore: units that are had in order of asking, each within its time.
import { withTimeout } from './time.ts';

export type Semaphore = ReturnType<typeof createSemaphore>;

export function createSemaphore(capacity: number) {
  if (!Number.isSafeInteger(capacity) || capacity <= 0) throw new TypeError(`capacity must be a positive integer, got ${capacity}`);
  let used = 0;
  const queue = new Set<{ readonly units: number; readonly admit: () => void }>();

  function admitWaiting(): void {
    for (const waiting of queue) {
      if (used + waiting.units > capacity) return;
      queue.delete(waiting);
      used += waiting.units;
      waiting.admit();
    }
  }

  return {
    capacity,
    get used() {
      return used;
    },
    /** First come, first served. False when the units were not free within `waitMs`. More than the capacity is never had. */
    acquire(units: number, waitMs: number): Promise<boolean> {
      const { promise: admitted, resolve } = Promise.withResolvers<boolean>();
      const waiting = { units, admit: () => resolve(true) };
      queue.add(waiting);
      admitWaiting();
      return withTimeout(admitted, waitMs, () => {
        queue.delete(waiting);
        admitWaiting(); // those behind it may want less
        return false;
      });
    },
    release(units: number): void {
      used -= units;
      admitWaiting();
    },
  };
}

/** A semaphore for each key, kept while it is in use: what is asked for by one key holds up no other. With `total` they share so many units. */
export function createKeyedSemaphore({ perKey, total }: { readonly perKey: number; readonly total?: number }) {
  const shared = total === undefined ? undefined : createSemaphore(total);
  const byKey = new Map<string, { readonly semaphore: Semaphore; users: number }>();
  return {
    /** One unit. @returns what gives it back; undefined when none was free within `waitMs`, for the key and then of all */
    async acquire(key: string, waitMs: number): Promise<(() => void) | undefined> {
      const own = byKey.get(key) ?? { semaphore: createSemaphore(perKey), users: 0 };
      byKey.set(key, own);
      own.users += 1;
      const isOwn = await own.semaphore.acquire(1, waitMs);
      const leave = () => {
        if (isOwn) own.semaphore.release(1);
        own.users -= 1;
        if (own.users === 0) byKey.delete(key);
      };
      if (isOwn && (await (shared?.acquire(1, waitMs) ?? true)))
        return () => {
          shared?.release(1);
          leave();
        };
      leave();
      return undefined;
    },
  };
}
