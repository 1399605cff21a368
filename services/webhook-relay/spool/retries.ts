// What failed for a reason that may pass: retried at growing intervals, each reason logged once.
import { codeOf, describeError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { backOffMs } from '../../platform/time.ts';

type Failure = { readonly attempts: number; readonly reason: string; readonly dueAt: number };

const pauses = { firstMs: 1000, longestMs: 60_000 };
/** So many are named in a line. */
const maxNamed = 20;

/**
 * @param message the log line of failures
 * @param now milliseconds of any steady clock
 */
export function createRetries(log: Log, message: string, now: () => number = () => performance.now()) {
  const failures = new Map<string, Failure>();
  const unlogged = new Map<string, { readonly error: unknown; readonly ids: string[] }>();

  return {
    isDue: (id: string): boolean => (failures.get(id)?.dueAt ?? 0) <= now(),
    /** @returns for how many milliseconds to leave it alone */
    failed(id: string, error: unknown): number {
      const before = failures.get(id);
      const attempts = (before?.attempts ?? 0) + 1;
      const reason = codeOf(error) ?? describeError(error); // a code is the same for every file, a message has its path
      const pauseMs = backOffMs(attempts, pauses);
      failures.set(id, { attempts, reason, dueAt: now() + pauseMs });
      if (before?.reason === reason) return pauseMs;
      const news = unlogged.get(reason);
      if (news) news.ids.push(id);
      else unlogged.set(reason, { error, ids: [id] });
      return pauseMs;
    },
    /** A later failure begins anew, and is logged. */
    succeeded: (id: string): void => void failures.delete(id),
    /** Logs what has newly failed, or fails for another reason than before: a line a reason, however many it concerns. */
    logFailures(): void {
      for (const [reason, { error, ids }] of unlogged) log.warn({ reason, count: ids.length, ids: ids.slice(0, maxNamed), error }, message);
      unlogged.clear();
      // what was not tried again long after its pause was taken by a person or another process
      for (const [id, { dueAt }] of failures) if (now() - dueAt > pauses.longestMs) failures.delete(id);
    },
  };
}

/**
 * Runs `step` on the items, begun in their order, `width` at once; it answers whether to go on and must not reject. The first item runs
 * alone, so an outage costs one attempt.
 * @returns whether every step said to go on, and the items that were not begun
 */
export async function forEachConcurrent<T>(items: readonly T[], width: number, step: (item: T) => Promise<boolean>) {
  const queue = items.values();
  let goOn = true;

  async function work(limit: number): Promise<void> {
    for (let done = 0; goOn && done < limit; done += 1) {
      const next = queue.next();
      if (next.done === true) return;
      if (!(await step(next.value))) goOn = false;
    }
  }

  await work(1);
  await Promise.all(Array.from({ length: width }, () => work(Infinity)));
  return { goOn, rest: [...queue] };
}
