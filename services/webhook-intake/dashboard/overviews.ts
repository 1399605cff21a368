// At a glance: how much was received, who caused it, and the newest of everything.
import { z } from 'zod';
import { queryInteger } from '../../platform/schema.ts';
import { bucketHours, Event, type Statistics } from '../contract.ts';
import { typedTables } from '../typed/tables.ts';
import type { TypedTable } from '../typed/typed-table.ts';
import { namePage, pageOf } from './paging.ts';
import { inDays, seriesOf, type StatisticsQuery } from './statistics.ts';
import type { DashboardStore } from './store.ts';

const list = 'senders';
export const SenderQuery = z.object(namePage(list));

export const RecentQuery = z.object({ limit: queryInteger({ min: 1, max: 50, default: 10 }) });

const lists: Readonly<Record<string, z.ZodArray>> = {
  events: z.array(Event),
  ...Object.fromEntries(Object.entries(typedTables).map(([name, { item }]) => [name, z.array(item)])),
};
/** Newest events, and of each typed table what changed last. */
export const Recent = z.object(lists);

export type Overviews = ReturnType<typeof createOverviews>;

export const createOverviews = (store: DashboardStore) => ({
  /** @param zone where days begin */
  async statistics({ by, ...filter }: z.output<typeof StatisticsQuery>, zone: string): Promise<Statistics> {
    const buckets = await store.buckets(filter);
    return { bucketHours, series: seriesOf(by === 'day' ? inDays(buckets, zone) : buckets) };
  },

  async senders({ limit, after }: z.output<typeof SenderQuery>) {
    const rows = await store.senders(after?.[0] ?? '', limit + 1);
    return pageOf(list, { rows, limit }, ({ sender }) => [sender]);
  },

  /** One question after the other: a dashboard that refreshes must not take every connection of the pool. */
  async recent({ limit }: z.output<typeof RecentQuery>): Promise<z.output<typeof Recent>> {
    const recent: Record<string, unknown[]> = { events: (await store.newestEvents({}, { limit })).slice(0, limit) };
    for (const [name, table] of Object.entries<TypedTable>(typedTables)) recent[name] = (await store.newestRows(table, { limit })).slice(0, limit);
    return recent;
  },
});
