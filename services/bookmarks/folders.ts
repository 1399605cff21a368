// Folders: their routes and rules.
import type { IncomingHttpHeaders } from 'node:http';
import { v7 as newId } from 'uuid';
import { describedIfMatch, describedIfNoneMatch, entityTagOf, isKnown, requireMatch } from '../platform/http/entity-tags.ts';
import { answer, route } from '../platform/http/route.ts';
import { Common } from '../platform/problem.ts';
import { refused, requireFolder, etagOf, withEntityTag, withLocation } from './bookmarks.ts';
import { ById, Folder, FolderDeletion, FolderInput, FolderPatch, Problems } from './contract.ts';
import type { CatalogueStore, CatalogueWriter } from './store.ts';
import { withUndo } from './undo/contract.ts';
import { undoable } from './undo/undo.ts';

export const folderRoutes = (store: CatalogueStore, clock: () => Date) => [
  readingRoute(store),
  creatingRoute(store, clock),
  ...changingRoutes(store),
  deletingRoute(store),
];

const readingRoute = (store: CatalogueStore) =>
  route({
    method: 'get',
    path: '/api/folders/{id}',
    operationId: 'getFolder',
    access: 'open',
    summary: 'One folder',
    description: 'Reading needs no key.',
    params: ById,
    answers: { 200: Folder, 304: null },
    describedHeaders: describedIfNoneMatch,
    describedAnswerHeaders: { 200: withEntityTag, 304: withEntityTag },
    problems: [Problems.folderMissing],
    async handle({ params, headers }) {
      const folder = await existingFolder(store, params.id);
      return isKnown(headers, entityTagOf(folder)) ? answer(304, null, etagOf(folder)) : answer(200, folder, etagOf(folder));
    },
  });

const creatingRoute = (store: CatalogueStore, clock: () => Date) =>
  route({
    method: 'post',
    path: '/api/folders',
    operationId: 'createFolder',
    summary: 'Adds a folder',
    description: 'Several folders may have the same name.',
    body: FolderInput,
    answers: { 201: Folder },
    describedAnswerHeaders: { 201: withLocation },
    async handle({ body }) {
      const created = await store.write((writer) => addFolder(writer, body, clock));
      return answer(201, created, { ...etagOf(created), Location: `/api/folders/${created.id}` });
    },
  });

const changing = {
  params: ById,
  answers: { 200: Folder },
  describedHeaders: describedIfMatch,
  describedAnswerHeaders: { 200: withEntityTag },
  problems: [Problems.folderMissing, Common.preconditionFailed],
};

const changingRoutes = (store: CatalogueStore) => [
  route({
    method: 'put',
    path: '/api/folders/{id}',
    operationId: 'replaceFolder',
    summary: 'Replaces a folder: without parentId it moves to the root',
    description: 'A folder cannot become its own ancestor.',
    ...changing,
    body: FolderInput,
    async handle({ params: { id }, body, headers }) {
      const updated = await store.write((writer) => updateFolder(writer, { id, ...body }, headers));
      return answer(200, updated, etagOf(updated));
    },
  }),
  route({
    method: 'patch',
    path: '/api/folders/{id}',
    operationId: 'updateFolder',
    summary: 'Changes members of a folder; omitted ones stay',
    description: 'A JSON Merge Patch (RFC 7396). A folder cannot become its own ancestor.',
    ...changing,
    body: FolderPatch,
    async handle({ params, body, headers }) {
      const updated = await store.write((writer) => updateFolder(writer, { ...params, ...body }, headers));
      return answer(200, updated, etagOf(updated));
    },
  }),
];

const deletingRoute = (store: CatalogueStore) =>
  route({
    method: 'delete',
    path: '/api/folders/{id}',
    operationId: 'deleteFolder',
    summary: 'Deletes a folder; with cascade its bookmarks are in no folder then, its subfolders in the one above it',
    description:
      'Without `cascade` a folder with bookmarks or subfolders answers 409. With it, bookmarks are in no folder afterwards, and subfolders move to the parent.',
    params: ById,
    query: FolderDeletion,
    answers: { 204: null },
    describedHeaders: describedIfMatch,
    describedAnswerHeaders: { 204: withUndo },
    problems: [Problems.folderMissing, Problems.folderNotEmpty, Common.preconditionFailed],
    handle: ({ params: { id }, query: { cascade, undo }, headers }) =>
      store.write(async (writer) => {
        const { headers: undoId } = await undoable(writer, { isWanted: undo, affected: { kind: 'folder', id } }, () =>
          removeFolder(writer, { id, cascade }, headers),
        );
        return answer(204, null, undoId);
      }),
  });

export async function addFolder(writer: CatalogueWriter, input: FolderInput, clock: () => Date): Promise<Folder> {
  await requireFolder(writer, 'parentId', input.parentId);
  const folder = { id: newId(), ...input };
  await writer.insertFolder(folder, clock());
  return folder;
}

/** Members that `change` does not have stay. @throws Problem 400, 404, or 412 by If-Match */
export async function updateFolder(
  writer: CatalogueWriter,
  change: Partial<FolderInput> & { readonly id: string },
  headers: IncomingHttpHeaders,
): Promise<Folder> {
  const { id, parentId = null } = change;
  await requireFolder(writer, 'parentId', parentId);
  const before = await existingFolder(writer, id);
  if (parentId !== null && (await writer.isAtOrAbove(id, parentId))) throw refused('parentId', 'must not be the folder itself or one below it');
  requireMatch(headers, entityTagOf(before));
  const updated = { ...before, ...change };
  await writer.updateFolder(updated);
  return updated;
}

type Deletion = { readonly id: string; readonly cascade: boolean };

/** @throws Problem 404, 409, or 412 by If-Match */
export async function removeFolder(writer: CatalogueWriter, { id, cascade }: Deletion, headers: IncomingHttpHeaders): Promise<void> {
  const folder = await existingFolder(writer, id);
  if (!cascade && (await writer.isHolding(id)))
    throw Problems.folderNotEmpty({ detail: 'It holds bookmarks or folders; cascade=true deletes it all the same.' });
  requireMatch(headers, entityTagOf(folder));
  await writer.emptyFolder(id);
  await writer.removeFolder(id);
}

/** @throws Problem 404 */
export async function existingFolder(store: Pick<CatalogueWriter, 'findFolder'>, id: string): Promise<Folder> {
  const folder = await store.findFolder(id);
  if (!folder) throw Problems.folderMissing();
  return folder;
}
