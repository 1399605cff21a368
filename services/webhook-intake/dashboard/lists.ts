// Lists of senders, of typed rows, and of what waits to be processed; and the newest of everything.
import { z } from 'zod';
import { queryChoice, queryInteger } from '../../platform/schema.ts';
import { Event, processingStates } from '../contract.ts';
import { typedTables } from '../typed/tables.ts';
import type { TypedQuery, TypedTable } from '../typed/typed-table.ts';
import { idPage, namePage, pageOf } from './paging.ts';
import type { DashboardStore } from './store.ts';

const sendersList = 'senders';
export const SenderQuery = z.object(namePage(sendersList));

export const RecentQuery = z.object({ limit: queryInteger({ min: 1, max: 50, default: 10 }).meta({ description: 'How many of each' }) });

const newest: Readonly<Record<string, z.ZodArray>> = {
  events: z.array(Event),
  ...Object.fromEntries(Object.entries(typedTables).map(([name, { item }]) => [name, z.array(item)])),
};
/** Newest events, and of each typed table what changed last. */
export const Recent = z.object(newest).meta({ id: 'Recent' });

const processingList = (path: string) => `${path}/processing`;
/** @param path of the table */
export const processingQuery = (path: string) =>
  z.object({ state: queryChoice(processingStates).optional().meta({ description: 'Those in this state only' }), ...idPage(processingList(path)) });
type ProcessingQuery = z.output<ReturnType<typeof processingQuery>>;

const unprocessed = processingStates.filter((state) => state !== 'PROCESSED');

export type Lists = ReturnType<typeof createLists>;

export const createLists = (store: DashboardStore) => ({
  async senders({ limit, after }: z.output<typeof SenderQuery>) {
    const rows = await store.senders(after?.[0] ?? '', limit + 1);
    return pageOf(sendersList, { rows, limit }, ({ sender }) => [sender]);
  },

  /** One question after the other: a dashboard that refreshes must not take every connection of the pool. */
  async recent({ limit }: z.output<typeof RecentQuery>): Promise<z.output<typeof Recent>> {
    const recent: Record<string, unknown[]> = { events: (await store.newestEvents({}, { limit })).rows.slice(0, limit) };
    for (const [name, table] of Object.entries<TypedTable>(typedTables)) recent[name] = (await store.newestRows(table, { limit })).rows.slice(0, limit);
    return recent;
  },

  /** @param list whose cursors `query` takes */
  async typed(table: TypedTable, query: TypedQuery, list = table.path) {
    const found = await store.newestRows(table, query);
    return pageOf(list, { ...found, limit: query.limit }, ({ updatedAt, id }) => [updatedAt.getTime(), id]);
  },

  /** Those not yet PROCESSED, or those in one state. */
  async processing(table: TypedTable, { state, limit, after }: ProcessingQuery) {
    const rows = await store.rowsInStates(table, { states: state === undefined ? unprocessed : [state], limit, after: after?.[0] });
    return pageOf(processingList(table.path), { rows, limit }, ({ id }) => [id]);
  },

  counts: () => store.processingCounts(),
});
