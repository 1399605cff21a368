// Pages of the lists of the management plane.
import { answer } from '../platform/http/route.ts';

/** A page of rows that were asked for with one more than its limit. */
export function pageOf<Row>(rows: readonly Row[], limit: number, cursorOf: (last: Row) => string) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last !== undefined ? cursorOf(last) : null };
}

/** One row more shows whether there is a next page. */
export const oneMore = (limit: number | undefined): number | undefined => limit && limit + 1;

export const describedNext = { 200: { Link: { description: 'The next page, as rel="next"; the last page has none', isOptional: true } } } as const;

/** A list whose body is an array, with its next page in `Link`; all of it without a limit. RFC 8288. */
export function arrayPage<Row>(rows: readonly Row[], limit: number | undefined, cursorOf: (last: Row) => string) {
  if (limit === undefined) return answer(200, [...rows]);
  const { items, next } = pageOf(rows, limit, cursorOf);
  return answer(200, items, next === null ? {} : { Link: `<?limit=${limit}&after=${next}>; rel="next"` });
}
