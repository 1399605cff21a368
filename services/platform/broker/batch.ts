// Hands a batch to its handler until there are outcomes.
import type { Log } from '../log.ts';
import { traceBatch } from '../trace-context.ts';
import { createBackOff } from './back-off.ts';
import type { BatchHandler, Delivery, Outcome } from './broker.ts';

/** What a handler may still take when its consumer is told to stop: a database that hangs must not hold the process. */
const lastBatchMs = 10_000;

export type WorkOptions = {
  readonly queue: string;
  /** Ends the trying. */
  readonly signal: AbortSignal;
  /** From here on a handler that is under way has its last 10 s. */
  readonly stopping: AbortSignal;
  readonly log: Log;
};

/** Undefined when the handler threw and the signal ended the pause after it: the batch is void, or goes back. */
export async function workThrough(
  batch: readonly Delivery[],
  handle: BatchHandler,
  { queue, signal, stopping, log }: WorkOptions,
): Promise<readonly Outcome[] | undefined> {
  const backOff = createBackOff();
  for (;;) {
    try {
      const outcomes = await beforeTheEnd(
        traceBatch(`${queue} batch`, batch, () => handle(batch)),
        stopping,
      );
      if (outcomes.length === batch.length) return outcomes;
      throw new TypeError(`a handler must give one outcome for each of ${batch.length} deliveries, got ${outcomes.length}`);
    } catch (error) {
      log.warn({ error, deliveries: batch.length }, 'a batch failed as a whole and will be tried again');
    }
    if (!(await backOff.pause(signal))) return undefined;
  }
}

async function beforeTheEnd<T>(work: Promise<T>, stopping: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const begin = () => (timer = setTimeout(() => late.reject(new Error('its consumer stops and waited long enough')), lastBatchMs));
  if (stopping.aborted) begin();
  else stopping.addEventListener('abort', begin, { once: true });
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    stopping.removeEventListener('abort', begin);
    clearTimeout(timer);
  }
}
