// Reservations on their way back, gathered by the count that they came from.
import type { DatabaseState } from '../database-state.ts';
import type { Return, UsageStore } from './store.ts';

export type Returns = {
  add(broker: string, period: string, generation: string): void;
  /** Stores what has gathered; before the next reservation, which may need the room. Never rejects. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

export function createReturns(store: Pick<UsageStore, 'giveBack'>, database: DatabaseState): Returns {
  let gathered = new Map<string, Return>();
  let flushing: Promise<void> | undefined;

  async function send(): Promise<void> {
    while (gathered.size > 0 && database.isUp) {
      const returns = [...gathered.values()];
      gathered = new Map();
      // Sent once: it may have been stored even though no answer came, and a count may err high, never low.
      await store.giveBack(returns).catch((error: unknown) => database.failed(error));
    }
  }

  const flush = (): Promise<void> =>
    (flushing ??= send().finally(() => {
      flushing = undefined;
    }));

  return {
    add(broker, period, generation) {
      const key = `${broker} ${period} ${generation}`;
      gathered.set(key, { broker, period, generation, count: (gathered.get(key)?.count ?? 0) + 1 });
      void flush();
    },
    flush,
    close: flush,
  };
}
