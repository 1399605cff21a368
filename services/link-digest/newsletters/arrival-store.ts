// All SQL that stores newsletters with their links and authors.
import { brotliDecompressSync } from 'node:zlib';
import { NIL } from 'uuid';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { insertRows, rowsStatement } from '../../platform/postgres/rows.ts';
import type { LinkStatus } from '../contract.ts';
import type { RawMail } from '../mails/reader.ts';

export type Description = {
  readonly title: string | null;
  readonly receivedDate: Date;
  readonly destinationEmail: string | null;
  readonly rejection: string | null;
  readonly linkCount: number;
  /** SHA-256 of the Message-ID; null where the mail has none. */
  readonly messageSha256: Buffer | null;
};
/** `kept` is the raw mail, compressed or as it came. */
export type NewNewsletter = Omit<RawMail, 'raw'> & Description & { readonly newsletterId: string; readonly kept: Uint8Array; readonly isCompressed: boolean };

export type MailOutcome = { readonly rejection: string | null };

const outcomesOf = statement<MailOutcome & { readonly sha256: Buffer }, [sha256s: readonly Buffer[]]>(
  'newsletters.outcomesOf',
  'select sha256, rejection from newsletters where sha256 = any($1)',
);

const turns = `hashtextextended('signalbox.digest.newsletters', 0)`;

type NewRow = Omit<NewNewsletter, 'kept'> & { readonly firstByte: number; readonly bytes: number };
const described = 'id, sha256, title, received_date, destination_email, rejection, link_count, received_at, message_sha256';

// The unique index decides between equal mails: the later one waits for the earlier, and returns no row. All transactions insert in one order.
// Newsletters are stored concurrently, but not while one is replaced, which may delete links, and not beside one with the same Message-ID, which counts
// once in the popularity of a link. These locks are taken before any row is written, and in order.
// The mails are one parameter, since an array of bytes would take twice as many characters.
const insert = rowsStatement<{ id: string }, [newsletters: readonly NewRow[], mails: Buffer]>(
  'newsletters.insert',
  [
    {
      newsletterId: 'id uuid',
      sha256: 'bytea',
      title: 'text',
      receivedDate: 'timestamptz',
      destinationEmail: 'text',
      rejection: 'text',
      linkCount: 'int',
      receivedAt: 'timestamptz',
      messageSha256: 'bytea',
      isCompressed: 'boolean',
      firstByte: 'int',
      bytes: 'int',
    },
    'bytea',
  ],
  (given, mails) => `
  with given as materialized ${given},
  locked as materialized (
    select count(pg_advisory_xact_lock(hashtextextended('signalbox.digest.message ' || message, 0)))
    from (select distinct encode(message_sha256, 'hex') as message from given where message_sha256 is not null order by message) as messages),
  inserted as (
    insert into newsletters (${described})
    select ${described} from given, locked, (select pg_advisory_xact_lock_shared(${turns})) as turn order by sha256
    on conflict (sha256) do nothing
    returning id)
  insert into raw_mails (newsletter_id, received_at, is_compressed, raw)
  select id, received_at, is_compressed, substr(${mails}, first_byte, bytes) from given join inserted using (id)
  returning newsletter_id as id`,
);

type Describing = [
  ...[title: string | null, receivedDate: Date, destinationEmail: string | null, rejection: string | null, linkCount: number],
  messageSha256: Buffer | null,
];

const describe = statement<unknown, [id: string, ...Describing]>(
  'newsletters.describe',
  'update newsletters set title = $2, received_date = $3, destination_email = $4, rejection = $5, link_count = $6, message_sha256 = $7 where id = $1',
);

const takeTurn = statement('newsletters.takeTurn', `select pg_advisory_xact_lock(${turns})`);

const lock = statement<{ id: string; receivedAt: Date }, [sha256: Buffer]>(
  'newsletters.lock',
  'select id, received_at as "receivedAt" from newsletters where sha256 = $1 for update',
);

const rawAfter = statement<RawMail & { readonly id: string; readonly isCompressed: boolean }, [receivedAt: Date | string, id: string]>(
  'newsletters.rawAfter',
  `
  select newsletter_id as id, sha256, raw, is_compressed as "isCompressed", raw_mails.received_at as "receivedAt" from raw_mails join newsletters on newsletters.id = newsletter_id
  where (raw_mails.received_at, newsletter_id) > ($1, $2)
  order by raw_mails.received_at, newsletter_id limit 1`,
);

const countRaw = statement<{ mails: number }>('newsletters.countRaw', 'select count(*) as mails from raw_mails');

const deleteRaw = statement<unknown, [before: Date]>('newsletters.deleteRaw', 'delete from raw_mails where received_at < $1');

export type NewAuthor = {
  readonly id: string;
  readonly identity: string;
  readonly name: string;
  readonly handle: string | null;
  readonly customDomain: string | null;
};

