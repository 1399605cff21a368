// Hands a batch to its handler until there are outcomes.
import type { Log } from '../log.ts';
import { withTimeout } from '../time.ts';
import { traceBatch } from '../trace-context.ts';
import type { BatchHandler, Delivery, Outcome } from './broker.ts';
import { pauseAfterFailure } from './retry-policy.ts';

/** What a handler may still take when its consumer is told to stop: a database that hangs must not hold the process. */
const lastBatchMs = 10_000;

type HandOverOptions = {
  readonly queue: string;
  /** Ends the retries. */
  readonly signal: AbortSignal;
  /** From here on a handler that is under way has its last 10 s. */
  readonly stopping: AbortSignal;
  readonly log: Log;
};

/** Undefined when the handler threw and the signal ended the pause after it: the batch is void, or goes back. */
export async function handOver(
  batch: readonly Delivery[],
  handle: BatchHandler,
  { queue, signal, stopping, log }: HandOverOptions,
): Promise<readonly Outcome[] | undefined> {
  for (let failures = 1; ; failures += 1) {
    try {
      const handling = traceBatch(`${queue} batch`, batch, () => handle(batch));
      const outcomes = await finishWithin(lastBatchMs, stopping, handling);
      if (outcomes.length === batch.length) return outcomes;
      throw new TypeError(`a handler must give one outcome for each of ${batch.length} deliveries, got ${outcomes.length}`);
    } catch (error) {
      log.warn({ error, queue, deliveries: batch.length, failures }, 'batch failed as a whole, retrying with back-off');
    }
    if (!(await pauseAfterFailure(failures, signal))) return undefined;
  }
}

/** The work, which has `ms` left once `stopping` is aborted. */
export async function finishWithin<T>(ms: number, stopping: AbortSignal, work: Promise<T>): Promise<T> {
  const stopped = Promise.withResolvers<void>();
  const onStop = () => stopped.resolve();
  if (stopping.aborted) onStop();
  stopping.addEventListener('abort', onStop, { once: true });
  try {
    await Promise.race([work, stopped.promise]);
  } finally {
    stopping.removeEventListener('abort', onStop);
  }
  if (!stopping.aborted) return work;
  return withTimeout(work, ms, () => {
    throw new Error(`timed out: its consumer stops, and ${ms} ms have passed`);
  });
}
