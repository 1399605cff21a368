// The schemas of bulk changes of bookmarks, and of changes of tags.
import { z } from 'zod';
import { storable } from '../../platform/json.ts';
import { Count, trimmedText } from '../../platform/schema.ts';
import { asId, bookmarkMembers, Reference, Tags } from '../contract.ts';

const Ids = z
  .array(z.string({ error: 'must be a string' }).transform(asId), { error: 'must be an array' })
  .min(1, { error: 'must not be empty' })
  .max(500, { error: 'must hold at most 500 ids' })
  .meta({ description: 'Ids of bookmarks, 1 to 500; ids that name nothing and repeats are ignored' });
const literal = <const Action extends string>(action: Action) => z.literal(action).meta({ description: 'The action' });
const ManyTags = Tags.refine((tags) => tags.length > 0, { error: 'must hold a tag' });
export const BulkInput = z
  .discriminatedUnion('action', [
    z
      .object({ action: literal('move'), ids: Ids, folderId: Reference.meta({ description: 'The id of an existing folder, or null: no folder' }) })
      .meta({ id: 'MoveBookmarks', description: 'Moves bookmarks to a folder' }),
    z
      .object({ action: literal('tag'), ids: Ids, tags: ManyTags.meta({ description: 'Tags to add' }) })
      .meta({ id: 'TagBookmarks', description: 'Adds tags to bookmarks' }),
    z
      .object({ action: literal('untag'), ids: Ids, tags: ManyTags.meta({ description: 'Tags to remove' }) })
      .meta({ id: 'UntagBookmarks', description: 'Removes tags from bookmarks' }),
    z
      .object({
        action: literal('favorite'),
        ids: Ids,
        favorite: bookmarkMembers.favorite.default(true).meta({ description: 'Whether the bookmarks become favorites; default: true' }),
      })
      .meta({ id: 'MarkBookmarks', description: 'Marks bookmarks as favorites, or unmarks them' }),
    z.object({ action: literal('delete'), ids: Ids }).meta({ id: 'DeleteBookmarks', description: 'Deletes bookmarks' }),
  ])
  .meta({
    id: 'BulkInput',
    description: 'A change of up to 500 bookmarks',
    examples: [{ action: 'tag', ids: ['019b76da-a800-7000-8000-5f3c1e2d4a6b'], tags: ['maps'] }],
  });
export type BulkInput = z.output<typeof BulkInput>;
export const BulkResult = z
  .object({ updated: Count.meta({ description: 'How many bookmarks were changed or deleted' }) })
  .meta({ id: 'BulkResult', description: 'The result of a bulk change' });

export const ByTag = z.object({
  name: z
    .string()
    .transform(storable)
    .meta({ description: 'The tag, in its letter case', examples: ['maps'] }),
});
export const TagInput = z
  .object({ name: trimmedText({ min: 1, max: 100 }).meta({ description: 'The new name; if there is a tag of that name, the two are merged' }) })
  .meta({ id: 'TagInput', description: 'The new name of a tag', examples: [{ name: 'cartography' }] });
export const RenamedTag = z
  .object({
    name: z.string().meta({ description: 'The name of the tag', examples: ['cartography'] }),
    bookmarks: Count.meta({ description: 'How many bookmarks have it now' }),
    merged: z.boolean().meta({ description: 'Whether another tag had this name, so that the two are merged' }),
  })
  .meta({ id: 'RenamedTag', description: 'A tag under its new name' });
