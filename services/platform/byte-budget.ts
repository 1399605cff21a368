// Memory that requests share: a lease of bytes is had in order of asking, or not at all.

export type ByteLease = {
  /** Gives back what turned out not to be needed. */
  shrinkTo(bytes: number): void;
  /** Gives back the rest; more than once does no harm. */
  release(): void;
};

export type ByteBudget = {
  readonly capacity: number;
  readonly used: number;
  /** Undefined when there was no room within `waitMs`. A wish above the capacity asks for all of it. */
  acquire(bytes: number, waitMs: number): Promise<ByteLease | undefined>;
};

/** A budget, and how long one of those that share it waits for room. */
export type SharedMemory = { readonly budget: ByteBudget; readonly waitMs: number };

type Waiting = { readonly bytes: number; readonly admit: () => void };

export function createByteBudget(capacity: number): ByteBudget {
  if (!Number.isSafeInteger(capacity) || capacity <= 0) throw new TypeError(`capacity must be a positive integer, got ${capacity}`);
  let used = 0;
  const queue = new Set<Waiting>();

  // First come, first served: a large request is not starved by small ones behind it.
  function admitWaiting(): void {
    for (const waiting of queue) {
      if (used + waiting.bytes > capacity) return;
      queue.delete(waiting);
      waiting.admit();
    }
  }

  function lease(bytes: number): ByteLease {
    let held = bytes;
    used += held;
    const shrinkTo = (rest: number) => {
      if (rest >= held) return;
      used -= held - rest;
      held = rest;
      admitWaiting();
    };
    return { shrinkTo, release: () => shrinkTo(0) };
  }

  return {
    capacity,
    get used() {
      return used;
    },
    async acquire(wish, waitMs) {
      const bytes = Math.min(wish, capacity);
      if (queue.size === 0 && used + bytes <= capacity) return lease(bytes);
      return new Promise((resolve) => {
        const waiting: Waiting = {
          bytes,
          admit: () => {
            clearTimeout(timer);
            resolve(lease(bytes));
          },
        };
        const timer = setTimeout(() => {
          queue.delete(waiting);
          resolve(undefined);
          admitWaiting(); // a smaller one behind it may fit now
        }, waitMs);
        queue.add(waiting);
      });
    },
  };
}
