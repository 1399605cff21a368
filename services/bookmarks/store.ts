// All SQL of the bookmark catalogue but that of lists.
import { createBatcher, sharedReads } from '../platform/batches.ts';
import { hashOf, identityOf } from '../platform/mail/url-identity.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import { asMembers, insertRows, namesOf, type RowColumns, rowsStatement } from '../platform/postgres/rows.ts';
import type { Bookmark, Folder } from './contract.ts';
import { changesOfMany } from './many/store.ts';
import { undoOn } from './undo/store.ts';

type Check = 'checked' | 'status' | 'dead';
/** A bookmark without the check of its page. */
export type PlainBookmark = Omit<Bookmark, Check>;
type Written = PlainBookmark & { readonly urlSha256: Buffer };

const written: RowColumns<Written> = {
  id: 'uuid',
  title: 'text',
  url: 'text',
  description: 'text',
  thumbnail: 'text',
  tags: 'text[]',
  folderId: 'uuid',
  favorite: 'boolean',
  dateAdded: 'timestamptz',
  urlSha256: 'bytea',
};
const { urlSha256: _, ...columns } = written;
/** The members of a bookmark, in the order of the wire. */
export const bookmarkColumns = asMembers(columns);
export const checkColumns = asMembers<Required<Pick<Bookmark, Check>>>({ checked: 'checked_at timestamptz', status: 'smallint', dead: 'boolean' });
const names = namesOf(written);

/** By which the bookmarks of one page are found, however their addresses are spelled. */
export const pageOf = (url: string): Buffer => hashOf(identityOf(url) ?? url);
const withPage = <One extends { readonly url: string }>(one: One) => ({ ...one, urlSha256: pageOf(one.url) });

const folderColumns: RowColumns<Folder> = { id: 'uuid', name: 'text', parentId: 'uuid', icon: 'text' };

const bookmarksById = statement<PlainBookmark, [ids: readonly string[]]>('bookmarks.byId', `select ${bookmarkColumns} from bookmarks where id = any($1)`);
const unfiled = statement<PlainBookmark, [url: string]>(
  'bookmarks.unfiled',
  `select ${bookmarkColumns} from bookmarks where url = $1 and folder_id is null order by date_added, id limit 1`,
);
const checkedById = statement<Bookmark, [id: string]>('bookmarks.checkedById', `select ${bookmarkColumns}, ${checkColumns} from bookmarks where id = $1`);

/** Single reads that come at the same time share a statement. */
function createFinder(database: Database) {
  const findTogether = async (ids: readonly string[]) => {
    const found = new Map((await database.all(bookmarksById, ids)).map((bookmark) => [bookmark.id, bookmark]));
    return ids.map((id) => found.get(id));
  };
  return createBatcher(findTogether, sharedReads);
}

// Tags are created on demand; those that no bookmark has any more stay.
const addTags = (rows: string) => `insert into tags (name) select distinct unnest(tags) from ${rows} as tagged on conflict do nothing`;

const insertBookmark = rowsStatement<unknown, [bookmarks: readonly Written[]]>(
  'bookmarks.insert',
  [written],
  (given) => `
  with added as (${addTags(given)})
  insert into bookmarks (${names}) select ${names} from ${given} as given`,
);

type Replacement = Omit<PlainBookmark, 'dateAdded'>;
const { dateAdded: __, ...replaced } = written;

// A page with another address has not been checked.
const updateBookmark = rowsStatement<PlainBookmark, [bookmarks: readonly Omit<Written, 'dateAdded'>[]]>(
  'bookmarks.update',
  [replaced],
  (given) => `
  with added as (${addTags(given)}), before as (
    select id, url_sha256 = (select url_sha256 from ${given} as given) as is_same from bookmarks where id in (select id from ${given} as given)
  )
  update bookmarks set
    (${namesOf(replaced)}) = (select ${namesOf(replaced)} from ${given} as given),
    checked_at = case when is_same then checked_at end,
    status = case when is_same then status end,
    failures = case when is_same then failures else 0 end,
    dead = is_same and dead,
    check_at = case when is_same then check_at else now() + interval '1 day' end
  from before where bookmarks.id = before.id
  returning ${asMembers(columns).replace(/^id/, 'bookmarks.id')}`,
);

const redateBookmark = statement<unknown, [id: string, dateAdded: Date]>('bookmarks.redate', 'update bookmarks set date_added = $2 where id = $1');

/** The bookmarks of an import whose address is not in the same folder already. */
const missingOf = (given: string) => `
  select * from ${given} as given
  where not exists (select from bookmarks where bookmarks.url = given.url and bookmarks.folder_id is not distinct from given.folder_id)`;

const insertMissing = rowsStatement<unknown, [bookmarks: readonly Written[]]>(
  'bookmarks.insertMissing',
  [written],
  (given) => `
  with missing as (${missingOf(given)}), added as (${addTags('missing')})
  insert into bookmarks (${names}) select ${names} from missing order by ordinal`,
);

