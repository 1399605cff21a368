// All SQL of changes that can be taken back: the rows before a change are kept as JSON, and are written once more.
import { type Database, statement } from '../../platform/postgres/pool.ts';

type Ids = readonly string[];

/** The rows that a change is about to take away. */
export type Affected =
  | { readonly kind: 'deleted' | 'changed'; readonly ids: Ids }
  /** A tag that becomes another one, or none. */
  | { readonly kind: 'tag'; readonly name: string; readonly becomes?: string }
  | { readonly kind: 'folder'; readonly id: string };

const members = `jsonb_build_object('id', bookmarks.id, 'tags', tags, 'folder_id', folder_id, 'favorite', favorite)`;
const rows = (what: string, where: string) => `(select coalesce(jsonb_agg(${what}), '[]') from bookmarks where ${where})`;

const forgetOld = statement('undo.forgetOld', `delete from undoable where made_at < now() - interval '1 day'`);

const keepDeleted = statement<unknown, [id: string, ids: Ids]>(
  'undo.keepDeleted',
  `insert into undoable (id, deleted) select $1, ${rows(`to_jsonb(bookmarks) - '{search_text,search_words}'::text[]`, 'id = any($2::uuid[])')}`,
);
const keepChanged = statement<unknown, [id: string, ids: Ids]>(
  'undo.keepChanged',
  `insert into undoable (id, changed) select $1, ${rows(members, 'id = any($2::uuid[])')}`,
);
const keepTagged = statement<unknown, [id: string, name: string, becomes: string | null]>(
  'undo.keepTagged',
  `
  insert into undoable (id, changed, lost_tag, new_tag)
  select $1, ${rows(members, 'tags @> array[$2]')}, $2, (select $3::text where not exists (select from tags where name = $3))`,
);
const keepFolder = statement<unknown, [id: string, folderId: string]>(
  'undo.keepFolder',
  `
  insert into undoable (id, changed, folder, subfolders)
  select $1, ${rows(members, 'folder_id = $2')}, to_jsonb(folders), array(select id from folders as below where below.parent_id = folders.id)
  from folders where id = $2`,
);

const keepLeft = statement<unknown, [id: string]>(
  'undo.keepLeft',
  `
  update undoable set changed = (
    select coalesce(jsonb_agg(entry || jsonb_build_object('left', ${members})), '[]')
    from jsonb_array_elements(changed) as entry join bookmarks on bookmarks.id = (entry->>'id')::uuid
  )
  where undoable.id = $1 and changed <> '[]'`,
);

const restoreFolder = statement<unknown, [id: string]>(
  'undo.restoreFolder',
  `
  insert into folders (id, name, parent_id, icon, created_at)
  select was.id, was.name, (select id from folders where folders.id = was.parent_id), was.icon, was.created_at
  from undoable, jsonb_populate_record(null::folders, undoable.folder) as was
  where undoable.id = $1 and undoable.folder is not null
  on conflict do nothing`,
);
// A subfolder that was moved since stays where it is: so no folder gets below itself.
const lowerSubfolders = statement<unknown, [id: string]>(
  'undo.lowerSubfolders',
  `
  update folders set parent_id = (folder->>'id')::uuid from undoable
  where undoable.id = $1 and folders.id = any(subfolders) and folders.parent_id is not distinct from (folder->>'parent_id')::uuid`,
);

const before = (column: string) => `undoable, jsonb_populate_recordset(null::bookmarks, undoable.${column}) as was where undoable.id = $1`;
const folderThatIs = '(select folders.id from folders where folders.id = was.folder_id)';
const plain = 'id, title, url, url_sha256, description, thumbnail, tags, favorite, date_added, checked_at, status, failures, dead, check_at';
const plainOfIt = plain.replaceAll(/\w+/g, 'was.$&');

const restoreTags = statement<unknown, [id: string]>(
  'undo.restoreTags',
  `
  insert into tags (name)
  select lost_tag from undoable where id = $1 and lost_tag is not null
  union select unnest(was.tags) from ${before('deleted')}
  union select unnest(was.tags) from ${before('changed')}
  on conflict do nothing`,
);
const restoreDeleted = statement<unknown, [id: string]>(
  'undo.restoreDeleted',
  `
  insert into bookmarks (${plain}, folder_id)
  select ${plainOfIt}, ${folderThatIs} from ${before('deleted')}
  on conflict do nothing`,
);
// A value that was changed once more stays: only one that is as the change left it goes back.
const restoreChanged = statement<unknown, [id: string]>(
  'undo.restoreChanged',
  `
  update bookmarks set
    tags = case when to_jsonb(bookmarks.tags) = entry->'left'->'tags' then was.tags else bookmarks.tags end,
    favorite = case when to_jsonb(bookmarks.favorite) = entry->'left'->'favorite' then was.favorite else bookmarks.favorite end,
    folder_id = case when bookmarks.folder_id is not distinct from (entry->'left'->>'folder_id')::uuid then ${folderThatIs} else bookmarks.folder_id end
  from undoable, jsonb_array_elements(undoable.changed) as entry, jsonb_populate_record(null::bookmarks, entry) as was
  where undoable.id = $1 and bookmarks.id = was.id`,
);
const dropNewTag = statement<unknown, [id: string]>(
  'undo.dropNewTag',
  `
  delete from tags using undoable
  where undoable.id = $1 and tags.name = new_tag and not exists (select from bookmarks where bookmarks.tags @> array[new_tag])`,
);
const forget = statement<unknown, [id: string]>('undo.forget', 'delete from undoable where id = $1');
const isKept = statement<{ id: string }, [id: string]>('undo.find', `select id from undoable where id = $1 and made_at >= now() - interval '1 day'`);

export const undoOn = (database: Database) => ({
  /** Keeps what a change is about to take away, under a new id. */
  async remember(id: string, affected: Affected): Promise<void> {
    switch (affected.kind) {
      case 'deleted':
        await database.run(keepDeleted, id, affected.ids);
        break;
      case 'changed':
        await database.run(keepChanged, id, affected.ids);
        break;
      case 'tag':
        await database.run(keepTagged, id, affected.name, affected.becomes ?? null);
        break;
      case 'folder':
        await database.run(keepFolder, id, affected.id);
    }
  },

  /** Keeps what the change left, once it is made: what differs from it later was changed once more. */
  keepLeft: (id: string) => database.run(keepLeft, id),
  forgetOld: () => database.run(forgetOld),

  /** Takes a change back. @returns how many rows are as they were, undefined for an unknown id */
  async undo(id: string): Promise<{ readonly bookmarks: number; readonly folders: number } | undefined> {
    if (!(await database.first(isKept, id))) return undefined;
    const folders = await database.run(restoreFolder, id);
    await database.run(lowerSubfolders, id);
    await database.run(restoreTags, id);
    const bookmarks = (await database.run(restoreDeleted, id)) + (await database.run(restoreChanged, id));
    await database.run(dropNewTag, id);
    await database.run(forget, id);
    return { bookmarks, folders };
  },
});
