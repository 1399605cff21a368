// Folders: their routes and rules.
import { v7 as newId } from 'uuid';
import { answer, route } from '../platform/http/route.ts';
import { refused, requireFolder } from './bookmarks.ts';
import { ById, Folder, FolderDeletion, FolderInput, Problems } from './contract.ts';
import type { CatalogueStore } from './store.ts';

export const folderRoutes = (store: CatalogueStore, clock: () => Date) => [readingRoute(store), ...writingRoutes(store, clock)];

const readingRoute = (store: CatalogueStore) =>
  route({
    method: 'get',
    path: '/api/folders/{id}',
    operationId: 'getFolder',
    access: 'open',
    summary: 'One folder',
    description: 'Reading needs no key.',
    params: ById,
    answers: { 200: Folder },
    problems: [Problems.folderMissing],
    async handle({ params }) {
      const folder = await store.findFolder(params.id);
      if (!folder) throw Problems.folderMissing();
      return folder;
    },
  });

const writingRoutes = (store: CatalogueStore, clock: () => Date) => [
  route({
    method: 'post',
    path: '/api/folders',
    operationId: 'createFolder',
    summary: 'Adds a folder',
    description: 'Several folders may have the same name.',
    body: FolderInput,
    answers: { 201: Folder },
    async handle({ body }) {
      const created = await store.write(async (writer) => {
        await requireFolder(writer, 'parentId', body.parentId);
        const folder = { id: newId(), ...body };
        await writer.insertFolder(folder, clock());
        return folder;
      });
      return answer(201, created, { Location: `/api/folders/${created.id}` });
    },
  }),
  route({
    method: 'put',
    path: '/api/folders/{id}',
    operationId: 'replaceFolder',
    summary: 'Replaces a folder: without parentId it moves to the root',
    description: 'A folder cannot become its own ancestor.',
    params: ById,
    body: FolderInput,
    answers: { 200: Folder },
    problems: [Problems.folderMissing],
    handle: ({ params: { id }, body }) =>
      store.write(async (writer) => {
        await requireFolder(writer, 'parentId', body.parentId);
        if (!(await writer.hasFolder(id))) throw Problems.folderMissing();
        if (body.parentId !== null && (await writer.isAtOrAbove(id, body.parentId))) throw refused('parentId', 'must not be the folder itself or one below it');
        const updated = { id, ...body };
        await writer.updateFolder(updated);
        return updated;
      }),
  }),
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
    problems: [Problems.folderMissing, Problems.folderNotEmpty],
    async handle({ params: { id }, query: { cascade } }) {
      await store.write(async (writer) => {
        if (!(await writer.hasFolder(id))) throw Problems.folderMissing();
        if (cascade) await writer.emptyFolder(id);
        else if (await writer.isHolding(id)) throw Problems.folderNotEmpty({ detail: 'It holds bookmarks or folders; cascade=true deletes it all the same.' });
        await writer.removeFolder(id);
      });
      return answer(204, null);
    },
  }),
];
