// Bookmarks: their routes and rules.
import type { IncomingHttpHeaders } from 'node:http';
import { v7 as newId } from 'uuid';
import type { z } from 'zod';
import { describedIfMatch, describedIfNoneMatch, entityTagOf, isKnown, requireMatch } from '../platform/http/entity-tags.ts';
import { answer, route } from '../platform/http/route.ts';
import { Common } from '../platform/problem.ts';
import { Bookmark, BookmarkInput, BookmarkPatch, BookmarkQuery, BookmarkToFetch, ById, CreationQuery, Problems, Undoable } from './contract.ts';
import type { Pages } from './pages/pages.ts';
import type { CatalogueStore, CatalogueWriter, PlainBookmark } from './store.ts';
import { withUndo } from './undo/contract.ts';
import { undoable } from './undo/undo.ts';

type Parts = { readonly store: CatalogueStore; readonly pages: Pages; readonly clock: () => Date };

export const bookmarkRoutes = ({ store, pages, clock }: Parts) => [
  readingRoute(store),
  creatingRoute({ store, pages, clock }),
  ...changingRoutes(store),
  deletingRoute(store),
];

/** Descriptions of the headers of an answer with one bookmark or folder. */
export const withEntityTag = { ETag: 'A strong entity tag of this state, for `If-Match` and `If-None-Match`' };
export const withLocation = { ...withEntityTag, Location: 'The URL of the new resource' };
/** The headers themselves. */
export const etagOf = (resource: object) => ({ ETag: entityTagOf(resource) });

const readingRoute = (store: CatalogueStore) =>
  route({
    method: 'get',
    path: '/api/bookmarks/{id}',
    operationId: 'getBookmark',
    access: 'open',
    summary: 'One bookmark',
    description: 'Reading needs no key.',
    params: ById,
    query: BookmarkQuery,
    answers: { 200: Bookmark, 304: null },
    describedHeaders: describedIfNoneMatch,
    describedAnswerHeaders: {
      200: { ETag: { description: `${withEntityTag.ETag}; none with \`include\``, isOptional: true } },
      304: withEntityTag,
    },
    problems: [Problems.bookmarkMissing],
    async handle({ params, query: { include }, headers }) {
      const withChecks = include.length > 0;
      const bookmark = await (withChecks ? store.findChecked(params.id) : store.findBookmark(params.id));
      if (!bookmark) throw Problems.bookmarkMissing();
      if (withChecks) return bookmark;
      return isKnown(headers, entityTagOf(bookmark)) ? answer(304, null, etagOf(bookmark)) : answer(200, bookmark, etagOf(bookmark));
    },
  });

const creatingRoute = ({ store, pages, clock }: Parts) =>
  route({
    method: 'post',
    path: '/api/bookmarks',
    operationId: 'createBookmark',
    summary: 'Adds a bookmark',
    description:
      'Tags that do not exist yet are created. With `fetch=true` the address alone is enough: the page is asked for the rest, within 5 s and 2 MiB, at public addresses only. If that fails, the bookmark is stored with its address as the title.',
    query: CreationQuery,
    body: BookmarkToFetch,
    bodyFor: ({ fetch }) => (fetch ? BookmarkToFetch : BookmarkInput),
    answers: { 201: Bookmark },
    describedAnswerHeaders: { 201: withLocation },
    async handle({ query: { fetch }, body }) {
      // Outside the transaction: a slow page must not hold up the writes of others.
      const complete = fetch ? await completed(pages, body) : { ...body, title: body.title ?? body.url };
      const created = await store.write((writer) => add(writer, complete, clock));
      return answer(201, created, { ...etagOf(created), Location: `/api/bookmarks/${created.id}` });
    },
  });

/** Fills members that the input leaves out from the page. */
async function completed(pages: Pages, input: z.output<typeof BookmarkToFetch>): Promise<BookmarkInput> {
  const { title, description, picture } = await pages.facts(input.url);
  return {
    ...input,
    title: input.title ?? (title === '' ? input.url.slice(0, 500) : title),
    description: input.description === '' ? description : input.description,
    thumbnail: input.thumbnail === '' ? picture : input.thumbnail,
  };
}

