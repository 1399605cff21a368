// The relay's use of its database: how long it waits for it, and that it asks nothing of one that is down.
import type { Log } from '../platform/log.ts';
import { requestLimits } from '../platform/postgres/pool.ts';
import { Common } from '../platform/problem.ts';
import { withTimeout } from '../platform/time.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';

// Two pools, since not everything may wait for as long.

/** For all but reservations: statistics, rejected deliveries, the table of the spool. Callers that wait for an answer bound the wait themselves. */
export const generalPool = { schema: 'relay', ...requestLimits };

/**
 * For reservations. They fail soon enough to leave time for the spool, also when the server hangs; a slow one beside a busy node leaves time
 * to publish.
 */
export const usagePool = (budgetMs: number) => ({
  schema: 'relay',
  maxConnections: 4,
  connectMs: Math.round(budgetMs * 0.4),
  statementMs: Math.round(budgetMs * 0.55),
  answerMs: Math.round(budgetMs * 0.6),
});

/** The longest wait of a person, a dashboard or a probe; the limits of the pools leave housekeeping its time. */
export const readTimeoutMs = 2000;

/** @throws Problem 503 when `asked` has not settled in time; what it does goes on */
export const answerInTime = <T>(asked: Promise<T>): Promise<T> =>
  withTimeout(asked, readTimeoutMs, () => {
    throw Common.unavailable({ detail: 'The database does not answer in time.', headers: { 'Retry-After': '5' } });
  });

export type DatabaseState = ReturnType<typeof createDatabaseState>;

const probeEveryMs = 250;
const probeTimeoutMs = 3000;

/** @param ping rejects while the database does not answer */
export function createDatabaseState(ping: () => Promise<unknown>, log: Log, stopping: AbortSignal) {
  const { failed } = createCircuitBreaker({
    probe: ping,
    probeTimeoutMs,
    probeEveryMs,
    openMs: { firstMs: probeEveryMs, longestMs: probeEveryMs },
    onOpen(error) {
      state.isUp = false;
      log.error({ error }, 'database unavailable, deliveries are spooled');
    },
    onClose() {
      state.isUp = true;
      log.info('database available again');
    },
    stopping,
  });
  const state = {
    /** False from the first failure until the database has answered again: nothing waits for it meanwhile. */
    isUp: true,
    failed,
  };
  return state;
}
