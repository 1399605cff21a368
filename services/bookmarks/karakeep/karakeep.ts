// Karakeep's REST as far as floccus speaks it, over the catalogue: a list is a folder, and a bookmark is in one list at most.
import { answer, route } from '../../platform/http/route.ts';
import { add } from '../bookmarks.ts';
import { Problems } from '../contract.ts';
import { addFolder, existingFolder, removeFolder, updateFolder } from '../folders.ts';
import { encodePosition, positionOf } from '../lists/order.ts';
import type { ListStore } from '../lists/store.ts';
import type { CatalogueStore, CatalogueWriter, PlainBookmark } from '../store.ts';
import {
  ByBookmark,
  ByBoth,
  ByList,
  ContentQuery,
  CreatedLink,
  KarakeepList,
  Link,
  LinkPage,
  LinkPatch,
  ListPatch,
  Lists,
  NewLink,
  NewList,
  PageQuery,
} from './contract.ts';

type Parts = { readonly store: CatalogueStore; readonly listStore: ListStore; readonly clock: () => Date };

export const karakeepTag = { name: 'Karakeep', description: "Karakeep's REST for the browser extension floccus, with `Compatibility__Karakeep=on`" };
const root = '/karakeep/api/v1' as const;
const perPage = 500;

export const karakeepRoutes = (parts: Parts) => [
  ...listsRoutes(parts),
  ...singleRoutes(parts),
  ...changesOfLists(parts),
  ...membershipRoutes(parts),
  ...linkRoutes(parts),
];

type Folder = { readonly id: string; readonly name: string; readonly icon: string | null; readonly parentId: string | null };
const listOf = ({ id, name, icon, parentId }: Folder) => ({
  id,
  name,
  icon: icon ?? '📁',
  parentId,
  type: 'manual' as const,
  description: null,
  query: null,
  public: true,
});

const linkOf = ({ id, title, url, description, favorite, dateAdded }: PlainBookmark) => ({
  id,
  createdAt: dateAdded.toISOString(),
  title,
  archived: false,
  favourited: favorite,
  note: description === '' ? null : description,
  tags: [],
  content: { type: 'link' as const, url, title },
  assets: [],
});

const listsRoutes = ({ store, listStore }: Parts) => [
  route({
    method: 'get',
    path: `${root}/lists`,
    operationId: 'karakeepListLists',
    summary: 'All folders as lists',
    description: 'The list is flat; `parentId` makes it a tree.',
    answers: { 200: Lists },
    handle: async () => ({ lists: (await listStore.folders()).rows.map(listOf) }),
  }),
  route({
    method: 'get',
    path: `${root}/lists/{listId}/bookmarks`,
    operationId: 'karakeepListLinks',
    summary: 'The bookmarks of a folder, 500 a page',
    description: 'The oldest first.',
    params: ByList,
    query: PageQuery,
    answers: { 200: LinkPage },
    problems: [Problems.folderMissing],
    async handle({ params: { listId }, query: { cursor: after } }) {
      await existingFolder(store, listId);
      const { rows } = await listStore.bookmarks({ folderId: listId }, { order: 'oldest', after, rows: perPage + 1 });
      const last = rows.length > perPage ? rows[perPage - 1] : undefined;
      return { bookmarks: rows.slice(0, perPage).map(linkOf), nextCursor: last ? encodePosition(positionOf('oldest', last)) : null };
    },
  }),
];

const singleRoutes = ({ store }: Parts) => [
  route({
    method: 'get',
    path: `${root}/lists/{listId}`,
    operationId: 'karakeepGetList',
    summary: 'A folder as a list',
    description: 'It has no bookmarks: `/lists/{listId}/bookmarks` has them.',
    params: ByList,
    answers: { 200: KarakeepList },
    problems: [Problems.folderMissing],
    handle: async ({ params: { listId } }) => listOf(await existingFolder(store, listId)),
  }),
  route({
    method: 'get',
    path: `${root}/bookmarks/{bookmarkId}`,
    operationId: 'karakeepGetLink',
    summary: 'A bookmark',
    description: 'Clients ask for it once they have changed it.',
    params: ByBookmark,
    query: ContentQuery,
    answers: { 200: Link },
    problems: [Problems.bookmarkMissing],
    handle: async ({ params: { bookmarkId } }) => linkOf(await requireLink(store, bookmarkId)),
  }),
];

