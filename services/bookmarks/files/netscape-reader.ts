// Reads Netscape bookmark HTML, which browsers and bookmark services export, as a stream.
import { hash } from 'node:crypto';
import { z } from 'zod';
import { jsonIn } from '../../platform/json.ts';
import { FolderInput, Problems } from '../contract.ts';
import { withAddressesOfKarakeep } from './karakeep-addresses.ts';
import { type Attributes, createTokens, decodeText, type Handlers } from './netscape-tags.ts';

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

/** Bounds memory: the reader holds all open lists. */
const maxDepth = 1000;
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

/** The texts of an item; the one that is being read is `collected`. */
type Texts = { heading: string; name: string; title: string; description: string };
const noTexts: Texts = { heading: '', name: '', title: '', description: '' };

const createSavedTokens = (handlers: Handlers) => createTokens(withAddressesOfKarakeep(handlers));

function createReader() {
  const items: FileItem[] = [];
  const folders = createFolders(items);
  let collected: keyof Texts | undefined;
  let texts = { ...noTexts };
  let link: Attributes | undefined;
  let hasTextOnLine = false;
  /** Instapaper and Pocket have `<li>` in place of `<dt>`, and no lists of descriptions. */
  let isPlainList = true;

  /** Emits the bookmark or folder that was being read. */
  function complete(fault?: string): void {
    if (link) items.push({ folder: folders.current(), bookmark: { ...bookmarkOf(link, texts, folders.isStarred()), ...(fault !== undefined && { fault }) } });
    if (collected === 'heading') folders.head(oneLine(texts.heading));
    if (collected === 'name') folders.name(oneLine(texts.name));
    link = undefined;
    collected = undefined;
    texts = { ...noTexts };
  }

  const begin = (text: keyof Texts) => () => {
    complete();
    collected = text;
  };

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
    h1: begin('heading'),
    '/h1': () => complete(),
    ol() {
      complete();
      folders.enterList();
    },
    h3: begin('name'),
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
      folders.enter();
    },
    '/dl'() {
      complete();
      folders.leave();
    },
  };
  const tokens = createSavedTokens({
    isTag: (name) => !isOfPlainList(name) || (isPlainList && isListTag(name, collected, hasTextOnLine)),
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
        items.push({ folder: folders.current(), bookmark: { ...bookmarkOf({}, texts, false), fault: cutOff } });
      } else complete(collected === 'title' ? cutOff : undefined);
    },
  };
}

/** The folder that is being read; adds each folder to the items. */
function createFolders(items: FileItem[]) {
  const lists: (FileFolder | undefined)[] = [];
  let folder: FileFolder | undefined;
  /** The folder whose name was read last: the next list is its content. */
  let next: FileFolder | undefined;
  /** In Instapaper's files the name of the next list. */
  let heading = '';
  let isStarred = false;
  return {
    current: () => folder,
    name(name: string): void {
      next = name === '' ? folder : folderOf(name, folder);
      if (next && next !== folder) items.push({ folder: next });
    },
    enter(): void {
      if (lists.length >= maxDepth) throw Problems.notBookmarks({ detail: `Its folders are nested deeper than ${maxDepth}.` });
      lists.push(folder);
      folder = next;
    },
    leave(): void {
      next = folder = lists.pop();
    },
    isStarred: () => isStarred,
    head(text: string): void {
      heading = text;
    },
    /** Instapaper has no lists within lists. */
    enterList(): void {
      isStarred = heading === 'Starred';
      folder = heading === '' || instapaperOwn.test(heading) ? undefined : folderOf(heading, undefined);
      if (folder) items.push({ folder });
      heading = '';
    },
  };
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
  isStarred: boolean,
): FileBookmark {
  return {
    title: oneLine(title),
    url: href.trim(),
    // SemanticScuttle has it in the attribute.
    description: withNotes(decodeText(withoutQuote(description.replaceAll('\r\n', '\n'))).trim() || (more['description'] ?? '').trim()),
    tags: tagsOf(list) ?? tags.split(','),
    // Pocket's exports name it `time_added`.
    dateAdded: dateOf(add_date ?? time_added),
    // Raindrop.io and our own export have the former, DuckDuckGo's browsers the latter.
    favorite: isStarred || isSet(important) || isSet(more['duckduckgo:favorite']),
    // Pinboard, linkding, Shaarli and Delicious have it.
    isPrivate: isSet(more['private']),
  };
}

const isOfPlainList = (name: string): boolean => /^\/?(?:li|h1|ol)$/.test(name);
/** Titles and descriptions may name elements. */
function isListTag(name: string, collected: keyof Texts | undefined, hasTextOnLine: boolean): boolean {
  return name === 'li' ? !hasTextOnLine : name === '/li' || collected === undefined || collected === 'heading';
}

/** Lists of Instapaper that are no folders. */
const instapaperOwn = /^(?:Unread|Starred|Archive)$/;

/** Line breaks of the file are spaces; one that belongs to a title is a character reference. */
const oneLine = (html: string): string =>
  decodeText(
    html
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join(' '),
  ).trim();

/** Pinboard writes all descriptions as quotes. */
const withoutQuote = (html: string): string => /^\s*<blockquote>((?:(?!<blockquote)[^])*)<\/blockquote>\s*$/.exec(html)?.[1] ?? html;

const notesEnd = '[/linkding-notes]';

/** linkding marks its notes in the description; here they are its last paragraph. */
function withNotes(written: string): string {
  if (!written.endsWith(notesEnd)) return written;
  const [description = '', ...notes] = written.slice(0, -notesEnd.length).split('[linkding-notes]');
  return [description, ...notes]
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n');
}

const isSet = (value = '') => /^(?:1|true|yes)$/i.test(value.trim());

const TagList = z.array(z.string());

/** Our own export writes the tags as JSON when one of them has a comma. */
const tagsOf = (list = ''): string[] | undefined => TagList.safeParse(jsonIn(list)).data;

/** In milliseconds from 1601, with which Chrome counts inside, to 1970. */
const from1601 = 11_644_473_600_000;

/** Seconds since 1970; a few programs write milliseconds or microseconds, fractions, or ISO 8601, which is UTC where it has no zone. */
function dateOf(added = ''): Date | undefined {
  const written = added.trim();
  const iso = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/.exec(written);
  if (iso) return validDate(Date.parse(written.length > 10 && iso[1] === undefined ? `${written}Z` : written));
  if (!/^\d{1,17}(?:\.\d+)?$/.test(written)) return undefined;
  const number = Number(written);
  const micros = Math.floor(number / 1000);
  const milliseconds = number < 1e11 ? Math.floor(number * 1000) : number < 1e14 ? number : number < 1e16 ? micros : micros - from1601;
  return validDate(milliseconds);
}

function validDate(milliseconds: number): Date | undefined {
  return milliseconds > 0 ? new Date(milliseconds) : undefined;
}
