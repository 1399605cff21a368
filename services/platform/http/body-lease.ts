// The memory of one body, leased as its bytes come: what is only announced takes no room from others.
import type { ByteLease, SharedMemory } from './byte-budget.ts';

export type BodyLease = {
  /** It may come to hold room that others need. */
  readonly isLarge: boolean;
  /** Whether so many bytes have their room already. */
  holds(length: number): boolean;
  /** Takes it, where it is free; false when it has to be waited for. */
  take(length: number): boolean;
  /** False when there was none in time. */
  waitFor(length: number): Promise<boolean>;
  /** True when its time went by in waiting for room, not for its sender. */
  readonly wasKeptUp: boolean;
  /** True when it holds room that others wait for, and fills it too slowly to be done in time. */
  isIdle(length: number): boolean;
  /** It has ended with so many bytes. */
  settle(length: number): void;
  release(): void;
};

export type BodyLeaseParts = SharedMemory & {
  readonly maxBytes: number;
  /** What the request says of its length; a body that says nothing counts as one of `maxBytes`. */
  readonly declared: number | undefined;
  /** When it must have arrived. */
  readonly timeoutMs: number;
};

/** Up to this a body leases twice what has come; a larger one leases all of itself, once its beginning is there. Leasing
 *  on piece by piece, many large ones would all begin and none could end. */
const smallBytes = 1_048_576;
const beginningBytes = 65_536;
const graceMs = 1000;

export function createBodyLease({ budget, waitMs, maxBytes, declared, timeoutMs }: BodyLeaseParts): BodyLease {
  const lease: ByteLease = budget.open();
  const whole = declared ?? maxBytes;
  const mostByPieces = whole <= smallBytes ? whole : beginningBytes;
  let held = 0;
  let heldSince = 0;
  let waitedMs = 0;
  let waitsSince: number | undefined;

  const wanted = (length: number) => (length <= mostByPieces ? Math.min(whole, length * 2) : whole);
  function note(isTaken: boolean, bytes: number): boolean {
    if (isTaken) [held, heldSince] = [bytes, performance.now()];
    return isTaken;
  }

  return {
    isLarge: whole > mostByPieces,
    holds: (length) => length <= held,
    take: (length) => length <= held || note(lease.tryGrowTo(wanted(length)), wanted(length)),
    async waitFor(length) {
      waitsSince = performance.now();
      const isTaken = await lease.growTo(wanted(length), Math.max(0, waitMs - waitedMs));
      waitedMs += performance.now() - waitsSince;
      waitsSince = undefined;
      return note(isTaken, wanted(length));
    },
    get wasKeptUp() {
      return waitsSince !== undefined || waitedMs > timeoutMs / 4;
    },
    isIdle(length) {
      const heldMs = performance.now() - heldSince;
      // Half the pace that it needs: this process, too, may be what is slow.
      return budget.isContended && held > mostByPieces && heldMs > graceMs && length < (held * heldMs) / timeoutMs / 2;
    },
    settle: (length) => lease.shrinkTo(length),
    release: () => lease.release(),
  };
}

/** Where memory is not shared. */
export const unlimited: BodyLease = {
  isLarge: false,
  holds: () => true,
  take: () => true,
  waitFor: () => Promise.resolve(true),
  wasKeptUp: false,
  isIdle: () => false,
  settle: () => undefined,
  release: () => undefined,
};
