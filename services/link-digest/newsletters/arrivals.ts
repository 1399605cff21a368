// Stores newsletters with their links and authors; scores count the newsletter itself.
import { v7 as newId } from 'uuid';
import { createBatcher, sharedReads } from '../../platform/batches.ts';
import type { Outbox, OwnEvent } from '../../platform/events/events.ts';
import { storable } from '../../platform/json.ts';
import { hashOf } from '../../platform/mail/url-identity.ts';
import { isCancelled, isOutage } from '../../platform/postgres/errors.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import type { ScoringConfig } from '../config.ts';
import type { FoundAuthor, FoundLink } from '../extraction/extraction.ts';
import { cut, cutTitle } from '../extraction/texts.ts';
import type { Newsletter, RawMail } from '../mails/reader.ts';
import { explainAll } from '../scoring/scores.ts';
import { scoreQuestions } from '../scoring/store.ts';
import { type ArrivalStore, createArrivalStore, type Description, type KnownAuthor } from './arrival-store.ts';

/** The longest name, in code points. */
const longestName = 200;
/** The longest address: 64 characters before the @ and 255 after it (RFC 5321, section 4.5.3.1). */
const longestEmail = 320;

const identityOf = ({ name, handle, customDomain }: FoundAuthor) =>
  handle === null ? `${(customDomain ?? '').toLowerCase()} ${name.toLowerCase()}` : `@${handle.toLowerCase()}`;

const cutAuthor = ({ name, handle, customDomain }: FoundAuthor): FoundAuthor => ({
  name: cut(name, longestName),
  handle: handle === null ? null : cut(handle, longestName),
  customDomain: customDomain === null ? null : cut(customDomain, longestName),
});

type Arriving = Omit<FoundLink, 'authors'> & { readonly position: number; readonly identities: readonly string[] };

/** @returns each address once, and the named authors by identity */
function read(found: readonly FoundLink[]): { links: Arriving[]; authors: Map<string, FoundAuthor> } {
  const authors = new Map<string, FoundAuthor>();
  const links = new Map<string, Arriving>();
  for (const [position, link] of found.entries()) {
    const url = storable(link.url);
    const named = link.authors.map(cutAuthor).map((author) => [identityOf(author), author] as const);
    for (const [identity, author] of named) if (!authors.has(identity)) authors.set(identity, author);
    if (links.has(url)) continue;
    const identities = [...new Set(named.map(([identity]) => identity))];
    links.set(url, { url, position, foundUrl: storable(link.foundUrl), title: cutTitle(link.title), identities });
  }
  return { links: [...links.values()], authors };
}

type Placing = ReturnType<typeof read> & { readonly newsletterId: string; readonly receivedAt: Date; readonly messageSha256: Buffer | null };

/** A link of several newsletters, with the title of the first. `messages` are their Message-IDs, hashed; a newsletter without one counts by its own id. */
type Brought = Pick<Arriving, 'url' | 'title' | 'identities'> & {
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  readonly newsletters: number;
  readonly messages: Set<string>;
};

function linksOf(placings: readonly Placing[]): Brought[] {
  const mentions = placings.flatMap(({ links, receivedAt, newsletterId, messageSha256 }) =>
    links.map((link) => ({ ...link, at: receivedAt.getTime(), message: messageSha256?.toString('hex') ?? newsletterId })),
  );
  return [...Map.groupBy(mentions, ({ url }) => url)].map(([url, all]) => ({
    url,
    title: all[0]?.title ?? '',
    identities: all.flatMap(({ identities }) => identities),
    firstSeen: new Date(Math.min(...all.map(({ at }) => at))),
    lastSeen: new Date(Math.max(...all.map(({ at }) => at))),
    newsletters: all.length,
    messages: new Set(all.map(({ message }) => message)),
  }));
}

async function addAuthors(store: ArrivalStore, authors: ReadonlyMap<string, FoundAuthor>): Promise<KnownAuthor[]> {
  if (authors.size === 0) return [];
  return store.addAuthors([...authors].map(([identity, author]) => ({ id: newId(), identity, ...author })));
}

/** Names authors known only by their handle, from a byline. */
async function nameAuthors(store: ArrivalStore, known: readonly KnownAuthor[], authors: ReadonlyMap<string, FoundAuthor>): Promise<void> {
  const named = known.flatMap(({ id, identity, name, handle }) => {
    const given = authors.get(identity)?.name;
    return given !== undefined && name === handle && given !== handle ? [{ id, name: given }] : [];
  });
  if (named.length > 0) await store.nameAuthors(named);
}

type Scoring = { readonly weights: ScoringConfig; readonly clock: () => Date };

