// Turns: of the writes to one application one at a time holds a connection; the others wait without one, for a bounded time.
import { Problems } from '../contract.ts';

export type Turns = {
  /** In the order of asking. @throws Problem 503 when the turn does not come in time, or too many wait already; then `work` was not begun */
  take<T>(application: string, work: () => Promise<T>): Promise<T>;
};

type Limits = { readonly maxWaiting: number; readonly waitMs: number };

// Each that waits has its body in memory; a client gives up soon after.
const usualLimits: Limits = { maxWaiting: 500, waitMs: 5000 };

export const applicationBusy = () => Problems.applicationBusy({ headers: { 'Retry-After': '5' } });

export function createTurns({ maxWaiting, waitMs }: Limits = usualLimits): Turns {
  /** Who waits, oldest first, of each application that somebody writes to. */
  const waiting = new Map<string, Set<() => void>>();

  async function wait(queue: Set<() => void>): Promise<void> {
    if (queue.size >= maxWaiting) throw applicationBusy();
    const turn = Promise.withResolvers<undefined>();
    const begin = () => turn.resolve(undefined);
    queue.add(begin);
    const timer = setTimeout(() => {
      queue.delete(begin);
      turn.reject(applicationBusy());
    }, waitMs);
    await turn.promise.finally(() => clearTimeout(timer));
  }

  function end(application: string, queue: Set<() => void>): void {
    const [next] = queue;
    if (!next) return void waiting.delete(application);
    queue.delete(next);
    next();
  }

  return {
    async take(application, work) {
      const others = waiting.get(application);
      const queue = others ?? new Set();
      if (others) await wait(others);
      else waiting.set(application, queue);
      try {
        return await work();
      } finally {
        end(application, queue);
      }
    },
  };
}
