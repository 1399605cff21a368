// Paging of lists: query parameters, filters, and the page of an answer.
import { z } from 'zod';
import { encodeCursor, milliseconds, queryCursor, queryInteger } from '../platform/schema.ts';
import { storable } from '../platform/json.ts';

const pageLimit = queryInteger({ min: 1, max: 200, default: 50 }).meta({ description: 'The most items of a page' });

const timePosition = z.tuple([milliseconds, z.uuid()]);
export type TimePosition = z.output<typeof timePosition>;

/** The query parameters of a page of a list in order of time. */
export const timePage = (list: string) => ({ limit: pageLimit, after: queryCursor(list, timePosition) });
export type TimePage = { readonly limit: number; readonly after?: TimePosition | undefined };
/** For lists in order of ids, which follow the time of creation. */
export const idPage = (list: string) => ({ limit: pageLimit, after: queryCursor(list, z.tuple([z.uuid()])) });
/** For lists in order of a name. */
export const namePage = (list: string) => ({ limit: pageLimit, after: queryCursor(list, z.tuple([z.string().transform(storable)])) });

export type Page<Row> = { items: Row[]; next: string | null };

type Rows<Row> = {
  /** One more than the limit, where there are more. */
  readonly rows: readonly Row[];
  readonly limit: number;
  /** The last position that was looked at, when the search stopped before the end of the list: the next page begins after it. */
  readonly end?: readonly unknown[] | undefined;
};

export function pageOf<Row>(list: string, { rows, limit, end }: Rows<Row>, positionOf: (row: Row) => readonly unknown[]): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const position = last !== undefined && rows.length > limit ? positionOf(last) : end;
  return { items, next: position ? encodeCursor(list, position) : null };
}

/** An exact match; blank counts as absent. Text that cannot be stored is changed as on storing. */
export const filterText = z
  .string()
  .transform((text) => storable(text.trim()) || undefined)
  .optional()
  .meta({ override: { type: 'string' } });

/** For hosts and names of repositories, which are ASCII in any case. Like `lower` of Postgres under the collation C. */
export const lowered = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

const loweredFilter = z
  .string()
  .transform((text) => lowered(storable(text.trim())) || undefined)
  .optional()
  .meta({ override: { type: 'string' } });
export const forgeFilter = loweredFilter.meta({ description: 'The host of the forge, such as `github.com`' });
export const sourceFilter = loweredFilter.meta({ description: '`forge`, or the name of a direct source' });
