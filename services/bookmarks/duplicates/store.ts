// All SQL of bookmarks of one page.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { Bookmark, Duplicates } from '../contract.ts';
import { bookmarkColumns } from '../store.ts';

/** Bookmarks that are looked at for one answer, so that its cost does not grow with the catalogue. */
const mostLookedAt = 10_000;
const mostOfAGroup = 20;

type Row = { readonly page: Buffer; readonly count: number } & (Bookmark | { readonly id: null });
/** `end` is the last page that was looked at, where the list goes on behind it. */
type DuplicatePages = { readonly groups: Duplicates['items']; readonly end: Buffer | undefined };

// The last page of those looked at may go on behind them, so it is left to the next answer, unless it is the only one.
const duplicates = statement<Row, [after: Buffer, limit: number]>(
  'bookmarks.duplicates',
  `
  with looked as materialized (
    select url_sha256 as page from bookmarks where url_sha256 > $1 order by url_sha256 limit ${mostLookedAt + 1}
  ), extent as (
    -- Not min and max, which Postgres has for bytea only since 18.
    select count(*) > ${mostLookedAt} as goes_on, (select page from looked order by page limit 1) as first,
      (select page from looked order by page desc limit 1) as last
    from looked
  ), pages as (
    select page, count(*) as count from looked group by page
  ), found as (
    select page, count from pages, extent where count > 1 and (not goes_on or page < last or first = last) order by page limit $2 + 1
  ), chosen as (
    select page from found order by page limit $2
  ), ending as (
    select case
      when (select count(*) from found) > $2 then (select page from chosen order by page desc limit 1)
      when goes_on then coalesce((select page from pages where page < last order by page desc limit 1), last)
    end as page from extent
  )
  select ending.page, 0 as count, null as id, null as title, null as url, null as description, null as thumbnail, null as tags,
    null::uuid as "folderId", null::boolean as favorite, null::timestamptz as "dateAdded" from ending where ending.page is not null
  union all
  select * from (
    select chosen.page, (select count(*) from bookmarks where url_sha256 = chosen.page) as count, each.*
    from chosen cross join lateral (
      select ${bookmarkColumns} from bookmarks where url_sha256 = chosen.page order by date_added, bookmarks.id limit ${mostOfAGroup}
    ) as each
    order by chosen.page, each."dateAdded", each.id
  ) as listed`,
);

export type DuplicateStore = ReturnType<typeof createDuplicateStore>;

export const createDuplicateStore = (database: Database) => ({
  /** @param after the page behind which the list begins */
  async page(after: Buffer, limit: number): Promise<DuplicatePages> {
    const all = await database.all(duplicates, after, limit);
    const groups = Map.groupBy(all.filter(isBookmark), ({ page }) => page.toString('hex'));
    return {
      groups: [...groups.values()].map((rows) => ({ count: rows[0]?.count ?? 0, bookmarks: rows.map(({ page: _, count: __, ...bookmark }) => bookmark) })),
      end: all.find(({ id }) => id === null)?.page,
    };
  },
});

const isBookmark = (row: Row): row is { readonly page: Buffer; readonly count: number } & Bookmark => row.id !== null;
