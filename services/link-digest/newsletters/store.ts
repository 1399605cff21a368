// All SQL that reads newsletters.
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { LinkOfList } from '../contract.ts';
import type { CursorPage } from '../paging.ts';
import type { NewsletterItem } from './contract.ts';

const columns = 'id, title, received_date as "receivedDate", destination_email as "destinationEmail", link_count as "linkCount"';

/** Behind a newsletter, by its date in milliseconds and its id. */
export type NewsletterCursorPage = CursorPage<readonly [number, string]>;

type Rows = [limit: number | null, offset: number];

const stored = statement<NewsletterItem, Rows>(
  'newsletters.stored',
  `select ${columns} from newsletters where rejection is null order by received_date desc, id limit $1 offset $2`,
);
const rejected = statement<NewsletterItem, Rows>(
  'newsletters.rejected',
  `select ${columns}, rejection as reason from newsletters where rejection is not null order by received_date desc, id limit $1 offset $2`,
);
type Behind = [receivedDate: Date | null, id: string | null, limit: number];

// The first condition is one that the index takes; the second leaves out what it has too much.
const behind = `($1::timestamptz is null or received_date <= $1 and (received_date < $1 or id > $2)) order by received_date desc, id limit $3`;
const storedAfter = statement<NewsletterItem, Behind>('newsletters.storedAfter', `select ${columns} from newsletters where rejection is null and ${behind}`);
const rejectedAfter = statement<NewsletterItem, Behind>(
  'newsletters.rejectedAfter',
  `select ${columns}, rejection as reason from newsletters where rejection is not null and ${behind}`,
);

const countStored = statement<{ total: number }>('newsletters.countStored', 'select count(*) as total from newsletters where rejection is null');
const countRejected = statement<{ total: number }>('newsletters.countRejected', 'select count(*) as total from newsletters where rejection is not null');
const find = statement<NewsletterItem, [id: string]>('newsletters.find', `select ${columns} from newsletters where id = $1 and rejection is null`);

const linksOf = statement<LinkOfList, [id: string]>(
  'newsletters.linksOf',
  'select id, url, title, status from newsletter_links join links on id = link_id where newsletter_id = $1 order by position, id',
);

const decompress = promisify(brotliDecompress);

const raw = statement<{ raw: Buffer; isCompressed: boolean }, [id: string]>(
  'newsletters.raw',
  'select raw, is_compressed as "isCompressed" from raw_mails where newsletter_id = $1',
);

export type NewsletterLists = ReturnType<typeof createNewsletterLists>;

/** Lists are newest first. */
export const createNewsletterLists = (database: Database) => ({
  stored: ({ limit, offset }: { limit: number | null; offset: number }) => database.all(stored, limit, offset),
  rejected: ({ limit, offset }: { limit: number | null; offset: number }) => database.all(rejected, limit, offset),
  /** One more than the limit, where there are more. */
  storedAfter: ({ after, limit }: NewsletterCursorPage) => database.all(storedAfter, after ? new Date(after[0]) : null, after?.[1] ?? null, limit + 1),
  rejectedAfter: ({ after, limit }: NewsletterCursorPage) => database.all(rejectedAfter, after ? new Date(after[0]) : null, after?.[1] ?? null, limit + 1),
  countStored: async () => (await database.first(countStored))?.total ?? 0,
  countRejected: async () => (await database.first(countRejected))?.total ?? 0,
  find: (id: string) => database.first(find, id),
  /** The bytes of the mail as it came; undefined once they are deleted. */
  async raw(id: string): Promise<Buffer | undefined> {
    const kept = await database.first(raw, id);
    return kept?.isCompressed === true ? decompress(kept.raw) : kept?.raw;
  },
  /** In the order of the mail. */
  linksOf: (id: string) => database.all(linksOf, id),
});