type Facts = { readonly authorIds: ReadonlyMap<string, string>; readonly weights: ScoringConfig; readonly now: Date };

/** The links with the number of Message-IDs that are new to each. */
async function countMessages(store: ArrivalStore, brought: readonly Brought[], placings: readonly Placing[]) {
  // A new id even for a known link: an insert that meets the known id before the URL fails, which happened beside an update of that link.
  const hashed = brought.map((link) => ({ ...link, id: newId(), urlSha256: hashOf(link.url) }));
  const given = placings.flatMap(({ messageSha256 }) => messageSha256 ?? []);
  const urls = hashed.map(({ urlSha256 }) => urlSha256);
  const ids = placings.map(({ newsletterId }) => newsletterId);
  const held = given.length === 0 ? [] : await store.heldLinks(given, urls, ids);
  const known = new Set(held.map(({ message, url }) => `${message} ${url}`));
  return hashed.map((link) => ({ ...link, messages: [...link.messages].filter((message) => !known.has(`${message} ${link.url}`)).length }));
}

type Counted = Awaited<ReturnType<typeof countMessages>>;

/** The links with their scores after these newsletters are stored. */
async function score(database: Database, counted: Counted, { authorIds, weights, now }: Facts) {
  const known = new Map((await createArrivalStore(database).linksBy(counted.map(({ urlSha256 }) => urlSha256))).map((link) => [link.url, link]));
  const toScore = counted.map(({ url, title, firstSeen, messages, identities }) => {
    const before = known.get(url);
    return {
      title: before?.title ?? title,
      firstSeen: before && before.firstSeen < firstSeen ? before.firstSeen : firstSeen,
      newsletters: (before?.newsletters ?? 0) + messages,
      authorIds: [...new Set([...(before?.authorIds ?? []), ...identities.flatMap((identity) => authorIds.get(identity) ?? [])])],
    };
  });
  const explained = await explainAll(scoreQuestions(database), toScore, { now, weights });
  return counted.map((link, index) => ({ ...link, score: explained[index]?.score ?? 0 }));
}

/** Puts links into newsletters that are empty. */
async function place(database: Database, placings: readonly Placing[], { weights, clock }: Scoring): Promise<void> {
  const brought = linksOf(placings);
  if (brought.length === 0) return;
  const store = createArrivalStore(database);
  const now = clock();
  const authors = new Map(placings.flatMap((placing) => [...placing.authors]).toReversed());
  const knownAuthors = await addAuthors(store, authors);
  const authorIds = new Map(knownAuthors.map(({ id, identity }) => [identity, id]));
  const counted = await countMessages(store, brought, placings);
  const written = await store.writeLinks(await score(database, counted, { authorIds, weights, now }), now);
  const byUrl = new Map(written.map((link) => [link.url, link]));
  const placed = placings.flatMap(({ newsletterId, links }) =>
    links.map(({ url, position, foundUrl, identities }) => {
      const { id: linkId = '', status = 'Awaiting' } = byUrl.get(url) ?? {};
      return { newsletterId, linkId, status, position, foundUrl, authorIds: identities.flatMap((identity) => authorIds.get(identity) ?? []) };
    }),
  );
  await store.place(placed);
  await nameAuthors(store, knownAuthors, authors);
}

const isOfFourDigitYear = (date: Date) => date.getUTCFullYear() >= 0 && date.getUTCFullYear() <= 9999;

const describe = ({ title, receivedDate, destinationEmail, messageId }: Newsletter, receivedAt: Date, linkCount: number): Description => ({
  title: title === null ? null : cutTitle(title),
  // ISO 8601 has no other years.
  receivedDate: isOfFourDigitYear(receivedDate) ? receivedDate : receivedAt,
  destinationEmail: destinationEmail === null ? null : cut(destinationEmail, longestEmail),
  rejection: null,
  linkCount,
  messageSha256: messageId === null ? null : hashOf(messageId),
});

const keptOf = ({ raw }: RawMail, { compressed }: Pick<Newsletter, 'compressed'>) => ({ kept: compressed ?? raw, isCompressed: compressed !== undefined });

type Mail = { readonly mail: RawMail; readonly newsletter: Newsletter };

/** Mails that arrive while others are stored share the next transaction, of at most 16 MiB, which memory holds twice. Two concurrent transactions would be
 *  smaller and take a tenth more processor time a mail. */
const batching = {
  concurrency: 1,
  maxWaiting: Infinity,
  maxBatch: 16 * 1_048_576,
  weightOf: ({ mail, newsletter }: Mail) => keptOf(mail, newsletter).kept.length,
  // A timeout may be caused by one of the mails.
  isOfOne: (error: unknown) => !isOutage(error) || isCancelled(error),
};

