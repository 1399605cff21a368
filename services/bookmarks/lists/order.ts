// The orders of the list of bookmarks, and the cursor at which a page of one begins.
import { z } from 'zod';
import { jsonIn } from '../../platform/json.ts';
import { cursorTime, textFor } from '../../platform/schema.ts';

/** `match` is the order of a search that asks for no other. */
export type Order = 'oldest' | 'newest' | 'title' | 'match';

/** The sort keys of the last row of a page. The next page begins after it, whatever is added meanwhile. */
export type Position =
  | { readonly order: 'oldest' | 'newest'; readonly dateAdded: Date; readonly id: string }
  | { readonly order: 'match'; readonly minusRank: number; readonly dateAdded: Date; readonly id: string }
  | { readonly order: 'title'; readonly title: string; readonly id: string };

/** The members that order a page, before its id. */
export type SortKeys = { readonly id: string; readonly title: string; readonly dateAdded: Date; readonly minusRank?: number };

export const positionOf = (order: Order, { id, title, dateAdded, minusRank = 0 }: SortKeys): Position => {
  if (order === 'title') return { order, title, id };
  return order === 'match' ? { order, minusRank, dateAdded, id } : { order, dateAdded, id };
};

// The range of float4.
const rank = z
  .number()
  .min(-1e37)
  .max(0)
  .refine((value) => value === 0 || value < -1e-37);

const Keys = z.union([
  z.tuple([z.enum(['oldest', 'newest']), cursorTime, z.uuid()]).transform(([order, dateAdded, id]): Position => ({ order, dateAdded, id })),
  z.tuple([z.literal('match'), rank, cursorTime, z.uuid()]).transform(([order, minusRank, dateAdded, id]): Position => ({ order, minusRank, dateAdded, id })),
  z
    .tuple([
      z.literal('title'),
      z
        .string()
        .max(2000)
        .regex(/^[^\0]*$/),
      z.uuid(),
    ])
    .transform(([order, title, id]): Position => ({ order, title, id })),
]);

/** Opaque to callers. Cursors of different orders differ. */
export const cursor = textFor(read, 'must be the `after` of the `Link` of another page')
  .optional()
  .meta({ override: { type: 'string' }, description: 'The `after` of the `Link` of another page' });

export const encodePosition = (position: Position): string => Buffer.from(JSON.stringify(keysOf(position))).toString('base64url');

function keysOf(position: Position): readonly unknown[] {
  if (position.order === 'title') return [position.order, position.title, position.id];
  const { order, dateAdded, id } = position;
  return order === 'match' ? [order, position.minusRank, dateAdded.getTime(), id] : [order, dateAdded.getTime(), id];
}

function read(text: string): Position | undefined {
  return Keys.safeParse(jsonIn(Buffer.from(text, 'base64url').toString('utf8'))).data;
}
