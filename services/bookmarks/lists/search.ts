// The words of a search, and the cursor at which a page of a list begins.
import { z } from 'zod';
import { textFor } from '../../platform/schema.ts';

/** The words of a search, each once. */
export const wordsOf = (q: string): string[] => [...new Set(q.split(/\s+/))].filter((word) => word !== '');

/** The sort keys of the last row of a page. The next page begins after it, whatever is added meanwhile. */
export type Position = {
  /** Only in a search. */
  readonly minusRank?: number | undefined;
  readonly dateAdded: Date;
  readonly id: string;
};

// The range that both a JavaScript Date and a Postgres timestamp have.
const milliseconds = z.int().min(-62_135_596_800_000).max(253_402_300_799_999);
// The range of float4.
const rank = z
  .number()
  .min(-1e37)
  .max(0)
  .refine((value) => value === 0 || value < -1e-37);
const Keys = z.union([z.tuple([milliseconds, z.uuid()]), z.tuple([milliseconds, z.uuid(), rank])]);

/** Opaque to callers. Cursors of a search and of a list without one differ. */
export const cursor = textFor(read, 'must be the `after` of the `Link` of another page')
  .optional()
  .meta({
    override: { type: 'string' },
    description: 'The `after` of the `Link` of another page',
  });

export const encodePosition = ({ dateAdded, id, minusRank }: Position): string =>
  Buffer.from(JSON.stringify([dateAdded.getTime(), id, minusRank].filter((key) => key !== undefined))).toString('base64url');

function read(text: string): Position | undefined {
  try {
    const { data } = Keys.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
    return data && { dateAdded: new Date(data[0]), id: data[1], minusRank: data[2] };
  } catch {
    return undefined; // no JSON, so no cursor
  }
}
