// All SQL of the bookmark catalogue but that of lists.
import { createBatcher, sharedReads } from '../platform/batches.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import type { Bookmark, Folder } from './contract.ts';

/** As the wire names them, in its order. */
export const bookmarkColumns = `id, title, url, description, thumbnail, tags, folder_id as "folderId", favorite, date_added as "dateAdded"`;
const folderColumns = `id, name, parent_id as "parentId", icon`;

const bookmarksById = statement<Bookmark, [ids: readonly string[]]>('bookmarks.byId', `select ${bookmarkColumns} from bookmarks where id = any($1)`);

/** Single reads that come at once share a statement. @returns what finds one; undefined where there is none */
function createFinder(database: Database) {
  const findTogether = async (ids: readonly string[]) => {
    const found = new Map((await database.all(bookmarksById, ids)).map((bookmark) => [bookmark.id, bookmark]));
    return ids.map((id) => found.get(id));
  };
  return createBatcher(findTogether, sharedReads);
}

type BookmarkValues = [
  id: string,
  title: string,
  url: string,
  description: string,
  thumbnail: string,
  tags: string[],
  folderId: string | null,
  favorite: boolean,
];
const valuesOf = ({ id, title, url, description, thumbnail, tags, folderId, favorite }: Omit<Bookmark, 'dateAdded'>): BookmarkValues => [
  id,
  title,
  url,
  description,
  thumbnail,
  tags,
  folderId,
  favorite,
];
// Tags are created on demand; those that no bookmark has any more stay.
const withTags = 'with added as (insert into tags (name) select unnest($6::text[]) on conflict do nothing)';

