// Pages of a list: how many, after which row, and whether there are more.
import { z } from 'zod';
import { queryInteger, textFor } from '../../platform/schema.ts';
import { storable } from '../json.ts';

export const limit = queryInteger({ min: 1, max: 200, default: 50 });

// The years 1 to 9999: every time that a forge can send, and that Postgres takes.
const milliseconds = z.int().min(-62_135_596_800_000).max(253_402_300_799_999);

/** The keys of the last row of a page, as its list is ordered: whatever is inserted meanwhile, the next page begins behind it. */
const cursor = <Position extends z.ZodType>(position: Position) =>
  textFor((text) => position.safeParse(decoded(text)).data, 'must be the `next` of another page of this list').meta({
    override: { type: 'string', description: 'The `next` of another page' },
  });

function decoded(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined; // what is no JSON is no cursor
  }
}

const encoded = (position: readonly unknown[]) => Buffer.from(JSON.stringify(position)).toString('base64url');

/** Lists in order of time. */
export const timeCursor = cursor(z.tuple([milliseconds, z.uuid()]));
export type TimePosition = z.output<typeof timeCursor>;
/** Lists in order of ids, which is that of first sight. */
export const idCursor = cursor(z.tuple([z.uuid()]));
/** Lists in order of a name. */
export const nameCursor = cursor(z.tuple([z.string().transform(storable)]));

export const timePage = { limit, after: timeCursor.optional() };
export type TimePage = { readonly limit: number; readonly after?: TimePosition | undefined };

/** @param rows one more than the limit, where there are more */
export function pageOf<Row>(rows: readonly Row[], most: number, positionOf: (row: Row) => readonly unknown[]): { items: Row[]; next: string | null } {
  const items = rows.slice(0, most);
  const last = items.at(-1);
  return { items, next: last !== undefined && rows.length > most ? encoded(positionOf(last)) : null };
}

/** An exact match; blank counts as absent. What cannot be stored is read as it would have been stored. */
export const filterText = z
  .string()
  .transform((text) => storable(text.trim()) || undefined)
  .optional()
  .meta({ override: { type: 'string' } });
