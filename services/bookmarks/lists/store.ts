// All SQL of the lists and of snapshots. Each list is read together with its revision, in one statement or one transaction.
import type { Readable } from 'node:stream';
import knex from 'knex';
import { NIL } from 'uuid';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { createSnapshots, readByCursor, type SnapshotLimits } from '../../platform/postgres/snapshots.ts';
import type { Bookmark, BookmarkFilterQuery, Counts, Folder } from '../contract.ts';
import { bookmarkColumns, checkColumns, pageOf } from '../store.ts';
import type { Order, Position } from './order.ts';
import { readSearch, type Term, wantedText } from './search.ts';

const builder = knex({ client: 'pg' });

export type BookmarkFilter = Partial<Omit<BookmarkFilterQuery, 'folderId'>> & {
  /** Null: bookmarks in no folder. */
  readonly folderId?: string | null | undefined;
};
/** Undefined `after` is the first page. */
export type Page = { readonly order: Order; readonly after: Position | undefined; readonly withChecks?: boolean };

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

type Query = ReturnType<typeof builder.from>;

const foldersFrom = `folder_id in (
  with recursive below (id) as (
    select ?::uuid union select folders.id from folders join below on folders.parent_id = below.id
  )
  select id from below
)`;

function restrict(query: Query, { q, tag = [], untagged, folderId, subfolders, favorite, dead, url }: BookmarkFilter): void {
  if (tag.length > 0) query.whereRaw('tags @> ?::text[]', [[...tag]]);
  if (untagged !== undefined) query.whereRaw(untagged ? `tags = '{}'` : `tags <> '{}'`);
  if (folderId === null) query.whereNull('folder_id');
  else if (folderId !== undefined && subfolders === true) query.whereRaw(foldersFrom, [folderId]);
  else if (folderId !== undefined) query.where('folder_id', folderId);
  if (favorite !== undefined) query.whereRaw(favorite ? 'favorite' : 'not favorite');
  if (dead !== undefined) query.whereRaw(dead ? 'dead' : 'not dead');
  if (url !== undefined) query.whereRaw('url_sha256 = ?', [pageOf(url)]);
  if (q === undefined) return;
  query.where((any) => {
    for (const terms of readSearch(q))
      void any.orWhere((all) => {
        for (const term of terms) void all.whereRaw(...likeOf(term));
      });
  });
}

const likeOf = ({ text, isExcluded }: Term) => [`search_text ${isExcluded ? 'not ' : ''}like containing(?)`, [text]] as const;

/** Each whole word that is found counts, whether or not the others are whole words as well. */
const minusRankOf = (q: string) =>
  builder.raw(`-ts_rank(search_words, replace(plainto_tsquery('simple', spaced(folded(?)))::text, ' & ', ' | ')::tsquery)`, [wantedText(readSearch(q))]);

/** The members by which each order sorts, as columns of the answer. */
const sortedBy: Readonly<Record<Order, string>> = {
  oldest: '"dateAdded", id',
  newest: '"dateAdded" desc, id desc',
  title: 'title collate alphabetical, id',
  match: '"minusRank", "dateAdded", id',
};

// One statement, so that all numbers are of one state.
const countAll = statement<{ revision: string } & Counts>(
  'bookmarks.counts',
  `
  select catalogue.revision,
    (select count(*) from bookmarks) as total,
    (select count(*) from bookmarks where favorite) as favorites,
    (select count(*) from bookmarks where tags = '{}') as untagged,
    (select count(*) from bookmarks where folder_id is null) as "withoutFolder",
    (select count(*) from bookmarks where dead) as dead,
    (
      select coalesce(json_agg(json_build_object('id', id, 'count', coalesce(count, 0)) order by created_at, id), '[]')
      from folders left join (select folder_id, count(*) from bookmarks group by folder_id) as held on held.folder_id = folders.id
    ) as folders,
    (
      select coalesce(json_agg(json_build_object('name', tags.name, 'count', coalesce(count, 0)) order by tags.name collate alphabetical), '[]')
      from tags left join (select name, count(*) from bookmarks, unnest(tags) as each (name) group by name) as used on used.name = tags.name
    ) as tags
  from ${theRevision}`,
);

