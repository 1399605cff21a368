// All SQL of newsletters on their way in, their links and authors with them.
import { type Database, statement, toColumns } from '../../platform/postgres/pool.ts';
import type { RawMail } from '../contract.ts';

export type NewsletterRow = {
  readonly id: string;
  readonly title: string | null;
  readonly receivedDate: Date;
  readonly destinationEmail: string | null;
  readonly rejection: string | null;
  readonly linkCount: number;
};

const outcomeOf = statement<{ rejection: string | null }, [sha256: Buffer]>('newsletters.outcomeOf', 'select rejection from newsletters where sha256 = $1');

type InsertValues = [id: string, sha256: Buffer, ...Describing, receivedAt: Date, raw: Buffer];
type Describing = [title: string | null, receivedDate: Date, destinationEmail: string | null, rejection: string | null, linkCount: number];

const turns = `hashtextextended('signalbox.digest.newsletters', 0)`;

// The unique index settles two equal mails at once: the later one waits for the earlier, and no row comes back for it.
// Any number of newsletters come in at once, and none while one is replaced: a link that is there stays there.
const insert = statement<{ id: string }, InsertValues>(
  'newsletters.insert',
  `
  with inserted as (
    insert into newsletters (id, sha256, title, received_date, destination_email, rejection, link_count, received_at)
    select $1::uuid, $2::bytea, $3, $4::timestamptz, $5, $6, $7::int, $8::timestamptz from (select pg_advisory_xact_lock_shared(${turns})) as turn
    on conflict (sha256) do nothing
    returning id)
  insert into raw_mails (newsletter_id, received_at, raw) select id, $8, $9 from inserted returning newsletter_id as id`,
);

const describe = statement<unknown, [id: string, ...Describing]>(
  'newsletters.describe',
  'update newsletters set title = $2, received_date = $3, destination_email = $4, rejection = $5, link_count = $6 where id = $1',
);

const takeTurn = statement('newsletters.takeTurn', `select pg_advisory_xact_lock(${turns})`);

const lock = statement<{ id: string; receivedAt: Date }, [sha256: Buffer]>(
  'newsletters.lock',
  'select id, received_at as "receivedAt" from newsletters where sha256 = $1 for update',
);

const rawAfter = statement<RawMail & { readonly id: string }, [receivedAt: Date | string, id: string]>(
  'newsletters.rawAfter',
  `
  select newsletter_id as id, sha256, raw, raw_mails.received_at as "receivedAt" from raw_mails join newsletters on newsletters.id = newsletter_id
  where (raw_mails.received_at, newsletter_id) > ($1, $2)
  order by raw_mails.received_at, newsletter_id limit 1`,
);

// Their length is known without reading them.
const totalBytes = statement<{ bytes: number }>('newsletters.totalBytes', 'select coalesce(sum(octet_length(raw)), 0)::float8 as bytes from raw_mails');

const deleteRaw = statement<unknown, [before: Date]>('newsletters.deleteRaw', 'delete from raw_mails where received_at < $1');

export type NewAuthor = {
  readonly id: string;
  readonly identity: string;
  readonly name: string;
  readonly handle: string | null;
  readonly customDomain: string | null;
};

// Those that are there are not locked: a decision on a link locks the link first and then its authors.
const insertAuthors = statement<unknown, unknown[][]>(
  'newsletters.insertAuthors',
  `
  insert into authors (id, identity, name, handle, custom_domain)
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[]) as new (id, identity) order by identity
  on conflict (identity) do nothing`,
);

export type KnownAuthor = { readonly id: string; readonly identity: string; readonly name: string; readonly handle: string | null };

const authorsBy = statement<KnownAuthor, [identities: readonly string[]]>(
  'newsletters.authorsBy',
  'select id, identity, name, handle from authors where identity = any($1)',
);

// A link's attribution to an author holds the author's key until the transaction ends: that others do so, too, must not hold this up.
const nameAuthors = statement<unknown, [ids: string[], names: string[]]>(
  'newsletters.nameAuthors',
  `
  with named as (select authors.id, new.name from authors join unnest($1::uuid[], $2::text[]) as new (id, name) using (id) order by identity for no key update of authors)
  update authors set name = named.name from named where authors.id = named.id`,
);

