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
