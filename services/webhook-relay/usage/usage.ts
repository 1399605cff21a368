// Usage of connections by month, the active connection, and the deletion and reset of usage.
import { z } from 'zod';
import { route } from '../../platform/http/route.ts';
import { withTimeout } from '../../platform/time.ts';
import { BrokerUsage, Deleted, Period, PeriodUsage, Problems, UsageHistory } from '../contract.ts';
import { answerInTime, type DatabaseState, readTimeoutMs } from '../database.ts';
import type { Reservations } from './reservations.ts';
import { periodOf, type Quota, type UsageRow, type UsageStore } from './store.ts';

export type Usage = ReturnType<typeof createUsage>;

type UsageParts = {
  readonly store: Omit<UsageStore, 'reserve' | 'refund' | 'activate'>;
  readonly reservations: Pick<Reservations, 'withoutStock' | 'changed'>;
  readonly connections: { readonly quotas: readonly Quota[] };
  readonly database: DatabaseState;
  readonly clock: () => Date;
};

type Known = { readonly rows: readonly UsageRow[]; readonly active: string };

const freshMs = 1000;

export function createUsage({ store, reservations, connections, database, clock }: UsageParts) {
  let known: Known = { rows: [], active: '' };
  let askedAt = -Infinity;
  let asking: Promise<Known | undefined> | undefined;
  let changes = 0;
  const currentPeriod = () => periodOf(clock());

  async function ask(): Promise<Known> {
    const asOf = changes;
    const [rows, active] = await reservations.withoutStock(() => Promise.all([store.ofPeriod(currentPeriod()), store.active()]));
    const answer = { rows, active };
    // An answer that was read before a change may arrive after one that was read later.
    if (asOf === changes) {
      known = answer;
      askedAt = performance.now();
    }
    return answer;
  }

  /** The configured connections in their order, then others that were used this month, with the limit that was in force then;
   *  `active` is null when none is configured. */
  function compose({ rows: all, active }: Known) {
    const period = currentPeriod();
    const configured = connections.quotas;
    const rows = all.filter((row) => row.period === period);
    const countOf = (broker: string) => rows.find((row) => row.broker === broker)?.messageCount ?? 0;
    const others = rows.filter(({ broker }) => !configured.some((quota) => quota.broker === broker));
    return {
      period,
      active: (configured.find(({ broker }) => broker === active) ?? configured[0])?.broker ?? null,
      brokers: [...configured.map((quota) => toUsage(quota, countOf(quota.broker))), ...others.map((row) => toUsage(row, row.messageCount))],
    };
  }

  /** Call after a change: earlier answers are no longer recent. */
  function changed(): void {
    reservations.changed();
    changes++;
    askedAt = -Infinity;
    asking = undefined;
  }

  const overview = async () => compose(await ask());

  async function current(): Promise<PeriodUsage> {
    const { period, brokers } = await overview();
    return { period, brokers };
  }

  return {
    /** Rejects when the database does not answer. */
    overview,
    current,
    /** At most a second old, or the last known one while the database is slow: a 401, a probe and a scrape wait for this.
     *  Never rejects. */
    async recent() {
      if (database.isUp && performance.now() - askedAt > freshMs) {
        asking ??= ask()
          .catch((error: unknown) => void database.failed(error))
          .finally(() => (asking = undefined));
        return compose((await withTimeout(asking, readTimeoutMs, () => undefined)) ?? known);
      }
      return compose(known);
    },
    changed,
    /** Newest period first; a past month shows the limits that were in force then. */
    async history(): Promise<PeriodUsage[]> {
      const now = await current();
      const past = Map.groupBy(await store.stored(), ({ period }) => period);
      past.delete(now.period);
      const periods = [...past].map(([period, rows]) => ({ period, brokers: rows.toSorted(byNumber).map((row) => toUsage(row, row.messageCount)) }));
      // A replica whose clock is ahead may have begun the next month.
      return [now, ...periods].toSorted((a, b) => (a.period < b.period ? 1 : -1));
    },
    /** Strictly before `olderThan`, and never the current month. @returns how many records */
    deleteOlderThan: (olderThan: string): Promise<number> => store.deleteBefore(olderThan, currentPeriod()),
    /** @throws Problem 400 for the current month */
    async deletePeriod(period: string): Promise<number> {
      if (period === currentPeriod()) throw Problems.currentPeriod({ detail: `${period} is the current month.` });
      return store.deletePeriod(period);
    },
    /** Opens the connection with a full month of capacity. @param by the id of the credential that asks for it @throws Problem 404 */
    async reset(name: string, by: string | null): Promise<number> {
      const { period, brokers } = await current();
      const found = brokers.find(({ broker }) => broker.toLowerCase() === name.toLowerCase());
      if (!found) throw Problems.connectionMissing({ detail: `The connections are ${brokers.map(({ broker }) => broker).join(', ')}.` });
      const count = await store.reset(found.broker, period, by);
      changed();
      return count;
    },
  };
}

