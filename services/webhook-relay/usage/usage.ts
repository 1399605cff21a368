// The rules of usage records: what is shown, what may be deleted, what a reset does.
import { type PeriodUsage, Problems } from '../contract.ts';
import { type Overviews, toUsage } from './overview.ts';
import { periodOf } from './period.ts';
import type { UsageStore } from './store.ts';

export type Usage = {
  current(): Promise<PeriodUsage>;
  /** Newest period first; a past month shows the limits that were in force then. */
  history(): Promise<PeriodUsage[]>;
  /** Strictly before `olderThan`, and never the current month. @returns how many records */
  deleteOlderThan(olderThan: string): Promise<number>;
  /** @throws Problem 400 for the current month */
  deletePeriod(period: string): Promise<number>;
  /** Opens the connection with a full month of capacity. @throws Problem 404 */
  reset(broker: string): Promise<number>;
};

export type UsageParts = { readonly store: UsageStore; readonly overviews: Overviews; readonly clock: () => Date };

export function createUsage({ store, overviews, clock }: UsageParts): Usage {
  async function current(): Promise<PeriodUsage> {
    const { period, brokers } = await overviews.now();
    return { period, brokers: [...brokers] };
  }

  return {
    current,
    async history() {
      const now = await current();
      const rows = (await store.stored()).filter(({ period }) => period !== now.period);
      const past = Map.groupBy(rows, ({ period }) => period);
      const periods = [...past].map(([period, brokers]) => ({ period, brokers: brokers.toSorted(byNumber).map((row) => toUsage(row, row.messageCount)) }));
      // A replica whose clock is ahead may have begun the next month.
      return [now, ...periods].toSorted((a, b) => (a.period < b.period ? 1 : -1));
    },
    deleteOlderThan: (olderThan) => store.deleteBefore(olderThan, periodOf(clock())),
    async deletePeriod(period) {
      if (period === periodOf(clock())) throw Problems.currentPeriod({ detail: `${period} is the current month.` });
      return store.deletePeriod(period);
    },
    async reset(name) {
      const { period, brokers } = await current();
      const found = brokers.find(({ broker }) => broker.toLowerCase() === name.toLowerCase());
      if (!found) throw Problems.connectionMissing();
      const count = await store.reset(found.broker, period);
      overviews.changed();
      return count;
    },
  };
}

const numberOf = (broker: string) => Number(/\d+$/.exec(broker)?.[0] ?? 0);
const byNumber = (a: { readonly broker: string }, b: { readonly broker: string }) => numberOf(a.broker) - numberOf(b.broker);
