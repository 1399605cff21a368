// Reads Netscape bookmark HTML as it comes: what browsers and bookmark services export.
import { hash } from 'node:crypto';
import { Parser } from 'htmlparser2';
import { z } from 'zod';
import { FolderInput, Problems } from '../contract.ts';

/** A folder as the file nests it. Undefined, where one may be, is the top. */
export type FileFolder = {
  readonly name: string;
  readonly parent: FileFolder | undefined;
  /** The same for all folders of the same path. */
  readonly key: string;
  /** Why it, or one that it is in, cannot be a folder of the catalogue. */
  readonly fault: string | undefined;
};

export type FileBookmark = {
  readonly title: string;
  readonly url: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Undefined where the file has no usable one. */
  readonly dateAdded: Date | undefined;
};

/** A folder, or a bookmark that is in it. */
export type FileItem = { readonly folder: FileFolder | undefined; readonly bookmark?: FileBookmark };

/** Above it nothing is a bookmark file: what its lists are nested in is in memory, and so is a tag until it ends. */
const maxDepth = 1000;
const maxTagBytes = 4 * 1_048_576;
/** Text beyond it is not collected: it is above every limit. */
const maxTextLength = 40_000;

/** Items in the order of the file, so many at a time. @throws Problem 400 for what is no bookmark file */
export async function* readNetscape(texts: AsyncIterable<string>, itemsAtOnce: number): AsyncGenerator<FileItem[]> {
  const reader = createReader();
  for await (const text of texts) {
    reader.write(text);
    while (reader.items.length >= itemsAtOnce) yield reader.items.splice(0, itemsAtOnce);
  }
  reader.end();
  while (reader.items.length > 0) yield reader.items.splice(0, itemsAtOnce);
}

/** Only lists are nested: the other elements of such files are rarely closed, and a stack of them would grow with the file. */
class FlatParser extends Parser {
  protected override isVoidElement(name: string): boolean {
    return name !== 'dl';
  }
}

type Attributes = Readonly<Record<string, string>>;

function createReader() {
  const items: FileItem[] = [];
  const lists: (FileFolder | undefined)[] = [];
  let folder: FileFolder | undefined;
  /** Named, and entered by the list that follows. */
  let next: FileFolder | undefined;
  let collected: 'nothing' | 'name' | 'title' | 'description' = 'nothing';
  let texts = { name: '', title: '', description: '' };
  let link: Attributes | undefined;
  let bytesOfTag = 0;

  /** What was begun is complete. */
  function complete(): void {
    if (link) items.push({ folder, bookmark: bookmarkOf(link, texts) });
    if (collected === 'name') {
      next = texts.name.trim() === '' ? folder : folderOf(texts.name.trim(), folder);
      if (next && next !== folder) items.push({ folder: next });
    }
    link = undefined;
    collected = 'nothing';
    texts = { name: '', title: '', description: '' };
  }

  const starts: Readonly<Record<string, (attributes: Attributes) => void>> = {
    a(attributes) {
      complete();
      link = attributes;
      collected = 'title';
    },
    h3() {
      complete();
      collected = 'name';
    },
    // That of a folder has no place.
    dd: () => (link ? (collected = 'description') : complete()),
    dt: complete,
    hr: complete,
    dl() {
      complete();
      if (lists.length >= maxDepth) throw Problems.notBookmarks({ detail: `Its folders are nested deeper than ${maxDepth}.` });
      lists.push(folder);
      folder = next;
    },
  };
  const parser = new FlatParser({
    onopentag(name, attributes) {
      bytesOfTag = 0;
      if (Object.hasOwn(starts, name)) starts[name]?.(attributes);
    },
    onclosetag(name) {
      if (name !== 'dl') return;
      complete();
      next = folder = lists.pop();
    },
    ontext(text) {
      bytesOfTag = 0;
      if (collected !== 'nothing' && texts[collected].length < maxTextLength) texts[collected] += text;
    },
  });
  return {
    items,
    write(text: string): void {
      bytesOfTag += text.length;
      parser.write(text);
      if (bytesOfTag > maxTagBytes) throw Problems.notBookmarks({ detail: `A tag of it is longer than ${maxTagBytes} characters.` });
    },
    end(): void {
      parser.end();
      complete();
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

function bookmarkOf({ href = '', tags = '', add_date: added, 'data-tags': list }: Attributes, { title, description }: { title: string; description: string }) {
  return { title: title.trim(), url: href.trim(), description: description.trim(), tags: tagsOf(list) ?? tags.split(','), dateAdded: dateOf(added) };
}

const TagList = z.array(z.string());

/** Our own exports have them as JSON where a comma is in one. */
function tagsOf(list: string | undefined): string[] | undefined {
  if (list === undefined) return undefined;
  try {
    return TagList.safeParse(JSON.parse(list)).data;
  } catch {
    return undefined; // somebody else's attribute of that name
  }
}

/** Seconds since 1970; a few programs write milliseconds or microseconds. */
function dateOf(added = ''): Date | undefined {
  if (!/^\d{1,17}$/.test(added)) return undefined;
  const number = Number(added);
  const milliseconds = number < 1e11 ? number * 1000 : number < 1e14 ? number : Math.floor(number / 1000);
  return milliseconds > 0 ? new Date(milliseconds) : undefined;
}
