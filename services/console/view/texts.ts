// Small pieces of text: times, links to other sites, badges, keys.
import { type ComponentChildren, h, type VNode } from './elements.ts';
import { iconClass } from './icons.ts';
import type { Locale } from './locale.ts';

const utc = (iso: string) => `${iso.slice(0, 19).replace('T', ' ')} UTC`;

type TimeForm = 'short' | 'whole' | 'ago' | 'date';

/**
 * A time in the person's zone, with UTC in its title.
 * @param form `short`: as short as possible; `whole`: to the second; `ago`: relative to now; `date`: without time
 */
export function time(locale: Locale, given: string | null | undefined, form: TimeForm = 'short'): VNode {
  const at = new Date(given ?? NaN);
  if (Number.isNaN(at.getTime())) return h('span', { class: 'quiet' }, locale.t.view.none);
  const iso = at.toISOString();
  const title = form === 'ago' ? `${locale.format.whole(at)} · ${utc(iso)}` : utc(iso);
  return h('time', { datetime: iso, title, 'data-ago': form === 'ago' || undefined }, timeText(locale, at, form));
}

function timeText({ format, now }: Locale, at: Date, form: TimeForm): string {
  if (form === 'short') return format.short(at, now);
  if (form === 'ago') return format.ago(at, now);
  return form === 'whole' ? format.whole(at) : format.date(at);
}

/** The URL if a browser may be sent there: http or https, whatever a mail or a payload says. */
export function safeUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url : undefined;
}

const outside = iconClass('outside');
const elsewhere = 'elsewhere';
/** Said of each link to another site: once in a page. */
export const elsewhereNote = ({ t }: Locale): VNode => h('span', { id: elsewhere, hidden: true }, t.view.opensElsewhere);

type Linked = { readonly content: ComponentChildren; readonly isRowLink: boolean };

/** A link to another site; mere text where the address is none that a browser may open. */
export const externalLink = (url: string, content: ComponentChildren = url): VNode => linkTo(url, { content, isRowLink: false });

/** As `externalLink`, for the link of a row that `o` opens. */
export const externalRowLink = (url: string, content: ComponentChildren): VNode => linkTo(url, { content, isRowLink: true });

function linkTo(url: string, { content, isRowLink }: Linked): VNode {
  const safe = safeUrl(url);
  if (!safe) return h('span', { title: url }, content);
  const looks = { class: isRowLink ? `${outside} row-link` : outside, 'aria-describedby': elsewhere, 'data-open': isRowLink || undefined };
  return h('a', { ...looks, rel: 'noreferrer noopener', href: safe.href }, content);
}

/** `www.` says nothing. */
export const hostOf = (url: string): string => safeUrl(url)?.hostname.replace(/^www\./, '') ?? '';

/** How a badge looks; its words say what it means. */
export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info';

export const badge = (tone: Tone, words: ComponentChildren): VNode => h('span', { class: `badge ${tone}` }, words);

const mostShownWhole = 9999;
type Counted = {
  /** Its name, if actions in place change it: those that have `moves` from or to this name. */
  readonly of?: string | undefined;
  /** Where counting ended. */
  readonly most?: number | undefined;
};

/** A number beside a name: how many there are or wait. */
export const count = ({ format }: Locale, value: number, { of, most = Infinity }: Counted = {}): VNode =>
  h('span', { class: 'count', 'data-count': of }, value <= mostShownWhole ? format.upTo(value, most) : format.compact(value));

export const keyCap = (key: string): VNode => h('kbd', null, key);

export const quiet = (...words: ComponentChildren[]): VNode => h('span', { class: 'quiet' }, ...words);

/** Text of a fixed width, such as an id or a path. */
export const code = (text: ComponentChildren): VNode => h('code', null, text);

/** A long text in a row: its first lines, and all of it while the row has the focus. */
export const brief = (text: ComponentChildren): VNode | string => (text ? h('span', { class: 'brief' }, text) : '');

/**
 * The words of a service or a program on a fault, in the language of the page as far as that is known. The words themselves, which logs and searches
 * have, are its title.
 */
export function said({ faultText }: Locale, text: string | null): VNode | string {
  const words = faultText(text ?? '');
  return words === text ? words : words && h('span', { title: text }, words);
}

/** As `said`, with the words themselves below. */
export const saidWhole = (locale: Locale, text: string | null): ComponentChildren => {
  const words = said(locale, text);
  return typeof words === 'string' ? words : [words, h('p', { class: 'second' }, text)];
};

/** The language's word for a value of a service; undefined where it has none, as for one that a newer service sends. */
export const wordIn = (words: Readonly<Record<string, string>>, value: string): string | undefined => (Object.hasOwn(words, value) ? words[value] : undefined);

/** Parts of a line with a dot between them; what is missing leaves no dot. */
export function dotted(...parts: ComponentChildren[]): VNode {
  const present = parts.filter((part) => part !== null && part !== undefined && part !== '' && part !== false);
  return h('span', { class: 'dotted' }, ...present.map((part) => h('span', null, part)));
}
