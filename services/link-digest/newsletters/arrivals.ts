// Newsletters on their way in: what is new of their links and authors, with scores that count the newsletter itself.
import { v7 as newId } from 'uuid';
import { storable } from '../../platform/json.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import type { ScoringConfig } from '../config.ts';
import type { FoundAuthor, FoundLink, Newsletter, NewsletterStore, RawMail } from '../contract.ts';
import { hashOf } from '../extraction/identity.ts';
import { cut, cutTitle } from '../extraction/texts.ts';
import { explainAll } from '../scoring/scores.ts';
import { scoreQuestions } from '../scoring/store.ts';
import { type ArrivalStore, type Attribution, createArrivalStore, type Description, type KnownAuthor, type LinkToWrite } from './arrival-store.ts';

/** In code points. */
const longestName = 200;
/** Of an address: 64 before the @ and 255 after it (RFC 5321, section 4.5.3.1). */
const longestEmail = 320;

const identityOf = ({ name, handle, customDomain }: FoundAuthor) =>
  handle === null ? `${(customDomain ?? '').toLowerCase()} ${name.toLowerCase()}` : `@${handle.toLowerCase()}`;

const cutAuthor = ({ name, handle, customDomain }: FoundAuthor): FoundAuthor => ({
  name: cut(name, longestName),
  handle: handle === null ? null : cut(handle, longestName),
  customDomain: customDomain === null ? null : cut(customDomain, longestName),
});

type Arriving = Omit<FoundLink, 'authors'> & { readonly urlSha256: Buffer; readonly position: number; readonly identities: readonly string[] };

/** Each address once. @returns the links, and whom they name by identity */
function read(found: readonly FoundLink[]): { links: Arriving[]; authors: Map<string, FoundAuthor> } {
  const authors = new Map<string, FoundAuthor>();
  const links = new Map<string, Arriving>();
  for (const [position, link] of found.entries()) {
    const url = storable(link.url);
    const named = link.authors.map(cutAuthor).map((author) => [identityOf(author), author] as const);
    for (const [identity, author] of named) if (!authors.has(identity)) authors.set(identity, author);
    if (links.has(url)) continue;
    const urlSha256 = hashOf(url);
    const identities = [...new Set(named.map(([identity]) => identity))];
    links.set(url, { url, urlSha256, position, foundUrl: storable(link.foundUrl), title: cutTitle(link.title), identities });
  }
  return { links: [...links.values()], authors };
}

async function addAuthors(store: ArrivalStore, authors: ReadonlyMap<string, FoundAuthor>): Promise<KnownAuthor[]> {
  if (authors.size === 0) return [];
  return store.addAuthors([...authors].map(([identity, author]) => ({ id: newId(), identity, ...author })));
}

/** An author known by the handle alone gets the name of a byline. */
async function nameAuthors(store: ArrivalStore, known: readonly KnownAuthor[], authors: ReadonlyMap<string, FoundAuthor>): Promise<void> {
  const named = known.flatMap(({ id, identity, name, handle }) => {
    const given = authors.get(identity)?.name;
    return given !== undefined && name === handle && given !== handle ? [{ id, name: given }] : [];
  });
  if (named.length > 0) await store.nameAuthors(named);
}

type Placing = { readonly newsletterId: string; readonly receivedAt: Date; readonly keepsTitles: boolean };
type Scoring = { readonly weights: ScoringConfig; readonly clock: () => Date };

/** Puts links into a newsletter that holds none of them. */
async function place(database: Database, { links, authors }: ReturnType<typeof read>, { weights, clock, ...placing }: Placing & Scoring): Promise<void> {
  if (links.length === 0) return;
  const store = createArrivalStore(database);
  const now = clock();
  const knownAuthors = await addAuthors(store, authors);
  const idByIdentity = new Map(knownAuthors.map(({ id, identity }) => [identity, id]));
  const known = new Map((await store.linksBy(links.map(({ urlSha256 }) => urlSha256))).map((link) => [link.urlSha256.toString('hex'), link]));
  const attributions: Attribution[] = [];
  const toScore = links.map(({ urlSha256, title, identities }) => {
    const before = known.get(urlSha256.toString('hex'));
    const authorIds = identities.flatMap((identity) => idByIdentity.get(identity) ?? []);
    for (const authorId of authorIds) attributions.push({ urlSha256, authorId });
    return {
      id: before?.id ?? newId(),
      title: before && placing.keepsTitles ? before.title : title,
      firstSeen: before && before.firstSeen < placing.receivedAt ? before.firstSeen : placing.receivedAt,
      newsletters: (before?.newsletters ?? 0) + 1,
      authorIds: [...new Set([...(before?.authorIds ?? []), ...authorIds])],
    };
  });
  const explained = await explainAll(scoreQuestions(database), toScore, { now, weights });
  const toWrite = links.map((link, index): LinkToWrite => {
    const { id = newId(), newsletters = 1 } = toScore[index] ?? {};
    return { ...link, id, newsletters, score: explained[index]?.score ?? 0 };
  });
  await store.write(toWrite, attributions, { ...placing, now });
  await nameAuthors(store, knownAuthors, authors);
}

const isOfFourDigitYear = (date: Date) => date.getUTCFullYear() >= 0 && date.getUTCFullYear() <= 9999;

const describe = ({ title, receivedDate, destinationEmail }: Newsletter, receivedAt: Date, linkCount: number): Description => ({
  title: cutTitle(title),
  // ISO 8601 writes no others, and no mail is of another.
  receivedDate: isOfFourDigitYear(receivedDate) ? receivedDate : receivedAt,
  destinationEmail: destinationEmail === null ? null : cut(destinationEmail, longestEmail),
  rejection: null,
  linkCount,
});

/** @param scoring the weights, and what time it is */
export function createNewsletterStore(database: Database, scoring: Scoring): NewsletterStore {
  const store = createArrivalStore(database);

  async function* all(): AsyncGenerator<RawMail, undefined> {
    for (let mail = await store.rawAfter(undefined); mail; mail = await store.rawAfter(mail)) yield mail;
    return undefined;
  }

  return {
    outcomeOf: store.outcomeOf,
    store: (mail, newsletter) =>
      store.transaction(async (inTransaction) => {
        const found = read(newsletter.links);
        const newsletterId = newId();
        const row = { id: newsletterId, ...describe(newsletter, mail.receivedAt, found.links.length) };
        if (!(await createArrivalStore(inTransaction).insert(mail, row))) return 'duplicate';
        await place(inTransaction, found, { ...scoring, newsletterId, receivedAt: mail.receivedAt, keepsTitles: true });
        return 'stored';
      }),
    async reject(mail, reason) {
      const refused = { title: null, receivedDate: mail.receivedAt, destinationEmail: null, rejection: storable(reason), linkCount: 0 };
      return (await store.insert(mail, { id: newId(), ...refused })) ? 'rejected' : 'duplicate';
    },
    all,
    totalBytes: store.totalBytes,
    replace: (sha256, newsletter) =>
      store.transaction(async (inTransaction) => {
        const arrivals = createArrivalStore(inTransaction);
        const row = await arrivals.lock(sha256);
        if (!row) return;
        const found = read(newsletter.links);
        await arrivals.lockLinks(
          row.id,
          found.links.map(({ urlSha256 }) => urlSha256),
        );
        const before = await arrivals.detach(row.id);
        await place(inTransaction, found, { ...scoring, newsletterId: row.id, receivedAt: row.receivedAt, keepsTitles: false });
        await arrivals.tidy(before);
        await arrivals.describe(row.id, describe(newsletter, row.receivedAt, found.links.length));
      }),
  };
}