const countMissing = rowsStatement<{ count: number }, [bookmarks: readonly Written[]]>(
  'bookmarks.countMissing',
  [written],
  (given) => `select count(*) from (${missingOf(given)}) as missing`,
);

const removeBookmark = statement<unknown, [id: string]>('bookmarks.remove', 'delete from bookmarks where id = $1');

const folderById = statement<Folder, [id: string]>('folders.byId', `select ${asMembers(folderColumns)} from folders where id = $1`);

const folderAtTop = statement<{ id: string }, [name: string]>(
  'folders.atTop',
  'select id from folders where name = $1 and parent_id is null order by created_at, id limit 1',
);
const subfolder = statement<{ id: string }, [name: string, parentId: string]>(
  'folders.below',
  'select id from folders where name = $1 and parent_id = $2 order by created_at, id limit 1',
);

const insertFolder = insertRows<Folder & { readonly createdAt: Date }>('folders.insert', {
  into: 'folders',
  columns: { ...folderColumns, createdAt: 'timestamptz' },
});

const updateFolder = rowsStatement<unknown, [folders: readonly Folder[]]>(
  'folders.update',
  [folderColumns],
  (given) => `
  update folders set (${namesOf(folderColumns)}) = (select ${namesOf(folderColumns)} from ${given} as given)
  where id in (select id from ${given} as given)`,
);

// The folder and all above it. `union` ends even if there is a cycle.
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
/** The questions and commands of a write. */
export type CatalogueWriter = ReturnType<typeof writerOn>;

/** @param writeDatabase a pool of its own, since waiting writes must not take connections from reads */
export const createStore = (database: Database, writeDatabase: Database) => ({
  findBookmark: createFinder(database),
  findChecked: (id: string) => database.first(checkedById, id),
  findFolder: (id: string) => database.first(folderById, id),
  ...lookupsOn(database),
  countMissing: async (bookmarks: readonly PlainBookmark[]) => (await database.first(countMissing, bookmarks.map(withPage)))?.count ?? 0,

  /**
   * Runs one write at a time over all replicas, in a transaction: answers to its questions hold until it ends, so that concurrent moves of
   * folders make no cycle, and no folder is deleted while a bookmark is put into it. Rolled back when `work` throws.
   */
  write: <T>(work: (writer: CatalogueWriter) => Promise<T>): Promise<T> =>
    writeDatabase.transaction(async (inTransaction) => {
      await inTransaction.run(renewRevision);
      return work(writerOn(inTransaction));
    }),
});

const lookupsOn = (database: Database) => ({
  /** The oldest folder of that name; a parent of null is the top. */
  findSubfolder: async (name: string, parentId: string | null) =>
    (await (parentId === null ? database.first(folderAtTop, name) : database.first(subfolder, name, parentId)))?.id,
});

const writerOn = (database: Database) => ({
  ...lookupsOn(database),
  ...changesOfMany(database),
  ...undoOn(database),
  /** @returns how many were inserted */
  insertMissing: (bookmarks: readonly PlainBookmark[]) => database.run(insertMissing, bookmarks.map(withPage)),
  findBookmark: async (id: string) => (await database.all(bookmarksById, [id]))[0],
  /** The oldest bookmark of this very address that is in no folder. */
  findUnfiled: (url: string) => database.first(unfiled, url),
  insertBookmark: (bookmark: PlainBookmark) => database.run(insertBookmark, [withPage(bookmark)]),
  /** @throws TypeError when no bookmark has the id */
  async updateBookmark(bookmark: Replacement): Promise<PlainBookmark> {
    const updated = await database.first(updateBookmark, [withPage(bookmark)]);
    if (!updated) throw new TypeError('id must be that of a bookmark');
    return updated;
  },
  redateBookmark: (id: string, dateAdded: Date) => database.run(redateBookmark, id, dateAdded),
  removeBookmark: (id: string) => database.run(removeBookmark, id),

  findFolder: (id: string) => database.first(folderById, id),
  insertFolder: (folder: Folder, createdAt: Date) => database.run(insertFolder, [{ ...folder, createdAt }]),
  updateFolder: (folder: Folder) => database.run(updateFolder, [folder]),
  /** Whether folder `id` is `folderId` itself or above it. */
  isAtOrAbove: async (id: string, folderId: string) => (await database.first(isAtOrAbove, id, folderId))?.found === true,
  isHolding: async (id: string) => (await database.first(isHolding, id))?.found === true,
  /** Takes its bookmarks into no folder, and its subfolders into its parent. */
  async emptyFolder(id: string): Promise<void> {
    await database.run(releaseBookmarks, id);
    await database.run(raiseSubfolders, id);
  },
  removeFolder: (id: string) => database.run(removeFolder, id),
});
