// At a glance: how much was received, who caused it, and the newest of everything.
import { z } from 'zod';
import { queryChoice, queryInteger, textFor, TimestampInput } from '../../platform/schema.ts';
import { bucketHours, Event, type Statistics } from '../contract.ts';
import { typedTables } from '../typed/tables.ts';
import type { TypedTable } from '../typed/typed-table.ts';
import { createDayStart, timeZone } from './local-days.ts';
import { filterText, namePage, pageOf } from './paging.ts';
import type { Bucket, DashboardStore } from './store.ts';

export const StatisticsQuery = z.object({
  source: filterText,
  event: filterText,
  from: TimestampInput.optional(),
  to: TimestampInput.optional(),
  by: queryChoice(['day']).optional(),
});

export const StatisticsHeaders = z.object({
  'X-Timezone': textFor(timeZone, 'must be an IANA time zone')
    .default('UTC')
    .meta({ override: { type: 'string', default: 'UTC', description: 'IANA name of the time zone whose days `by=day` counts in' } }),
});

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
    // A bucket belongs to the day in which it begins.
    return { bucketHours, series: seriesOf(buckets, by === 'day' ? createDayStart(zone) : (start) => start) };
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

/** Buckets come in order of their series and of time. @param pointStart begin of the point that a bucket belongs to */
function seriesOf(buckets: readonly Bucket[], pointStart: (bucketStart: Date) => Date): Statistics['series'] {
  const series: Statistics['series'] = [];
  for (const { source, event, ...counted } of buckets) {
    let current = series.at(-1);
    if (current?.source !== source || current.event !== event) series.push((current = { source, event, points: [] }));
    const start = pointStart(counted.start);
    const last = current.points.at(-1);
    if (last?.start.getTime() === start.getTime()) {
      last.received += counted.received;
      last.duplicates += counted.duplicates;
      last.bytes += counted.bytes;
    } else current.points.push({ ...counted, start });
  }
  return series;
}
