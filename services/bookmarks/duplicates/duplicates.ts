// Pages that have several bookmarks.
import { z } from 'zod';
import { route } from '../../platform/http/route.ts';
import { encodeCursor, queryCursor, queryInteger } from '../../platform/schema.ts';
import { Duplicates } from '../contract.ts';
import type { DuplicateStore } from './store.ts';

const list = 'duplicates';
/** The identity of a page, SHA-256. */
const Position = z.tuple([z.string().regex(/^[\da-f]{64}$/)]).transform(([page]) => Buffer.from(page, 'hex'));

const DuplicateQuery = z.object({
  after: queryCursor(list, Position),
  limit: queryInteger({ min: 1, max: 50, default: 20 }).meta({ description: 'How many pages with several bookmarks at most' }),
});

export const duplicatesRoute = (store: DuplicateStore) =>
  route({
    method: 'get',
    path: '/api/bookmarks/duplicates',
    operationId: 'listDuplicates',
    access: 'open',
    isQueryClosed: true,
    summary: 'Pages that have several bookmarks, however their addresses are spelled',
    description:
      'Addresses that differ in spelling, fragment, tracking parameters or a wrapper are one page, as for `url` of the list. An answer looks at 10 000 bookmarks at most: it may be short, or empty, and have a `next` all the same.',
    query: DuplicateQuery,
    answers: { 200: Duplicates },
    async handle({ query: { after = Buffer.alloc(0), limit } }) {
      const { groups, end } = await store.page(after, limit);
      return { items: groups, next: end ? encodeCursor(list, [end.toString('hex')]) : null };
    },
  });
