// The language and time zone in which a page is shown, with the formats of both.
import { dayMs } from '../../platform/time.ts';
import { relativeTime } from '../client/relative-time.ts';
import { type Language, languages, type Texts } from '../texts/texts.ts';

export type Locale = {
  readonly language: Language;
  /** An IANA name, such as `Europe/Dublin`. */
  readonly zone: string;
  readonly t: Texts;
  readonly now: Date;
  readonly format: Formats;
  /** The message of a service on an entry or a request, in the language where it is known. */
  readonly faultText: (message: string) => string;
};

export type Formats = ReturnType<typeof createFormats>;

/** Making the formatters of `Intl` takes longer than most pages: one set for each language and zone. */
const made = new Map<string, Formats>();
const mostMade = 100;

export function createLocale({ language, zone, now }: Pick<Locale, 'language' | 'zone' | 'now'>): Locale {
  const key = `${language} ${zone}`;
  const format = made.get(key) ?? createFormats(languages[language].tag, zone);
  if (made.size >= mostMade) made.clear();
  made.set(key, format);
  const t = languages[language].texts;
  // A beginning and an end may each have a pattern.
  const faultText = (message: string) => t.faults.reduce((words, [pattern, text]) => words.replace(pattern, text), message);
  return { language, zone, t, now, format, faultText };
}

export function isZone(zone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }));
  } catch {
    return false;
  }
}

const bytesUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

const yearOf = (ms: number) => new Date(ms).getUTCFullYear();

/**
 * Whether it is not today, and this year or another one, in every zone; undefined where that depends on the zone.
 * Lists have many times, and asking `Intl` for a date takes long.
 */
function isClearlyThisYear(at: Date, now: Date): boolean | undefined {
  const [then, today] = [at.getTime(), now.getTime()];
  if (Math.abs(today - then) <= 2 * dayMs) return undefined;
  const [first, last] = [yearOf(then - dayMs), yearOf(then + dayMs)];
  if (first === yearOf(today + dayMs) && last === yearOf(today - dayMs)) return true;
  return last < yearOf(today - dayMs) || first > yearOf(today + dayMs) ? false : undefined;
}

function createFormats(tag: string, timeZone: string) {
  const dates = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(tag, { timeZone, ...options });
  const time = dates({ hour: '2-digit', minute: '2-digit' });
  const dayAndTime = dates({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
  const day = dates({ day: 'numeric', month: 'short' });
  const date = dates({ day: 'numeric', month: 'short', year: 'numeric' });
  const whole = dates({ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' });
  // Days and years are compared in the zone: at 23:30 UTC it is already tomorrow in Dublin's summer.
  const calendar = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  const relative = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' });
  const numbers = new Intl.NumberFormat(tag, { maximumFractionDigits: 2 });
  const compact = new Intl.NumberFormat(tag, { notation: 'compact', maximumFractionDigits: 1 });
  const percents = new Intl.NumberFormat(tag, { style: 'percent', maximumFractionDigits: 0 });
  const sizes = bytesUnits.map(
    (unit) =>
      new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: unit === 'byte' ? 'long' : 'short', maximumFractionDigits: unit === 'byte' ? 0 : 1 }),
  );
  const [metres, kilometres] = (['meter', 'kilometer'] as const).map(
    (unit) => new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'short', maximumSignificantDigits: 2 }),
  );
  const lists = new Intl.ListFormat(tag, { type: 'conjunction' });
  const names = new Intl.Collator(tag, { numeric: true });

  return {
    number: (value: number) => numbers.format(value),
    /** `12.4K` */
    compact: (value: number) => compact.format(value),
    /** `1,000+` where counting ends at `most`. */
    upTo: (value: number, most: number) => (value < most ? numbers.format(value) : `${numbers.format(most)}+`),
    percent: (share: number) => percents.format(share),
    money: (value: number, currency: string) =>
      new Intl.NumberFormat(tag, { style: 'currency', currency, maximumFractionDigits: Number.isInteger(value) ? 0 : 2 }).format(value),
    bytes(bytes: number): string {
      const power = Math.min(bytesUnits.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
      return (sizes[power] ?? numbers).format(bytes / 1000 ** power);
    },
    /** To two digits: `640 m`, `1.2 km`. */
    distance: (length: number) => (length < 995 ? metres?.format(length) : kilometres?.format(length / 1000)) ?? '',
    list: (texts: readonly string[]) => lists.format(texts),
    compare: (one: string, other: string) => names.compare(one, other),
    time: (at: Date) => time.format(at),
    day: (at: Date) => day.format(at),
    date: (at: Date) => date.format(at),
    whole: (at: Date) => whole.format(at),
    /** As short as it can be told apart from now: `06:41` today, `24 Nov, 06:41` this year, else `24 Nov 2025`. */
    short(at: Date, now: Date): string {
      const isThisYear = isClearlyThisYear(at, now);
      if (isThisYear !== undefined) return (isThisYear ? dayAndTime : date).format(at);
      const [then, today] = [calendar.format(at), calendar.format(now)];
      if (then === today) return time.format(at);
      return then.slice(0, 4) === today.slice(0, 4) ? dayAndTime.format(at) : date.format(at);
    },
    /** `3 hours ago`, `in 5 days` */
    ago: (at: Date, now: Date): string => relativeTime(relative, (at.getTime() - now.getTime()) / 1000),
  };
}
