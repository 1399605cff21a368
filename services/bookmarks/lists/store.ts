// All SQL of the lists and of snapshots. Each list is read together with its revision, in one statement or one transaction.
import type { Readable } from 'node:stream';
import knex from 'knex';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { createSnapshots, readByCursor, type SnapshotLimits } from '../../platform/postgres/snapshots.ts';
import type { Bookmark, Folder } from '../contract.ts';
import { bookmarkColumns } from '../store.ts';
import { type Position, wordsOf } from './search.ts';

const builder = knex({ client: 'pg' });

export type BookmarkFilter = {
  readonly q?: string | undefined;
  readonly tag?: string | undefined;
  /** Null: bookmarks in no folder. */
  readonly folderId?: string | null | undefined;
  readonly favorite?: boolean | undefined;
};
/** Undefined `after` is the first page. */
export type Page = { readonly after: Position | undefined; readonly rows: number };

/** `minusRank` is the rank of a search, negated so that all sort keys ascend. */
export type FoundBookmark = Bookmark & { readonly minusRank?: number };
export type Listed<Row> = { readonly revision: string; readonly rows: Row[] };

/** A left join of the revision's one row with a list: the id is null where the list is empty. */
type BesideRevision<Row> = { readonly revision: string } & (Row | { readonly id: null });

function listed<Row extends object>(rows: readonly BesideRevision<Row>[]): Listed<Row> {
  const isRow = (row: BesideRevision<Row>): row is { readonly revision: string } & Row => !('id' in row) || row.id !== null;
  return { revision: rows[0]?.revision ?? '', rows: rows.filter(isRow) };
}

const revision = statement<{ revision: string }>('catalogue.revision', 'select revision from catalogue');
/** The limit makes Postgres plan for one row. */
const theRevision = '(select revision from catalogue limit 1) catalogue';

const bookmarksAfter = statement<BesideRevision<Bookmark>, [after: Date | string, id: string, rows: number]>(
  'bookmarks.after',
  `
  select catalogue.revision, page.* from ${theRevision} left join (
    select ${bookmarkColumns} from bookmarks where (date_added, id) > ($1, $2) order by date_added, id limit $3
  ) page on true
  order by page."dateAdded", page.id`,
);

const folders = statement<BesideRevision<Folder>>(
  'folders.all',
  `
  select catalogue.revision, folders.id, name, parent_id as "parentId", icon from ${theRevision} left join folders on true order by created_at, folders.id`,
);

const tags = statement<{ revision: string; name: string | null }>(
  'tags.all',
  `select catalogue.revision, name from ${theRevision} left join tags on true order by name collate alphabetical`,
);

/** All bookmarks that match, in the order of the list. */
function select({ q, tag, folderId, favorite }: BookmarkFilter, after?: Position) {
  const query = builder.from('bookmarks').select(builder.raw(bookmarkColumns));
  if (tag !== undefined) query.whereRaw('tags @> array[?]::text[]', [tag]);
  if (folderId === null) query.whereNull('folder_id');
  else if (folderId !== undefined) query.where('folder_id', folderId);
  if (favorite !== undefined) query.where({ favorite });
  if (q !== undefined) {
    for (const word of wordsOf(q)) query.whereRaw('search_text like containing(?)', [word]);
    // Each whole word that is found counts, whether or not the others are whole words as well.
    const minusRank = builder.raw(`-ts_rank(search_words, replace(plainto_tsquery('simple', spaced(folded(?)))::text, ' & ', ' | ')::tsquery)`, [q]);
    query.select({ minusRank }).orderBy('minusRank');
    if (after) query.whereRaw('(?, date_added, id) > (?::float4, ?, ?)', [minusRank, after.minusRank ?? 0, after.dateAdded, after.id]);
  } else if (after) query.whereRaw('(date_added, id) > (?, ?)', [after.dateAdded, after.id]);
  return query.orderBy(['date_added', 'id']);
}

const revisionOf = async (database: Database) => (await database.first(revision))?.revision ?? '';

export type ListStore = ReturnType<typeof createListStore>;
export type Snapshot = ReturnType<typeof snapshotOn>;

export const createListStore = (database: Database) => ({
  revision: () => revisionOf(database),

  async bookmarks(filter: BookmarkFilter, { after, rows }: Page): Promise<Listed<FoundBookmark>> {
    if (Object.values(filter).every((value) => value === undefined))
      return listed(await database.all(bookmarksAfter, after?.dateAdded ?? '-infinity', after?.id ?? '00000000-0000-0000-0000-000000000000', rows));
    const page = select(filter, after).limit(rows).as('page');
    const order = filter.q === undefined ? [] : ['minusRank'];
    const query = builder
      .from(builder.raw(theRevision))
      .select('catalogue.revision', 'page.*')
      .leftJoin(page, builder.raw('true'))
      .orderBy([...order, 'dateAdded', 'id']);
    return listed(await database.select<BesideRevision<FoundBookmark>>(query));
  },
  folders: async () => listed(await database.all(folders)),
  async tags(): Promise<Listed<string>> {
    const rows = await database.all(tags);
    return { revision: rows[0]?.revision ?? '', rows: rows.flatMap(({ name }) => name ?? []) };
  },
});

const snapshotOn = (database: Database) => ({
  revision: () => revisionOf(database),
  folders: async () => listed(await database.all(folders)).rows,
  /** All that match, a few at a time. Read one list at a time. */
  bookmarks: (filter: BookmarkFilter, after?: Position) => readByCursor<FoundBookmark>(database, select(filter, after)),
});

export type OpenSnapshot = ReturnType<typeof createCatalogueSnapshots>;

/** Long texts that are written from one snapshot of the catalogue, each with the revision of that snapshot. */
export function createCatalogueSnapshots(database: Database, limits: SnapshotLimits) {
  const open = createSnapshots(database, limits);
  /** @throws Problem 503 */
  return async (write: (snapshot: Snapshot) => AsyncIterable<string>): Promise<{ readonly revision: string; readonly text: Readable }> => {
    const { head, text } = await open(async (frozen) => {
      const snapshot = snapshotOn(frozen);
      return { head: await snapshot.revision(), pieces: write(snapshot) };
    });
    return { revision: head, text };
  };
}