// Known authors are not locked, since a decision locks a link first and then its authors.
const insertAuthors = insertRows<NewAuthor>('newsletters.insertAuthors', {
  into: 'authors',
  columns: { id: 'uuid', identity: 'text', name: 'text', handle: 'text', customDomain: 'text' },
  orderBy: 'identity',
  onConflict: '(identity) do nothing',
});

type AuthorName = Pick<NewAuthor, 'id' | 'name'>;

export type KnownAuthor = { readonly id: string; readonly identity: string; readonly name: string; readonly handle: string | null };

const authorsBy = statement<KnownAuthor, [identities: readonly string[]]>(
  'newsletters.authorsBy',
  'select id, identity, name, handle from authors where identity = any($1)',
);

// Links of concurrent transactions hold a key-share lock on the author, which must not block this.
const nameAuthors = rowsStatement<unknown, [authors: readonly AuthorName[]]>(
  'newsletters.nameAuthors',
  [{ id: 'uuid', name: 'text' }],
  (given) => `
  with named as (select authors.id, new.name from authors join ${given} as new using (id) order by identity for no key update of authors)
  update authors set name = named.name from named where authors.id = named.id`,
);

export type KnownLink = {
  readonly url: string;
  readonly title: string;
  readonly firstSeen: Date;
  /** Newsletters with one Message-ID count once. */
  readonly newsletters: number;
  readonly authorIds: readonly string[];
};

const linksBy = statement<KnownLink, [urlSha256s: readonly Buffer[]]>(
  'newsletters.linksBy',
  `
  select url, title, first_seen as "firstSeen", message_count as newsletters, array(select author_id from link_authors where link_id = links.id) as "authorIds"
  from links where url_sha256 = any($1)`,
);

export type HeldLink = { readonly message: string; readonly url: string };

// Links that an earlier newsletter with the same Message-ID holds.
const heldLinks = statement<HeldLink, [messages: readonly Buffer[], urlSha256s: readonly Buffer[], except: readonly string[]]>(
  'newsletters.heldLinks',
  `
  select distinct encode(message_sha256, 'hex') as message, url
  from newsletters join newsletter_links on newsletter_id = newsletters.id join links on links.id = link_id
  where message_sha256 = any($1) and url_sha256 = any($2) and newsletters.id <> all($3::uuid[])`,
);

export type LinkToWrite = {
  /** The id of a new link; a known one keeps its own. */
  readonly id: string;
  readonly url: string;
  readonly urlSha256: Buffer;
  readonly title: string;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  /** How many of the newsletters hold it. */
  readonly newsletters: number;
  /** How many of them have a Message-ID that is new to it. */
  readonly messages: number;
  readonly score: number;
};

export type WrittenLink = { readonly id: string; readonly url: string; readonly status: LinkStatus };

// Links are locked in the order of their hashes, as everywhere. The facts of a known link's score may have changed since they were read, so its
// score is marked stale and computed at the next read.
const writeLinks = rowsStatement<WrittenLink, [links: readonly LinkToWrite[], now: Date]>(
  'newsletters.writeLinks',
  [
    {
      id: 'uuid',
      url: 'text',
      urlSha256: 'bytea',
      title: 'text',
      firstSeen: 'timestamptz',
      lastSeen: 'timestamptz',
      newsletters: 'newsletter_count int',
      messages: 'message_count int',
      score: 'priority_score numeric',
    },
    'timestamptz',
  ],
  (given, now) => `
  insert into links (id, url, url_sha256, title, first_seen, last_seen, newsletter_count, message_count, priority_score, scored_at)
  select id, url, url_sha256, title, first_seen, last_seen, newsletter_count, message_count, priority_score, ${now} from ${given} as given
  order by url_sha256
  on conflict (url_sha256) do update set
    first_seen = least(links.first_seen, excluded.first_seen), last_seen = greatest(links.last_seen, excluded.last_seen),
    newsletter_count = links.newsletter_count + excluded.newsletter_count, message_count = links.message_count + excluded.message_count,
    priority_score = excluded.priority_score, scored_at = null
  returning id, url, status`,
);

export type PlacedLink = {
  readonly newsletterId: string;
  readonly linkId: string;
  readonly status: LinkStatus;
  readonly position: number;
  readonly foundUrl: string;
  readonly authorIds: readonly string[];
};

const place = rowsStatement<unknown, [links: readonly PlacedLink[]]>(
  'newsletters.place',
  [{ newsletterId: 'uuid', linkId: 'uuid', status: 'text', position: 'int', foundUrl: 'text', authorIds: 'uuid[]' }],
  (given) => `
  with given as ${given},
  placed as (
    insert into newsletter_links (newsletter_id, link_id, position, found_url, author_ids)
    select newsletter_id, link_id, position, found_url, author_ids from given)
  insert into link_authors (link_id, author_id, link_status) select link_id, unnest(author_ids), status from given on conflict do nothing`,
);

type LinkTitle = Pick<LinkToWrite, 'url' | 'title'>;

