// Reads the tags of Netscape bookmark HTML and the text between them, in pieces as they come.
import { Parser } from 'htmlparser2';
import { Problems } from '../contract.ts';

export type Attributes = Readonly<Record<string, string>>;

/** Bounds memory: a tag is held until it ends. */
const maxTagLength = 4 * 1_048_576;

export type Handlers = {
  /** False makes the tag text. */
  readonly isTag: (name: string) => boolean;
  readonly tag: (name: string, attributes: Attributes) => void;
  readonly text: (text: string) => void;
};

/** The tags that are read. All others are text, so an HTML element in a title, or a comment, ends nothing. */
const names = 'a|h1|h3|dl|dt|dd|hr|li|ol';
const tagStart = new RegExp(`<(/?(?:${names}))(?![\\w-])`, 'gi');
/** `</h3` and the character after it. */
const longestStart = 5;
/** A closing quote may be missing. Browsers read such files by lines, so a tag also ends before a line that begins with a tag. */
const nextTag = new RegExp(`</?(?:${names})(?![\\w-])`, 'iy');

/** Formats differ within this length. */
const beginningLength = 1024;

/** Formats in which browsers and bookmark services export as well; their texts may hold tags. */
const otherFormats: readonly (readonly [name: string, begins: RegExp])[] = [
  ['JSON', /^(?:\[\s*[{["\]]|\{\s*["}])/],
  ['Markdown', /^(?:[^<\n]*\n)*[^<\n[]*\[[^\n]*\]\(https?:/i],
  // The links in it are those of one page.
  ['a saved web page or a mail', /^(?:[\w-]+:[^\n]*\n(?:[ \t][^\n]*\n)*)*?MIME-Version:/i],
  // The first line of CSV names its columns.
  ['CSV or a list of addresses', /^(?:https?:|[^<\n]*[,;\t])[^<\n]*(?:\n|$)/i],
  ['a zip archive', /^PK\p{Cc}{2}/u],
  ['a file of a browser itself', /^(?:mozLz40|SQLite format 3|bplist)/],
  ['XML', /^(?:\s|<\?[^>]*>|<!--(?:(?!-->)[^])*-->|<!doctype[^>]*>)*<(?:opml|xbel|plist|rss|feed|posts|en-export)\b/i],
  // XHTML and bookmark files may have the declaration of XML as well; their elements have names of HTML.
  ['XML', /^<\?xml\b[^>]*>(?:\s|<!--(?:(?!-->)[^])*-->|<!doctype[^>]*>)*<(?!(?:html|head|body|meta|title|h[1-6]|dl|dt|ul|ol|li|p|a)\b)[a-z]/i],
];

const refusal = (name: string) =>
  Problems.notBookmarks({ detail: `It is ${name}: export the bookmarks as HTML, or send each of them to POST /api/bookmarks.` });

/** @throws Problem 400 for the beginning of another format */
function refuseOthers(beginning: string): void {
  const [name] = otherFormats.find(([, begins]) => begins.test(beginning)) ?? [];
  if (name !== undefined) throw refusal(name);
}

export function createTokens({ isTag, tag, text }: Handlers) {
  let rest = '';
  /** Later pieces of a tag that goes on. They are read together, since each read copies all of the tag. */
  let more = '';
  /** Belongs to the tag with which `rest` begins. */
  let search: Search | undefined;
  let hasTags = false;
  let beginning = '';

  /** @returns whether the file ends within the start tag of a bookmark */
  function consume(isEnd: boolean): boolean {
    let at = 0;
    for (;;) {
      tagStart.lastIndex = at;
      const found = tagStart.exec(rest);
      // The last characters may be the beginning of a tag whose rest is still to come.
      const start = found?.index ?? (isEnd ? rest.length : Math.max(at, rest.length - longestStart));
      if (start > at) text(rest.slice(at, start));
      const [tagText = '', spelling = ''] = found ?? [];
      const name = spelling.toLowerCase();
      if (found && !isTag(name)) {
        text(tagText);
        at = start + tagText.length;
        continue;
      }
      const textStart = start + tagText.length;
      // The beginning of a tag may be that of another word by now: `<a` of `<abbr`.
      const current = start === 0 && search ? search : searchFrom(textStart);
      search = undefined;
      const end = found && endOfTag(rest, current, { start: textStart, isEnd });
      if (!end) {
        rest = rest.slice(start);
        if (found) search = { ...current, at: current.at - start, lineEnd: current.lineEnd && current.lineEnd - start };
        if (rest.length > maxTagLength) throw Problems.notBookmarks({ detail: `A tag of it is longer than ${maxTagLength} characters.` });
        return isEnd && name === 'a';
      }
      hasTags = true;
      tag(name, attributesIn(rest.slice(textStart, end.attributesEnd)));
      at = end.textStart;
    }
  }

  function read(isEnd: boolean): boolean {
    rest += more;
    more = '';
    return consume(isEnd);
  }

  return {
    write(piece: string): void {
      if (beginning.length < beginningLength) {
        beginning = (beginning + piece).trimStart().slice(0, beginningLength);
        if (beginning.length === beginningLength) refuseOthers(beginning);
      }
      more += piece;
      if (search && 8 * more.length < rest.length) return;
      read(false);
    },
    /** @returns whether the file ends within the start tag of a bookmark @throws Problem 400 for formats that are no HTML */
    end(): boolean {
      refuseOthers(beginning);
      const isCut = read(true);
      if (!hasTags && beginning !== '' && !beginning.startsWith('<')) throw refusal('no HTML');
      return isCut;
    },
  };
}

type TagEnd = { readonly attributesEnd: number; readonly textStart: number };

/** Where the search for the end of a tag goes on, since an icon may come in many pieces. */
type Search = {
  at: number;
  quote: string;
  /** The last character that is no white space. */
  before: string;
  /** The first line end after `before`. */
  lineEnd: number | undefined;
};
const searchFrom = (at: number): Search => ({ at, quote: '', before: '', lineEnd: undefined });

/** @returns undefined while the end of the tag has not been read; `search` then is where it goes on */
function endOfTag(html: string, search: Search, { start, isEnd }: { readonly start: number; readonly isEnd: boolean }): TagEnd | undefined {
  for (; search.at < html.length; search.at += 1) {
    const { at, quote, lineEnd } = search;
    const character = html[at] ?? '';
    if (/\s/.test(character)) {
      if (character === '\n') search.lineEnd ??= at;
      continue;
    }
    if (character === '<' && lineEnd !== undefined) {
      if (!isEnd && at + longestStart > html.length) return undefined;
      nextTag.lastIndex = at;
      if (nextTag.test(html)) {
        const bracket = html.indexOf('>', start);
        return bracket >= 0 && bracket < lineEnd ? { attributesEnd: bracket, textStart: bracket + 1 } : { attributesEnd: lineEnd, textStart: lineEnd };
      }
    }
    if (quote !== '') search.quote = character === quote ? '' : quote;
    else if (character === '>') return { attributesEnd: at, textStart: at + 1 };
    else if ((character === '"' || character === "'") && search.before === '=') search.quote = character;
    search.before = character;
    search.lineEnd = undefined;
  }
  return undefined;
}

const attribute = /([^\s=>"'/]+)(?:\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s>]+)))?/g;

// In reverse: as in HTML, the first of repeated attributes wins.
const attributesIn = (html: string): Attributes =>
  Object.fromEntries(
    [...html.matchAll(attribute)].reverse().map(([, name = '', double, single, bare]) => [name.toLowerCase(), decodeAttribute(double ?? single ?? bare ?? '')]),
  );

/** Character references in text and in attributes have different rules: an attribute `?a=1&copy=2` has no ©. */
export function decodeText(html: string): string {
  if (!html.includes('&')) return html;
  let text = '';
  new Parser({ ontext: (part) => void (text += part) }).end(html.replaceAll('<', '&lt;'));
  return text;
}
function decodeAttribute(html: string): string {
  if (!html.includes('&')) return html;
  let text = '';
  new Parser({ onattribute: (_, value) => void (text = value) }).end(`<a b="${html.replaceAll('"', '&quot;')}">`);
  return text;
}
