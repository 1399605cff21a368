// Memory that requests share: a lease of bytes is had in order of asking, or not at all.
import { createWaitingLine } from './waiting-line.ts';

export type ByteLease = {
  /** To so many bytes in all, at once; false, and nothing has changed, when there is no room or others wait for it. */
  tryGrowTo(bytes: number): boolean;
  /** The same within `waitMs`; also false when it was released meanwhile. A wish above the capacity asks for all of it. */
  growTo(bytes: number, waitMs: number): Promise<boolean>;
  /** Gives back what turned out not to be needed. */
  shrinkTo(bytes: number): void;
  /** Gives back the rest; more than once does no harm. */
  release(): void;
};

export type ByteBudget = {
  readonly capacity: number;
  readonly used: number;
  /** Somebody waits for room. */
  readonly isContended: boolean;
  /** Undefined when there was no room within `waitMs`. A wish above the capacity asks for all of it. */
  acquire(bytes: number, waitMs: number): Promise<ByteLease | undefined>;
  /** A lease of nothing, to grow with what comes. */
  open(): ByteLease;
};

/** A budget, and how long one of those that share it waits for room. */
export type SharedMemory = { readonly budget: ByteBudget; readonly waitMs: number };

/** A lease that grows to at most this part of the capacity waits for no larger one; of the rest those leave it this part. */
const smallPart = 1 / 64;
const partForSmall = 1 / 8;

export function createByteBudget(capacity: number): ByteBudget {
  if (!Number.isSafeInteger(capacity) || capacity <= 0) throw new TypeError(`capacity must be a positive integer, got ${capacity}`);
  let used = 0;
  const small = createWaitingLine(() => admitWaiting());
  const queue = createWaitingLine(() => admitWaiting());
  const isContended = () => small.size + queue.size > 0;

  // First come, first served: a large request is not starved by others behind it, but for the very small ones.
  function admitWaiting(): void {
    if (small.admit()) queue.admit();
  }

  function createLease() {
    let held = 0;
    let leave: (() => void) | undefined;
    const hold = (bytes: number) => {
      used += bytes - held;
      held = bytes;
    };
    const shrinkTo = (rest: number) => {
      if (rest >= held) return;
      hold(rest);
      admitWaiting();
    };
    function growth(wish: number) {
      const bytes = Math.min(wish, capacity);
      const isSmall = bytes <= capacity * smallPart;
      const most = isSmall ? capacity : Math.max(bytes, capacity * (1 - partForSmall));
      const fits = () => bytes <= held || used + bytes - held <= most;
      const take = () => hold(Math.max(bytes, held));
      return { line: isSmall ? small : queue, isNext: small.size === 0 && (isSmall || queue.size === 0), fits, take };
    }
    function tryGrowTo(wish: number): boolean {
      const { isNext, fits, take } = growth(wish);
      if (!isNext || !fits()) return false;
      take();
      return true;
    }
    const lease: ByteLease = {
      tryGrowTo,
      async growTo(wish, waitMs) {
        if (tryGrowTo(wish)) return true;
        const { line, fits, take } = growth(wish);
        const waiting = line.wait({ fits, take, waitMs });
        leave = waiting.leave;
        return waiting.admitted;
      },
      shrinkTo,
      release() {
        leave?.();
        shrinkTo(0);
      },
    };
    return { lease, hold };
  }

  return {
    capacity,
    get used() {
      return used;
    },
    get isContended() {
      return isContended();
    },
    open: () => createLease().lease,
    async acquire(wish, waitMs) {
      const bytes = Math.min(wish, capacity);
      const { lease, hold } = createLease();
      const fits = () => used + bytes <= capacity;
      const take = () => hold(bytes);
      if (!fits() || isContended()) return (await queue.wait({ fits, take, waitMs }).admitted) ? lease : undefined;
      take();
      return lease;
    },
  };
}
