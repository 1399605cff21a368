// All SQL of the typed tables' readers.
import knex from 'knex';
import { type Database, statement } from '../../../platform/postgres/pool.ts';
import { type ProcessingCounts, type ProcessingState, processingStates } from '../../contract.ts';
import { columnsOf } from './columns.ts';
import type { PullRequest, TypedItem } from './items.ts';
import { allTables, ownFilters, pullRequests, type TypedQuery, type TypedTable } from './tables.ts';

const builder = knex({ client: 'pg' });

const pullRequest = statement<PullRequest, [repository: string, number: number]>(
  'dashboard.pullRequest',
  `
  select ${columnsOf(pullRequests.item)} from pull_requests where repository = $1 and number = $2 order by updated_at desc, id desc limit 1`,
);

// What waits has an index of its own, and all rows are counted by the primary key's: no table is read for it.
const counts = statement<{ path: string; state: ProcessingState | null; rows: number }>(
  'dashboard.processingCounts',
  Object.values(allTables)
    .map(
      ({ path, table }) => `
    select '${path}' as path, processing_state as state, count(*) as rows from ${table} where processing_state <> 'PROCESSED' group by processing_state
    union all select '${path}', null, count(*) from ${table}`,
    )
    .join(' union all '),
);

const none: ProcessingCounts = { NEW: 0, PROCESSING: 0, PROCESSED: 0, UPDATED: 0, RE_REQUESTED: 0 };

export type TypedStore = ReturnType<typeof createTypedStore>;

export const createTypedStore = (database: Database) => ({
  /** What changed last comes first; one more than the limit, where there are more. */
  async newest<Item extends TypedItem>({ table, item, filters }: TypedTable<Item>, query: TypedQuery): Promise<Item[]> {
    const { limit, after, processingState, deleted } = query;
    const select = builder
      .from(table)
      .select(builder.raw(columnsOf(item)))
      .orderBy([
        { column: 'updated_at', order: 'desc' },
        { column: 'id', order: 'desc' },
      ])
      .limit(limit + 1);
    for (const filter of ownFilters) {
      const [column, value] = [filters[filter], query[filter]];
      if (column !== undefined && value !== undefined) select.where(column, value);
    }
    if (processingState !== undefined) select.where('processing_state', processingState);
    if (deleted !== undefined) select.whereRaw(deleted === 'true' ? 'deleted_at is not null' : 'deleted_at is null');
    if (after) select.whereRaw('(updated_at, id) < (?, ?)', [new Date(after[0]), after[1]]);
    return database.select<Item>(select);
  },

  /** Those first seen longest ago come first. Each state is read in order by its index, and no more of it than a page. */
  async inStates<Item extends TypedItem>(
    { table, item }: TypedTable<Item>,
    { states, limit, after }: { readonly states: readonly ProcessingState[]; readonly limit: number; readonly after: string | undefined },
  ): Promise<Item[]> {
    const ofState = (state: ProcessingState) => {
      const select = builder
        .from(table)
        .select('*')
        .where('processing_state', state)
        .orderBy('id')
        .limit(limit + 1);
      return after === undefined ? select : select.where('id', '>', after);
    };
    const rows = builder.unionAll(states.map(ofState), true).as('waiting');
    return database.select<Item>(
      builder
        .from(rows)
        .select(builder.raw(columnsOf(item)))
        .orderBy('id')
        .limit(limit + 1),
    );
  },

  pullRequest: (repository: string, number: number) => database.first(pullRequest, repository, number),

  async processingCounts(): Promise<Record<string, ProcessingCounts>> {
    const rows = await database.all(counts);
    const tables = Object.values(allTables).map(({ path }) => {
      const own = rows.filter((row) => row.path === path);
      const waiting = { ...none, ...Object.fromEntries(own.flatMap(({ state, rows: number }) => (state === null ? [] : [[state, number]]))) };
      const total = own.find(({ state }) => state === null)?.rows ?? 0;
      return [path, { ...waiting, PROCESSED: processingStates.reduce((left, state) => left - waiting[state], total) }] as const;
    });
    return Object.fromEntries(tables);
  },
});
