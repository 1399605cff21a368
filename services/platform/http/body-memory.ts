// Memory that the bodies of all requests share: charged as their bytes come, whatever they announce.

/** What one body holds of it. */
export type BodyShare = {
  /** Charges bytes that have come; false when there is no room for them. */
  take(bytes: number): boolean;
  /** Charges them as soon as there is room; the caller reads nothing meanwhile, and may release before. */
  wait(bytes: number): Promise<void>;
  /** All of it has come: it is pressed no more. */
  complete(): void;
  release(): void;
};

export type BodyMemory = {
  readonly capacity: number;
  readonly used: number;
  /** @param onStalled called when others wait for memory and too little of this body comes */
  open(onStalled: () => void): BodyShare;
};

type Holder = { held: number; heldBefore: number | undefined; isComplete: boolean; wanted: number; admit: () => void; readonly onStalled: () => void };

/** Up to this a body may use the part that large ones leave to small ones, an eighth. */
const smallBytes = 65_536;
/** While others wait a body comes at this pace, or is refused. */
const leastBytesPerSecond = 65_536;

/**
 * No deadlock: however full the memory is, one body can always come to its end. `largest` bytes are kept for it; it is the one that
 * found no room first, its successor the one that has waited longest. What is complete is released by its handler, which
 * waits for no memory.
 * @param largest the most bytes that one body can have
 */
export function createBodyMemory(capacity: number, largest: number): BodyMemory {
  if (!Number.isSafeInteger(capacity) || capacity < largest) throw new TypeError(`capacity must be an integer of at least ${largest}, got ${capacity}`);
  const holders = new Set<Holder>();
  /** In order of asking. */
  const waiting = new Set<Holder>();
  const shared = capacity - largest;
  let used = 0;
  let finisher: Holder | undefined;
  let watch: NodeJS.Timeout | undefined;

  function fits(holder: Holder, bytes: number): boolean {
    if (holder === finisher) return used + bytes <= capacity;
    const most = holder.held + bytes <= smallBytes ? shared : shared * (7 / 8);
    return used - (finisher?.held ?? 0) + bytes <= most;
  }

  function take(holder: Holder, bytes: number): boolean {
    if (!fits(holder, bytes)) {
      finisher ??= holder;
      if (!fits(holder, bytes)) return false;
    }
    holder.held += bytes;
    used += bytes;
    return true;
  }

  function admitWaiting(): void {
    for (const holder of waiting) {
      if (!take(holder, holder.wanted)) continue; // one behind it may be smaller
      waiting.delete(holder);
      holder.admit();
    }
  }

  function leave(holder: Holder): void {
    waiting.delete(holder);
    if (finisher === holder) finisher = undefined;
    admitWaiting();
  }

  /** Senders that stall hold up those who wait for a second or two, not until their own time is over. */
  function refuseStalled(): void {
    for (const holder of holders) {
      const { held, heldBefore, isComplete } = holder;
      if (isComplete || waiting.has(holder)) holder.heldBefore = undefined;
      else {
        if (heldBefore !== undefined && held - heldBefore < leastBytesPerSecond) holder.onStalled();
        holder.heldBefore = held;
      }
    }
    if (waiting.size > 0) return;
    clearInterval(watch);
    watch = undefined;
    for (const holder of holders) holder.heldBefore = undefined;
  }

  return {
    capacity,
    get used() {
      return used;
    },
    open(onStalled) {
      const holder: Holder = { held: 0, heldBefore: undefined, isComplete: false, wanted: 0, admit: () => undefined, onStalled };
      holders.add(holder);
      return {
        take: (bytes) => take(holder, bytes),
        wait(bytes) {
          holder.wanted = bytes;
          waiting.add(holder);
          // A process that was held up reads first what has arrived meanwhile.
          watch ??= setInterval(() => setImmediate(refuseStalled), 1000).unref();
          return new Promise((resolve) => (holder.admit = resolve));
        },
        complete() {
          holder.isComplete = true;
          leave(holder);
        },
        release() {
          holders.delete(holder);
          used -= holder.held;
          holder.held = 0;
          leave(holder);
        },
      };
    },
  };
}
