// Many bookmarks at once, and tags: renamed, merged, deleted. Routes and rules.
import { answer, route } from '../../platform/http/route.ts';
import { refused, requireFolder } from '../bookmarks.ts';
import { maxTags, Problems, Undoable } from '../contract.ts';
import { type BulkInput, BulkInput as BulkBody, BulkResult, ByTag, RenamedTag, TagInput } from './contract.ts';
import type { CatalogueStore, CatalogueWriter } from '../store.ts';
import { withUndo } from '../undo/contract.ts';
import { undoable } from '../undo/undo.ts';

export const manyRoutes = (store: CatalogueStore) => [
  route({
    method: 'post',
    path: '/api/bookmarks/bulk',
    operationId: 'changeBookmarks',
    summary: 'Moves, tags, untags, marks or deletes up to 500 bookmarks',
    description: 'All or none. Bookmarks that have the wanted state already do not count.',
    query: Undoable,
    body: BulkBody,
    answers: { 200: BulkResult },
    describedAnswerHeaders: { 200: withUndo },
    handle: ({ query: { undo }, body }) =>
      store.write(async (writer) => {
        const affected = { kind: body.action === 'delete' ? 'deleted' : 'changed', ids: body.ids } as const;
        const { result, headers } = await undoable(writer, { isWanted: undo, affected }, () => change(writer, body));
        return answer(200, { updated: result }, headers);
      }),
  }),
];

export const tagRoutes = (store: CatalogueStore) => [
  route({
    method: 'put',
    path: '/api/tags/{name}',
    operationId: 'renameTag',
    summary: 'Renames a tag, or merges it with another one',
    description: 'Where the new name exists, its bookmarks and those of the renamed tag have it then. A slash in a name is `%2F`.',
    params: ByTag,
    query: Undoable,
    body: TagInput,
    answers: { 200: RenamedTag },
    describedAnswerHeaders: { 200: withUndo },
    problems: [Problems.tagMissing],
    handle: ({ params, query: { undo }, body: { name } }) =>
      store.write(async (writer) => {
        if (!(await writer.hasTag(params.name))) throw Problems.tagMissing();
        const affected = { kind: 'tag', name: params.name, becomes: name } as const;
        const { result, headers } = await undoable(writer, { isWanted: undo, affected }, () => writer.renameTag(params.name, name));
        return answer(200, { name, ...result }, headers);
      }),
  }),
  route({
    method: 'delete',
    path: '/api/tags/{name}',
    operationId: 'deleteTag',
    summary: 'Deletes a tag, and takes it off all bookmarks',
    description: 'A repeat answers 404.',
    params: ByTag,
    query: Undoable,
    answers: { 204: null },
    describedAnswerHeaders: { 204: withUndo },
    problems: [Problems.tagMissing],
    handle: ({ params: { name }, query: { undo } }) =>
      store.write(async (writer) => {
        if (!(await writer.hasTag(name))) throw Problems.tagMissing();
        const { headers } = await undoable(writer, { isWanted: undo, affected: { kind: 'tag', name } }, () => writer.dropTag(name));
        return answer(204, null, headers);
      }),
  }),
];

async function change(writer: CatalogueWriter, input: BulkInput): Promise<number> {
  const { ids } = input;
  switch (input.action) {
    case 'move':
      await requireFolder(writer, 'folderId', input.folderId);
      return writer.move(ids, input.folderId);
    case 'tag':
      return tagAll(writer, ids, input.tags);
    case 'untag':
      return writer.untag(ids, input.tags);
    case 'favorite':
      return writer.setFavorite(ids, input.favorite);
    case 'delete':
      return writer.removeAll(ids);
  }
}

async function tagAll(writer: CatalogueWriter, ids: readonly string[], tags: readonly string[]): Promise<number> {
  const counts = await writer.tag(ids, tags);
  if (counts.some((count) => count > maxTags)) throw refused('tags', `must leave each bookmark with at most ${maxTags} tags`);
  return counts.length;
}
