// Reads the listings out of an alert mail, as daft.ie sends them. Pure; the caller bounds its cost.
import { z } from 'zod';
import { isTextTooLong, textTooLong } from '../../platform/mail/limits.ts';
import { attachedMails, readMail } from '../../platform/mail/read-mail.ts';
import { unwrap } from '../../platform/mail/wrappers.ts';
import { readGrade } from '../contract.ts';
import { NewProperty } from '../new-property.ts';
import { documentOfHtml, documentOfText, type Link, type MailDocument, tidy } from './document.ts';
import { bathsIn, bedsIn, eircodeIn, factsOf, gradeInName, gradeInText, isOfBer, linesOf, typeOf } from './facts.ts';
import { priceIn } from './prices.ts';

const FoundListing = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listing'), listing: NewProperty }),
  z.object({ kind: z.literal('failed'), reason: z.string() }),
]);
type FoundListing = z.output<typeof FoundListing>;

/** `ignored` is a mail without a listing link; `failed` is a mail that could not be parsed, or a listing that lacks a needed fact. */
export const AlertMail = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listings'), listings: z.array(FoundListing) }),
  z.object({ kind: z.literal('ignored'), reason: z.string() }),
  z.object({ kind: z.literal('failed'), reason: z.string() }),
]);
export type AlertMail = z.output<typeof AlertMail>;

const mostListings = 100;

/**
 * @param linkPattern matched against the whole URL; its first group is the listing's sourceId
 * @throws Error for bytes that are no mail
 */
export async function parseAlertMail(raw: Uint8Array, linkPattern: RegExp, depth = 0): Promise<AlertMail> {
  const { html = '', text = '', attachments } = await readMail(raw, { forceRfc822Attachments: true });
  if (isTextTooLong(html, text)) return { kind: 'failed', reason: textTooLong };
  for (const document of [documentOfHtml(html), documentOfText(text)]) {
    const found = findListings(document, linkPattern);
    if (found.length > mostListings) return { kind: 'failed', reason: `more than ${mostListings} listings` };
    if (found.length > 0) return { kind: 'listings', listings: found.map((one) => readListing(document, one)) };
  }
  for (const attached of depth < deepest ? attachedMails(attachments) : []) {
    const found = await parseAlertMail(attached, linkPattern, depth + 1);
    if (found.kind !== 'ignored') return found;
  }
  return { kind: 'ignored', reason: 'no listing link' };
}

/** Mails that are forwarded as an attachment, within one another. */
const deepest = 3;

type Place = { readonly at: number; readonly end: number };
type Found = {
  readonly sourceId: string;
  readonly sourceUrl: string;
  readonly links: readonly Link[];
  /** Where its facts are searched: the elements around its link that hold no other listing's, innermost first. */
  readonly card: readonly Place[];
  /** The text before and after the card, up to the neighbouring cards. */
  readonly before: Place;
  readonly after: Place;
  /** Whether the facts stand before the link, as in mails of text. */
  readonly isBefore: boolean;
};

