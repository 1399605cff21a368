// The elements and the visible text of a mail's HTML, in one pass. Pure; linear in its length, however broken or deep it is.
// Uses htmlparser2's tokenizer only: its parser inserts at the front of an array, which takes 122 s for 200 000 unclosed elements.
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { createStyles, type Style } from './styles.ts';

export type Element = {
  readonly name: string;
  /** Position among all elements, in the order in which they begin. */
  readonly index: number;
  readonly parent: Element | undefined;
  /** Its `class`, and the `css-class` of mail editors, as they are written. */
  readonly classes: string;
  readonly id: string;
  /** The address of a link. */
  readonly href: string | undefined;
  /** The address that a mail program kept when it replaced the link. */
  readonly originalHref: string | undefined;
  /** The description of the first visible image within it that has one; of links only. */
  alt: string;
  /** Whether the visible images within it are icons; absent where it has none; of links only. */
  isIcon?: boolean;
  /** Whether no reader sees it, nor what is within it. */
  readonly isHidden: boolean;
  /** Whether all that is within it is hidden, too small to be read, or a pixel. */
  isEmpty: boolean;
  /** Its text begins here and ends before `end`. */
  readonly start: number;
  end: number;
  /** Index of the last element within it; its own index where it has none. */
  last: number;
};

/** A visible image; a pixel is none. `at` is its place in the text; what is in front of a background ends before `end`. */
export type Image = {
  readonly at: number;
  readonly end: number;
  readonly source: string;
  readonly description: string;
  /** By its attributes, an icon or a line. */
  readonly isSmall: boolean;
  readonly isBackground: boolean;
};

export type HtmlDocument = {
  /** The visible text, a line for each block; spacing within a line is not tidied. */
  readonly text: string;
  readonly elements: readonly Element[];
  readonly images: readonly Image[];
};

export type ReadOptions = {
  /** Whether struck text is left out, as what no longer holds; default: false. */
  readonly leavesOutStruck?: boolean;
  /** Whether an element with these classes is left out as a hidden one is. */
  readonly isLeftOut?: (classes: string) => boolean;
  /** Text that a visible image adds by its description, as where it labels what is beside it; default: none. */
  readonly textOf?: (description: string) => string;
};

const named = (names: string): ReadonlySet<string> => new Set(names.split(' '));
const unseen = named('head script style template title textarea iframe noembed noframes xmp');
const struck = named('s strike del');
const blocks = named(
  'address article aside blockquote body center dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody td tfoot th thead tr ul',
);
/** Whether the element begins a new line. */
export const isBlock = ({ name }: { readonly name: string }): boolean => blocks.has(name);

/** How many elements around an image are looked at for its link, whatever the depth. */
const mostAroundImage = 8;

const voids = named('area base basefont br col embed frame hr img input keygen link meta param source track wbr');
const ofHead = named('base basefont bgsound link meta noscript script style template title');

const p = named('p');
const cells = named('td th');
/** The innermost elements that the start tag of another one ends. */
const endedBy: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...[...blocks].map((name): [string, ReadonlySet<string>] => [name, p]),
  ['a', named('a')],
  ['li', named('li p')],
  ['dt', named('dt dd p')],
  ['dd', named('dt dd p')],
  ['td', cells],
  ['th', cells],
  ['tr', named('tr td th')],
  ['tbody', named('thead tbody tr td th')],
]);

type Tag = {
  readonly name: string;
  classes: string;
  id: string;
  style: string;
  size: string;
  href: string | undefined;
  originalHref: string | undefined;
  source: string | undefined;
  background: string | undefined;
  description: string;
  hasHidden: boolean;
};
const tagOf = (name: string): Tag => ({
  name,
  classes: '',
  id: '',
  style: '',
  size: '',
  href: undefined,
  originalHref: undefined,
  source: undefined,
  background: undefined,
  description: '',
  hasHidden: false,
});
/** The effect of an attribute on a tag; of a repeated one the first counts, but for classes. */
const readers = new Map<string, (tag: Tag, value: string) => unknown>([
  ['class', (tag, value) => (tag.classes += ` ${value}`)],
  ['css-class', (tag, value) => (tag.classes += ` ${value}`)],
  ['id', (tag, value) => (tag.id ||= value)],
  ['style', (tag, value) => (tag.style ||= value)],
  ['width', (tag, value) => (tag.size += ` ${value.trim()}`)],
  ['height', (tag, value) => (tag.size += ` ${value.trim()}`)],
  ['href', (tag, value) => (tag.href ??= value)],
  ['originalsrc', (tag, value) => (tag.originalHref ??= value)],
  ['src', (tag, value) => (tag.source ??= value)],
  ['background', (tag, value) => (tag.background ??= value)],
  ['alt', (tag, value) => (tag.description ||= value)],
  ['hidden', (tag) => (tag.hasHidden = true)],
]);
/** An image of one pixel, or of none; both its width and its height say so. */
const pixel = /^(?: [01](?:px)?){2}$/i;
/** An image of at most 48 pixels in width or height. */
const small = /(?:^| )(?:[1-3]?\d|4[0-8])(?:px)?(?: |$)/i;
/** An image of at most 48 pixels, by its attributes or its style. */
const icon = /^(?: (?:[1-3]?\d|4[0-8])(?:px)?){1,2}$|(?:^|;)\s*(?:max-)?width\s*:\s*(?:[1-3]?\d|4[0-8])px/i;

