// All SQL of links as they are read: lists, and one link with its authors and newsletters.
import knex from 'knex';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { readByCursor } from '../../platform/postgres/snapshots.ts';
import { type LinkDetail, type LinkItem, linkStatuses, type Stats } from '../contract.ts';
import type { LinkFilter, LinkOrder } from './query.ts';

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

function matching({ status, search }: LinkFilter) {
  const query = builder.from('links');
  if (status !== undefined) query.where('status', status);
  if (search !== undefined)
    query.whereRaw(
      `links.id in (
        select id from links where search_text like containing(:text)
        union all select link_id from link_authors join authors on authors.id = author_id where authors.search_text like containing(:text))`,
      { text: search },
    );
  return query;
}

const find = statement<ListedLink, [id: string]>('links.find', `select ${columns} from links where id = $1`);

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

export type LinkStore = ReturnType<typeof createLinkStore>;

export const createLinkStore = (database: Database) => ({
  find: (id: string) => database.first(find, id),
  /** Each row has `scoredAt` beside the members of an item. */
  page(filter: LinkFilter, { sort, limit, offset }: { sort: LinkOrder; limit: number; offset: number }): Promise<ListedLink[]> {
    // Only rows of the page are fetched; earlier ones are skipped in the index.
    const page = matching(filter).select('links.id').orderByRaw(orders[sort]).limit(limit).offset(offset).as('page');
    return database.select(builder.from(page).join('links', 'links.id', 'page.id').select(builder.raw(columns)).orderByRaw(orders[sort]));
  },
  async count(filter: LinkFilter): Promise<number> {
    const [row] = await database.select<{ total: number }>(matching(filter).select(builder.raw('count(*) as total')));
    return row?.total ?? 0;
  },
  /** All waiting links by priority, a few at a time; call in a transaction. */
  awaiting: () =>
    readByCursor<ListedLink>(database, matching({ status: 'Awaiting', search: undefined }).select(builder.raw(columns)).orderByRaw(orders.priority)),
  authorsOf: (id: string) => database.all(authorsOf, id),
  newslettersOf: (id: string) => database.all(newslettersOf, id),
  totals: () => database.first(totals),
});
