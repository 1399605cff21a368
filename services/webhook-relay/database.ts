// The relay's database: its timeouts, and a circuit breaker that skips the database while it is down.
import type { Log } from '../platform/log.ts';
import { requestLimits } from '../platform/postgres/pool.ts';
import { Common } from '../platform/problem.ts';
import { withTimeout } from '../platform/time.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';

// Two pools, since reservations must time out sooner.

/** For all but reservations: statistics, rejected deliveries, the table of the spool. Requests have a shorter timeout (`answerInTime`). */
export const generalPool = { schema: 'relay', ...requestLimits };

/**
 * For reservations. They time out early enough to spool the delivery within its budget, even when the server hangs, or to publish it when the
 * server is only slow.
 */
export const usagePool = (budgetMs: number) => ({
  schema: 'relay',
  maxConnections: 4,
  connectMs: Math.round(budgetMs * 0.4),
  statementMs: Math.round(budgetMs * 0.55),
  answerMs: Math.round(budgetMs * 0.6),
});

/** How long a request waits; the pool's own timeouts are longer, for housekeeping. */
export const readTimeoutMs = 2000;

/** @throws Problem 503 when `query` has not settled in time; the query itself goes on */
export const answerInTime = <T>(query: Promise<T>): Promise<T> =>
  withTimeout(query, readTimeoutMs, () => {
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
    /** False from a failure until a probe succeeds; meanwhile callers skip the database. */
    isUp: true,
    failed,
  };
  return state;
}
