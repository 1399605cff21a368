// Bookmarks: their routes and rules.
import { v7 as newId } from 'uuid';
import { answer, route } from '../platform/http/route.ts';
import { Common } from '../platform/problem.ts';
import { Bookmark, BookmarkInput, ById, Problems } from './contract.ts';
import type { CatalogueStore, CatalogueWriter } from './store.ts';

export const bookmarkRoutes = (store: CatalogueStore, clock: () => Date) => [readingRoute(store), ...writingRoutes(store, clock)];

const readingRoute = (store: CatalogueStore) =>
  route({
    method: 'get',
    path: '/api/bookmarks/{id}',
    operationId: 'getBookmark',
    access: 'open',
    summary: 'One bookmark',
    description: 'Reading needs no key.',
    params: ById,
    answers: { 200: Bookmark },
    problems: [Problems.bookmarkMissing],
    async handle({ params }) {
      const bookmark = await store.findBookmark(params.id);
      if (!bookmark) throw Problems.bookmarkMissing();
      return bookmark;
    },
  });

const writingRoutes = (store: CatalogueStore, clock: () => Date) => [
  route({
    method: 'post',
    path: '/api/bookmarks',
    operationId: 'createBookmark',
    summary: 'Adds a bookmark',
    description: 'Tags that do not exist yet are created.',
    body: BookmarkInput,
    answers: { 201: Bookmark },
    async handle({ body }) {
      const created = await store.write(async (writer) => {
        await requireFolder(writer, 'folderId', body.folderId);
        const bookmark = { id: newId(), ...body, dateAdded: clock() }; // inside the transaction, so that paging clients miss none
        await writer.insertBookmark(bookmark);
        return bookmark;
      });
      return answer(201, created, { Location: `/api/bookmarks/${created.id}` });
    },
  }),
  route({
    method: 'put',
    path: '/api/bookmarks/{id}',
    operationId: 'replaceBookmark',
    summary: 'Replaces a bookmark; omitted members return to their defaults',
    description: '`id` and `dateAdded` stay.',
    params: ById,
    body: BookmarkInput,
    answers: { 200: Bookmark },
    problems: [Problems.bookmarkMissing],
    handle: ({ params: { id }, body }) =>
      store.write(async (writer) => {
        await requireFolder(writer, 'folderId', body.folderId);
        const updated = await writer.updateBookmark({ id, ...body });
        if (!updated) throw Problems.bookmarkMissing();
        return updated;
      }),
  }),
  route({
    method: 'delete',
    path: '/api/bookmarks/{id}',
    operationId: 'deleteBookmark',
    summary: 'Deletes a bookmark; its tags stay',
    description: 'A repeat answers 404.',
    params: ById,
    answers: { 204: null },
    problems: [Problems.bookmarkMissing],
    async handle({ params }) {
      await store.write(async (writer) => {
        if (!(await writer.removeBookmark(params.id))) throw Problems.bookmarkMissing();
      });
      return answer(204, null);
    },
  }),
];

/** @throws Problem 400 on `member` when it names a folder that is not there */
export async function requireFolder(writer: CatalogueWriter, member: string, id: string | null): Promise<void> {
  if (id === null || (await writer.hasFolder(id))) return;
  throw refused(member, 'must name an existing folder');
}

/** A fault that only the database knows, in the form of the others. */
export const refused = (member: string, fault: string) => Common.invalid({ detail: 'The request is not valid; see errors.', errors: { [member]: [fault] } });