export type KnownLink = {
  readonly id: string;
  readonly urlSha256: Buffer;
  readonly title: string;
  readonly firstSeen: Date;
  readonly newsletters: number;
  readonly authorIds: readonly string[];
};

const linksBy = statement<KnownLink, [urlSha256s: readonly Buffer[]]>(
  'newsletters.linksBy',
  `
  select id, url_sha256 as "urlSha256", title, first_seen as "firstSeen", newsletter_count as newsletters,
    array(select author_id from link_authors where link_id = links.id) as "authorIds"
  from links where url_sha256 = any($1)`,
);

export type LinkToWrite = {
  readonly id: string;
  readonly url: string;
  readonly urlSha256: Buffer;
  readonly title: string;
  /** With this newsletter. */
  readonly newsletters: number;
  readonly score: number;
  readonly position: number;
  readonly foundUrl: string;
};
export type Attribution = { readonly urlSha256: Buffer; readonly authorId: string };
export type WriteOptions = { readonly newsletterId: string; readonly receivedAt: Date; readonly now: Date; readonly keepsTitles: boolean };

type WriteValues = [
  ...[ids: string[], urls: string[], urlSha256s: Buffer[], titles: string[], newsletters: number[], scores: number[], positions: number[], foundUrls: string[]],
  ...[attributed: Buffer[], authorIds: string[], newsletterId: string, receivedAt: Date, now: Date, keepsTitles: boolean],
];

// Links are locked in the order of their hashes, as everything locks them. Of one that is there another newsletter or a decision may have changed
// what its score is made of since that was read: it is computed when somebody asks for it.
// Ids grow with time: only the newsletter that brought a link may rename it, so that those that share it do not do so in turns.
const write = statement<unknown, WriteValues>(
  'newsletters.write',
  `
  with given as (
    select * from unnest($1::uuid[], $2::text[], $3::bytea[], $4::text[], $5::int[], $6::numeric[], $7::int[], $8::text[])
      as given (id, url, url_sha256, title, newsletters, score, position, found_url)),
  written as (
    insert into links (id, url, url_sha256, title, first_seen, last_seen, newsletter_count, priority_score, scored_at)
    select id, url, url_sha256, title, $12::timestamptz, $12, newsletters, score, $13::timestamptz from given order by url_sha256
    on conflict (url_sha256) do update set
      title = case when $14 or exists (select from newsletter_links where link_id = links.id and newsletter_id < $11) then links.title else excluded.title end,
      first_seen = least(links.first_seen, excluded.first_seen), last_seen = greatest(links.last_seen, excluded.last_seen),
      newsletter_count = links.newsletter_count + 1, priority_score = excluded.priority_score, scored_at = null
    returning id, url_sha256),
  attributed as (
    select written.id as link_id, author_id from unnest($9::bytea[], $10::uuid[]) as attributed (url_sha256, author_id) join written using (url_sha256)),
  credited as (insert into link_authors (link_id, author_id) select link_id, author_id from attributed on conflict do nothing)
  insert into newsletter_links (newsletter_id, link_id, position, found_url, author_ids)
  select $11::uuid, written.id, position, found_url, array(select author_id from attributed where link_id = written.id)
  from written join given using (url_sha256)`,
);

// What is there of a newsletter, and what will be: all in the order in which scores lock them.
const lockLinks = statement<{ id: string }, [newsletterId: string, urlSha256s: readonly Buffer[]]>(
  'newsletters.lockLinks',
  `
  select id from links
  where id in (select link_id from newsletter_links where newsletter_id = $1) or url_sha256 = any($2)
  order by url_sha256 for update`,
);

const detach = statement<{ id: string }, [newsletterId: string]>(
  'newsletters.detach',
  `
  with detached as (delete from newsletter_links where newsletter_id = $1 returning link_id)
  update links set newsletter_count = newsletter_count - 1, scored_at = null from detached where id = link_id
  returning id`,
);

const deleteUnheld = statement<unknown, [ids: readonly string[]]>(
  'newsletters.deleteUnheld',
  `delete from links where id = any($1::uuid[]) and newsletter_count = 0 and status = 'Awaiting'`,
);

