// Reads the listings out of an alert mail, as daft.ie sends them. Pure; the caller bounds its cost.
import PostalMime from 'postal-mime';
import { z } from 'zod';
import { correctionFor } from '../../platform/mail/charset.ts';
import { isTextTooLong, maxHeadBytes, textTooLong } from '../../platform/mail/limits.ts';
import { unwrap } from '../../platform/mail/wrappers.ts';
import { propertyTypes, readEircode, readGrade } from '../contract.ts';
import { NewProperty } from '../new-property.ts';
import { type Link, type MailDocument, readHtml, readText, tidy } from './document.ts';

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
export async function parseAlertMail(raw: Uint8Array, linkPattern: RegExp): Promise<AlertMail> {
  const parsed = await PostalMime.parse(raw, { maxNestingDepth: 50, maxHeadersSize: maxHeadBytes, forceRfc822Attachments: true });
  const correct = correctionFor(raw);
  const html = correct(parsed.html ?? '');
  const text = correct(parsed.text ?? '');
  if (isTextTooLong(html, text)) return { kind: 'failed', reason: textTooLong };
  for (const document of [readHtml(html), readText(text)]) {
    const found = findListings(document, linkPattern);
    if (found.length > mostListings) return { kind: 'failed', reason: `more than ${mostListings} listings` };
    if (found.length > 0) return { kind: 'listings', listings: found.map((one) => readListing(document, one)) };
  }
  return { kind: 'ignored', reason: 'no listing link' };
}

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
  const isBefore = (links[0]?.around.length ?? 0) === 0 && priceOf(factsOf(text.slice(0, cards[0]?.[0]?.at ?? 0))) !== undefined;
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
  const priceMonthly = nearest(priceOf);
  if (priceMonthly === undefined) return { kind: 'failed', reason: 'no price' };
  if (address === undefined) return { kind: 'failed', reason: 'no address' };
  const read = NewProperty.safeParse({
    sourceId,
    sourceUrl,
    address,
    priceMonthly,
    eircode: eircodeIn(address),
    // A fact that the mail lacks stays as it is known.
    beds: nearest((text) => countOf(beds, text)),
    baths: nearest((text) => countOf(baths, text)),
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

const linesOf = (text: string): string[] => text.split('\n').map(tidy);
/** Lines without the address, which may name a house or a bath. */
const factsOf = (text: string, address?: string): string =>
  linesOf(text)
    .filter((line) => line !== address)
    .join('\n');

/** A named address or a line with an eircode, in the card, else before it; else the link's text; else one after the card. */
function addressOf({ text, addresses }: MailDocument, { links, card, before, after }: Found): string | undefined {
  const named = ({ at, end }: Place) =>
    firstOf(addresses, (span) => (span.at >= at && span.at < end ? tidy(text.slice(span.at, span.end)) || undefined : undefined));
  const withEircode = ({ at, end }: Place) => linesOf(text.slice(at, Math.min(end, at + mostRead))).find((line) => eircodeIn(line) !== undefined);
  const linked = links.map(({ at, end }) => tidy(text.slice(at, end))).find((one) => one !== '');
  const within = (places: readonly Place[]) => firstOf(places, named) ?? firstOf(places, withEircode);
  return within(card) ?? within([before]) ?? linked ?? within([after]);
}

// The second half of an eircode has a digit: `D02 year` is none.
const eircodeInText = /\b(?:[a-z]\d{2}|d6w) ?(?=[a-z]{0,3}\d)[a-z\d]{4}\b/gi;
const eircodeIn = (text: string): string | undefined =>
  text
    .match(eircodeInText)
    ?.map(readEircode)
    .find((one) => one !== undefined);

const amount = String.raw`(?:€|\bEUR)\s?(\d{1,3}(?:,\d{3})+|\d+)(\.\d{1,2})?`;
/** An amount or a range of two, whose lower end counts. */
const range = String.raw`${amount}(?:\s*(?:-|–|—|to|and)\s*(?:€|\bEUR)?\s?\d[\d,]*(?:\.\d{1,2})?)?`;
const monthly = new RegExp(String.raw`${range}\s*(?:per|a|/|p\.?/?)\s*(?:calendar\s+)?(?:month|mth|c?m)\b|${range}\s*monthly\b`, 'gi');
const weekly = new RegExp(String.raw`${range}\s*(?:per|a|/|p\.?/?)\s*(?:week|wk|w)\b|${range}\s*weekly\b`, 'gi');
/** Before a former price, or the bound of a saved search. */
const isOther =
  /\b(?:was|were|previously|formerly|originally|reduced from|down from|old price|up to|max(?:imum)?\.?|under|below|at most|budget(?: of)?)\s*:?\s*$/i;

/** The first price above 0: a month's, else a week's for as long as a month is. */
function priceOf(text: string): number | undefined {
  const perWeek = firstAmount(text, weekly);
  return firstAmount(text, monthly) ?? (perWeek === undefined ? undefined : Math.round((perWeek * 5200) / 12) / 100);
}

function firstAmount(text: string, pattern: RegExp): number | undefined {
  const amounts = [...text.matchAll(pattern)]
    .filter(({ index }) => !isOther.test(text.slice(Math.max(index - 40, 0), index)))
    .map(([, whole, cents, otherWhole = '', otherCents]) => Number(`${(whole ?? otherWhole).replaceAll(',', '')}${cents ?? otherCents ?? ''}`));
  return amounts.find((one) => one > 0);
}

const words = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const number = String.raw`\d{1,2}|${words.slice(1).join('|')}`;
const counted = (noun: string) =>
  new RegExp(
    String.raw`\b(${number})(?:\s*(?:-|–|to)\s*(?:${number}))?(?:\s*x\s*|[\s-]*)(?:(?:double|single|twin|large|small|spacious|en-?suite)[\s-]+){0,2}${noun}(?:s|rooms?|roomed)?\b`,
    'gi',
  );
const beds = counted('bed');
const baths = counted('bath');
/** The bound of a saved search is no fact of a listing. */
const isBound = /\b(?:min(?:imum)?\.?|max(?:imum)?\.?|at least|at most|up to|more than)\s*:?\s*$/i;

function countOf(pattern: RegExp, text: string): number | undefined {
  const found = [...text.matchAll(pattern)].find(({ index }) => !isBound.test(text.slice(Math.max(index - 20, 0), index)))?.[1]?.toLowerCase();
  if (found === undefined) return undefined;
  return words.includes(found) ? words.indexOf(found) : Number(found);
}

const typeWords = new RegExp(String.raw`\b(?:${propertyTypes.filter((type) => type !== 'Other').join('|')})\b`, 'i');

function typeOf(text: string): string | undefined {
  const word = typeWords.exec(text)?.[0].toLowerCase();
  return propertyTypes.find((type) => type.toLowerCase() === word);
}

// `…/ber/B2.svg`, `ber_b2@2x.png`: the grade stands by itself or after `ber`.
const isOfBer = (source: string) => /(?:^|[^a-z])ber(?![a-z]{2})/i.test(source);
const gradeInName = /(?:^|[^a-z\d]|ber)([a-c][1-3]|[de][12]|[fg]|exempt)(?![a-z\d])/i;
const gradeInText = /\bBER\b[\s:–-]*(?:rating|rated)?[\s:–-]*([a-c][1-3]|[de][12]|[fg]|exempt)\b/i;

function gradeOf({ images, text }: MailDocument, { at, end }: Place): string | undefined {
  const within = images.filter((image) => image.at >= at && image.at <= end && isOfBer(image.source));
  const names = within.map(({ source }) => source.replace(/\?.*/s, '').split('/').at(-1) ?? '');
  const inText = gradeInText.exec(factsOf(text.slice(at, Math.min(end, at + mostRead))))?.[1];
  return firstOf([...names.map((name) => gradeInName.exec(name)?.[1]), inText], (grade) => (grade === undefined ? undefined : readGrade(grade)));
}

function mainImageOf({ images }: MailDocument, { links }: Found): string | undefined {
  const isInside = ({ at }: { readonly at: number }) => links.some((link) => link.at <= at && at <= link.end);
  return images.find((image) => isInside(image) && /^https?:\/\//i.test(image.source) && !isOfBer(image.source))?.source;
}
