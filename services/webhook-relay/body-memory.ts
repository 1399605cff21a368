// What deliveries may hold of the memory together: each counts twice, for its bytes and for what is parsed of them.
import { type ByteBudget, createByteBudget } from '../platform/byte-budget.ts';

const share = 2;

/** @param capacity the most bytes of deliveries in memory at once */
export function createBodyMemory(capacity: number): ByteBudget {
  const budget = createByteBudget(capacity);
  return {
    capacity,
    get used() {
      return budget.used;
    },
    async acquire(bytes, waitMs) {
      const lease = await budget.acquire(bytes * share, waitMs);
      return lease && { shrinkTo: (rest) => lease.shrinkTo(rest * share), release: () => lease.release() };
    },
  };
}
