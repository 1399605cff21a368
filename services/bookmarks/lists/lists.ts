// The routes of the lists of bookmarks, folders and tags, with paging and entity tags.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { isKnown } from '../../platform/http/entity-tags.ts';
import { answer, Content, route } from '../../platform/http/route.ts';
import { version } from '../../platform/version.ts';
import { Bookmark, BookmarkListQuery, Counts, Folder } from '../contract.ts';
import { cursor, encodePosition, type Order, positionOf } from './order.ts';
import { readSearch } from './search.ts';
import type { BookmarkFilter, FoundBookmark, ListStore, OpenSnapshot, Page, Snapshot } from './store.ts';

const maxTerms = 100;
/** Every query schema with a search refines by these two. */
export const hasFewTerms = ({ q = '' }: { readonly q?: string | undefined }) => readSearch(q).flat().length <= maxTerms;
export const tooManyTerms = { path: ['q'], error: `must have at most ${maxTerms} terms` };

type Sorted = { readonly q?: string | undefined; readonly sort?: Order | undefined };
const orderOf = ({ q, sort }: Sorted): Order => sort ?? (q === undefined ? 'oldest' : 'match');

const ListQuery = BookmarkListQuery.extend({ after: cursor })
  .refine(hasFewTerms, tooManyTerms)
  .refine((query) => query.after === undefined || query.after.order === orderOf(query), { path: ['after'], error: 'must come from a page of the same list' });

const entityTag = { ETag: 'A strong entity tag; it changes whenever the list may have changed' };
export const conditional = {
  describedHeaders: { 'If-None-Match': { description: 'The ETag of an earlier answer; while the list is unchanged, the answer is 304' } },
  describedAnswerHeaders: { 200: entityTag, 304: entityTag },
};

export const listRoutes = (store: ListStore, openSnapshot: OpenSnapshot) => [bookmarksRoute(store, openSnapshot), ...otherRoutes(store)];

const bookmarksRoute = (store: ListStore, openSnapshot: OpenSnapshot) =>
  route({
    method: 'get',
    path: '/api/bookmarks',
    operationId: 'listBookmarks',
    access: 'open',
    summary: 'Bookmarks, the oldest first, or the best match of a search',
    description:
      'Without `limit` the answer is the whole list as it was at one moment, sent as it is read. The body is an array in any case; the next page is in `Link`.',
    query: ListQuery,
    repeatable: ['tag'],
    answers: { 200: z.array(Bookmark), 304: null },
    ...conditional,
    describedAnswerHeaders: {
      200: { ...entityTag, Link: { description: 'The next page, as rel="next"; the last page has none', isOptional: true } },
      304: entityTag,
    },
    handle: ({ query: { limit, after, sort, include, ...filter }, headers, clientAddress }) =>
      unlessKnown(store, headers, async () => {
        const wanted = { order: orderOf({ q: filter.q, sort }), after, withChecks: include.length > 0 };
        if (limit === undefined) {
          const { revision, text } = await openSnapshot(clientAddress(), (snapshot) => jsonOf(snapshot, filter, wanted));
          return answer(200, new Content('application/json; charset=utf-8', text), etagOf(revision));
        }
        // One more row shows whether there is a next page.
        const { revision, rows } = await store.bookmarks(filter, { ...wanted, rows: limit + 1 });
        const page = rows.slice(0, limit);
        const last = rows.length > limit ? page.at(-1) : undefined;
        const next = last && encodePosition(positionOf(wanted.order, last));
        return answer(200, page.map(bookmarkOf), {
          ...etagOf(revision),
          ...(next !== undefined && { Link: linkTo(next, { limit, sort, include, ...filter }) }),
        });
      }),
  });

const otherRoutes = (store: ListStore) => [
  route({
    method: 'get',
    path: '/api/bookmarks/counts',
    operationId: 'countBookmarks',
    access: 'open',
    isQueryClosed: true,
    summary: 'How many bookmarks there are, in each folder and with each tag',
    description: 'Counted once for each state of the catalogue.',
    answers: { 200: Counts, 304: null },
    ...conditional,
    handle: ({ headers }) =>
      unlessKnown(store, headers, async () => {
        const { revision, counts } = await store.counts();
        return answer(200, counts, etagOf(revision));
      }),
  }),
  route({
    method: 'get',
    path: '/api/folders',
    operationId: 'listFolders',
    access: 'open',
    summary: 'All folders, in the order in which they were added',
    description: 'The list is flat; `parentId` makes it a tree.',
    answers: { 200: z.array(Folder), 304: null },
    ...conditional,
    handle: ({ headers }) =>
      unlessKnown(store, headers, async () => {
        const { revision, rows } = await store.folders();
        return answer(
          200,
          rows.map(({ id, name, parentId, icon }) => ({ id, name, parentId, icon })),
          etagOf(revision),
        );
      }),
  }),
  route({
    method: 'get',
    path: '/api/tags',
    operationId: 'listTags',
    access: 'open',
    isQueryClosed: true,
    summary: 'The names of all tags, sorted; a tag stays when no bookmark has it any more',
    description: 'Tags are created by bookmarks.',
    answers: { 200: z.array(z.string().meta({ examples: ['maps'] })), 304: null },
    ...conditional,
    handle: ({ headers }) =>
      unlessKnown(store, headers, async () => {
        const { revision, rows } = await store.tags();
        return answer(200, rows, etagOf(revision));
      }),
  }),
];

// Includes the release, since a newer one may add members to the answer.
export const revisionTag = (revision: string) => `"${revision}.${version}"`;
const etagOf = (revision: string) => ({ ETag: revisionTag(revision) });

/** Answers 304 to a caller that has the list already, without reading a row of it. */
export async function unlessKnown<T>(store: ListStore, headers: IncomingHttpHeaders, respond: () => Promise<T>) {
  if (headers['if-none-match'] === undefined) return respond();
  const current = revisionTag(await store.revision());
  return isKnown(headers, current) ? answer(304, null, { ETag: current }) : respond();
}

/** Only the members of the API; a row may have more. */
export const bookmarkOf = ({
  id,
  title,
  url,
  description,
  thumbnail,
  tags,
  folderId,
  favorite,
  dateAdded,
  checked,
  status,
  dead,
}: FoundBookmark): Bookmark => ({
  id,
  title,
  url,
  description,
  thumbnail,
  tags,
  folderId,
  favorite,
  dateAdded,
  ...(dead !== undefined && { checked: checked ?? null, status: status ?? null, dead }),
});

async function* jsonOf(snapshot: Snapshot, filter: BookmarkFilter, page: Page): AsyncGenerator<string> {
  let separator = '[';
  for await (const rows of snapshot.bookmarks(filter, page)) {
    if (rows.length === 0) break;
    yield separator + rows.map((row) => JSON.stringify(bookmarkOf(row))).join(',');
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

type Asked = BookmarkFilter & { readonly sort: Order | undefined; readonly limit: number; readonly include: readonly string[] };

/** RFC 8288. The target is relative to the request, so that it is right behind any proxy. */
function linkTo(after: string, { tag = [], subfolders, include, limit, ...asked }: Asked): string {
  const target = new URLSearchParams({ limit: String(limit), after });
  for (const [name, value] of Object.entries(asked)) if (value !== undefined) target.set(name, String(value));
  for (const one of tag) target.append('tag', one);
  if (subfolders === true) target.set('subfolders', 'true');
  if (include.length > 0) target.set('include', include.join(','));
  return `<?${target.toString()}>; rel="next"`;
}