/** Every listing that a link leads to, in the order of the mail. */
function findListings({ text, links }: MailDocument, pattern: RegExp): Found[] {
  const leading = links.flatMap((link) => {
    const target = link.targets.map((one) => targetOf(one, pattern)).find((one) => one !== undefined);
    return target ? [{ link, ...target }] : [];
  });
  const byId = [...Map.groupBy(leading, ({ sourceId }) => sourceId).values()];
  const cards = byId.map((own) => {
    const others = leading.filter(({ sourceId }) => sourceId !== own[0]?.sourceId);
    const around = own[0]?.link.around.filter((element) => others.every(({ link }) => link.at < element.at || link.at >= element.end)) ?? [];
    const span = { at: own[0]?.link.at ?? 0, end: own[0]?.link.end ?? 0 };
    const line = { at: text.lastIndexOf('\n', span.at - 1) + 1, end: endOfLine(text, span.end) };
    return around.length > 0 ? [...around] : [line];
  });
  const isBefore = (links[0]?.around.length ?? 0) === 0 && priceIn([factsOf(text.slice(0, cards[0]?.[0]?.at ?? 0))]) !== undefined;
  return byId.flatMap((own, index) => {
    const [first] = own;
    const card = cards[index] ?? [];
    if (!first) return [];
    const outer = card.at(-1) ?? { at: 0, end: 0 };
    // The text between two cards belongs to one of them.
    const from = index === 0 ? 0 : isBefore ? (cards[index - 1]?.at(-1)?.end ?? 0) : outer.at;
    const to = index === byId.length - 1 ? text.length : isBefore ? outer.end : (cards[index + 1]?.at(-1)?.at ?? text.length);
    const { sourceId, sourceUrl } = first;
    const places = { card, before: { at: from, end: outer.at }, after: { at: outer.end, end: to }, isBefore };
    return [{ sourceId, sourceUrl, links: own.map(({ link }) => link), ...places }];
  });
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

function targetOf(written: string, pattern: RegExp): Pick<Found, 'sourceId' | 'sourceUrl'> | undefined {
  for (const url of [unwrap(written)?.href ?? '', written.trim()]) {
    const match = pattern.exec(url);
    // The rest of the address counts clicks.
    if (match?.[1] !== undefined) return { sourceId: match[1], sourceUrl: url.slice(0, match.index + match[0].length) };
  }
  return undefined;
}

function readListing(document: MailDocument, found: Found): FoundListing {
  const { sourceId, sourceUrl, card, before, after, isBefore } = found;
  const address = addressOf(document, found);
  const places = [...card, ...(isBefore ? [before, after] : [after, before])];
  const texts = places.map(({ at, end }) => factsOf(document.text.slice(at, Math.min(end, at + mostRead)), address));
  const nearest = <T>(read: (text: string) => T | undefined): T | undefined => firstOf(texts, read);
  const priceMonthly = priceIn(texts);
  if (priceMonthly === undefined) return { kind: 'failed', reason: 'no price' };
  if (address === undefined) return { kind: 'failed', reason: 'no address' };
  const read = NewProperty.safeParse({
    sourceId,
    sourceUrl,
    address,
    priceMonthly,
    eircode: eircodeIn(address),
    // A fact that the mail lacks stays as it is known.
    beds: nearest(bedsIn),
    baths: nearest(bathsIn),
    propertyType: nearest(typeOf),
    berRating: firstOf(places, (place) => gradeOf(document, place)),
    mainImageUrl: mainImageOf(document, found),
  });
  if (read.success) return { kind: 'listing', listing: read.data };
  return { kind: 'failed', reason: read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ') };
}

/** The facts of a listing are near its link; longer texts are not read. */
const mostRead = 20_000;

function firstOf<S, T>(sources: readonly S[], read: (source: S) => T | undefined): T | undefined {
  for (const source of sources) {
    const found = read(source);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The address of a mailbox or of a page. */
const isOnline = /^(?:\S+@\S+|(?:https?:\/\/|www\.)\S+)$/i;

/** A named address or a line with an eircode, in the card, else before it; else the link's text; else one after the card. */
function addressOf({ text, addresses }: MailDocument, { links, card, before, after }: Found): string | undefined {
  const named = ({ at, end }: Place) =>
    firstOf(addresses, (span) => {
      const written = span.at >= at && span.at < end ? tidy(text.slice(span.at, span.end)) : '';
      return written === '' || isOnline.test(written) ? undefined : written;
    });
  const withEircode = ({ at, end }: Place) => linesOf(text.slice(at, Math.min(end, at + mostRead))).find((line) => eircodeIn(line) !== undefined);
  const linked = links.map(({ at, end }) => tidy(text.slice(at, end))).find((one) => one !== '');
  const within = (places: readonly Place[]) => firstOf(places, named) ?? firstOf(places, withEircode);
  return within(card) ?? within([before]) ?? linked ?? within([after]);
}

function gradeOf({ images, text }: MailDocument, { at, end }: Place): string | undefined {
  const within = images.filter((image) => image.at >= at && image.at <= end && isOfBer(`${image.source} ${image.description}`));
  const names = within.flatMap(({ source, description }) => [source.replace(/\?.*/s, '').split('/').at(-1) ?? '', description]);
  const inText = gradeInText.exec(factsOf(text.slice(at, Math.min(end, at + mostRead))))?.[1];
  return firstOf([...names.map((name) => gradeInName.exec(name)?.[1]), inText], (grade) => (grade === undefined ? undefined : readGrade(grade)));
}

function mainImageOf({ images }: MailDocument, { links }: Found): string | undefined {
  const isInside = ({ at }: { readonly at: number }) => links.some((link) => link.at <= at && at <= link.end);
  return images.find((image) => isInside(image) && /^https?:\/\//i.test(image.source) && !isOfBer(image.source))?.source;
}
