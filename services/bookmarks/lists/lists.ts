// The lists: their routes, pages and entity tags.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { answer, Content, route } from '../../platform/http/route.ts';
import { version } from '../../platform/version.ts';
import { Bookmark, BookmarkFilterQuery, Folder } from '../contract.ts';
import { cursor, encodePosition, type Position } from './search.ts';
import type { BookmarkFilter, FoundBookmark, ListStore, OpenSnapshot, Snapshot } from './store.ts';

const BookmarkQuery = BookmarkFilterQuery.extend({ after: cursor }).refine(
  ({ q, after }) => after === undefined || (after.minusRank !== undefined) === (q !== undefined),
  { path: ['after'], error: 'must be of a page of the same search' },
);

const entityTag = { ETag: 'A strong entity tag; it changes whenever the list may have changed' };
const conditional = {
  describedHeaders: { 'If-None-Match': { description: 'The ETag of an earlier answer; while the list is unchanged, the answer is 304' } },
  describedAnswerHeaders: { 200: entityTag, 304: entityTag },
};

export const listRoutes = (store: ListStore, openSnapshot: OpenSnapshot) => [
  route({
    method: 'get',
    path: '/api/bookmarks',
    operationId: 'listBookmarks',
    access: 'open',
    summary: 'Bookmarks, the oldest first, or the best match of a search',
    description:
      'Without `limit` the answer is the whole list as it was at one moment, sent as it is read. The body is an array in any case; the next page is in `Link`.',
    query: BookmarkQuery,
    answers: { 200: z.array(Bookmark), 304: null },
    ...conditional,
    describedAnswerHeaders: {
      200: { ...entityTag, Link: { description: 'The next page, as rel="next"; the last page has none', isOptional: true } },
      304: entityTag,
    },
    handle: ({ query: { limit, after, ...filter }, headers }) =>
      unlessKnown(store, headers, async () => {
        if (limit === undefined) {
          const { revision, text } = await openSnapshot((snapshot) => jsonOf(snapshot, filter, after));
          return answer(200, new Content('application/json; charset=utf-8', text), tagged(revision));
        }
        // One more row shows whether there is a next page.
        const { revision, rows } = await store.bookmarks(filter, { after, rows: limit + 1 });
        const page = rows.slice(0, limit);
        const last = rows.length > limit ? page.at(-1) : undefined;
        return answer(200, page.map(bookmarkOf), { ...tagged(revision), ...(last && { Link: linkTo(last, { limit, ...filter }) }) });
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
          tagged(revision),
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
        return answer(200, rows, tagged(revision));
      }),
  }),
];

// The release is part of it, since a newer one may answer further members.
const tagOf = (revision: string) => `"${revision}.${version}"`;
const tagged = (revision: string) => ({ ETag: tagOf(revision) });

/** Answers 304 to a caller that has the list already, without reading a row of it. RFC 9110 section 13.1.2. */
async function unlessKnown<T>(store: ListStore, { 'if-none-match': known }: IncomingHttpHeaders, respond: () => Promise<T>) {
  if (known === undefined) return respond();
  const current = tagOf(await store.revision());
  const isKnown = known.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === current);
  return isKnown ? answer(304, null, { ETag: current }) : respond();
}

/** The members of the wire; a row has more. */
const bookmarkOf = ({ id, title, url, description, thumbnail, tags, folderId, favorite, dateAdded }: FoundBookmark): Bookmark => ({
  id,
  title,
  url,
  description,
  thumbnail,
  tags,
  folderId,
  favorite,
  dateAdded,
});

async function* jsonOf(snapshot: Snapshot, filter: BookmarkFilter, after: Position | undefined): AsyncGenerator<string> {
  let before = '[';
  for await (const rows of snapshot.bookmarks(filter, after)) {
    if (rows.length === 0) break;
    yield before + rows.map((row) => JSON.stringify(bookmarkOf(row))).join(',');
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** RFC 8288. The target is relative to the request, so that it is right behind any proxy. */
function linkTo(last: FoundBookmark, { q, tag, folderId, favorite, limit }: BookmarkFilter & { readonly limit: number }): string {
  const target = new URLSearchParams({ limit: String(limit), after: encodePosition(last) });
  for (const [name, value] of Object.entries({ q, tag, folderId, favorite })) if (value !== undefined) target.set(name, String(value));
  return `<?${target.toString()}>; rel="next"`;
}
