// What deliveries may hold of the memory together: each counts twice, for its bytes and for what is parsed of them.
import { type ByteBudget, type ByteLease, createByteBudget } from '../platform/http/byte-budget.ts';

const share = 2;

/** @param capacity the most bytes of deliveries in memory at once */
export function createBodyMemory(capacity: number): ByteBudget {
  const budget = createByteBudget(capacity);
  const counted = (lease: ByteLease): ByteLease => ({
    tryGrowTo: (bytes) => lease.tryGrowTo(bytes * share),
    growTo: (bytes, waitMs) => lease.growTo(bytes * share, waitMs),
    shrinkTo: (rest) => lease.shrinkTo(rest * share),
    release: () => lease.release(),
  });
  return {
    capacity,
    get used() {
      return budget.used;
    },
    get isContended() {
      return budget.isContended;
    },
    open: () => counted(budget.open()),
    async acquire(bytes, waitMs) {
      const lease = await budget.acquire(bytes * share, waitMs);
      return lease && counted(lease);
    },
  };
}