/** Counts once for each state of the catalogue: of a million bookmarks it takes seconds. */
function createCounter(database: Database) {
  let last: { readonly revision: string; readonly counting: Promise<{ readonly revision: string; readonly counts: Counts }> } | undefined;
  const count = async () => {
    const [row] = await database.all(countAll);
    if (!row) throw new TypeError('the catalogue must have its one row');
    const { revision: current, ...counts } = row;
    return { revision: current, counts };
  };
  return async () => {
    const current = await revisionOf(database);
    if (last?.revision === current) return last.counting;
    const counting = count();
    last = { revision: current, counting };
    counting.catch(() => void (last = undefined)); // the next request asks again
    return counting;
  };
}

/** All bookmarks that match, in the order of the list. */
function select(filter: BookmarkFilter, { order, after, withChecks = false }: Page) {
  const query = builder.from('bookmarks').select(builder.raw(withChecks ? `${bookmarkColumns}, ${checkColumns}` : bookmarkColumns));
  restrict(query, filter);
  if (order !== 'match') {
    query.orderByRaw(sortedBy[order].replaceAll('"dateAdded"', 'date_added'));
    if (after?.order === 'title') query.whereRaw('(title collate alphabetical, id) > (?, ?)', [after.title, after.id]);
    else if (after) query.whereRaw(`(date_added, id) ${order === 'newest' ? '<' : '>'} (?, ?)`, [after.dateAdded, after.id]);
    return query;
  }
  const minusRank = minusRankOf(filter.q ?? '');
  query.select({ minusRank }).orderByRaw('"minusRank", date_added, id');
  if (after?.order === 'match') query.whereRaw('(?, date_added, id) > (?::float4, ?, ?)', [minusRank, after.minusRank, after.dateAdded, after.id]);
  return query;
}

const revisionOf = async (database: Database) => (await database.first(revision))?.revision ?? '';

export type ListStore = ReturnType<typeof createListStore>;
export type Snapshot = ReturnType<typeof snapshotOn>;

export const createListStore = (database: Database) => ({
  revision: () => revisionOf(database),

  async bookmarks(filter: BookmarkFilter, { rows, ...wanted }: Page & { readonly rows: number }): Promise<Listed<FoundBookmark>> {
    const { order, after, withChecks = false } = wanted;
    if (!withChecks && order === 'oldest' && (!after || after.order === 'oldest') && isEverything(filter))
      return listed(await database.all(bookmarksAfter, after?.dateAdded ?? '-infinity', after?.id ?? NIL, rows));
    const page = select(filter, wanted).limit(rows).as('page');
    const query = builder.from(builder.raw(theRevision)).select('catalogue.revision', 'page.*').leftJoin(page, builder.raw('true')).orderByRaw(sortedBy[order]);
    return listed(await database.select<BesideRevision<FoundBookmark>>(query));
  },
  counts: createCounter(database),
  folders: async () => listed(await database.all(folders)),
  async tags(): Promise<Listed<string>> {
    const rows = await database.all(tags);
    return { revision: rows[0]?.revision ?? '', rows: rows.flatMap(({ name }) => name ?? []) };
  },
});

/** Whether nothing is left out. */
const isEverything = ({ tag = [], subfolders: _, ...filter }: BookmarkFilter) =>
  tag.length === 0 && Object.values(filter).every((value) => value === undefined);

const snapshotOn = (database: Database) => ({
  revision: () => revisionOf(database),
  folders: async () => listed(await database.all(folders)).rows,
  /** All that match, a few at a time. Read one list at a time. */
  bookmarks: (filter: BookmarkFilter, page: Page) => readByCursor<FoundBookmark>(database, select(filter, page)),
});

export type OpenSnapshot = ReturnType<typeof createCatalogueSnapshots>;

/** Long texts that are written from one snapshot of the catalogue, each with the revision of that snapshot. */
export function createCatalogueSnapshots(database: Database, limits: SnapshotLimits) {
  const open = createSnapshots(database, limits);
  /** @param address that of the client @throws Problem 503 */
  return async (address: string, write: (snapshot: Snapshot) => AsyncIterable<string>): Promise<{ readonly revision: string; readonly text: Readable }> => {
    const { head, text } = await open(address, async (frozen) => {
      const snapshot = snapshotOn(frozen);
      return { head: await snapshot.revision(), pieces: write(snapshot) };
    });
    return { revision: head, text };
  };
}
