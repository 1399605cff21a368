// One page of a list that is newest first, at a cost that does not grow with the list: at most so many rows of one index are looked at.
import knex from 'knex';
import { MAX, NIL } from 'uuid';
import type { Database } from '../../platform/postgres/pool.ts';
import type { TimePage, TimePosition } from '../paging.ts';

const builder = knex({ client: 'pg' });

/** Looked at for a page. Filters that rarely meet leave it shorter than its limit, or empty, with a `next` behind what was looked at. */
const mostRows = 1000;

/** Names and expressions are constants of this program. */
export type List = {
  readonly table: string;
  /** The list is in its order, then in that of the id. */
  readonly time: string;
  /** The select list. */
  readonly columns: string;
};

type Keys = Readonly<Record<string, string | number | boolean>>;

/** An equality whose rows stand together in an index, in the order of the list. */
export type Leading = {
  /** The first columns or expressions of the index, and their values. */
  readonly keys: Keys;
  /** Rows that have the keys of one of these; only where it is the one condition. */
  readonly anyOf?: readonly Keys[];
  /** The condition of a partial index. */
  readonly within?: string;
};

/** In SQL with a place for the value, where it has one. */
type Other = { readonly sql: string; readonly value?: string | number };

export type Conditions = {
  readonly leading?: readonly Leading[];
  /** Conditions without an index. */
  readonly others?: readonly Other[];
  /** Included. */
  readonly from?: Date | undefined;
  /** Not included. */
  readonly to?: Date | undefined;
  /** Rows that are looked at for a page, where several conditions hold or one has no index. */
  readonly lookAt?: number;
};

/** One row more than the limit, where there are more of those looked at; `end` is the last one looked at, where the list goes on behind it. */
export type NewestRows<Row> = { readonly rows: Row[]; readonly end?: TimePosition | undefined };

export async function newest<Row>(database: Database, list: List, { limit: most, after, ...conditions }: Conditions & TimePage): Promise<NewestRows<Row>> {
  const { leading = [], others = [], from, to } = conditions;
  const limit = most + 1;
  const columns = builder.raw(list.columns);
  if (leading.length <= 1 && others.length === 0) {
    const span = { from, before: before(after, to) };
    return { rows: await database.select<Row>(inOrder(list, { ...(leading[0] ?? everything), span }, limit).select(columns)) };
  }
  const { rows, end } = await matching(database, list, { ...conditions, after });
  return {
    rows: await database.select<Row>(
      rows
        .select(columns)
        .orderByRaw(descending([list.time, 'id']))
        .limit(limit),
    ),
    end,
  };
}

/** All rows that meet the conditions among those looked at, without an order and open for a select list; `end` as above. */
export async function matching(database: Database, list: List, { after, ...conditions }: Conditions & Pick<TimePage, 'after'>) {
  const { leading = [], others = [], from, to, lookAt = mostRows } = conditions;
  const span = { from, before: before(after, to) };
  const ways = (leading.length > 0 ? leading : [everything]).map((one) => ({ ...one, span }));
  const { way, end } = await shortest(database, list, { ways, lookAt });
  const rows = builder.from(inOrder(list, ways[way], lookAt).as('looked_at'));
  for (const [key, value] of leading.flatMap(({ keys }) => Object.entries(keys))) rows.whereRaw(`${key} = ?`, [value]);
  for (const { sql, value } of others) rows.whereRaw(sql, value === undefined ? [] : [value]);
  return { rows, end };
}

const everything: Leading = { keys: {} };
const descending = (keys: readonly string[]) => keys.map((key) => `${key} desc`).join(', ');

type Span = { readonly from?: Date | undefined; readonly before?: readonly [Date] | readonly [Date, string] | undefined };
type Way = Leading & { readonly span: Span };

/** Exclusive. */
function before(after: TimePosition | undefined, to: Date | undefined): Span['before'] {
  if (after && (!to || after[0] < to.getTime())) return [new Date(after[0]), after[1]];
  return to && [to];
}