const changesOfLists = ({ store, clock }: Parts) => [
  route({
    method: 'post',
    path: `${root}/lists`,
    operationId: 'karakeepCreateList',
    summary: 'Adds a folder',
    description: 'Several folders may have the same name.',
    body: NewList,
    answers: { 201: KarakeepList },
    ...noHeaders(201),
    handle: async ({ body: { name, icon = null, parentId = null } }) =>
      answer(201, listOf(await store.write((writer) => addFolder(writer, { name, icon, parentId }, clock)))),
  }),
  route({
    method: 'patch',
    path: `${root}/lists/{listId}`,
    operationId: 'karakeepUpdateList',
    summary: 'Renames or moves a folder',
    description: 'Omitted members stay.',
    params: ByList,
    body: ListPatch,
    answers: { 200: KarakeepList },
    problems: [Problems.folderMissing],
    async handle({ params: { listId: id }, body: { name, icon, parentId } }) {
      const change = { id, ...(name !== undefined && { name }), ...(icon !== undefined && { icon }), ...(parentId !== undefined && { parentId }) };
      return listOf(await store.write((writer) => updateFolder(writer, change, {})));
    },
  }),
  route({
    method: 'delete',
    path: `${root}/lists/{listId}`,
    operationId: 'karakeepDeleteList',
    summary: 'Deletes a folder',
    description: 'Its bookmarks are in no folder then, its subfolders in the one above it.',
    params: ByList,
    answers: { 204: null },
    problems: [Problems.folderMissing],
    async handle({ params: { listId: id } }) {
      await store.write((writer) => removeFolder(writer, { id, cascade: true }, {}));
      return answer(204, null);
    },
  }),
];

/** A POST here answers no Location. */
function noHeaders(status: number) {
  return { describedAnswerHeaders: { [status]: {} } };
}

const membershipRoutes = ({ store }: Parts) => [
  route({
    method: 'get',
    path: `${root}/bookmarks/{bookmarkId}/lists`,
    operationId: 'karakeepListsOfLink',
    summary: 'The folder of a bookmark, as a list of none or one',
    description: 'A bookmark is in one folder at most.',
    params: ByBookmark,
    answers: { 200: Lists },
    problems: [Problems.bookmarkMissing],
    async handle({ params: { bookmarkId } }) {
      const bookmark = await requireLink(store, bookmarkId);
      const folder = bookmark.folderId === null ? undefined : await store.findFolder(bookmark.folderId);
      return { lists: folder ? [listOf(folder)] : [] };
    },
  }),
  route({
    method: 'put',
    path: `${root}/lists/{listId}/bookmarks/{bookmarkId}`,
    operationId: 'karakeepAddToList',
    summary: 'Moves a bookmark into a folder',
    description: 'It leaves the folder that it was in.',
    params: ByBoth,
    answers: { 204: null },
    problems: [Problems.folderMissing, Problems.bookmarkMissing],
    async handle({ params: { listId, bookmarkId } }) {
      await store.write(async (writer) => {
        const bookmark = await requireBoth(writer, listId, bookmarkId);
        await writer.updateBookmark({ ...bookmark, folderId: listId });
      });
      return answer(204, null);
    },
  }),
  route({
    method: 'delete',
    path: `${root}/lists/{listId}/bookmarks/{bookmarkId}`,
    operationId: 'karakeepRemoveFromList',
    summary: 'Takes a bookmark out of a folder',
    description: 'Nothing changes where it is in another folder: floccus moves a bookmark by both requests at once.',
    params: ByBoth,
    answers: { 204: null },
    problems: [Problems.folderMissing, Problems.bookmarkMissing],
    async handle({ params: { listId, bookmarkId } }) {
      await store.write(async (writer) => {
        const bookmark = await requireBoth(writer, listId, bookmarkId);
        if (bookmark.folderId === listId) await writer.updateBookmark({ ...bookmark, folderId: null });
      });
      return answer(204, null);
    },
  }),
];

