// Whether the database that reservations need answers: told by whoever asked in vain, found out again in the background.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../platform/log.ts';

export type DatabaseState = {
  /** False from the first failure until the database has answered again: nobody waits for it meanwhile. */
  readonly isUp: boolean;
  /** What a failed question reports. */
  failed(error: unknown): void;
};

export type DatabaseStateParts = {
  /** Rejects while the database does not answer. */
  readonly ping: () => Promise<unknown>;
  readonly log: Log;
  readonly stopping: AbortSignal;
  readonly everyMs?: number;
};

export function createDatabaseState({ ping, log, stopping, everyMs = 250 }: DatabaseStateParts): DatabaseState {
  let isUp = true;

  async function awaitReturn(): Promise<void> {
    while (!isUp && !stopping.aborted) {
      await sleep(everyMs, undefined, { signal: stopping }).catch(() => undefined); // stopping ends the wait
      isUp = await ping().then(
        () => true,
        () => false,
      );
    }
    if (isUp) log.info('the database answers again');
  }

  return {
    get isUp() {
      return isUp;
    },
    failed(error) {
      if (!isUp) return;
      isUp = false;
      log.error({ error }, 'the database does not answer: deliveries are spooled until it does');
      void awaitReturn();
    },
  };
}
