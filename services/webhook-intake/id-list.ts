// One page of a list in the order of ids, which is that of creation, the newest first.
import knex from 'knex';
import type { Database } from '../platform/postgres/pool.ts';

const builder = knex({ client: 'pg' });
const [firstId, lastId] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

/** Names and columns are constants of this program. */
type IdList = {
  readonly table: string;
  /** The select list. */
  readonly columns: string;
  /** Each set of those that are given leads an index, in this order, which ends with the id. */
  readonly equal: Readonly<Record<string, string | undefined>>;
};

export type IdPage = { readonly rows: number; readonly after?: string | undefined };

/** Bounds of a range in the order of the index: left the choice, Postgres walks the whole list for a value that is frequent elsewhere. */
export function newestById<Row>(database: Database, { table, columns, equal }: IdList, { rows, after = lastId }: IdPage): Promise<Row[]> {
  const given = Object.entries(equal).flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
  const names = [...given.map(({ column }) => column), 'id'];
  const values = given.map(({ value }) => value);
  const place = `(${names.map(() => '?').join(', ')})`;
  return database.select<Row>(
    builder
      .from(table)
      .select(builder.raw(columns))
      .whereRaw(`(${names.join(', ')}) >= ${place}`, [...values, firstId])
      .whereRaw(`(${names.join(', ')}) <= ${place}`, [...values, after])
      .where('id', '<', after)
      .orderByRaw(names.map((name) => `${name} desc`).join(', '))
      .limit(rows),
  );
}