/** @throws Problem 404 */
async function requireBoth(writer: CatalogueWriter, listId: string, bookmarkId: string): Promise<PlainBookmark> {
  await existingFolder(writer, listId);
  return requireLink(writer, bookmarkId);
}

/** @throws Problem 404 */
async function requireLink(store: Pick<CatalogueWriter, 'findBookmark'>, id: string): Promise<PlainBookmark> {
  const bookmark = await store.findBookmark(id);
  if (!bookmark) throw Problems.bookmarkMissing();
  return bookmark;
}

const linkRoutes = ({ store, clock }: Parts) => [
  route({
    method: 'post',
    path: `${root}/bookmarks`,
    operationId: 'karakeepCreateLink',
    summary: 'Adds a bookmark, in no folder',
    description: 'One of the same address that is in no folder is changed as PATCH does, and answered: a sync that was interrupted goes on with it.',
    body: NewLink,
    answers: { 200: CreatedLink, 201: CreatedLink },
    ...noHeaders(201),
    async handle({ body }) {
      const { url, title, favourited: favorite = false, note: description = '', createdAt } = body;
      const { bookmark, alreadyExists } = await store.write(async (writer) => {
        const found = await writer.findUnfiled(url);
        if (found) return { bookmark: await change(writer, found, { ...body, title: titleOf(title, found.title) }), alreadyExists: true };
        const input = { title: titleOf(title, url), url, description, thumbnail: '', tags: [], folderId: null, favorite };
        return { bookmark: await add(writer, input, createdAt ? () => createdAt : clock), alreadyExists: false };
      });
      return answer(alreadyExists ? 200 : 201, { ...linkOf(bookmark), alreadyExists });
    },
  }),
  route({
    method: 'patch',
    path: `${root}/bookmarks/{bookmarkId}`,
    operationId: 'karakeepUpdateLink',
    summary: 'Changes address, title, note or time of a bookmark, or whether it is a favorite',
    description: 'Omitted members stay.',
    params: ByBookmark,
    body: LinkPatch,
    answers: { 200: Link },
    problems: [Problems.bookmarkMissing],
    handle: ({ params: { bookmarkId }, body }) => store.write(async (writer) => linkOf(await change(writer, await requireLink(writer, bookmarkId), body))),
  }),
  route({
    method: 'delete',
    path: `${root}/bookmarks/{bookmarkId}`,
    operationId: 'karakeepDeleteLink',
    summary: 'Deletes a bookmark',
    description: 'A repeat answers 404.',
    params: ByBookmark,
    answers: { 204: null },
    problems: [Problems.bookmarkMissing],
    async handle({ params: { bookmarkId } }) {
      await store.write(async (writer) => {
        const { id } = await requireLink(writer, bookmarkId);
        await writer.removeBookmark(id);
      });
      return answer(204, null);
    },
  }),
];

/** Omitted members stay. */
async function change(writer: CatalogueWriter, before: PlainBookmark, { title, url, favourited, note, createdAt }: LinkPatch): Promise<PlainBookmark> {
  const after = { ...before, url: url ?? before.url, favorite: favourited ?? before.favorite, description: note ?? before.description };
  if (createdAt) await writer.redateBookmark(before.id, createdAt);
  return writer.updateBookmark({ ...after, title: title === undefined ? before.title : titleOf(title, after.url) });
}

const titleOf = (title: string | null | undefined, otherwise: string) =>
  title === undefined || title === null || title === '' ? otherwise.slice(0, 500) : title;