const insertBookmark = statement<unknown, [...BookmarkValues, dateAdded: Date]>(
  'bookmarks.insert',
  `
  ${withTags}
  insert into bookmarks (id, title, url, description, thumbnail, tags, folder_id, favorite, date_added)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

const updateBookmark = statement<Bookmark, BookmarkValues>(
  'bookmarks.update',
  `
  ${withTags}
  update bookmarks set title = $2, url = $3, description = $4, thumbnail = $5, tags = $6, folder_id = $7, favorite = $8
  where id = $1
  returning ${bookmarkColumns}`,
);

/** Of what an import brings, as JSON, those whose address is not in the same folder already. */
const missing = `
  select given.* from json_to_recordset($1::json) as given (id uuid, title text, url text, description text, thumbnail text, tags text[], "folderId" uuid,
    favorite boolean, "dateAdded" timestamptz)
  where not exists (select from bookmarks where bookmarks.url = given.url and bookmarks.folder_id is not distinct from given."folderId")`;

const insertMissing = statement<unknown, [bookmarks: string]>(
  'bookmarks.insertMissing',
  `
  with missing as (${missing}),
    added as (insert into tags (name) select distinct unnest(tags) from missing on conflict do nothing)
  insert into bookmarks (id, title, url, description, thumbnail, tags, folder_id, favorite, date_added) select * from missing`,
);

const countMissing = statement<{ count: number }, [bookmarks: string]>('bookmarks.countMissing', `select count(*) from (${missing}) missing`);

const removeBookmark = statement<unknown, [id: string]>('bookmarks.remove', 'delete from bookmarks where id = $1');

const folderById = statement<Folder, [id: string]>('folders.byId', `select ${folderColumns} from folders where id = $1`);

const folderAtTop = statement<{ id: string }, [name: string]>(
  'folders.atTop',
  'select id from folders where name = $1 and parent_id is null order by created_at, id limit 1',
);
const subfolder = statement<{ id: string }, [name: string, parentId: string]>(
  'folders.below',
  'select id from folders where name = $1 and parent_id = $2 order by created_at, id limit 1',
);

type FolderValues = [id: string, name: string, parentId: string | null, icon: string | null];
const valuesOfFolder = ({ id, name, parentId, icon }: Folder): FolderValues => [id, name, parentId, icon];

const insertFolder = statement<unknown, [...FolderValues, createdAt: Date]>(
  'folders.insert',
  'insert into folders (id, name, parent_id, icon, created_at) values ($1, $2, $3, $4, $5)',
);

const updateFolder = statement<unknown, FolderValues>('folders.update', 'update folders set name = $2, parent_id = $3, icon = $4 where id = $1');

// The folder and all above it. `union` ends even where there is a cycle already.
const isAtOrAbove = statement<{ found: boolean }, [id: string, folderId: string]>(
  'folders.isAtOrAbove',
  `
  with recursive above (id, parent_id) as (
    select id, parent_id from folders where id = $2
    union
    select folders.id, folders.parent_id from folders join above on folders.id = above.parent_id
  )
  select exists (select from above where id = $1) as found`,
);

const isHolding = statement<{ found: boolean }, [id: string]>(
  'folders.isHolding',
  `
  select exists (select from bookmarks where folder_id = $1) or exists (select from folders where parent_id = $1) as found`,
);

const releaseBookmarks = statement<unknown, [id: string]>('folders.releaseBookmarks', 'update bookmarks set folder_id = null where folder_id = $1');

const raiseSubfolders = statement<unknown, [id: string]>(
  'folders.raiseSubfolders',
  `
  update folders set parent_id = (select parent_id from folders where id = $1) where parent_id = $1`,
);

const removeFolder = statement<unknown, [id: string]>('folders.remove', 'delete from folders where id = $1');

const renewRevision = statement('catalogue.renew', 'update catalogue set revision = gen_random_uuid()');

export type CatalogueStore = ReturnType<typeof createStore>;
/** What a write may ask and do. */
export type CatalogueWriter = ReturnType<typeof writerOn>;

/** @param writeDatabase for writes, which wait for each other and must not keep reads from a connection */
export const createStore = (database: Database, writeDatabase: Database) => ({
  findBookmark: createFinder(database),
  findFolder: (id: string) => database.first(folderById, id),
  ...lookupsOn(database),
  countMissing: async (bookmarks: readonly Bookmark[]) => (await database.first(countMissing, JSON.stringify(bookmarks)))?.count ?? 0,

  /**
   * One write at a time over all replicas, each in a transaction: what it has asked holds until it is done, so that moves of folders that
   * meet make no cycle, and no folder goes while something is put into it. Rolled back when `work` throws.
   */
  write: <T>(work: (writer: CatalogueWriter) => Promise<T>): Promise<T> =>
    writeDatabase.transaction(async (inTransaction) => {
      await inTransaction.run(renewRevision);
      return work(writerOn(inTransaction));
    }),
});

const lookupsOn = (database: Database) => ({
  /** The oldest one of that name; null is the top. */
  findSubfolder: async (name: string, parentId: string | null) =>
    (await (parentId === null ? database.first(folderAtTop, name) : database.first(subfolder, name, parentId)))?.id,
});

const writerOn = (database: Database) => ({
  ...lookupsOn(database),
  /** @returns how many that was */
  insertMissing: (bookmarks: readonly Bookmark[]) => database.run(insertMissing, JSON.stringify(bookmarks)),
  insertBookmark: (bookmark: Bookmark) => database.run(insertBookmark, ...valuesOf(bookmark), bookmark.dateAdded),
  /** Undefined when there is none. */
  updateBookmark: (bookmark: Omit<Bookmark, 'dateAdded'>) => database.first(updateBookmark, ...valuesOf(bookmark)),
  removeBookmark: async (id: string) => (await database.run(removeBookmark, id)) > 0,

  hasFolder: async (id: string) => (await database.first(folderById, id)) !== undefined,
  insertFolder: (folder: Folder, createdAt: Date) => database.run(insertFolder, ...valuesOfFolder(folder), createdAt),
  updateFolder: (folder: Folder) => database.run(updateFolder, ...valuesOfFolder(folder)),
  /** Whether folder `id` is `folderId` itself or above it. */
  isAtOrAbove: async (id: string, folderId: string) => (await database.first(isAtOrAbove, id, folderId))?.found === true,
  isHolding: async (id: string) => (await database.first(isHolding, id))?.found === true,
  /** What is directly in it: bookmarks are in no folder then, subfolders in the one above it. */
  async emptyFolder(id: string): Promise<void> {
    await database.run(releaseBookmarks, id);
    await database.run(raiseSubfolders, id);
  },
  removeFolder: (id: string) => database.run(removeFolder, id),
});
