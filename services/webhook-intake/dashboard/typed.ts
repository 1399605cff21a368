// Reading typed rows: lists of them, what waits to be processed, and how many are in which state.
import { z } from 'zod';
import { queryChoice } from '../../platform/schema.ts';
import { processingStates } from '../contract.ts';
import type { TypedQuery, TypedTable } from '../typed/typed-table.ts';
import { idPage, pageOf } from './paging.ts';
import type { DashboardStore } from './store.ts';

const processingList = (path: string) => `${path}/processing`;
/** @param path of the table */
export const processingQuery = (path: string) => z.object({ state: queryChoice(processingStates).optional(), ...idPage(processingList(path)) });
type ProcessingQuery = z.output<ReturnType<typeof processingQuery>>;

const unprocessed = processingStates.filter((state) => state !== 'PROCESSED');

export type Typed = ReturnType<typeof createTyped>;

export const createTyped = (store: DashboardStore) => ({
  /** @param list whose cursors `query` takes */
  async list(table: TypedTable, query: TypedQuery, list = table.path) {
    const rows = await store.newestRows(table, query);
    return pageOf(list, { rows, limit: query.limit }, ({ updatedAt, id }) => [updatedAt.getTime(), id]);
  },

  /** Those not yet PROCESSED, or those in one state. */
  async processing(table: TypedTable, { state, limit, after }: ProcessingQuery) {
    const rows = await store.rowsInStates(table, { states: state === undefined ? unprocessed : [state], limit, after: after?.[0] });
    return pageOf(processingList(table.path), { rows, limit }, ({ id }) => [id]);
  },

  counts: () => store.processingCounts(),
});
