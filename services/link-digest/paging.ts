// Parameters of paged lists. The first fault is answered with 422.
import { z } from 'zod';
import { storable } from '../platform/json.ts';
import { encodeCursor, milliseconds, queryCursor, readNumber } from '../platform/schema.ts';
import { Problems } from './contract.ts';
import type { PageRequest } from './envelope.ts';

const most = { page: 999_999_999_999_999, perPage: 100, limit: 100 };
export const usualPerPage = 20;

/** A parameter that the handler validates itself, in its own order. @param schema for the API description */
export const queryText = ({ description, ...schema }: { readonly description: string; readonly [keyword: string]: unknown }) =>
  z.string().optional().meta({ override: schema, description });

export const pageParameters = {
  page: queryText({ type: 'integer', minimum: 1, maximum: most.page, default: 1, description: 'The page, from 1' }),
  per_page: queryText({ type: 'integer', minimum: 1, maximum: most.perPage, default: usualPerPage, description: 'The length of a page' }),
};
export const cursorParameters = {
  limit: queryText({
    type: 'integer',
    minimum: 1,
    maximum: most.limit,
    default: usualPerPage,
    description: 'The length of a page that is followed by its `next`, instead of `page` and `per_page`',
  }),
  after: queryText({ type: 'string', description: 'The `next` of the page before' }),
};
type CursorParameters = { readonly limit?: string | undefined; readonly after?: string | undefined };

type PageParameters = { readonly page?: string | undefined; readonly per_page?: string | undefined };

export const invalid = (detail: string) => Problems.invalidQuery({ detail });

/** @throws Problem 422 */
export function readInteger(name: string, text: string, largest: number): number {
  const number = readNumber(text) ?? NaN;
  if (Number.isInteger(number) && number >= 1 && number <= largest) return number;
  throw invalid(`${name} must be a whole number between 1 and ${largest}`);
}

/** @throws Problem 422 */
export const readPage = ({ page, per_page: perPage }: PageParameters): PageRequest => ({
  page: page === undefined ? 1 : readInteger('page', page, most.page),
  perPage: perPage === undefined ? usualPerPage : readInteger('per_page', perPage, most.perPage),
});

/** Undefined when no page is asked for, which means all. @throws Problem 422 */
export const readOptionalPage = (parameters: PageParameters): PageRequest | undefined =>
  parameters.page === undefined && parameters.per_page === undefined ? undefined : readPage(parameters);

/** The keys of a row in order of time. */
export const timeKeys = z.tuple([milliseconds, z.guid()]);
/** The keys of a row in order of a name. */
export const nameKeys = z.tuple([z.string().transform(storable), z.guid()]);

/** A page behind a row of the list, whose keys are `after`; undefined: the first page. */
export type CursorPage<Keys> = { readonly limit: number; readonly after: Keys | undefined };

/** Undefined when no such page is asked for. @param list the name of the list in its cursors @throws Problem 422 */
export function readCursorPage<Keys extends z.ZodType>(
  parameters: PageParameters & CursorParameters,
  list: string,
  keys: Keys,
): CursorPage<z.output<Keys>> | undefined {
  const { limit, after } = parameters;
  if (limit === undefined && after === undefined) return undefined;
  if (parameters.page !== undefined || parameters.per_page !== undefined) throw invalid('page and per_page must not be given with limit or after');
  const length = limit === undefined ? usualPerPage : readInteger('limit', limit, most.limit);
  const read = queryCursor(list, keys).safeParse(after);
  if (!read.success) throw invalid(`after ${read.error.issues[0]?.message ?? 'is not valid'}`);
  return { limit: length, after: read.data };
}

/** @param rows one more than the limit, where there are more */
export function cutPage<Row>(
  rows: readonly Row[],
  { limit, list, keysOf }: { readonly limit: number; readonly list: string; readonly keysOf: (row: Row) => readonly unknown[] },
) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last !== undefined && rows.length > limit ? encodeCursor(list, keysOf(last)) : null };
}

/** Limit and offset of SQL. */
export const rowsOf = ({ page, perPage }: PageRequest) => ({ limit: perPage, offset: (page - 1) * perPage });

/** Without a requested page the limit is null, which means none. */
export const optionalRowsOf = (page: PageRequest | undefined) => (page ? rowsOf(page) : ({ limit: null, offset: 0 } as const));

/** Reads one of a closed set, in any case; a blank text counts as absent. @throws Problem 422 */
export function readChoice<const C extends string>(name: string, text: string | undefined, choices: readonly C[]): C | undefined {
  const wanted = text?.trim().toLowerCase() ?? '';
  if (wanted === '') return undefined;
  const found = choices.find((choice) => choice.toLowerCase() === wanted);
  if (found === undefined) throw invalid(`${name} must be one of ${choices.join(', ')}`);
  return found;
}