// Ids grow with time: only the first newsletter that held a link renames it, so that several do not rename it in turns.
const rename = rowsStatement<unknown, [newsletterId: string, titles: readonly LinkTitle[]]>(
  'newsletters.rename',
  ['uuid', { url: 'text', title: 'text' }],
  (newsletterId, given) => `
  update links set title = given.title
  from newsletter_links, ${given} as given
  where newsletter_id = ${newsletterId} and links.id = link_id and links.url = given.url and links.title <> given.title
    and not exists (select from newsletter_links as earlier where earlier.link_id = links.id and earlier.newsletter_id < ${newsletterId})`,
);

// The present and the future links of a newsletter, in the order in which scores lock them.
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
  with detached as (delete from newsletter_links where newsletter_id = $1 returning link_id),
  copies as (
    select other.id from newsletters as other join newsletters as this on this.message_sha256 = other.message_sha256
    where this.id = $1 and other.id <> $1)
  update links set newsletter_count = newsletter_count - 1, scored_at = null,
    message_count = message_count - case
      when exists (select from newsletter_links join copies on copies.id = newsletter_id where newsletter_links.link_id = links.id) then 0 else 1 end
  from detached where links.id = detached.link_id
  returning links.id`,
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

const describing = ({ title, receivedDate, destinationEmail, rejection, linkCount, messageSha256 }: Description): Describing => [
  title,
  receivedDate,
  destinationEmail,
  rejection,
  linkCount,
  messageSha256,
];

export type ArrivalStore = ReturnType<typeof createArrivalStore>;

export const createArrivalStore = (database: Database) => ({
  /** In the order of `sha256s`; undefined for new mails. */
  async outcomesOf(sha256s: readonly Buffer[]): Promise<(MailOutcome | undefined)[]> {
    const known = new Map((await database.all(outcomesOf, sha256s)).map(({ sha256, rejection }) => [sha256.toString('hex'), { rejection }]));
    return sha256s.map((sha256) => known.get(sha256.toString('hex')));
  },
  /** @returns the ids of the mails whose bytes are new */
  async insert(mails: readonly NewNewsletter[]): Promise<Set<string>> {
    let end = 0;
    const newRows = mails.map((mail) => ({ ...mail, firstByte: (end += mail.kept.length) - mail.kept.length + 1, bytes: mail.kept.length }));
    const rows = await database.all(insert, newRows, Buffer.concat(mails.map(({ kept }) => kept)));
    return new Set(rows.map(({ id }) => id));
  },
  /** Until the end of the transaction no newsletter is stored or replaced. */
  async lock(sha256: Buffer) {
    await database.run(takeTurn);
    return database.first(lock, sha256);
  },
  describe: (id: string, description: Description) => database.run(describe, id, ...describing(description)),
  /** The oldest mail after this one. */
  async rawAfter(last: { readonly receivedAt: Date; readonly id: string } | undefined) {
    const mail = await database.first(rawAfter, last?.receivedAt ?? '-infinity', last?.id ?? NIL);
    return mail?.isCompressed === true ? { ...mail, raw: brotliDecompressSync(mail.raw) } : mail;
  },
  countRaw: async () => (await database.first(countRaw))?.mails ?? 0,
  deleteRaw: (before: Date) => database.run(deleteRaw, before),

  /** @returns new and known authors with their ids */
  async addAuthors(authors: readonly NewAuthor[]): Promise<KnownAuthor[]> {
    const identities = authors.map(({ identity }) => identity);
    const known = await database.all(authorsBy, identities);
    if (known.length === authors.length) return known;
    await database.run(insertAuthors, authors);
    return database.all(authorsBy, identities);
  },
  nameAuthors: (authors: readonly AuthorName[]) => database.run(nameAuthors, authors),

  linksBy: (urlSha256s: readonly Buffer[]) => database.all(linksBy, urlSha256s),
  /** @param except newsletters that are being placed */
  heldLinks: (messages: readonly Buffer[], urlSha256s: readonly Buffer[], except: readonly string[]) => database.all(heldLinks, messages, urlSha256s, except),
  /** Known links keep their id, title and status. */
  writeLinks: (links: readonly LinkToWrite[], now: Date) => database.all(writeLinks, links, now),
  place: (links: readonly PlacedLink[]) => database.run(place, links),
  /** Renames links that this newsletter holds. */
  rename: (newsletterId: string, titles: readonly LinkTitle[]) => database.run(rename, newsletterId, titles),

  lockLinks: (newsletterId: string, urlSha256s: readonly Buffer[]) => database.all(lockLinks, newsletterId, urlSha256s),
  /** Empties the newsletter. @returns the links that were in it */
  detach: async (newsletterId: string) => (await database.all(detach, newsletterId)).map(({ id }) => id),
  /** Cleans up links that left a newsletter: deletes undecided links that no newsletter holds, and withdraws authors that
   *  no newsletter names for them. Decided links keep their authors. */
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
