// Memory that the bodies of all requests share: charged as their bytes come, whatever they announce.

type Body = { held: number; wanted: number; admit: () => void; readonly onStalled: () => void };
export type BodyMemory = ReturnType<typeof createBodyMemory>;

/** Up to this a body may use the part that large ones leave to small ones, an eighth. */
const smallBytes = 65_536;
/** While others wait a body comes at this pace, or is refused. */
const leastBytesPerSecond = 65_536;

/**
 * No deadlock: however full the memory is, one body can always come to its end. `largest` bytes are kept for it. This
 * body is the first that found no room; its successor is the one that has waited longest. A handler releases its complete body, and waits for no
 * memory.
 * @param largest the most bytes that one body can have
 */
export function createBodyMemory(capacity: number, largest: number) {
  if (!Number.isSafeInteger(capacity) || capacity < largest) throw new TypeError(`capacity must be an integer of at least ${largest}, got ${capacity}`);
  const shared = capacity - largest;
  const arriving = new Set<Body>();
  /** The arriving bodies whose reading is paused, in order of asking. */
  const waiting = new Set<Body>();
  let used = 0;
  let finisher: Body | undefined;
  let watch: NodeJS.Timeout | undefined;
  /** The bytes that each body held a second ago. */
  let heldBefore = new Map<Body, number>();

  function fits(body: Body, bytes: number): boolean {
    if (body === finisher) return used + bytes <= capacity;
    const most = body.held + bytes <= smallBytes ? shared : shared * (7 / 8);
    return used - (finisher?.held ?? 0) + bytes <= most;
  }

  function charge(body: Body, bytes: number): boolean {
    if (!fits(body, bytes)) {
      finisher ??= body;
      if (!fits(body, bytes)) return false;
    }
    body.held += bytes;
    used += bytes;
    return true;
  }

  /** It has all come, or was given up: others go on. */
  function leave(body: Body): void {
    arriving.delete(body);
    waiting.delete(body);
    if (finisher === body) finisher = undefined;
    for (const one of waiting) {
      if (!charge(one, one.wanted)) continue; // one behind it may be smaller
      waiting.delete(one);
      one.admit();
    }
  }

  /** Senders that stall hold up those who wait for a second or two, not until their own time is over. */
  function refuseStalled(): void {
    const beingRead = [...arriving].filter((body) => !waiting.has(body));
    for (const body of beingRead) if (body.held - (heldBefore.get(body) ?? -Infinity) < leastBytesPerSecond) body.onStalled();
    heldBefore = new Map(beingRead.map((body) => [body, body.held]));
    if (waiting.size > 0) return;
    clearInterval(watch);
    watch = undefined;
    heldBefore.clear();
  }

  function wait(body: Body, bytes: number): Promise<void> {
    body.wanted = bytes;
    waiting.add(body);
    // A process that was held up reads first what has arrived meanwhile.
    watch ??= setInterval(() => setImmediate(refuseStalled), 1000).unref();
    return new Promise((resolve) => (body.admit = resolve));
  }

  return {
    get used() {
      return used;
    },
    /** @param onStalled called when others wait for memory and too little of this body comes */
    open(onStalled: () => void) {
      const body: Body = { held: 0, wanted: 0, admit: () => undefined, onStalled };
      arriving.add(body);
      return {
        /** Charges bytes that have come, or promises to once there is room: the caller reads nothing meanwhile, and may release before. */
        take: (bytes: number): Promise<void> | undefined => (charge(body, bytes) ? undefined : wait(body, bytes)),
        /** All of it has come: it is pressed no more. */
        complete: () => leave(body),
        release() {
          used -= body.held;
          body.held = 0;
          leave(body);
        },
      };
    },
  };
}
