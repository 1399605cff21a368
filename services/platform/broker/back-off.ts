// Waits that grow: for reconnecting, and for a handler that the world has failed.
import { setTimeout as wait } from 'node:timers/promises';

export const firstPauseMs = 100;
export const longestPauseMs = 5000;

export type BackOff = {
  /** Waits longer each time; false when the signal ended the wait. */
  pause(signal: AbortSignal): Promise<boolean>;
};

/** 100 ms, doubling to 5 s, each shortened by up to a third so that many processes do not come back as one. */
export function createBackOff(): BackOff {
  let nextMs = firstPauseMs;
  return {
    async pause(signal) {
      const ms = nextMs * (1 - Math.random() / 3);
      nextMs = Math.min(nextMs * 2, longestPauseMs);
      try {
        await wait(ms, undefined, { signal });
      } catch {
        // The timer rejects for one reason only: the signal.
      }
      return !signal.aborted;
    },
  };
}
