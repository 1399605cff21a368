// All SQL that reads authors.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { LinkOfList, StatusCounts } from '../contract.ts';
import type { CursorPage } from '../paging.ts';
import { countsByStatus } from '../links/store.ts';
import type { AuthorItem } from './contract.ts';

const columns = `id, name, handle, custom_domain as "customDomain", (select count(*) from link_authors where author_id = authors.id) as "linkCount"`;

const list = statement<AuthorItem, [limit: number | null, offset: number]>(
  'authors.list',
  `
  select ${columns} from (select * from authors order by name collate alphabetical, id limit $1 offset $2) as authors
  order by name collate alphabetical, id`,
);
const listAfter = statement<AuthorItem, [name: string | null, id: string | null, limit: number]>(
  'authors.listAfter',
  `
  select ${columns} from (
    select * from authors where $1::text is null or (name collate alphabetical, id) > ($1, $2)
    order by name collate alphabetical, id limit $3) as authors
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

const interactionsOfAll = statement<StatusCounts & { readonly id: string }, [ids: readonly string[]]>(
  'authors.interactionsOfAll',
  `
  select author_id as id, ${countsByStatus}
  from link_authors join links on links.id = link_id where author_id = any($1::uuid[]) group by author_id`,
);

const linksOf = statement<LinkOfList, [id: string]>(
  'authors.linksOf',
  'select id, url, title, status from link_authors join links on id = link_id where author_id = $1 order by first_seen desc, id',
);

/** The counts of an author without links. */
export const noInteractions: StatusCounts = { Awaiting: 0, Liked: 0, Discarded: 0, DiscardedAfterReview: 0 };

export type AuthorStore = ReturnType<typeof createAuthorStore>;

export const createAuthorStore = (database: Database) => ({
  /** In alphabetical order. */
  list: ({ limit, offset }: { limit: number | null; offset: number }) => database.all(list, limit, offset),
  /** Behind an author, by name and id; one more than the limit, where there are more. */
  listAfter: ({ after, limit }: CursorPage<readonly [string, string]>) => database.all(listAfter, after?.[0] ?? null, after?.[1] ?? null, limit + 1),
  count: async () => (await database.first(count))?.total ?? 0,
  find: (id: string) => database.first(find, id),
  interactions: async (id: string) => (await database.first(interactions, id)) ?? noInteractions,
  /** By the id of the author; those without links are left out. */
  interactionsOfAll: async (ids: readonly string[]): Promise<ReadonlyMap<string, StatusCounts>> =>
    new Map((await database.all(interactionsOfAll, ids)).map(({ id, ...counts }) => [id, counts])),
  /** Newest first. */
  linksOf: (id: string) => database.all(linksOf, id),
});
