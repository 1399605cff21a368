// One pass over spooled deliveries: oldest first, several at once, few payloads in memory, failures logged by reason.
import { codeOf, describeError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { createSemaphore } from '../../platform/semaphore.ts';

/** The most bytes of payloads in memory at once; the largest allowed payload fits. */
const memoryBytes = 32 * 1024 * 1024;
/** The longest timer of Node, 24 days. */
const longestWaitMs = 2 ** 31 - 1;
/** A file that cannot be read fails in every pass, one a second. */
const sameReasonEveryMs = 60_000;
/** The most ids in one log line. */
const maxLoggedIds = 20;

/** @param message the log line of failures */
export function createPass(log: Log, message: string) {
  const memory = createSemaphore(memoryBytes);
  const failures = new Map<string, { readonly error: unknown; readonly ids: string[] }>();
  const loggedAt = new Map<string, number>();

  return {
    failed(id: string, error: unknown): void {
      const reason = codeOf(error) ?? describeError(error); // a code is the same for every file, a message has its path
      const known = failures.get(reason);
      if (known) known.ids.push(id);
      else failures.set(reason, { error, ids: [id] });
    },

    /** Logs one line per reason, at most once a minute. */
    logFailures(): void {
      const now = performance.now();
      for (const [reason, { error, ids }] of failures) {
        if (now - (loggedAt.get(reason) ?? -Infinity) < sameReasonEveryMs) continue;
        loggedAt.set(reason, now);
        log.warn({ reason, count: ids.length, ids: ids.slice(0, maxLoggedIds), error }, message);
      }
      failures.clear();
    },

    /** Runs `work` once `bytes` are free, or all of the memory if that is less. */
    async withMemory<T>(bytes: number, work: () => Promise<T>): Promise<T> {
      const units = Math.min(bytes, memory.capacity);
      await memory.acquire(units, longestWaitMs);
      try {
        return await work();
      } finally {
        memory.release(units);
      }
    },
  };
}

/**
 * Runs `step` on the items in order, `width` at once. The first item runs alone, so that an outage costs one attempt.
 * @param step returns whether to go on; must not reject
 * @returns whether every step said to go on
 */
export async function forEachConcurrent<T>(items: readonly T[], width: number, step: (item: T) => Promise<boolean>): Promise<boolean> {
  const [first, ...others] = items;
  if (first === undefined) return true;
  let goOn = await step(first);
  const queue = others.values(); // one iterator for all workers: each takes the next item
  const worker = async () => {
    for (const item of queue) {
      if (!goOn) return;
      if (!(await step(item))) goOn = false;
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return goOn;
}
