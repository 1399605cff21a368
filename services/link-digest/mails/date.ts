// Reads the date of a mail, as RFC 5322 has it and as mail programs spell it otherwise. Pure.
import { fold } from '../extraction/texts.ts';

/** Names of months by how they begin, without accents, in the languages in which mail programs write them. */
const months = [
  /^(?:jan|ene|gen|sty|ian|tammi|oca|led|янв|яну|січ|ιαν)/,
  /^(?:feb|fev|lut|helmi|sub|uno|фев|лют|φεβ)/,
  /^(?:mar(?!ras)|mrz|maart|maalis|bre|мар|бер|μαρ)/,
  /^(?:apr|avr|abr|kwi|huhti|nis|dub|апр|кві|кви|απρ)/,
  /^(?:may|mai|maj|mag|mei|touko|kve|маи|мая|тра|μαι)/,
  /^(?:jun|juin|giu|cze|iun|kesa|haz|cvn|cerv(?!ene?c)|июн|юни|чер|ιουν)/,
  /^(?:jul|juil|lug|lip|iul|heina|tem|cvc|cervene?c|июл|юли|лип|ιουλ)/,
  /^(?:aug|aou|ago|sie|elo|agu|srp|авг|сер|αυγ)/,
  /^(?:sep|set|wrz|syys|szep|eyl|zar|сен|сеп|вер|σεπ)/,
  /^(?:o[ck]t|out|ott|paz|loka|eki|rij|окт|жов|οκτ)/,
  /^(?:nov|lis|marras|noi|kas|ноя|ное|лис|νοε)/,
  /^(?:de[czs]|dic|gru|joulu|ara|pro|дек|гру|δεκ)/,
];

const hour = 60;
/** Zones by name, in minutes east of UTC. A name that is not among them says nothing (RFC 5322 section 4.3): `IST` is India's, Ireland's and Israel's. */
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
  ADT: -3 * hour,
  NST: -3.5 * hour,
  NDT: -2.5 * hour,
  TRT: 3 * hour,
  PKT: 5 * hour,
  NPT: 5.75 * hour,
  WIB: 7 * hour,
};

/** Longer headers are no date. */
const longest = 200;

/** Null for what is no date, or an impossible one. A date without a zone is in UTC. */
export function readDate(written = ''): Date | null {
  const text = withoutComments(written.slice(0, longest).normalize('NFKC')).replace(/\s+/g, ' ').trim();
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

/** Chinese, Japanese and Korean write the half of the day before the time. */
const colons =
  /(?:^|[\sT,日일]|(?<afternoon>下午|晚上|午後|오후)|(?<morning>上午|凌晨|午前|오전))\s?(?<hours>\d{1,2})[:h](?<minutes>\d{2})(?::(?<seconds>\d{1,2})(?:[.,]\d+)?)?(?:\s?(?<half>[apπμ])\.?[mμ](?!\p{L})\.?)?(?![\d:])/iu;
const points = /(?<=\d{4}),? (?:kl[o.]? )?(?<hours>\d{1,2})\.(?<minutes>\d{2})(?:\.(?<seconds>\d{2}))?(?![\d.])/;
const offset = /^\s?(?:GMT|UTC?|Z)?\s?([+-])(\d{1,2})(?::?(\d{2}))?(?!\d)/i;
const zoneName = /^\s?([a-z]{1,5})(?![a-z])/i;

/** The time and its zone, and the text without them; midnight where there is no time; undefined for an impossible one. */
function timeIn(text: string): Time | undefined {
  const found = colons.exec(text) ?? points.exec(text);
  if (!found) return /\d:\d/.test(text) ? undefined : { hours: 0, minutes: 0, seconds: 0, zone: 0, rest: text };
  const [whole] = found;
  const { hours: written = '', minutes = '', seconds = '0', half, morning, afternoon } = found.groups ?? {};
  const after = text.slice(found.index + whole.length).replace('\u2212', '-');
  const [numeric, sign, zoneHours = '0', zoneMinutes = '0'] = offset.exec(after) ?? [];
  const named = numeric === undefined ? zoneName.exec(after) : null;
  const rest = `${text.slice(0, found.index)} ${after.slice((numeric ?? named?.[0] ?? '').length)}`;
  const isAfternoon = afternoon !== undefined || /^[pμ]$/i.test(half ?? '');
  const hours = isAfternoon || (half ?? morning) !== undefined ? (Number(written) % 12) + (isAfternoon ? 12 : 0) : Number(written);
  if (hours > 23 || Number(minutes) > 59 || Number(seconds) > 60) return undefined;
  const east = (sign === '-' ? -1 : 1) * (Number(zoneHours) * hour + Number(zoneMinutes));
  const zone = sign === undefined ? (zones[named?.[1]?.toUpperCase() ?? ''] ?? 0) : Math.abs(east) > 15 * hour ? 0 : east;
  return { hours, minutes: Number(minutes), seconds: Number(seconds), zone, rest };
}

type Day = { readonly day: number; readonly month: number; readonly year: number };

const year = String.raw`(\d{4}|'?\d{2,3})(?!\d)`;
const dayFirst = new RegExp(String.raw`(?:^|[\s,])(\d{1,2})(?:st|nd|rd|th|er|\.|º)?[\s-]+(?:de |of )?(\p{L}{3,})\.?,?[\s-]+(?:de |del )?${year}`, 'u');
const monthFirst = new RegExp(String.raw`(?:^|[\s,])(\p{L}{3,})\.? (\d{1,2})(?:st|nd|rd|th)?,? +${year}`, 'u');
const yearFirst = /(?:^|[\s,])(\d{4})(?:[-/]|\. ?|年|년 ?)(\d{1,2})(?:[-/]|\. ?|月|월 ?)(\d{1,2})(?!\d)/;
/** In Hungarian. */
const yearAndName = /(?:^|[\s,])(\d{4})\. (\p{L}{3,})\.? (\d{1,2})(?!\d)/u;
const numbers = new RegExp(String.raw`(?:^|[\s,])(\d{1,2})([./-])(\d{1,2})\2${year}`);

function dayIn(text: string): Day | undefined {
  const [, first, monthAfter = '', yearAfter = ''] = dayFirst.exec(text) ?? [];
  if (first !== undefined && monthOf(monthAfter) > 0) return { day: Number(first), month: monthOf(monthAfter), year: yearOf(yearAfter) };
  const [, monthBefore = '', second, yearLast = ''] = monthFirst.exec(text) ?? [];
  if (second !== undefined && monthOf(monthBefore) > 0) return { day: Number(second), month: monthOf(monthBefore), year: yearOf(yearLast) };
  const [, isoYear, isoMonth, isoDay] = yearFirst.exec(text) ?? [];
  if (isoYear !== undefined) return { day: Number(isoDay), month: Number(isoMonth), year: Number(isoYear) };
  const [, yearBefore, name = '', third] = yearAndName.exec(text) ?? [];
  if (yearBefore !== undefined) return { day: Number(third), month: monthOf(name), year: Number(yearBefore) };
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
