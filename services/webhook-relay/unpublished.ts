// A delivery that was not published: refused at the limits, or kept on the disk until it can be.
import type { Message } from '../platform/broker/broker.ts';
import type { Log } from '../platform/log.ts';
import type { Problem } from '../platform/problem.ts';
import { withTimeout } from '../platform/time.ts';
import type { Alerts } from './alerts.ts';
import type { Published } from './connections/publisher.ts';
import { Problems } from './contract.ts';
import { notKept } from './rejected/store.ts';
import type { Spool } from './spool/spool.ts';

type UnpublishedParts = {
  readonly spool: Pick<Spool, 'write'>;
  readonly alerts: Alerts;
  readonly log: Log;
};

type Unpublished = Exclude<Published, { outcome: 'published' }>;

/** The outcome for the metric and the access log, and the answer. */
type Refusal = { readonly outcome: 'exhausted' | 'spooled' | 'lost'; readonly problem: Problem };

export type RefuseUnpublished = ReturnType<typeof createRefuseUnpublished>;

export function createRefuseUnpublished({ spool, alerts, log }: UnpublishedParts) {
  function refuseAtLimit(id: string, { period, counts }: Extract<Unpublished, { outcome: 'exhausted' }>): Refusal {
    log.error({ id, period, connections: counts }, 'delivery not accepted, every connection has reached its monthly limit');
    alerts.limitsReached({ deliveryId: id, period, counts });
    const each = counts.map(({ broker, messageCount, monthlyLimit }) => `${broker} (${messageCount} of ${monthlyLimit})`);
    const detail = `No connection has room left in ${period}: ${each.join(', ')}.`;
    return { outcome: 'exhausted', problem: Problems.limitsReached({ detail, period, connections: counts }) };
  }

  /** @param deadline by `performance.now()` */
  return async (message: Message, published: Unpublished, deadline: number): Promise<Refusal> => {
    if (published.outcome === 'exhausted') return refuseAtLimit(message.id, published);
    const restMs = Math.max(0, deadline - performance.now());
    // A disk that hangs must not hold up the forge.
    const spooled = await withTimeout(spool.write({ message, reason: published.reason }, restMs), restMs, () => false);
    const what = published.outcome === 'refused' ? 'Every broker connection refuses this delivery for its size.' : 'The delivery could not be published now.';
    const then = spooled ? 'It is kept and will be published later.' : notKept;
    const problem = Problems.notPublished({ detail: `${what} ${then}`, id: message.id, spooled });
    return { outcome: spooled ? 'spooled' : 'lost', problem };
  };
}
