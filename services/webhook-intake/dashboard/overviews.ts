// At a glance: who caused the events in the log, and the newest of everything.
import { z } from 'zod';
import { queryInteger } from '../../platform/schema.ts';
import { Event } from '../contract.ts';
import { typedTables } from '../typed/tables.ts';
import type { TypedTable } from '../typed/typed-table.ts';
import { namePage, pageOf } from './paging.ts';
import type { DashboardStore } from './store.ts';

const list = 'senders';
export const SenderQuery = z.object(namePage(list));

export async function listSenders(store: DashboardStore, { limit, after }: z.output<typeof SenderQuery>) {
  const rows = await store.senders(after?.[0] ?? '', limit + 1);
  return pageOf(list, { rows, limit }, ({ sender }) => [sender]);
}

export const RecentQuery = z.object({ limit: queryInteger({ min: 1, max: 50, default: 10 }) });

const lists: Readonly<Record<string, z.ZodArray>> = {
  events: z.array(Event),
  ...Object.fromEntries(Object.entries(typedTables).map(([name, { item }]) => [name, z.array(item)])),
};
/** Newest events, and of each typed table what changed last. */
export const Recent = z.object(lists);

/** One question after the other: a dashboard that refreshes must not take every connection of the pool. */
export async function readRecent(store: DashboardStore, { limit }: z.output<typeof RecentQuery>): Promise<z.output<typeof Recent>> {
  const recent: Record<string, unknown[]> = { events: (await store.newestEvents({}, { limit })).slice(0, limit) };
  for (const [name, table] of Object.entries<TypedTable>(typedTables)) recent[name] = (await store.newestRows(table, { limit })).slice(0, limit);
  return recent;
}
