// Many bookmarks at once, and tags: renamed, merged, deleted. Routes and rules.
import { answer, route } from '../../platform/http/route.ts';
import { refused, requireFolder } from '../bookmarks.ts';
import { maxTags, Problems } from '../contract.ts';
import { type BulkInput, BulkInput as BulkBody, BulkResult, ByTag, RenamedTag, TagInput } from './contract.ts';
import type { CatalogueStore, CatalogueWriter } from '../store.ts';

export const manyRoutes = (store: CatalogueStore) => [
  route({
    method: 'post',
    path: '/api/bookmarks/bulk',
    operationId: 'changeBookmarks',
    summary: 'Moves, tags, untags, marks or deletes up to 500 bookmarks',
    description: 'All or none. Bookmarks that have the wanted state already do not count.',
    body: BulkBody,
    answers: { 200: BulkResult },
    handle: ({ body }) => store.write(async (writer) => ({ updated: await change(writer, body) })),
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
    body: TagInput,
    answers: { 200: RenamedTag },
    problems: [Problems.tagMissing],
    handle: ({ params, body: { name } }) =>
      store.write(async (writer) => {
        if (!(await writer.hasTag(params.name))) throw Problems.tagMissing();
        return { name, bookmarks: await writer.renameTag(params.name, name) };
      }),
  }),
  route({
    method: 'delete',
    path: '/api/tags/{name}',
    operationId: 'deleteTag',
    summary: 'Deletes a tag, and takes it off all bookmarks',
    description: 'A repeat answers 404.',
    params: ByTag,
    answers: { 204: null },
    problems: [Problems.tagMissing],
    async handle({ params: { name } }) {
      await store.write(async (writer) => {
        if (!(await writer.hasTag(name))) throw Problems.tagMissing();
        await writer.dropTag(name);
      });
      return answer(204, null);
    },
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
