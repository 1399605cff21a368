// Reads Netscape bookmark HTML, which browsers and bookmark services export, as a stream.
import { hash } from 'node:crypto';
import { Parser } from 'htmlparser2';
import { z } from 'zod';
import { jsonIn } from '../../platform/json.ts';
import { FolderInput, Problems } from '../contract.ts';

/** A folder of the file. Undefined instead of a folder means the top. */
export type FileFolder = {
  readonly name: string;
  readonly parent: FileFolder | undefined;
  /** The same for all folders of the same path. */
  readonly key: string;
  /** Why the catalogue cannot have this folder, or a folder above it. */
  readonly fault: string | undefined;
};

export type FileBookmark = {
  readonly title: string;
  readonly url: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Undefined when the file has no valid date. */
  readonly dateAdded: Date | undefined;
  readonly favorite: boolean;
  readonly isPrivate: boolean;
  /** Set when the file ends within the bookmark. */
  readonly fault?: string;
};

/** A bookmark and its folder, or a folder alone. */
export type FileItem = { readonly folder: FileFolder | undefined; readonly bookmark?: FileBookmark };

/** These bound memory: the reader holds all open lists, and a tag until it ends. */
const maxDepth = 1000;
const maxTagLength = 4 * 1_048_576;
/** The rest of a longer text is dropped: it exceeds every limit of the catalogue anyway. */
const maxTextLength = 40_000;

const cutOff = 'the file ends within this bookmark';

/** Yields the items in the order of the file, in batches. @throws Problem 400 when the text is no bookmark file */
export async function* readNetscape(texts: AsyncIterable<string>, itemsAtOnce: number): AsyncGenerator<FileItem[]> {
  const reader = createReader();
  for await (const text of texts) {
    reader.write(text);
    while (reader.items.length >= itemsAtOnce) yield reader.items.splice(0, itemsAtOnce);
  }
  reader.end();
  while (reader.items.length > 0) yield reader.items.splice(0, itemsAtOnce);
}

type Attributes = Readonly<Record<string, string>>;
/** The texts of an item; the one that is being read is `collected`. */
type Texts = { name: string; title: string; description: string };

function createReader() {
  const items: FileItem[] = [];
  const lists: (FileFolder | undefined)[] = [];
  let folder: FileFolder | undefined;
  /** The folder whose name was read last: the next list is its content. */
  let next: FileFolder | undefined;
  let collected: keyof Texts | undefined;
  let texts: Texts = { name: '', title: '', description: '' };
  let link: Attributes | undefined;
  let hasTextOnLine = false;
  /** Instapaper and Pocket have `<li>` in place of `<dt>`, and no lists of descriptions. */
  let isPlainList = true;

  /** Emits the bookmark or folder that was being read. */
  function complete(fault?: string): void {
    if (link) items.push({ folder, bookmark: { ...bookmarkOf(link, texts), ...(fault !== undefined && { fault }) } });
    if (collected === 'name') {
      const name = decodeText(texts.name).trim();
      next = name === '' ? folder : folderOf(name, folder);
      if (next && next !== folder) items.push({ folder: next });
    }
    link = undefined;
    collected = undefined;
    texts = { name: '', title: '', description: '' };
  }

  const tags: Readonly<Record<string, (attributes: Attributes) => void>> = {
    a(attributes) {
      // A description may link to other pages; a bookmark begins a line.
      if (collected === 'description' && hasTextOnLine) return;
      complete();
      link = attributes;
      collected = 'title';
    },
    '/a'() {
      if (collected === 'title') collected = undefined;
    },
    h3() {
      complete();
      collected = 'name';
    },
    '/h3'() {
      if (collected === 'name') complete();
    },
    dd() {
      if (link) collected = 'description';
      else complete(); // a folder's description is not stored
    },
    dt: () => complete(),
    li: () => complete(),
    hr: () => complete(),
    dl() {
      isPlainList = false;
      complete();
      if (lists.length >= maxDepth) throw Problems.notBookmarks({ detail: `Its folders are nested deeper than ${maxDepth}.` });
      lists.push(folder);
      folder = next;
    },
    '/dl'() {
      complete();
      next = folder = lists.pop();
    },
  };
  const tokens = createTokens({
    isTag: (name) => (name === '/li' ? isPlainList : name !== 'li' || (isPlainList && !hasTextOnLine)),
    tag(name, attributes) {
      tags[name]?.(attributes);
      hasTextOnLine = name !== 'li';
    },
    text(text) {
      const line = text.slice(text.lastIndexOf('\n') + 1);
      hasTextOnLine = (hasTextOnLine && line.length === text.length) || line.trim() !== '';
      if (collected && texts[collected].length < maxTextLength) texts[collected] += text;
    },
  });
  return {
    items,
    write: tokens.write,
    end(): void {
      if (tokens.end()) {
        complete();
        items.push({ folder, bookmark: { ...bookmarkOf({}, texts), fault: cutOff } });
      } else complete(collected === 'title' ? cutOff : undefined);
    },
  };
}

