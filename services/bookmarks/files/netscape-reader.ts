// Reads Netscape bookmark HTML, which browsers and bookmark services export, as a stream.
import { hash } from 'node:crypto';
import { z } from 'zod';
import { jsonIn } from '../../platform/json.ts';
import { FolderInput, Problems } from '../contract.ts';
import { type Attributes, createTokens, decodeText } from './netscape-tags.ts';

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
