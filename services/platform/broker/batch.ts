// Hands a batch to its handler until there are verdicts.
import type { Log } from '../log.ts';
import { createBackOff } from './back-off.ts';
import type { BatchHandler, Delivery, Verdict } from './broker.ts';

/** Undefined when the handler threw and the signal ended the pause after it: the batch is void, or goes back. */
export async function workThrough(
  batch: readonly Delivery[],
  handle: BatchHandler,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Log },
): Promise<readonly Verdict[] | undefined> {
  const backOff = createBackOff();
  for (;;) {
    try {
      const verdicts = await handle(batch);
      if (verdicts.length === batch.length) return verdicts;
      throw new TypeError(`a handler must give one verdict for each of ${batch.length} deliveries, got ${verdicts.length}`);
    } catch (error) {
      log.warn({ error, deliveries: batch.length }, 'a batch failed as a whole and will be tried again');
    }
    if (!(await backOff.pause(signal))) return undefined;
  }
}