type Handlers = {
  /** False makes the tag text. */
  readonly isTag: (name: string) => boolean;
  readonly tag: (name: string, attributes: Attributes) => void;
  readonly text: (text: string) => void;
};

/** The tags that are read. All others are text, so an HTML element in a title, or a comment, ends nothing. */
const names = 'a|h3|dl|dt|dd|hr|li';
const tagStart = new RegExp(`<(/?(?:${names}))(?![\\w-])`, 'gi');
/** `</h3` and the character after it. */
const longestStart = 5;
/** A closing quote may be missing. Browsers read such files by lines, so a tag also ends before a line that begins with a tag. */
const nextLine = new RegExp(`\\n\\s*</?(?:${names})(?![\\w-])`, 'iy');

function createTokens({ isTag, tag, text }: Handlers) {
  let rest = '';

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
      const end = found && endOfTag(rest, start + tagText.length);
      if (!end) {
        rest = rest.slice(start);
        if (rest.length > maxTagLength) throw Problems.notBookmarks({ detail: `A tag of it is longer than ${maxTagLength} characters.` });
        return isEnd && name === 'a';
      }
      tag(name, attributesIn(rest.slice(start + tagText.length, end.attributesEnd)));
      at = end.textStart;
    }
  }

  return {
    write(more: string): void {
      rest += more;
      consume(false);
    },
    end: () => consume(true),
  };
}

type TagEnd = { readonly attributesEnd: number; readonly textStart: number };

/** @returns undefined while the end of the tag has not been read */
function endOfTag(html: string, start: number): TagEnd | undefined {
  let quote = '';
  let before = '';
  for (let at = start; at < html.length; at += 1) {
    const character = html[at] ?? '';
    if (character === '\n') {
      nextLine.lastIndex = at;
      if (nextLine.test(html)) {
        const bracket = html.indexOf('>', start);
        return bracket >= 0 && bracket < at ? { attributesEnd: bracket, textStart: bracket + 1 } : { attributesEnd: at, textStart: at };
      }
    }
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '>') return { attributesEnd: at, textStart: at + 1 };
    else if ((character === '"' || character === "'") && before === '=') quote = character;
    if (!/\s/.test(character)) before = character;
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
function decodeText(html: string): string {
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

const folderOf = (name: string, parent: FileFolder | undefined): FileFolder => ({
  name,
  parent,
  key: hash('sha256', `${parent?.key ?? ''}\0${name}`, 'base64'),
  fault: parent?.fault ?? faultOf(name),
});

function faultOf(name: string): string | undefined {
  const fault = FolderInput.shape.name.safeParse(name).error?.issues[0]?.message;
  return fault === undefined ? undefined : `its folder's name ${fault}`;
}

function bookmarkOf(
  { href = '', tags = '', add_date, time_added, 'data-tags': list, 'data-important': important, ...more }: Attributes,
  { title, description }: Texts,
): FileBookmark {
  return {
    title: decodeText(title).trim(),
    url: href.trim(),
    description: decodeText(description).trim(),
    tags: tagsOf(list) ?? tags.split(','),
    // Pocket's exports name it `time_added`.
    dateAdded: dateOf(add_date ?? time_added),
    // Raindrop.io and our own export have it.
    favorite: isSet(important),
    // Pinboard, linkding, Shaarli and Delicious have it.
    isPrivate: isSet(more['private']),
  };
}

const isSet = (value = '') => /^(?:1|true|yes)$/i.test(value.trim());

const TagList = z.array(z.string());

/** Our own export writes the tags as JSON when one of them has a comma. */
const tagsOf = (list = ''): string[] | undefined => TagList.safeParse(jsonIn(list)).data;

/** Seconds since 1970; a few programs write milliseconds or microseconds. */
function dateOf(added = ''): Date | undefined {
  if (!/^\d{1,17}$/.test(added)) return undefined;
  const number = Number(added);
  const milliseconds = number < 1e11 ? number * 1000 : number < 1e14 ? number : Math.floor(number / 1000);
  return milliseconds > 0 ? new Date(milliseconds) : undefined;
}
