// One try to publish a spooled delivery: it is loaded, published, and what became of it is recorded.
import type { ByteBudget } from '../../platform/http/byte-budget.ts';
import type { Message } from '../../platform/broker/broker.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { isUnavailable } from '../../platform/postgres/errors.ts';
import type { Replayable } from './replayable.ts';
import type { Setbacks } from './setbacks.ts';

/** - unavailable: nothing is wrong with it, but no connection takes messages now.
 *  - refused: every connection that could be asked refuses this very message. */
export type ReplayOutcome = 'published' | 'unavailable' | 'refused';

export type ReplayParts = {
  /** Reserves and publishes like any other delivery. */
  readonly publish: (message: Message) => Promise<ReplayOutcome>;
  readonly memory: ByteBudget;
  readonly setbacks: Setbacks;
  readonly metrics: Metrics;
  readonly stopping: AbortSignal;
};

/** Besides: corrupt is unreadable for good, skipped is another's by now, failed may go well later. */
const outcomes = ['published', 'unavailable', 'refused', 'corrupt', 'skipped', 'failed'] as const;

type Attempt =
  | { readonly outcome: ReplayOutcome | 'skipped' }
  | { readonly outcome: 'corrupt'; readonly what: string }
  | { readonly outcome: 'failed'; readonly error: unknown };

const forEver = 2 ** 31 - 1;

/** @returns a step: false when there is no use in trying the next one now. It never rejects. */
export function createReplay({ publish, memory, setbacks, metrics, stopping }: ReplayParts): (delivery: Replayable) => Promise<boolean> {
  const replays = metrics.counter({
    name: 'signalbox_replays_total',
    help: 'Tries to publish a spooled delivery, from a file or a row, by outcome',
    labels: ['source', 'outcome'],
  });
  for (const source of ['file', 'row'] as const) for (const outcome of outcomes) replays.inc({ source, outcome }, 0);

  async function tryToPublish(delivery: Replayable): Promise<Attempt> {
    const lease = await memory.acquire(delivery.bytes, forEver);
    try {
      if (stopping.aborted) return { outcome: 'unavailable' };
      const loaded = await delivery.load();
      if (!loaded) return { outcome: 'skipped' };
      return 'message' in loaded ? { outcome: await publish(loaded.message) } : { outcome: 'corrupt', what: loaded.corrupt };
    } catch (error) {
      // one that fails by itself must not keep those behind it; a database that is down fails them all
      return isUnavailable(error) ? { outcome: 'unavailable' } : { outcome: 'failed', error };
    } finally {
      lease?.release();
    }
  }

  async function record(delivery: Replayable, attempt: Attempt): Promise<void> {
    if (attempt.outcome === 'failed') return delivery.postpone(setbacks.failed(delivery.id, attempt.error));
    if (attempt.outcome === 'corrupt') await delivery.corrupt(attempt.what);
    else if (attempt.outcome === 'published') await delivery.published();
    else if (attempt.outcome === 'refused') await delivery.refused();
    else if (attempt.outcome === 'unavailable') await delivery.giveBack();
    setbacks.over(delivery.id);
  }

  return async (delivery) => {
    const { source, id } = delivery;
    const attempt = await tryToPublish(delivery);
    const { outcome } = attempt;
    replays.inc({ source, outcome });
    // What was not recorded comes back when its claim ends.
    await record(delivery, attempt).catch((error: unknown) => setbacks.failed(id, error));
    return outcome !== 'unavailable' && !stopping.aborted;
  };
}
