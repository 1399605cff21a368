// Recurring upkeep of a deployable's own tables: one replica at a time, at once and then at an interval.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifecycle } from './lifecycle.ts';
import type { Log } from './log.ts';
import type { Database } from './postgres.ts';

export type Chore = {
  /** Names the lock that replicas share. */
  readonly name: string;
  readonly everyMs: number;
  readonly work: () => Promise<void>;
};

/** Loops until stopped; a chore that fails is logged and comes round again. */
export function keepHouse({ database, lifecycle, log }: { database: Database; lifecycle: Lifecycle; log: Log }, chore: Chore): void {
  const { stopping } = lifecycle;
  const loop = async () => {
    while (!stopping.aborted) {
      try {
        await database.whileLocked(`signalbox.${chore.name}`, chore.work);
      } catch (error) {
        log.warn({ chore: chore.name, error }, 'housekeeping failed, it will be tried again');
      }
      await sleep(chore.everyMs, undefined, { signal: stopping }).catch(() => undefined); // stopping ends the wait
    }
  };
  const running = loop();
  lifecycle.onStop(chore.name, () => running);
}
