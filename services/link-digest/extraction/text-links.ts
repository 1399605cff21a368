// The URLs of a mail's text, each with its title and byline. Pure; each step looks at no more than a few lines around a URL.
import { joinUrls } from '../../platform/mail/wrappers.ts';
import { beforeByline, namesIn } from './bylines.ts';
import type { Candidate } from './candidates.ts';
import { tidy } from './texts.ts';

/** Brackets belong to an address in pairs only; marks of Chinese and Japanese sentences end it. */
const urls = /https?:\/\/(?:[^\s<>"[\]。、，！？；：「」『』（）【】《》〈〉]|\[[^\s<>"[\]]*\](?!\())+/gi;

type Found = { readonly url: string; readonly start: number; readonly end: number };
type Line = { readonly text: string; readonly urls: readonly Found[] };

export function linksOfText(text: string, genericTexts: RegExp): readonly Candidate[] {
  const lines = withoutPictures(joinUrls(text)).split(/\r?\n/).map(readLine);
  const notes = notesOf(lines);
  return lines.flatMap((line, at) => line.urls.map((found, nth) => candidateOf({ lines, at, line, nth, found, notes, genericTexts })));
}

/** Outlook writes the address of an image in brackets, before that of its link: `[https://…/logo.png]<https://…>`. */
const withoutPictures = (text: string): string =>
  text.replace(/\[(https?:\/\/[^\s[\]<>]{1,2000})\](<https?:)?/gi, (written, address: string, link?: string) =>
    link !== undefined || /\.(?:gif|jpe?g|png|webp)$/i.test(address) ? (link ?? '') : written,
  );

function readLine(written: string): Line {
  const text = written.replace(/^(?:>\s?)+/, '');
  return { text, urls: [...text.matchAll(urls)].map(({ 0: match, index }) => ({ url: trimUrl(match), start: index, end: index + trimUrl(match).length })) };
}

const pairs: ReadonlyMap<string, string> = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
]);

const mostTrimmed = 100;

