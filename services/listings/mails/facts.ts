// Reads the facts of a listing out of text. Pure.
import { propertyTypes, readEircode } from '../contract.ts';
import { tidy } from './document.ts';

export const linesOf = (text: string): string[] => text.split('\n').map(tidy);

/** Lines without the address, which may name a house or a bath; dashes are hyphens, and numbers stand before what they count. */
export const factsOf = (text: string, address?: string): string =>
  linesOf(text)
    .filter((line) => line !== address)
    .map((line) => countFirst(line.replace(/[\u2010-\u2015\u2212]/g, '-')))
    .join('\n');

const label = /\b(bed|bath)(?:(?:s|rooms)\s*[:=]?|(?:room)?\s*[:=])\s*(\d{1,2})\b/gi;
/** `Beds: 2, Baths: 1` is a list of labels where no number stands before the first of them. */
const countFirst = (line: string): string => (/^\D*\b(?:bed|bath)/i.test(line) ? line.replace(label, '$2 $1') : line);

// The second half of an eircode has a digit: `D02 year` is none.
export const eircodeInText = /\b(?:[a-z]\d{2}|d6w) ?(?=[a-z]{0,3}\d)[a-z\d]{4}\b/gi;
export const eircodeIn = (text: string): string | undefined =>
  text
    .match(eircodeInText)
    ?.map(readEircode)
    .find((one) => one !== undefined);

const whole = String.raw`(\d{1,3}(?:[,.\s]\d{3})+|\d+)`;
const cents = String.raw`([.,]\d{1,2})?(?![.,]?\d)`;
const currency = String.raw`(?:€|\bEUR\b|\beuros?\b)`;
/** An amount or a range of two, whose lower end counts; the currency stands before or after. */
const rangeEnd = String.raw`(?:\s*(?:-|to|and)\s*${currency}?\s?\d[\d,]*(?:\.\d{1,2})?)?`;
const amount = String.raw`(?:${currency}\s?${whole}${cents}${rangeEnd}|(?<![\d.,€])${whole}${cents}${rangeEnd}\s?${currency})`;
const per = String.raw`\s*\(?(?:per|a|each|every|/|p\.?/?)\s*`;
const every = (unit: string, adverb: string) =>
  new RegExp(String.raw`${amount}(?:${per}(?:${unit})|\s*\(?${adverb}\b)|\b(?:${adverb}|per (?:${unit}))(?: rent)?\s*:?\s*${amount}`, 'gi');
const monthly = every(String.raw`(?:calendar\s+)?(?:month|mth|mo|c\.?\s?m|m)\b`, 'monthly');
const weekly = every(String.raw`(?:week|wk|w)\b`, 'weekly');

/** Before a former price, the bound of a saved search, a difference, or what is not the rent. */
const isOther = new RegExp(
  String.raw`\b(?:${[
    String.raw`was|were|previously|formerly|originally|(?:reduced|down|changed|dropped) from|old (?:price|rent)`,
    String.raw`up to|max(?:imum)?\.?|under|below|at most|budget(?: of)?`,
    String.raw`(?:reduced|dropped|cheaper|less|lower) by|sav(?:e|ing)(?: of)?|discount(?: of)?`,
    'deposit(?: of)?',
  ].join('|')})\s*:?\s*(?:of\s+)?$`,
  'i',
);
/** Before what else is paid, on its line only: such a noun on the line before may be an amenity. */
const isExtra = /\b(?:parking|car space|bills|storage|service charge|utilities|pet fee)[^\S\n]*:?[^\S\n]*(?:of[^\S\n]+)?$/i;
/** Behind a former price, with the amount that follows it: an arrow alone is that of a link. */
const isFormer = /^\s*(?:→|->|=>|➜|➔|⟶|»)\s*(?:now\s*:?\s*)?(?:€|EUR\b|\d[\d,]{2})/i;

/** The first price above 0: a month's, else a week's for as long as a month is. */
export function priceOf(text: string): number | undefined {
  const perWeek = firstAmount(text, weekly);
  return firstAmount(text, monthly) ?? (perWeek === undefined ? undefined : Math.round((perWeek * 5200) / 12) / 100);
}

function firstAmount(text: string, pattern: RegExp): number | undefined {
  const isRent = (at: number, end: number) => {
    const before = text.slice(Math.max(at - 40, 0), at);
    return !isOther.test(before) && !isExtra.test(before) && !isFormer.test(text.slice(end, end + 20));
  };
  const amounts = [...text.matchAll(pattern)]
    .filter(({ index, 0: all }) => isRent(index, index + all.length))
    .map(([, ...groups]) => {
      const at = groups.findIndex((group, place) => place % 2 === 0 && group !== undefined);
      return Number(`${(groups[at] ?? '').replaceAll(/[,.\s]/g, '')}${(groups[at + 1] ?? '').replace(',', '.')}`);
    });
  return amounts.find((one) => one > 0);
}

const words = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];
const number = String.raw`\d{1,2}|${words.slice(1).join('|')}`;
const counted = (noun: string) =>
  new RegExp(
    String.raw`(?<![\d.,])\b(${number})(?:\.\d)?(?:\s*(?:-|to|/)\s*(?:${number}))?(?:\s*x\s*|[\s-]*)(?:(?:double|single|twin|large|small|spacious|en-?suite)[\s-]+){0,2}(?:${noun})\b`,
    'gi',
  );
const beds = counted('bed(?:s|rooms?|roomed)?|br|bdrms?');
const baths = counted('bath(?:s|rooms?|roomed)?|ba');
/** The bound of a saved search is no fact of a listing. */
const isBound = /\b(?:min(?:imum)?\.?|max(?:imum)?\.?|at least|at most|up to|more than)\s*:?\s*$/i;

function countOf(pattern: RegExp, text: string): number | undefined {
  const found = [...text.matchAll(pattern)].find(({ index }) => !isBound.test(text.slice(Math.max(index - 20, 0), index)))?.[1]?.toLowerCase();
  if (found === undefined) return undefined;
  return words.includes(found) ? words.indexOf(found) : Number(found);
}
export const bedsIn = (text: string) => countOf(beds, text);
export const bathsIn = (text: string) => countOf(baths, text);

const typeWords = new RegExp(String.raw`\b(?:${propertyTypes.filter((type) => type !== 'Other').join('|')})\b`, 'i');

export function typeOf(text: string): string | undefined {
  const word = typeWords.exec(text)?.[0].toLowerCase();
  return propertyTypes.find((type) => type.toLowerCase() === word);
}

// `…/ber/B2.svg`, `ber_b2@2x.png`: the grade stands by itself or after `ber`.
export const isOfBer = (source: string) => /(?:^|[^a-z])ber(?![a-z]{2})/i.test(source);
export const gradeInName = /(?:^|[^a-z\d]|ber)([a-c][1-3]|[de][12]|[fg]|exempt)(?![a-z\d])/i;
export const gradeInText = /\b(?:BER|energy)\b[\s:–-]*(?:rating|rated)?[\s:–-]*([a-c][1-3]|[de][12]|[fg]|exempt)\b/i;
