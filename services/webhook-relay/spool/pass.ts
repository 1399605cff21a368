// One pass over spooled deliveries: oldest first, several at once, few payloads in memory, failures logged by reason.
import { codeOf, describeError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { createSemaphore } from '../../platform/semaphore.ts';

/** Payloads in memory at once; the largest allowed fits. */
const memoryBytes = 32 * 1024 * 1024;
const forEver = 2 ** 31 - 1;
/** A file that cannot be read fails in every pass, one a second. */
const sameReasonEveryMs = 60_000;
/** So many are named in a line. */
const maxNamed = 20;

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

    /** A line a reason, however many failed for it, and not again within a minute. */
    logFailures(): void {
      const now = performance.now();
      for (const [reason, { error, ids }] of failures) {
        if (now - (loggedAt.get(reason) ?? -Infinity) < sameReasonEveryMs) continue;
        loggedAt.set(reason, now);
        log.warn({ reason, count: ids.length, ids: ids.slice(0, maxNamed), error }, message);
      }
      failures.clear();
    },

    /** Runs `work` once so many bytes are free; more than there are waits for all. */
    async withMemory<T>(bytes: number, work: () => Promise<T>): Promise<T> {
      const units = Math.min(bytes, memory.capacity);
      await memory.acquire(units, forEver);
      try {
        return await work();
      } finally {
        memory.release(units);
      }
    },
  };
}

/**
 * Runs `step` on the items, begun in their order, `width` at once; it answers whether to go on and must not reject. The first item runs
 * alone, so an outage costs one attempt.
 * @returns whether every step said to go on
 */
export async function forEachConcurrent<T>(items: readonly T[], width: number, step: (item: T) => Promise<boolean>): Promise<boolean> {
  const [first, ...others] = items;
  if (first === undefined) return true;
  let goOn = await step(first);
  const queue = others.values();
  const work = async () => {
    for (const item of queue) {
      if (!goOn) return;
      if (!(await step(item))) goOn = false;
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return goOn;
}