/** Without the punctuation of the sentence around it; a closing bracket stays where the URL opens it. */
function trimUrl(url: string): string {
  let end = url.length;
  for (; end > Math.max(url.length - mostTrimmed, 0); end -= 1) {
    const last = url[end - 1] ?? '';
    const opening = pairs.get(last);
    if (opening === undefined ? !/[.,;:!?'"’”»*_|…]/.test(last) : isOpened(url.slice(0, end), opening, last)) break;
  }
  return url.slice(0, end);
}

// Only the end of a URL is looked at, so that long runs of brackets cost little.
const isOpened = (url: string, opening: string, closing: string): boolean => {
  const part = url.slice(-400);
  return part.split(opening).length >= part.split(closing).length;
};

type Note = { readonly label: string; readonly names: readonly string[] };
/** A URL is the `nth` of its line, which is at the index `at`. */
type Place = {
  readonly lines: readonly Line[];
  readonly at: number;
  readonly line: Line;
  readonly nth: number;
  readonly found: Found;
  readonly notes: ReadonlyMap<string, Note>;
  readonly genericTexts: RegExp;
};

function candidateOf(place: Place): Candidate {
  const { lines, at, line, found } = place;
  const { url, start, end } = found;
  const written = labelOf(place);
  const alt = place.genericTexts.test(written) ? '' : (pictured.exec(written)?.[1] ?? '');
  const label = alt === '' ? written : '';
  // The text above an image is that of the story before.
  const above = alt === '' ? blockAbove(lines, at) : [];
  const saysSomething = label !== '' && !place.genericTexts.test(label);
  const text = saysSomething ? label : titleOf(above);
  return {
    foundUrl: url,
    text,
    alt,
    isBare: true,
    isIcon: false,
    isHeading: false,
    heading: alt,
    headingUrl: undefined,
    line: () => tidy(`${label === '' ? lastSentence(above.join(' ')).slice(-300) : label} ${line.text.slice(start, end + 100)}`),
    names: () => namesAround(place, saysSomething ? [] : above),
    isDropped: false,
  };
}

/** Gmail and Outlook write the description of an image in brackets: `[image: A lake] <https://…>`. */
const pictured = /^\[(?:image: ?)?([^[\]]*\p{L}[^[\]]*)\]$/iu;

const bullet = /^\s*(?:(?:subject|betreff|title|titel):|=>|[■□◆◇●○▼★☆]+|[-*•·–—#+→►▶]+|\d{1,3}[.)]|\[\d{1,3}\]:?)\s*/i;
/** The start of a list item. Dashes are not among them, since a byline may begin with one. */
const item = /^\s*(?:(?:[*•►▶]|\d{1,3}[.)])\s|[■□◆◇●○▼★☆])/;
const clean = (text: string): string =>
  withoutEmphasis(tidy(text).replace(/[\s:|<([–—→»-]+$/, ''))
    .replace(bullet, '')
    .replace(/^[\s:|>)\]」』）–—-]+/, '')
    .replace(/[：（「『]$/, '')
    .replace(/^[*_]{1,2}(.+?)[*_]{1,2}$/, '$1');
/** Mail programs write bold text between asterisks, which are no bullets then. */
const withoutEmphasis = (text: string): string => text.replace(/^([*_]{1,2})(?=\S)((?:(?!\1).)+)(?<=\S)\1$/, '$2');

/** How a sentence leads to its URL: "The slides are at …", "… is “The slides”, and it can be found at …". */
const leadIn = /,?(?: and (?:it|they))? (?:is|are|can be (?:found|read|seen|had|downloaded))(?: now| online| available)* (?:at|on|under)$/i;
const quotedAtEnd = /["“„«]([^"“”„«»]{3,})["”“»]$/;

/** The part of a sentence that titles its URL. */
function subjectOf(label: string): string {
  const subject = label.replace(leadIn, '');
  return subject === label ? label : (quotedAtEnd.exec(subject)?.[1] ?? subject);
}

/** The text before the URL on its line, in Markdown the text in brackets; else the text after it; for a note `[1]`, the text where the note is referred to. */
function labelOf({ lines, at, line: { text, urls: all }, nth, found: { start, end }, notes }: Place): string {
  const from = all[nth - 1]?.end ?? 0;
  const before = text.slice(Math.max(from, start - 300), start);
  const beginning = from === 0 ? beginningOf(lines, at, clean(before)) : '';
  const markdown = /\[([^[\]]{1,300})\]\(\s*<?$/.exec(before)?.[1];
  const note = noteBefore(before);
  if (markdown !== undefined) return tidy(markdown);
  if (notes.has(note)) return notes.get(note)?.label ?? '';
  const label = subjectOf(clean(beginning === '' ? before : lastSentence(`${beginning} ${before.trim()}`)));
  return label === '' && all.length === 1 ? clean(text.slice(end, end + 300)) : label;
}

const mostOfSentence = 3;

/** The lines above in which the sentence before a URL begins. */
function beginningOf(lines: readonly Line[], at: number, before: string): string {
  let beginning = '';
  for (let above = at - 1, next = before; above >= Math.max(at - mostOfSentence, 0); above -= 1) {
    const { text = '', urls: found = [] } = lines[above] ?? {};
    const rest = text.slice(found.at(-1)?.end ?? 0).trim();
    if (isRule(rest) || !goesOn(rest, next)) break;
    beginning = `${rest} ${beginning}`.trim();
    next = rest;
    if (found.length > 0) break;
  }
  return beginning;
}

const noteBefore = (text: string): string => /^\s*(?:\[(\d{1,3})\]:?|(\d{1,3})[.:])\s*<?$/.exec(text)?.slice(1).join('') ?? '';

/** By note number: the sentence with the first reference `[1]`, or the text that a reference directly before it marks, and the byline below. */
function notesOf(lines: readonly Line[]): ReadonlyMap<string, Note> {
  const notes = new Map<string, Note>();
  for (const [at, { text }] of lines.entries()) {
    for (const { index, 0: reference, 1: number = '' } of text.matchAll(/\[(\d{1,3})\](?!:)/g)) {
      const beside = text.slice(Math.max(index - 200, 0), index);
      const beginning = index > 200 || aNote.test(beside) ? '' : beginningOf(lines, at, beside.trim());
      const before = `${beginning} ${beside}`.replace(/^.*\[\d{1,3}\][.,;:!?)]*/, '');
      const marked = /(?:^|[\s("“])$/.test(before) ? (markedBy.exec(text.slice(index + reference.length, index + 100))?.[0] ?? '') : '';
      const label = clean(marked === '' ? `${lastSentence(before.trim())}${restOfSentence(lines, at, index + reference.length)}` : marked);
      if (label !== '' && !notes.has(number)) notes.set(number, { label, names: namesIn(tidy(lines[at + 1]?.text ?? '')) });
    }
  }
  return notes;
}

/** The text behind a reference within a sentence, unless it has another one: "They announced [1] the fifth update." */
function restOfSentence(lines: readonly Line[], at: number, from: number): string {
  const [line = '', next = ''] = [lines[at]?.text.slice(from, from + 200), lines[at + 1]?.text.slice(0, 200).trim()];
  return /^\s+(?!by\b)\p{Ll}[^[\]]*?[.!?](?=\s|$)/u.exec(line.length < 200 && goesOn(line.trim(), next) ? `${line.trimEnd()} ${next}` : line)?.[0] ?? '';
}
const aNote = /\[\d{1,3}\]/;
/** As Lynx and converters of HTML write links: `[1]How to cook rice, [2]Beans`. */
const markedBy = /^(?!https?:)[\p{L}\p{N}"“‘'][^[\],;:!?]*[^[\],;:!?.\s]/u;

const mostLines = 20;
const isRule = (text: string): boolean => /^[\s\-=_*~#+•.]*$/.test(text.slice(0, 200));

const isOnlyUrl = ({ text, urls: [found] }: Line): boolean => found !== undefined && text.trim() === text.slice(found.start, found.end);

/** The paragraph that ends with the URL, or with several, one below the other; for a URL alone on its line the paragraph above, unless that has a URL of its own. */
function blockAbove(lines: readonly Line[], at: number): readonly string[] {
  const first = Math.max(at - mostLines, 0);
  const sameList = lines.slice(first, at).findLastIndex((line) => !isOnlyUrl(line));
  const block: string[] = [];
  for (let above = first + sameList; above >= first; above -= 1) {
    const { text = '', urls: found = [] } = lines[above] ?? {};
    // In flowed text an item may begin behind the URL of the previous one.
    const rest = text.slice(found.at(-1)?.end ?? 0).replace(/^[)\]>.,]+(?=\s)/, '');
    if (item.test(rest)) return [rest.trim(), ...block];
    if (found.length > 0) break;
    if (!isRule(text)) block.unshift(text.trim());
    else if (block.length > 0) return [...underlined(lines, above), ...block];
  }
  return first + sameList < at - 1 && block.every(isNoTitle) ? [] : block;
}

/** The heading above a line of hyphens of about the same length. */
function underlined(lines: readonly Line[], at: number): readonly string[] {
  const [rule, heading] = [lines[at]?.text.trim() ?? '', lines[at - 1]];
  const text = heading?.text.trim() ?? '';
  const isHeading = /^(?:-{3,}|={3,}|~{3,})$/.test(rule.slice(0, 200)) && text !== '' && Math.abs(text.length - rule.length) <= 3 && heading?.urls.length === 0;
  return isHeading ? [text] : [];
}

/** A line with a date or time, a header of a quoted mail, or one that announces the next. */
const isNoTitle = (line: string): boolean =>
  /:$|^(?:from|date|sent|to|cc|von|datum|gesendet|an): |^(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b.*\d|^\d{1,2}:\d\d\b/i.test(line);

function titleOf(block: readonly string[]): string {
  const saying = block.map((line) => (namesIn(tidy(line)).length === 0 ? line : beforeByline(tidy(line)))).filter((line) => line !== '');
  const named = saying.findIndex((line) => /^(?:title|titel): /i.test(line));
  const plain = saying.findIndex((line) => !isNoTitle(line));
  const from = saying.slice(Math.max(named < 0 ? plain : named, 0));
  const end = from.findIndex((line, at) => !goesOn(line, from[at + 1] ?? ''));
  return subjectOf(clean(end <= 0 ? (from[0] ?? '') : firstSentence(from.slice(0, end + 1).join(' '))));
}

/** Whether a sentence goes on in the next line, as programs break lines. */
const goesOn = (line: string, next: string): boolean =>
  !/[.!?:]["'”’)]*$/.test(line) && !/^by \S+(?: \S+)?$/.test(next) && (/^\p{Ll}/u.test(next) || (line.endsWith(',') && next !== ''));
/** "Dr." and "U.S." end none. */
const sentenceEnd = /(?<=[\p{Ll}\d)\]"”’]{2}[.!?]["'”’)]*)\s+(?=\P{Ll})/u;
const firstSentence = (text: string): string => text.split(sentenceEnd, 1)[0] ?? '';
const lastSentence = (text: string): string => text.split(sentenceEnd).at(-1) ?? '';

const mostFollowing = 3;

function namesAround({ lines, at, line: { text, urls: all }, nth, found: { start, end }, notes }: Place, above: readonly string[]): readonly string[] {
  const following = /\s[*•►▶]\s/.test(text.slice(end, end + 300)) ? [] : lines.slice(at + 1, at + 1 + mostFollowing);
  const stop = following.findIndex((line) => line.urls.length > 0 || isRule(line.text) || item.test(line.text));
  const after = (stop < 0 ? following : following.slice(0, stop)).map((line) => line.text);
  const sameLine = [text.slice(Math.max(all[nth - 1]?.end ?? 0, start - 300), start), text.slice(end, Math.min(all[nth + 1]?.start ?? Infinity, end + 300))];
  const named = [...above, ...sameLine.map((part) => part.replace(/^[\s)>\],]+|[\s(<[:]+$/g, '')), ...after].map((line) => namesIn(tidy(line)));
  return named.find((names) => names.length > 0) ?? notes.get(noteBefore(text.slice(0, Math.min(start, 300))))?.names ?? [];
}
