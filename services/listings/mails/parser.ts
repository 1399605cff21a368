// Reads the listing out of an alert mail, as daft.ie sends them. Pure: bytes in, what they say out; bounded by its caller.
import PostalMime from 'postal-mime';
import { z } from 'zod';
import { isTextTooLong, maxHeadBytes, textTooLong } from '../../platform/mail/limits.ts';
import { unwrap } from '../../platform/mail/wrappers.ts';
import { NewProperty, propertyTypes, readEircode, readGrade } from '../contract.ts';
import { type MailDocument, readHtml, readText, tidy } from './document.ts';

/** Ignored is what tells of no listing; failed is what tells of one and lacks something, or could not be parsed. */
export const AlertMail = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listing'), listing: NewProperty }),
  z.object({ kind: z.literal('ignored'), reason: z.string() }),
  z.object({ kind: z.literal('failed'), reason: z.string() }),
]);
export type AlertMail = z.output<typeof AlertMail>;

/**
 * @param linkPattern matched against the whole URL; its first group is the listing's sourceId
 * @throws Error for bytes that are no mail
 */
export async function parseAlertMail(raw: Uint8Array, linkPattern: RegExp): Promise<AlertMail> {
  const { html = '', text = '' } = await PostalMime.parse(raw, { maxNestingDepth: 50, maxHeadersSize: maxHeadBytes, forceRfc822Attachments: true });
  if (isTextTooLong(html, text)) return { kind: 'failed', reason: textTooLong };
  for (const document of [readHtml(html), readText(text)]) {
    const found = findListing(document, linkPattern);
    if (found) return readListing(document, found);
  }
  return { kind: 'ignored', reason: 'no listing link' };
}

type Found = {
  readonly sourceId: string;
  readonly sourceUrl: string;
  /** Text of the links that lead to it. */
  readonly linkTexts: readonly string[];
  /** Where in the text those links are. */
  readonly spans: readonly { readonly at: number; readonly end: number }[];
  /** Where another listing begins, or the text ends. */
  readonly end: number;
};

/** The first listing that a link leads to. */
function findListing({ text, links }: MailDocument, pattern: RegExp): Found | undefined {
  const leading = links.flatMap((link) => {
    const target = link.targets.map((one) => targetOf(one, pattern)).find((one) => one !== undefined);
    return target ? [{ ...link, ...target }] : [];
  });
  const [first] = leading;
  if (!first) return undefined;
  const { sourceId, sourceUrl } = first;
  const spans = leading.filter((link) => link.sourceId === sourceId);
  return {
    sourceId,
    sourceUrl,
    linkTexts: spans.map(({ at, end }) => tidy(text.slice(at, end))),
    spans,
    end: leading.find((link) => link.sourceId !== sourceId)?.at ?? text.length,
  };
}

function targetOf(written: string, pattern: RegExp): Pick<Found, 'sourceId' | 'sourceUrl'> | undefined {
  for (const url of [unwrap(written)?.href ?? '', written.trim()]) {
    const match = pattern.exec(url);
    // The rest of the address counts clicks.
    if (match?.[1] !== undefined) return { sourceId: match[1], sourceUrl: url.slice(0, match.index + match[0].length) };
  }
  return undefined;
}

function readListing(document: MailDocument, found: Found): AlertMail {
  const { sourceId, sourceUrl, end } = found;
  const lines = document.text.slice(0, end).split('\n').map(tidy);
  const address = addressOf(document, lines, found);
  const facts = lines.filter((line) => line !== address).join('\n');
  const priceMonthly = priceOf(facts);
  if (priceMonthly === undefined) return { kind: 'failed', reason: 'no price' };
  if (address === undefined) return { kind: 'failed', reason: 'no address' };
  const read = NewProperty.safeParse({
    sourceId,
    sourceUrl,
    address,
    priceMonthly,
    eircode: eircodeIn(address),
    // The mail that does not tell them leaves what is known of a listing.
    beds: countOf(/\b(\d{1,2})\s*(?:x\s*)?bed(?:s|rooms?)?\b/i, facts),
    baths: countOf(/\b(\d{1,2})\s*(?:x\s*)?bath(?:s|rooms?)?\b/i, facts),
    propertyType: typeOf(facts),
    berRating: gradeOf(document, facts, end),
    mainImageUrl: mainImageOf(document, found),
  });
  if (read.success) return { kind: 'listing', listing: read.data };
  return { kind: 'failed', reason: read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ') };
}

function addressOf({ text, addresses }: MailDocument, lines: readonly string[], { linkTexts, end }: Found): string | undefined {
  const named = addresses
    .filter(({ at }) => at < end)
    .map((span) => tidy(text.slice(span.at, span.end)))
    .find((one) => one !== '');
  return named ?? lines.find((line) => eircodeIn(line) !== undefined) ?? linkTexts.find((one) => one !== '');
}

// Its second half has a digit: `D02 year` is none.
const eircodeInText = /\b(?:[a-z]\d{2}|d6w) ?(?=[a-z]{0,3}\d)[a-z\d]{4}\b/gi;
const eircodeIn = (text: string): string | undefined =>
  text
    .match(eircodeInText)
    ?.map(readEircode)
    .find((one) => one !== undefined);

const amount = String.raw`(?:€|\bEUR)\s?(\d{1,3}(?:,\d{3})+|\d+)(\.\d{1,2})?`;
const monthly = new RegExp(String.raw`${amount}\s*(?:per|a|/|p\.?/?)\s*(?:calendar\s+)?(?:month|mth|c?m)\b|${amount}\s*monthly\b`, 'gi');
const weekly = new RegExp(String.raw`${amount}\s*(?:per|a|/|p\.?/?)\s*(?:week|wk|w)\b|${amount}\s*weekly\b`, 'gi');

/** The first price above 0: a month's, else a week's for as long as a month is. */
function priceOf(text: string): number | undefined {
  const perWeek = firstAmount(text, weekly);
  return firstAmount(text, monthly) ?? (perWeek === undefined ? undefined : Math.round((perWeek * 5200) / 12) / 100);
}

function firstAmount(text: string, pattern: RegExp): number | undefined {
  const amounts = [...text.matchAll(pattern)].map(([, whole, cents, otherWhole = '', otherCents]) =>
    Number(`${(whole ?? otherWhole).replaceAll(',', '')}${cents ?? otherCents ?? ''}`),
  );
  return amounts.find((one) => one > 0);
}

function countOf(pattern: RegExp, text: string): number | undefined {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
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

function gradeOf({ images }: MailDocument, text: string, end: number): string | undefined {
  const names = images.filter(({ at, source }) => at < end && isOfBer(source)).map(({ source }) => source.replace(/\?.*/s, '').split('/').at(-1) ?? '');
  const grades = [...names.map((name) => gradeInName.exec(name)?.[1]), gradeInText.exec(text)?.[1]];
  return grades.map((grade) => (grade === undefined ? undefined : readGrade(grade))).find((grade) => grade !== undefined);
}

function mainImageOf({ images }: MailDocument, { spans }: Found): string | undefined {
  const isInside = ({ at }: { readonly at: number }) => spans.some((span) => span.at <= at && at <= span.end);
  return images.find((image) => isInside(image) && /^https?:\/\//i.test(image.source) && !isOfBer(image.source))?.source;
}
