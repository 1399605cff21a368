// A weighted semaphore: units that are had in order of asking, each within its time.

export type Semaphore = ReturnType<typeof createSemaphore>;

type Waiting = { readonly units: number; readonly settle: (isAdmitted: boolean) => void };

export function createSemaphore(capacity: number) {
  if (!Number.isSafeInteger(capacity) || capacity <= 0) throw new TypeError(`capacity must be a positive integer, got ${capacity}`);
  let used = 0;
  const queue = new Set<Waiting>();

  function admitWaiting(): void {
    for (const waiting of queue) {
      if (used + waiting.units > capacity) return;
      waiting.settle(true);
    }
  }

  /** At once, or not at all; not before those who wait. */
  function tryAcquire(units: number): boolean {
    if (queue.size > 0 || used + units > capacity) return false;
    used += units;
    return true;
  }

  return {
    capacity,
    get used() {
      return used;
    },
    tryAcquire,
    /** First come, first served. False when the units were not free within `waitMs`. More than the capacity is never had. */
    acquire(units: number, waitMs: number): Promise<boolean> {
      if (tryAcquire(units)) return Promise.resolve(true);
      return new Promise((resolve) => {
        const waiting: Waiting = {
          units,
          settle(isAdmitted) {
            clearTimeout(timer);
            queue.delete(waiting);
            if (isAdmitted) used += units;
            resolve(isAdmitted);
            if (!isAdmitted) admitWaiting(); // those behind it may want less
          },
        };
        const timer = setTimeout(() => waiting.settle(false), waitMs);
        queue.add(waiting);
      });
    },
    release(units: number): void {
      used -= units;
      admitWaiting();
    },
  };
}
