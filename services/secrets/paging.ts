// Pages of the lists of the management plane.

/** A page of rows that were asked for with one more than its limit. */
export function pageOf<Row>(rows: readonly Row[], limit: number, cursorOf: (last: Row) => string) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last !== undefined ? cursorOf(last) : null };
}
