// Timeouts, pauses, back-off, and lengths of time: the one way for each.
import { setTimeout as timer } from 'node:timers/promises';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** The clock of production; tests have others. */
export const systemClock = (): Date => new Date();

/** The result of the work, or of `late` when the work has not settled in `ms`; the work itself goes on. */
export function withTimeout<T>(work: Promise<T>, ms: number, late: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timeout = setTimeout(() => void Promise.resolve().then(late).then(resolve, reject), ms);
    void work.then(resolve, reject).then(() => clearTimeout(timeout));
  });
}

/** Sleeps for `ms`, or until the signal is aborted. @returns false when the signal ended it */
export async function sleepUntil(signal: AbortSignal, ms: number): Promise<boolean> {
  await timer(ms, undefined, { signal }).catch(() => undefined); // rejects for one reason only: the signal
  return !signal.aborted;
}

export type BackOffRange = { readonly firstMs: number; readonly longestMs: number };

/**
 * The pause before a retry: doubled with each attempt up to the longest, and shortened by up to a third so that many processes
 * do not come back as one.
 * @param attempt failures so far, from 1
 */
export function backOffMs(attempt: number, { firstMs, longestMs }: BackOffRange): number {
  return Math.min(firstMs * 2 ** (attempt - 1), longestMs) * (1 - Math.random() / 3);
}

/** A pause that can be cut short, and that no wake-up can slip past. Once `stopping` is aborted every pause ends at once. */
export function createWakeUp(stopping: AbortSignal) {
  let woken = new AbortController();
  const wake = () => woken.abort();
  const reset = () => void (woken = new AbortController());
  stopping.addEventListener('abort', wake, { once: true });
  return {
    /** Ends the pause, or, between pauses, the next one before it begins. */
    wake,
    /** Forgets a wake-up that came between pauses. */
    reset,
    async pause(ms: number): Promise<void> {
      if (!stopping.aborted) await sleepUntil(woken.signal, ms);
      reset();
    },
  };
}

/** Runs `work` at once and then every `ms` after it ended, until the signal is aborted. `work` must not throw. @returns when the last run ended */
export async function every(ms: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work();
    await sleepUntil(signal, ms);
  }
}

type Retry = {
  /** After this long the last failure is thrown. */
  readonly timeoutMs: number;
  /** Whether the same may succeed later, as it is. */
  readonly isTemporary: (error: unknown) => boolean;
  readonly describe: (error: unknown) => string;
  /** Told when the waiting begins, and when its reason changes. */
  readonly onWait: (reason: string) => void;
};

const retryEveryMs = 1000;

/** Tries again every second while a server is only away: on a fresh cluster everything starts at once. */
export async function retryUntil<T>({ timeoutMs, isTemporary, describe, onWait }: Retry, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let told: string | undefined;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTemporary(error) || performance.now() + retryEveryMs > deadline) throw error;
      const reason = describe(error);
      if (reason !== told) onWait(reason);
      told = reason;
    }
    await timer(retryEveryMs);
  }
}
