// Reads the date of a mail, as RFC 5322 has it and as mail programs spell it otherwise. Pure.
import { fold } from '../extraction/texts.ts';

/** Names of months by how they begin, without accents, in the languages in which mail programs write them. */
const months = [
  /^(?:jan|ene|gen|sty)/,
  /^(?:feb|fev|lut)/,
  /^(?:mar|mrz|maart)/,
  /^(?:apr|avr|abr|kwi)/,
  /^(?:may|mai|maj|mag|mei)/,
  /^(?:jun|juin|giu|cze)/,
  /^(?:jul|juil|lug|lip)/,
  /^(?:aug|aou|ago|sie)/,
  /^(?:sep|set|wrz)/,
  /^(?:o[ck]t|out|ott|paz)/,
  /^(?:nov|lis)/,
  /^(?:de[czs]|dic|gru)/,
];

const hour = 60;
/** Zones by name, in minutes east of UTC. A name that is not among them says nothing (RFC 5322 section 4.3). */
const zones: Readonly<Record<string, number>> = {
  EST: -5 * hour,
  EDT: -4 * hour,
  CST: -6 * hour,
  CDT: -5 * hour,
  MST: -7 * hour,
  MDT: -6 * hour,
  PST: -8 * hour,
  PDT: -7 * hour,
  WEST: hour,
  BST: hour,
  CET: hour,
  MET: hour,
  MEZ: hour,
  CEST: 2 * hour,
  MEST: 2 * hour,
  MESZ: 2 * hour,
  EET: 2 * hour,
  EEST: 3 * hour,
  MSK: 3 * hour,
  SAST: 2 * hour,
  JST: 9 * hour,
  KST: 9 * hour,
  SGT: 8 * hour,
  HKT: 8 * hour,
  AEST: 10 * hour,
  AEDT: 11 * hour,
  NZST: 12 * hour,
  NZDT: 13 * hour,
  AKST: -9 * hour,
  AKDT: -8 * hour,
  HST: -10 * hour,
};

/** Longer headers are no date. */
const longest = 200;

/** Null for what is no date, or an impossible one. A date without a zone is in UTC. */
export function readDate(written = ''): Date | null {
  const text = withoutComments(written.slice(0, longest)).replace(/\s+/g, ' ').trim();
  const time = timeIn(text);
  const day = time && dayIn(time.rest);
  return day ? toDate(day, time) : null;
}

/** Comments may hold comments (RFC 5322 section 3.2.2). */
function withoutComments(text: string): string {
  const inner = text.replace(/\([^()]*\)/g, ' ');
  return inner === text ? text : withoutComments(inner);
}

type Time = { readonly hours: number; readonly minutes: number; readonly seconds: number; readonly zone: number; readonly rest: string };

const colons = /(?:^|[\sT,])(\d{1,2}):(\d{2})(?::(\d{1,2})(?:[.,]\d+)?)?(?:\s?([ap])\.?m\b\.?)?(?![\d:])/i;
const points = /(?<=\d{4}),? (\d{1,2})\.(\d{2})(?:\.(\d{2}))?(?![\d.])/;
const offset = /^\s?(?:GMT|UTC?|Z)?\s?([+-])(\d{1,2})(?::?(\d{2}))?(?!\d)/i;
const zoneName = /^\s?([a-z]{1,5})(?![a-z])/i;

/** The time and its zone, and the text without them; midnight where there is no time; undefined for an impossible one. */
function timeIn(text: string): Time | undefined {
  const found = colons.exec(text) ?? points.exec(text);
  if (!found) return /\d:\d/.test(text) ? undefined : { hours: 0, minutes: 0, seconds: 0, zone: 0, rest: text };
  const [whole, written = '', minutes = '', seconds = '0', half] = found;
  const after = text.slice(found.index + whole.length).replace('\u2212', '-');
  const [numeric, sign, zoneHours = '0', zoneMinutes = '0'] = offset.exec(after) ?? [];
  const named = numeric === undefined ? zoneName.exec(after) : null;
  const rest = `${text.slice(0, found.index)} ${after.slice((numeric ?? named?.[0] ?? '').length)}`;
  const hours = half === undefined ? Number(written) : (Number(written) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  if (hours > 23 || Number(minutes) > 59 || Number(seconds) > 60) return undefined;
  const east = (sign === '-' ? -1 : 1) * (Number(zoneHours) * hour + Number(zoneMinutes));
  const zone = sign === undefined ? (zones[named?.[1]?.toUpperCase() ?? ''] ?? 0) : Math.abs(east) > 15 * hour ? 0 : east;
  return { hours, minutes: Number(minutes), seconds: Number(seconds), zone, rest };
}

type Day = { readonly day: number; readonly month: number; readonly year: number };

const year = String.raw`(\d{4}|'?\d{2,3})(?!\d)`;
const dayFirst = new RegExp(String.raw`(?:^|[\s,])(\d{1,2})(?:st|nd|rd|th|er|\.|º)?[\s-]+(?:de |of )?(\p{L}{3,})\.?,?[\s-]+(?:de |del )?${year}`, 'u');
const monthFirst = new RegExp(String.raw`(?:^|[\s,])(\p{L}{3,})\.? (\d{1,2})(?:st|nd|rd|th)?,? +${year}`, 'u');
const yearFirst = /(?:^|[\s,])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/;
const numbers = new RegExp(String.raw`(?:^|[\s,])(\d{1,2})([./-])(\d{1,2})\2${year}`);

function dayIn(text: string): Day | undefined {
  const [, first, monthAfter = '', yearAfter = ''] = dayFirst.exec(text) ?? [];
  if (first !== undefined && monthOf(monthAfter) > 0) return { day: Number(first), month: monthOf(monthAfter), year: yearOf(yearAfter) };
  const [, monthBefore = '', second, yearLast = ''] = monthFirst.exec(text) ?? [];
  if (second !== undefined && monthOf(monthBefore) > 0) return { day: Number(second), month: monthOf(monthBefore), year: yearOf(yearLast) };
  const [, isoYear, isoMonth, isoDay] = yearFirst.exec(text) ?? [];
  if (isoYear !== undefined) return { day: Number(isoDay), month: Number(isoMonth), year: Number(isoYear) };
  const [, one, separator, other, numberYear = ''] = numbers.exec(text) ?? [];
  if (one === undefined) return undefined;
  // With slashes Americans write the month first; with points it is the day.
  const isMonthFirst = separator === '/' && Number(one) <= 12;
  const [day, month] = isMonthFirst ? [Number(other), Number(one)] : [Number(one), Number(other)];
  return { day, month, year: yearOf(numberYear) };
}

/** From 1; 0 where the word is no month. */
function monthOf(word: string): number {
  const folded = fold(word);
  return months.findIndex((begins) => begins.test(folded)) + 1;
}

/** Years of two and three digits as in RFC 5322 section 4.3. */
function yearOf(written: string): number {
  const digits = written.replace("'", '');
  if (digits.length === 4) return Number(digits);
  return Number(digits) + (digits.length === 2 && Number(digits) < 50 ? 2000 : 1900);
}

/** Null for a day that its month does not have: `Date` itself would read 31 February as a day of March. */
function toDate({ day, month, year: inYear }: Day, { hours, minutes, seconds, zone }: Time): Date | null {
  if (inYear < 1900 || month < 1 || month > 12) return null;
  const date = new Date(Date.UTC(inYear, month - 1, day, hours, minutes - zone, seconds));
  return new Date(Date.UTC(inYear, month - 1, day)).getUTCDate() === day ? date : null;
}
