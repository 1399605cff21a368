// All SQL that reads authors.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { AuthorItem, LinkOfList, StatusCounts } from '../contract.ts';
import { countsByStatus } from '../links/store.ts';

const columns = `id, name, handle, custom_domain as "customDomain", (select count(*) from link_authors where author_id = authors.id) as "linkCount"`;

const list = statement<AuthorItem, [limit: number | null, offset: number]>(
  'authors.list',
  `
  select ${columns} from (select * from authors order by name collate alphabetical, id limit $1 offset $2) as authors
  order by name collate alphabetical, id`,
);
const count = statement<{ total: number }>('authors.count', 'select count(*) as total from authors');
const find = statement<AuthorItem, [id: string]>('authors.find', `select ${columns} from authors where id = $1`);

const interactions = statement<StatusCounts, [id: string]>(
  'authors.interactions',
  `
  select ${countsByStatus}
  from link_authors join links on links.id = link_id where author_id = $1`,
);

const linksOf = statement<LinkOfList, [id: string]>(
  'authors.linksOf',
  'select id, url, title, status from link_authors join links on id = link_id where author_id = $1 order by first_seen desc, id',
);

const none: StatusCounts = { Awaiting: 0, Liked: 0, Discarded: 0, DiscardedAfterReview: 0 };

export type AuthorStore = ReturnType<typeof createAuthorStore>;

export const createAuthorStore = (database: Database) => ({
  /** In alphabetical order. */
  list: ({ limit, offset }: { limit: number | null; offset: number }) => database.all(list, limit, offset),
  count: async () => (await database.first(count))?.total ?? 0,
  find: (id: string) => database.first(find, id),
  interactions: async (id: string) => (await database.first(interactions, id)) ?? none,
  /** Newest first. */
  linksOf: (id: string) => database.all(linksOf, id),
});
