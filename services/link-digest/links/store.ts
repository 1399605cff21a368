// All SQL of links as they are read: lists, and one link with its authors and newsletters.
import knex, { type Knex } from 'knex';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { readByCursor } from '../../platform/postgres/snapshots.ts';
import { type LinkDetail, type LinkItem, linkStatuses, type Stats } from '../contract.ts';
import type { LinkCursorPage, LinkFilter, LinkOrder } from './query.ts';

const builder = knex({ client: 'pg' });

export type ListedLink = LinkItem & { readonly scoredAt: Date | null };

const columns = `links.id, url, title, status, priority_score as "priorityScore", first_seen as "firstSeen", last_seen as "lastSeen",
  array(
    select name from link_authors join authors on authors.id = author_id where link_id = links.id order by name collate alphabetical, authors.id
  ) as "authorNames",
  newsletter_count as "newsletterAppearanceCount", scored_at as "scoredAt"`;

/** Each order has an index; ties go by id ascending. */
const orders: Readonly<Record<LinkOrder, string>> = {
  priority: 'links.priority_score desc, links.first_seen desc, links.id',
  newest: 'links.first_seen desc, links.id',
  oldest: 'links.first_seen, links.id',
  title: 'links.title collate alphabetical, links.id',
};

function matching({ status, search, author, newsletter, host, from, to }: LinkFilter) {
  const query = builder.from('links');
  if (status !== undefined) query.where('status', status);
  if (author !== undefined) query.whereRaw('links.id in (select link_id from link_authors where author_id = ?)', [author]);
  if (newsletter !== undefined) query.whereRaw('links.id in (select link_id from newsletter_links where newsletter_id = ?)', [newsletter]);
  if (host !== undefined) query.where('host', host);
  if (from !== undefined) query.where('first_seen', '>=', from);
  if (to !== undefined) query.where('first_seen', '<', to);
  if (search !== undefined)
    query.whereRaw(
      `links.id in (
        select id from links where search_text like containing(:text)
        union all select link_id from link_authors join authors on authors.id = author_id where authors.search_text like containing(:text))`,
      { text: search },
    );
  return query;
}

/** The links behind the keys of a page. The first condition is one that the index of the order takes; the second leaves out what it has too much. */
function goOn(query: Knex.QueryBuilder, page: LinkCursorPage): void {
  if (page.after === undefined) return;
  if (page.sort === 'priority') {
    const [score, ms, id] = page.after;
    const bindings = { score, at: new Date(ms), id };
    query.whereRaw('(priority_score, first_seen) <= (:score, :at) and ((priority_score, first_seen) < (:score, :at) or links.id > :id)', bindings);
  } else if (page.sort === 'title') query.whereRaw('(title collate alphabetical, links.id) > (?, ?)', page.after);
  else {
    const [ms, id] = page.after;
    const bindings = { at: new Date(ms), id };
    if (page.sort === 'oldest') query.whereRaw('(first_seen, links.id) > (:at, :id)', bindings);
    else query.whereRaw('first_seen <= :at and (first_seen < :at or links.id > :id)', bindings);
  }
}

/** The keys of a link, for the cursor of the page behind it. */
export function keysOf({ priorityScore, firstSeen, title, id }: ListedLink, sort: LinkOrder): readonly unknown[] {
  if (sort === 'priority') return [priorityScore, firstSeen.getTime(), id];
  return sort === 'title' ? [title, id] : [firstSeen.getTime(), id];
}

const find = statement<ListedLink, [id: string]>('links.find', `select ${columns} from links where id = $1`);

const findAll = statement<ListedLink, [ids: readonly string[]]>('links.findAll', `select ${columns} from links where id = any($1::uuid[])`);

const authorsOf = statement<LinkDetail['authors'][number], [id: string]>(
  'links.authorsOf',
  `
  select authors.id, name from link_authors join authors on authors.id = author_id
  where link_id = $1 order by name collate alphabetical, authors.id`,
);

const newslettersOf = statement<LinkDetail['newsletters'][number], [id: string]>(
  'links.newslettersOf',
  `
  select newsletters.id, title, received_date as "receivedDate" from newsletter_links join newsletters on newsletters.id = newsletter_id
  where link_id = $1 order by received_date desc, newsletters.id`,
);

/** A select list over links. */
export const countsByStatus = linkStatuses.map((status) => `count(*) filter (where status = '${status}') as "${status}"`).join(', ');

type Totals = Stats['statusCounts'] & Pick<Stats, 'totalLinks' | 'totalNewsletters' | 'totalAuthors'> & { readonly totalRejected: number };

const totals = statement<Totals>(
  'links.totals',
  `
  select
    ${countsByStatus},
    count(*) as "totalLinks",
    (select count(*) from newsletters where rejection is null) as "totalNewsletters",
    (select count(*) from newsletters where rejection is not null) as "totalRejected",
    (select count(*) from authors) as "totalAuthors"
  from links`,
);

/** Only rows of the page are fetched; earlier ones are skipped in the index. */
const rowsOf = (page: Knex.QueryBuilder, sort: LinkOrder) =>
  builder
    .from(page.select('links.id').orderByRaw(orders[sort]).as('page'))
    .join('links', 'links.id', 'page.id')
    .select(builder.raw(columns))
    .orderByRaw(orders[sort]);

export type LinkStore = ReturnType<typeof createLinkStore>;

export const createLinkStore = (database: Database) => ({
  find: (id: string) => database.first(find, id),
  findAll: (ids: readonly string[]) => database.all(findAll, ids),
  /** Each row has `scoredAt` beside the members of an item. */
  page: (filter: LinkFilter, { sort, limit, offset }: { sort: LinkOrder; limit: number; offset: number }) =>
    database.select<ListedLink>(rowsOf(matching(filter).limit(limit).offset(offset), sort)),
  /** One more than the limit, where there are more. */
  pageAfter(filter: LinkFilter, page: LinkCursorPage): Promise<ListedLink[]> {
    const query = matching(filter).limit(page.limit + 1);
    goOn(query, page);
    return database.select<ListedLink>(rowsOf(query, page.sort));
  },
  async count(filter: LinkFilter): Promise<number> {
    const [row] = await database.select<{ total: number }>(matching(filter).select(builder.raw('count(*) as total')));
    return row?.total ?? 0;
  },
  /** All waiting links by priority, a few at a time; call in a transaction. */
  awaiting: () => readByCursor<ListedLink>(database, matching({ status: 'Awaiting' }).select(builder.raw(columns)).orderByRaw(orders.priority)),
  authorsOf: (id: string) => database.all(authorsOf, id),
  newslettersOf: (id: string) => database.all(newslettersOf, id),
  totals: () => database.first(totals),
});
