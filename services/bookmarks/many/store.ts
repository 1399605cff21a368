// All SQL of bulk changes. Each function returns how many rows it changed, unless it says otherwise.
import { type Database, statement } from '../../platform/postgres/pool.ts';

type Ids = readonly string[];

const move = statement<unknown, [ids: Ids, folderId: string | null]>(
  'many.move',
  'update bookmarks set folder_id = $2::uuid where id = any($1::uuid[]) and folder_id is distinct from $2::uuid',
);

const setFavorite = statement<unknown, [ids: Ids, favorite: boolean]>(
  'many.favorite',
  'update bookmarks set favorite = $2 where id = any($1::uuid[]) and favorite <> $2',
);

const remove = statement<unknown, [ids: Ids]>('many.remove', 'delete from bookmarks where id = any($1::uuid[])');

/** Keeps the tags of a bookmark in the order of code points, each once. */
const tag = statement<{ tags: number }, [ids: Ids, tags: readonly string[]]>(
  'many.tag',
  `
  with added as (insert into tags (name) select unnest($2::text[]) on conflict do nothing)
  update bookmarks set tags = array(select distinct name collate "C" as name from unnest(tags || $2::text[]) as each (name) order by name)
  where id = any($1::uuid[]) and not tags @> $2::text[]
  returning cardinality(tags) as tags`,
);

const untag = statement<unknown, [ids: Ids, tags: readonly string[]]>(
  'many.untag',
  `
  update bookmarks set tags = array(select name from unnest(tags) with ordinality as each (name, place) where name <> all($2::text[]) order by place)
  where id = any($1::uuid[]) and tags && $2::text[]`,
);

const insertTag = statement<unknown, [name: string]>('tags.insert', 'insert into tags (name) values ($1) on conflict do nothing');
const removeTag = statement<unknown, [name: string]>('tags.remove', 'delete from tags where name = $1');
const hasTag = statement<{ name: string }, [name: string]>('tags.find', 'select name from tags where name = $1');

const renameTag = statement<unknown, [from: string, to: string]>(
  'tags.rename',
  `
  update bookmarks set tags = array(
    select distinct (case name when $1 then $2 else name end) collate "C" as name from unnest(tags) as each (name) order by name
  )
  where tags @> array[$1]`,
);

const dropTag = statement<unknown, [name: string]>('tags.drop', 'update bookmarks set tags = array_remove(tags, $1) where tags @> array[$1]');

const countTagged = statement<{ count: number }, [name: string]>('tags.count', 'select count(*) from bookmarks where tags @> array[$1]');

export const changesOfMany = (database: Database) => ({
  move: (ids: Ids, folderId: string | null) => database.run(move, ids, folderId),
  setFavorite: (ids: Ids, favorite: boolean) => database.run(setFavorite, ids, favorite),
  removeAll: (ids: Ids) => database.run(remove, ids),
  /** @returns how many tags each changed bookmark has now */
  tag: async (ids: Ids, tags: readonly string[]) => (await database.all(tag, ids, tags)).map((row) => row.tags),
  untag: (ids: Ids, tags: readonly string[]) => database.run(untag, ids, tags),

  hasTag: async (name: string) => (await database.first(hasTag, name)) !== undefined,
  /** Replaces tag `from` by `to`, and merges the two if `to` exists. @returns how many bookmarks have `to` now, and whether it existed */
  async renameTag(from: string, to: string): Promise<{ bookmarks: number; merged: boolean }> {
    const merged = from !== to && (await database.run(insertTag, to)) === 0;
    if (from !== to) {
      await database.run(renameTag, from, to);
      await database.run(removeTag, from);
    }
    return { bookmarks: (await database.first(countTagged, to))?.count ?? 0, merged };
  },
  async dropTag(name: string): Promise<void> {
    await database.run(dropTag, name);
    await database.run(removeTag, name);
  },
});