const changing = {
  params: ById,
  answers: { 200: Bookmark },
  describedHeaders: describedIfMatch,
  describedAnswerHeaders: { 200: withEntityTag },
  problems: [Problems.bookmarkMissing, Common.preconditionFailed],
};

const changingRoutes = (store: CatalogueStore) => [
  route({
    method: 'put',
    path: '/api/bookmarks/{id}',
    operationId: 'replaceBookmark',
    summary: 'Replaces a bookmark; omitted members return to their defaults',
    description: '`id` and `dateAdded` stay.',
    ...changing,
    body: BookmarkInput,
    async handle({ params: { id }, body, headers }) {
      const updated = await store.write(async (writer) => {
        await requireFolder(writer, 'folderId', body.folderId);
        await requireBookmark(writer, id, headers);
        return writer.updateBookmark({ id, ...body });
      });
      return answer(200, updated, etagOf(updated));
    },
  }),
  route({
    method: 'patch',
    path: '/api/bookmarks/{id}',
    operationId: 'updateBookmark',
    summary: 'Changes members of a bookmark; omitted ones stay',
    description: 'A JSON Merge Patch (RFC 7396): null sets a member to its default, where it may be null.',
    ...changing,
    body: BookmarkPatch,
    async handle({ params, body, headers }) {
      const updated = await store.write(async (writer) => {
        if (body.folderId !== undefined) await requireFolder(writer, 'folderId', body.folderId);
        const before = await requireBookmark(writer, params.id, headers);
        return writer.updateBookmark({ ...before, ...body });
      });
      return answer(200, updated, etagOf(updated));
    },
  }),
];

const deletingRoute = (store: CatalogueStore) =>
  route({
    method: 'delete',
    path: '/api/bookmarks/{id}',
    operationId: 'deleteBookmark',
    summary: 'Deletes a bookmark; its tags stay',
    description: 'A repeat answers 404.',
    params: ById,
    query: Undoable,
    answers: { 204: null },
    describedHeaders: describedIfMatch,
    describedAnswerHeaders: { 204: withUndo },
    problems: [Problems.bookmarkMissing, Common.preconditionFailed],
    handle: ({ params: { id }, query: { undo }, headers }) =>
      store.write(async (writer) => {
        await requireBookmark(writer, id, headers);
        const { headers: undoId } = await undoable(writer, { isWanted: undo, affected: { kind: 'deleted', ids: [id] } }, () => writer.removeBookmark(id));
        return answer(204, null, undoId);
      }),
  });

export async function add(writer: CatalogueWriter, input: BookmarkInput, clock: () => Date): Promise<PlainBookmark> {
  await requireFolder(writer, 'folderId', input.folderId);
  // Id and time are taken in the transaction, whose writes take turns: a client that pages by them misses no bookmark.
  const bookmark = { id: newId(), ...input, dateAdded: clock() };
  await writer.insertBookmark(bookmark);
  return bookmark;
}

/** @throws Problem 404, or 412 by If-Match */
async function requireBookmark(writer: CatalogueWriter, id: string, headers: IncomingHttpHeaders): Promise<PlainBookmark> {
  const bookmark = await writer.findBookmark(id);
  if (!bookmark) throw Problems.bookmarkMissing();
  requireMatch(headers, entityTagOf(bookmark));
  return bookmark;
}

/** @throws Problem 400 on `member` when it names a folder that is not there */
export async function requireFolder(writer: CatalogueWriter, member: string, id: string | null): Promise<void> {
  if (id === null || (await writer.findFolder(id))) return;
  throw refused(member, 'must name an existing folder');
}

/** A fault that only the database knows, in the form of a schema's faults. */
export const refused = (member: string, fault: string) => Common.invalid({ detail: 'The request is not valid; see errors.', errors: { [member]: [fault] } });
