// Reading typed rows: lists of them, what waits to be processed, and how many are in which state.
import { z } from 'zod';
import { queryChoice } from '../../../platform/schema.ts';
import { processingStates } from '../../contract.ts';
import { idCursor, limit, pageOf } from '../paging.ts';
import type { TypedItem } from './items.ts';
import type { TypedStore } from './store.ts';
import type { TypedQuery, TypedTable } from './tables.ts';

export const ProcessingQuery = z.object({ state: queryChoice(processingStates).optional(), limit, after: idCursor.optional() });
export type ProcessingQuery = z.output<typeof ProcessingQuery>;

const unprocessed = processingStates.filter((state) => state !== 'PROCESSED');

export type Typed = ReturnType<typeof createTyped>;

export const createTyped = (store: TypedStore) => ({
  async list<Item extends TypedItem>(table: TypedTable<Item>, query: TypedQuery) {
    const rows = await store.newest(table, query);
    return pageOf(rows, query.limit, ({ updatedAt, id }) => [updatedAt.getTime(), id]);
  },

  /** Those not yet PROCESSED, or those in one state. */
  async processing<Item extends TypedItem>(table: TypedTable<Item>, { state, limit: most, after }: ProcessingQuery) {
    const rows = await store.inStates(table, { states: state === undefined ? unprocessed : [state], limit: most, after: after?.[0] });
    return pageOf(rows, most, ({ id }) => [id]);
  },

  counts: () => store.processingCounts(),
});