const withdrawAuthors = statement<{ id: string }, [linkIds: readonly string[]]>(
  'newsletters.withdrawAuthors',
  `
  delete from link_authors using links
  where links.id = link_id and link_id = any($1::uuid[]) and (newsletter_count > 0 or status = 'Awaiting') and not exists (
    select from newsletter_links where newsletter_links.link_id = links.id and author_id = any(author_ids))
  returning author_id as id`,
);

const deleteUncredited = statement<unknown, [authorIds: readonly string[]]>(
  'newsletters.deleteUncredited',
  `
  delete from authors where id = any($1::uuid[]) and weight = 0 and not exists (select from link_authors where author_id = authors.id)`,
);

export type Description = Omit<NewsletterRow, 'id'>;
const describing = ({ title, receivedDate, destinationEmail, rejection, linkCount }: Description): Describing => [
  title,
  receivedDate,
  destinationEmail,
  rejection,
  linkCount,
];

export type ArrivalStore = ReturnType<typeof createArrivalStore>;

export const createArrivalStore = (database: Database) => ({
  outcomeOf: (sha256: Buffer) => database.first(outcomeOf, sha256),
  /** False when there is one of these bytes. */
  insert: async ({ sha256, raw, receivedAt }: RawMail, { id, ...description }: NewsletterRow) =>
    (await database.first(insert, id, sha256, ...describing(description), receivedAt, raw)) !== undefined,
  /** No newsletter comes in and none is replaced until the end of the transaction. */
  async lock(sha256: Buffer) {
    await database.run(takeTurn);
    return database.first(lock, sha256);
  },
  describe: (id: string, description: Description) => database.run(describe, id, ...describing(description)),
  /** The oldest of those after this one. */
  rawAfter: (last: { readonly receivedAt: Date; readonly id: string } | undefined) =>
    database.first(rawAfter, last?.receivedAt ?? '-infinity', last?.id ?? '00000000-0000-0000-0000-000000000000'),
  totalBytes: async () => (await database.first(totalBytes))?.bytes ?? 0,
  deleteRaw: (before: Date) => database.run(deleteRaw, before),

  /** @returns them and those that were there, with their ids */
  async addAuthors(authors: readonly NewAuthor[]): Promise<KnownAuthor[]> {
    const identities = authors.map(({ identity }) => identity);
    const known = await database.all(authorsBy, identities);
    if (known.length === authors.length) return known;
    await database.run(insertAuthors, ...toColumns(authors, ['id', 'identity', 'name', 'handle', 'customDomain']));
    return database.all(authorsBy, identities);
  },
  nameAuthors: (authors: readonly Pick<NewAuthor, 'id' | 'name'>[]) => database.run(nameAuthors, ...toColumns(authors, ['id', 'name'])),

  linksBy: (urlSha256s: readonly Buffer[]) => database.all(linksBy, urlSha256s),
  /** Puts the links into the newsletter; those that are there keep their status. */
  write: (links: readonly LinkToWrite[], attributions: readonly Attribution[], { newsletterId, receivedAt, now, keepsTitles }: WriteOptions) =>
    database.run(
      write,
      ...toColumns(links, ['id', 'url', 'urlSha256', 'title', 'newsletters', 'score', 'position', 'foundUrl']),
      ...toColumns(attributions, ['urlSha256', 'authorId']),
      ...([newsletterId, receivedAt, now, keepsTitles] as const),
    ),

  lockLinks: (newsletterId: string, urlSha256s: readonly Buffer[]) => database.all(lockLinks, newsletterId, urlSha256s),
  /** Empties the newsletter. @returns the links that were in it */
  detach: async (newsletterId: string) => (await database.all(detach, newsletterId)).map(({ id }) => id),
  /** Of links that left a newsletter: those that no newsletter holds and nobody decided on are deleted, and
   *  authors whom no newsletter names for them are withdrawn. What was decided on keeps its authors. */
  async tidy(linkIds: readonly string[]): Promise<void> {
    const withdrawn = await database.all(withdrawAuthors, linkIds);
    await database.run(deleteUnheld, linkIds);
    await database.run(
      deleteUncredited,
      withdrawn.map(({ id }) => id),
    );
  },
  transaction: <T>(work: (inTransaction: Database) => Promise<T>): Promise<T> => database.transaction(work),
});