const rejectionOf = ({ raw, receivedAt }: RawMail, { id, reason, at }: { readonly id: string; readonly reason: string; readonly at: Date }): OwnEvent => ({
  type: 'newsletter.rejected',
  object: id,
  data: {
    id,
    title: 'A mail to the link digest was refused',
    text: `Its ${raw.length} bytes are kept. Reason: ${storable(reason)}`,
    isFailure: true,
    reason: storable(reason),
    bytes: raw.length,
    receivedAt,
  },
  at,
});

export type Arrivals = ReturnType<typeof createArrivals>;

/** `outbox` has events of refused mails; undefined where none are wanted. */
type ArrivalParts = Scoring & { readonly outbox?: Outbox };

/**
 * Newsletters on their way in, by the SHA-256 of their bytes. Each call is one transaction; mails that are stored at the same time share one.
 */
export function createArrivals(database: Database, { outbox, ...scoring }: ArrivalParts) {
  const store = createArrivalStore(database);
  const storeBatched = createBatcher((mails: readonly Mail[]) => storeTogether(store, mails, scoring), batching);
  return {
    /** `rejection` is why these bytes were refused, null where they were stored. Undefined when they are new. */
    outcomeOf: createBatcher(store.outcomesOf, sharedReads),
    /** A duplicate changes nothing. New links are Awaiting, with a score that counts this newsletter. */
    store: (mail: RawMail, newsletter: Newsletter) => storeBatched({ mail, newsletter }),
    /** Keeps the mail with its reason; only `status=rejected` shows it. */
    async reject(mail: RawMail, reason: string): Promise<'rejected' | 'duplicate'> {
      const refused = { title: null, receivedDate: mail.receivedAt, destinationEmail: null, rejection: storable(reason), linkCount: 0, messageSha256: null };
      const newsletterId = newId();
      return store.transaction(async (inTransaction) => {
        const { size } = await createArrivalStore(inTransaction).insert([{ ...mail, ...refused, ...keptOf(mail, {}), newsletterId }]);
        if (size === 0) return 'duplicate';
        await outbox?.add(inTransaction, [rejectionOf(mail, { id: newsletterId, reason, at: scoring.clock() })]);
        return 'rejected';
      });
    },
    /** All mails, oldest first, refused ones among them. */
    async *all(): AsyncGenerator<RawMail, undefined> {
      for (let mail = await store.rawAfter(undefined); mail; mail = await store.rawAfter(mail)) yield mail;
      return undefined;
    },
    /** How many mails `all` has. */
    countMails: store.countRaw,
    /**
     * Stores the links that an improved extraction finds in stored bytes. Links keep their status, weights and first appearance; links that are no longer
     * found leave the newsletter, and are deleted when no other holds them and they are Awaiting.
     */
    replace: (sha256: Buffer, newsletter: Newsletter) => store.transaction((inTransaction) => replaceLinks(inTransaction, { sha256, newsletter, scoring })),
  };
}

const storeTogether = (store: ArrivalStore, mails: readonly Mail[], scoring: Scoring) =>
  store.transaction(async (inTransaction) => {
    const arrivals = mails.map(({ mail, newsletter }) => {
      const found = read(newsletter.links);
      const description = describe(newsletter, mail.receivedAt, found.links.length);
      return { ...found, ...mail, ...description, ...keptOf(mail, newsletter), newsletterId: newId() };
    });
    const stored = await createArrivalStore(inTransaction).insert(arrivals);
    await place(
      inTransaction,
      arrivals.filter(({ newsletterId }) => stored.has(newsletterId)),
      scoring,
    );
    return arrivals.map(({ newsletterId }): 'stored' | 'duplicate' => (stored.has(newsletterId) ? 'stored' : 'duplicate'));
  });

type Replacement = { readonly sha256: Buffer; readonly newsletter: Newsletter; readonly scoring: Scoring };

async function replaceLinks(inTransaction: Database, { sha256, newsletter, scoring }: Replacement): Promise<void> {
  const arrivals = createArrivalStore(inTransaction);
  const row = await arrivals.lock(sha256);
  if (!row) return;
  const found = read(newsletter.links);
  await arrivals.lockLinks(
    row.id,
    found.links.map(({ url }) => hashOf(url)),
  );
  const before = await arrivals.detach(row.id);
  const description = describe(newsletter, row.receivedAt, found.links.length);
  const { messageSha256 } = description;
  await place(inTransaction, [{ ...found, newsletterId: row.id, receivedAt: row.receivedAt, messageSha256 }], scoring);
  await arrivals.rename(row.id, found.links);
  await arrivals.tidy(before);
  await arrivals.describe(row.id, description);
}
