// The words of a search, and the cursor at which a page of a list begins.
import { z } from 'zod';
import { textFor } from '../../platform/schema.ts';

/** The words of a search, each once. */
export const wordsOf = (q: string): string[] => [...new Set(q.split(/\s+/))].filter((word) => word !== '');

/** The keys of the last row of a page, as the list is ordered: whatever is added meanwhile, the next page begins behind it. */
export type Position = {
  /** Of a search only. */
  readonly minusRank?: number | undefined;
  readonly dateAdded: Date;
  readonly id: string;
};

// What a JavaScript Date and a timestamp of Postgres can both be.
const milliseconds = z.int().min(-62_135_596_800_000).max(253_402_300_799_999);
// What a float4 can be.
const rank = z
  .number()
  .min(-1e37)
  .max(0)
  .refine((value) => value === 0 || value < -1e-37);
const Keys = z.union([z.tuple([milliseconds, z.uuid()]), z.tuple([milliseconds, z.uuid(), rank])]);

/** Opaque to those who page; a search and a list without one have each their own. */
export const cursor = textFor(read, 'must be the `after` of the `Link` of another page')
  .optional()
  .meta({
    override: { type: 'string' },
    description: 'Of the `Link` of another page',
  });

export const encodePosition = ({ dateAdded, id, minusRank }: Position): string =>
  Buffer.from(JSON.stringify([dateAdded.getTime(), id, minusRank].filter((key) => key !== undefined))).toString('base64url');

function read(text: string): Position | undefined {
  try {
    const { data } = Keys.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
    return data && { dateAdded: new Date(data[0]), id: data[1], minusRank: data[2] };
  } catch {
    return undefined; // what is no JSON is no cursor
  }
}