function toUsage({ broker, monthlyLimit, limitSource }: Quota, messageCount: number): BrokerUsage {
  const remaining = Math.max(0, monthlyLimit - messageCount);
  return { broker, messageCount, monthlyLimit, limitSource, remaining, limitReached: remaining === 0 };
}

const byNumber = (a: UsageRow, b: UsageRow) => a.broker.localeCompare(b.broker, 'en', { numeric: true });

export const usageRoutes = (usage: Usage) => [...readRoutes(usage), ...deleteRoutes(usage)];

const readRoutes = (usage: Usage) => [
  route({
    method: 'get',
    path: '/broker/usage/current',
    operationId: 'getCurrentUsage',
    summary: 'Shows the usage of the current month',
    description: 'The answer has the configured connections and those that were used this month. Months are UTC.',
    answers: { 200: PeriodUsage },
    handle: () => answerInTime(usage.current()),
  }),
  route({
    method: 'get',
    path: '/broker/usage',
    operationId: 'listUsage',
    summary: 'Lists the usage of all months',
    description: 'A past month has the limits that were in force then.',
    answers: { 200: UsageHistory },
    handle: async () => ({ periods: await answerInTime(usage.history()) }),
  }),
];

const deleteRoutes = (usage: Usage) => [
  route({
    method: 'delete',
    path: '/broker/usage',
    operationId: 'deleteUsageBefore',
    summary: 'Deletes the usage of months before one',
    description: 'The usage of the current month always stays.',
    query: z.object({ olderThan: Period.meta({ description: 'The first month that stays' }) }),
    answers: { 200: Deleted },
    handle: async ({ query }) => ({ deleted: await usage.deleteOlderThan(query.olderThan) }),
  }),
  route({
    method: 'delete',
    path: '/broker/usage/current/{broker}',
    operationId: 'resetCurrentUsage',
    summary: 'Resets the usage of a connection',
    description: 'The connection has its whole limit again for the rest of the month.',
    params: z.object({ broker: BrokerUsage.shape.broker.meta({ description: 'The name of the connection' }) }),
    answers: { 200: Deleted },
    problems: [Problems.connectionMissing],
    handle: async ({ params, principal }) => ({ deleted: await usage.reset(params.broker, principal.id) }),
  }),
  route({
    method: 'delete',
    path: '/broker/usage/{period}',
    operationId: 'deleteUsageOfMonth',
    summary: 'Deletes the usage of a past month',
    description: 'The usage of the current month is answered 400.',
    params: z.object({ period: Period.meta({ description: 'The month whose usage is deleted' }) }),
    answers: { 200: Deleted },
    problems: [Problems.currentPeriod],
    handle: async ({ params }) => ({ deleted: await usage.deletePeriod(params.period) }),
  }),
];