/**
 * All rows of an index that begin with these keys, newest first. The keys are part of the order and bounds of a range instead of equalities:
 * then no other index gives that order. Left the choice, Postgres walks the whole list by its time for a value that is frequent, through
 * everything that came since when there is none of it among the newest. The bounds include their ends, as for rows without these Postgres
 * reckons by the first key alone, finds next to none, and sorts them all.
 */
function inOrder(list: List, { anyOf, ...way }: Way = { ...everything, span: {} }, most: number) {
  if (!anyOf) return range(list, way).limit(most);
  const rows = builder.unionAll(
    anyOf.map((keys) =>
      range(list, { ...way, keys })
        .select('*')
        .limit(most),
    ),
    true,
  );
  return builder
    .from(rows.as('of_any'))
    .orderByRaw(descending([list.time, 'id']))
    .limit(most);
}

function range({ table, time }: List, { keys, within, span: { from, before } }: Way) {
  const names = [...Object.keys(keys), time, 'id'];
  const query = builder.from(table).orderByRaw(descending(names));
  const compare = (operator: string, columns: readonly string[], values: readonly (string | number | boolean | Date)[]) =>
    query.whereRaw(`(${columns.slice(0, values.length).join(', ')}) ${operator} (${values.map(() => '?').join(', ')})`, values);
  compare('>=', names, [...Object.values(keys), from ?? '-infinity']);
  compare('<=', names, [...Object.values(keys), ...(before ?? ['infinity'])]);
  if (before) compare('<', [time, 'id'], before);
  // For the planner: which partitions, and that an index which is limited may be taken.
  if (from) query.where(time, '>=', from);
  if (before) query.where(time, '<=', before[0]);
  if (within !== undefined) query.whereRaw(within);
  return query;
}

type Ways = { readonly ways: readonly Way[]; readonly lookAt: number };

/** Each way has all rows that are asked for among its own: the one that comes furthest back has the fewest others. `end` is where it stops. */
async function shortest(database: Database, list: List, { ways, lookAt }: Ways) {
  const { time } = list;
  const ends = ways.map((one, way) =>
    inOrder(list, one, lookAt)
      .select(builder.raw('? ::int as way', [way]), { time }, 'id')
      .offset(lookAt - 1)
      .limit(1),
  );
  const stops = await database.select<{ way: number; time: Date; id: string }>(builder.unionAll(ends, true));
  const whole = ways.findIndex((_, way) => !stops.some((stop) => stop.way === way));
  if (whole >= 0) return { way: whole, end: undefined };
  const [furthest] = stops.toSorted((one, other) => one.time.getTime() - other.time.getTime() || (one.id < other.id ? -1 : 1));
  return { way: furthest?.way ?? 0, end: furthest && ([furthest.time.getTime(), furthest.id] satisfies TimePosition) };
}

/** A list in the order of ids, which is that of creation. Names and columns are constants of this program. */
type IdList = {
  readonly table: string;
  /** The select list. */
  readonly columns: string;
  /** Each set of those that are given leads an index, in this order, which ends with the id. */
  readonly equal: Readonly<Record<string, string | undefined>>;
};

export type IdPage = { readonly rows: number; readonly after?: string | undefined };

/** The newest first. Bounds of a range in the order of the index: left the choice, Postgres walks the whole list for a value that is frequent elsewhere. */
export function newestById<Row>(database: Database, { table, columns, equal }: IdList, { rows, after = MAX }: IdPage): Promise<Row[]> {
  const given = Object.entries(equal).flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
  const names = [...given.map(({ column }) => column), 'id'];
  const values = given.map(({ value }) => value);
  const place = `(${names.map(() => '?').join(', ')})`;
  return database.select<Row>(
    builder
      .from(table)
      .select(builder.raw(columns))
      .whereRaw(`(${names.join(', ')}) >= ${place}`, [...values, NIL])
      .whereRaw(`(${names.join(', ')}) <= ${place}`, [...values, after])
      .where('id', '<', after)
      .orderByRaw(names.map((name) => `${name} desc`).join(', '))
      .limit(rows),
  );
}