type Picture = Omit<Image, 'at' | 'end'>;
const pictureOf = ({ source, description, size }: Tag): Picture[] =>
  source === undefined ? [] : [{ source, description, isSmall: small.test(size), isBackground: false }];
const backgroundIn = /(?:^|;)\s*background(?:-image)?\s*:[^;]*?url\(\s*["']?(https?:[^"')\s]+)/i;
function backgroundOf({ background, style, size }: Tag): Picture | undefined {
  // Few styles have an address.
  const source = background ?? (style.includes('url(') ? backgroundIn.exec(style)?.[1] : undefined);
  return source === undefined ? undefined : { source, description: '', isSmall: small.test(size), isBackground: true };
}

const ignore = () => undefined;
/** Callbacks that do nothing, for those that are not needed. */
export const ignored: TokenizerCallbacks = {
  onopentagname: ignore,
  onattribname: ignore,
  onattribdata: ignore,
  onattribentity: ignore,
  onattribend: ignore,
  onopentagend: ignore,
  onselfclosingtag: ignore,
  onclosetag: ignore,
  ontext: ignore,
  ontextentity: ignore,
  oncdata: ignore,
  oncomment: ignore,
  ondeclaration: ignore,
  onprocessinginstruction: ignore,
  onend: ignore,
};

/**
 * In place of the tokenizer's member of this name (htmlparser2 12.0.0), which looks at one character after the other: a mail is read in four fifths of
 * the time. The values of style attributes are most of its characters.
 */
function fastForwardTo(this: { readonly buffer: string; readonly offset: number; index: number }, code: number): boolean {
  const found = this.buffer.indexOf(String.fromCharCode(code), this.index + 1 - this.offset);
  this.index = this.offset + (found < 0 ? this.buffer.length - 1 : found);
  return found >= 0;
}

export function readHtml(html: string, options: ReadOptions = {}): HtmlDocument {
  const tree = createTree(options);
  const decode = createEntityDecoder();
  let tag: Tag = tagOf('');
  let attribute = '';
  let value = '';
  const begin = () => tree.begin(tag);
  const tokenizer = new Tokenizer(
    // Decoding entities takes 2.5 times as long, and few texts and attributes have any.
    { decodeEntities: false },
    {
      ...ignored,
      onopentagname: (from, to) => (tag = tagOf(html.slice(from, to).toLowerCase())),
      onattribname(from, to) {
        attribute = html.slice(from, to).toLowerCase();
        value = '';
      },
      onattribdata: (from, to) => (value = html.slice(from, to)),
      onattribend: () => void readers.get(attribute)?.(tag, decode.attribute(value)),
      onopentagend: begin,
      onselfclosingtag: begin,
      onclosetag: (from, to) => tree.end(html.slice(from, to).toLowerCase()),
      ontext: (from, to) => tree.text(() => html.slice(from, to), decode.text),
    },
  );
  Object.assign(tokenizer, { fastForwardTo });
  tokenizer.write(html);
  tokenizer.end();
  return tree.finish();
}

/** Decodes entities in text and in attributes by their different rules: an attribute `?a=1&copy=2` has no ©. */
function createEntityDecoder() {
  let written = '';
  let decoded = '';
  const add = (from: number, to: number) => (decoded += written.slice(from, to));
  const addCharacter = (codePoint: number) => (decoded += String.fromCodePoint(codePoint));
  const tokenizer = new Tokenizer({}, { ...ignored, ontext: add, ontextentity: addCharacter, onattribdata: add, onattribentity: addCharacter });
  function decode(html: string): string {
    [written, decoded] = [html, ''];
    tokenizer.reset();
    tokenizer.write(html);
    tokenizer.end();
    return decoded;
  }
  return {
    text: (text: string) => (text.includes('&') ? decode(text) : text),
    attribute(value: string): string {
      if (!value.includes('&')) return value;
      // Most addresses have no other reference, and need no tokenizer.
      if (!otherReference.test(value)) return value.replaceAll('&amp;', '&');
      return decode(`<a b="${value.replaceAll('"', '&quot;')}">`);
    },
  };
}

const otherReference = /&(?!amp;)/;

/** Collapses white space. Single spaces are not matched, which saves most replacements. */
export const collapse = (text: string): string => text.replace(/[^\S ]\s*| \s+/g, ' ');

/** An open element; the counts are of what came before it. */
type Open = {
  readonly element: Element;
  readonly isTiny: boolean;
  readonly seenBefore: number;
  readonly unseenBefore: number;
  readonly background: Picture | undefined;
};

function noteImageIn(link: Element | undefined, { description, size, style }: Tag): void {
  if (!link) return;
  link.alt ||= description;
  link.isIcon = link.isIcon !== false && (icon.test(size) || icon.test(style));
}

function createTree({ leavesOutStruck = false, isLeftOut, textOf }: ReadOptions) {
  const styles = createStyles();
  const elements: Element[] = [];
  const images: Image[] = [];
  const open: Open[] = [];
  /** Open elements by name, so that an end tag without a start tag costs nothing. */
  const counts = new Map<string, number>();
  const parts: string[] = [];
  let [length, sheet] = [0, ''];
  /** Texts and images that a reader sees, and those that are there and not seen. */
  let [seen, hiddenThings] = [0, 0];
  const append = (text: string) => {
    parts.push(text);
    length += text.length;
  };
  const count = (name: string, by: number) => counts.set(name, (counts.get(name) ?? 0) + by);

  function endInnermost(): void {
    const innermost = open.pop();
    if (!innermost) return;
    const { element, isTiny, seenBefore, unseenBefore, background } = innermost;
    count(element.name, -1);
    if (element.name === 'style') [sheet] = ['', styles.learn(sheet)];
    element.isEmpty = seen === seenBefore && (isTiny || hiddenThings > unseenBefore);
    [element.end, element.last] = [length, elements.length - 1];
    if (background) images.push({ ...background, at: element.start, end: length });
    if (blocks.has(element.name)) append('\n');
  }

  function noteImage(image: Tag, isSeen: boolean): void {
    if (!isSeen) return void (hiddenThings += 1);
    seen += 1;
    append(textOf?.(image.description) ?? '');
    images.push(...pictureOf(image).map((picture) => ({ ...picture, at: length, end: length })));
    noteImageIn(open.slice(-mostAroundImage).findLast(({ element }) => element.name === 'a')?.element, image);
  }

  const isHiddenBy = (tag: Tag, { isHidden, isStruck }: Style): boolean =>
    isHidden ||
    tag.hasHidden ||
    unseen.has(tag.name) ||
    (leavesOutStruck && (isStruck || struck.has(tag.name))) ||
    (tag.classes !== '' && isLeftOut?.(tag.classes) === true);

  return {
    begin(tag: Tag): void {
      const { name, classes, id, originalHref } = tag;
      if (open.at(-1)?.element.name === 'head' && !ofHead.has(name)) endInnermost();
      while (endedBy.get(name)?.has(open.at(-1)?.element.name ?? '') === true) endInnermost();
      if (name === 'br' || blocks.has(name)) append('\n');
      const around = open.at(-1);
      const parent = around?.element;
      const style = styles.styleOf(tag);
      const isHidden = parent?.isHidden === true || isHiddenBy(tag, style);
      if (name === 'img') noteImage(tag, !isHidden && !style.isPixel && !pixel.test(tag.size));
      if (voids.has(name)) return;
      const index = elements.length;
      const href = name === 'a' ? tag.href : undefined;
      const element = { name, index, parent, classes, id, href, originalHref, alt: '', isHidden, isEmpty: false, start: length, end: length, last: index };
      elements.push(element);
      const background = isHidden ? undefined : backgroundOf(tag);
      open.push({ element, isTiny: style.isTiny ?? around?.isTiny ?? false, seenBefore: seen, unseenBefore: hiddenThings, background });
      count(name, 1);
    },
    end(name: string): void {
      if ((counts.get(name) ?? 0) === 0) return;
      while (open.at(-1)?.element.name !== name) endInnermost();
      endInnermost();
    },
    text(written: () => string, decode: (text: string) => string): void {
      const around = open.at(-1);
      if (around?.element.name === 'style') sheet += written();
      else if (around?.element.isHidden === true || around?.isTiny === true) hiddenThings += 1;
      else {
        const text = decode(written());
        const isBlank = text.trim() === '';
        if (!isBlank) seen += 1;
        append(isBlank ? ' ' : collapse(text));
      }
    },
    finish(): HtmlDocument {
      while (open.length > 0) endInnermost();
      return { text: parts.join(''), elements, images };
    },
  };
}
