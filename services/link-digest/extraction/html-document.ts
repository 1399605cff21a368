// The elements and the text of a mail's HTML, in one pass. Pure; linear in its length, however broken or deep it is.
// Uses htmlparser2's tokenizer only: its parser inserts at the front of an array, which takes 122 s for 200 000 unclosed elements.
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { collapse } from './texts.ts';

export type Element = {
  readonly name: string;
  /** Position among all elements, in the order in which they begin. */
  readonly index: number;
  readonly parent: Element | undefined;
  /** Whether its class or id, or that of an element around it, is dropped, or no reader sees it. */
  isDropped: boolean;
  readonly href: string | undefined;
  /** Its text begins here and ends before `end`. */
  readonly start: number;
  end: number;
  /** Index of the last element within it; its own index where it has none. */
  last: number;
};

export type HtmlDocument = {
  /** A line for each block; spacing within a line is not tidied. */
  readonly text: string;
  readonly elements: readonly Element[];
};

const named = (names: string): ReadonlySet<string> => new Set(names.split(' '));
const unseen = named('head script style template title textarea iframe noembed noframes xmp');
const blocks = named(
  'address article aside blockquote body center dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody td tfoot th thead tr ul',
);
/** Whether the element begins a new line. */
export const isBlock = ({ name }: { readonly name: string }): boolean => blocks.has(name);

const voids = named('area base basefont br col embed frame hr img input keygen link meta param source track wbr');

const p = named('p');
const cells = named('td th');
/** The innermost elements that the start tag of another one ends. */
const endedBy: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...[...blocks].map((name): [string, ReadonlySet<string>] => [name, p]),
  ['body', named('head')],
  ['a', named('a')],
  ['li', named('li p')],
  ['dt', named('dt dd p')],
  ['dd', named('dt dd p')],
  ['td', cells],
  ['th', cells],
  ['tr', named('tr td th')],
  ['tbody', named('thead tbody tr td th')],
]);

/** `marks` are its class and its id; `size` has its width and height; `isTiny` is undefined where it has the font size of the element around it. */
type Tag = { readonly name: string; href: string | undefined; marks: string; isHidden: boolean; isTiny: boolean | undefined; size: string };

/** Styles by which mails hide a preview text or a link for robots. */
const hiding =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all|(?:max-height|opacity)\s*:\s*0(?:\.0+)?(?:px|pt|em|%)?\s*(?:;|!|$))/i;
// An element within sets its own font size, as in each section of MJML, so a size of 0 hides the text of its element only.
const fontSizes = /(?:^|;)\s*font(?:-size)?\s*:([^;]*)/gi;
const noSize = /(?:^|\s)0(?:\.0+)?(?:px|pt|em|%)?(?=[\s/!]|$)/i;
const relativeSize = /^\s*$|(?:^|\s)(?:[\d.]+(?:em|%)|inherit|unset|smaller|larger)(?=[\s/!]|$)/i;
/** Undefined where the style leaves the font size as it is around the element. */
function isTinyIn(style: string): boolean | undefined {
  let isTiny: boolean | undefined;
  for (const [, size = ''] of style.matchAll(fontSizes)) isTiny = noSize.test(size) || (relativeSize.test(size) ? undefined : false);
  return isTiny;
}
/** An image of one pixel, or of none, counts openings; both its width and its height say so. */
const pixel = /^(?: [01](?:px)?){2}$/i;

const ignore = () => undefined;
const ignored: TokenizerCallbacks = {
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

const tagOf = (name: string): Tag => ({ name, href: undefined, marks: '', isHidden: false, isTiny: undefined, size: '' });

function readStyle(tag: Tag, style: string): void {
  if (hiding.test(style)) tag.isHidden = true;
  tag.isTiny = isTinyIn(style);
}

/** @param droppedClass found in a class or an id */
export function readHtml(html: string, droppedClass: RegExp): HtmlDocument {
  const tree = createTree(droppedClass);
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
      onattribname: (from, to) => ([attribute, value] = [html.slice(from, to).toLowerCase(), '']),
      onattribdata: (from, to) => (value = html.slice(from, to)),
      onattribend() {
        if (attribute === 'href') tag.href ??= decode.attribute(value);
        if (attribute === 'hidden') tag.isHidden = true;
        if (attribute === 'style') readStyle(tag, decode.attribute(value));
        if (attribute === 'width' || attribute === 'height') tag.size += ` ${value.trim()}`;
        if (attribute === 'class' || attribute === 'id') tag.marks += ` ${decode.attribute(value)}`;
      },
      onopentagend: begin,
      onselfclosingtag: begin,
      onclosetag: (from, to) => tree.end(html.slice(from, to).toLowerCase()),
      ontext: (from, to) => tree.isUnseen() || tree.add(decode.text(html.slice(from, to))),
    },
  );
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
    attribute: (value: string) => (value.includes('&') ? decode(`<a b="${value.replaceAll('"', '&quot;')}">`) : value),
  };
}

/** An open element; `seenBefore` counts what a reader has seen before it. */
type Open = { readonly element: Element; readonly isHidden: boolean; readonly isTiny: boolean; readonly seenBefore: number };

function createTree(droppedClass: RegExp) {
  const elements: Element[] = [];
  const open: Open[] = [];
  /** Open elements by name, so that an end tag without a start tag costs nothing. */
  const counts = new Map<string, number>();
  const parts: string[] = [];
  let length = 0;
  let hidden = 0;
  /** Texts and images that a reader sees. */
  let seen = 0;
  /** Open elements whose images are all pixels. */
  const pixels = new Set<Element>();
  const withImage = new Set<Element>();
  const append = (text: string) => {
    parts.push(text);
    length += text.length;
  };
  const count = (name: string, by: number) => counts.set(name, (counts.get(name) ?? 0) + by);

  function noteImage(parent: Element | undefined, isPixel: boolean): void {
    if (!parent || withImage.has(parent)) return;
    if (isPixel) pixels.add(parent);
    else {
      withImage.add(parent);
      pixels.delete(parent);
    }
  }

  function endInnermost(): void {
    const innermost = open.pop();
    if (!innermost) return;
    const { element, isHidden, isTiny, seenBefore } = innermost;
    const { name } = element;
    count(name, -1);
    if (isHidden) hidden -= 1;
    // A link around a pixel is not visible.
    if (pixels.delete(element) && element.start === length) element.isDropped = true;
    if (isTiny && seen === seenBefore) element.isDropped = true;
    [element.end, element.last] = [length, elements.length - 1];
    if (blocks.has(name)) append('\n');
  }

  return {
    begin({ name, href, marks, isHidden, isTiny, size }: Tag): void {
      const ended = endedBy.get(name);
      while (ended?.has(open.at(-1)?.element.name ?? '') === true) endInnermost();
      if (name === 'br' || blocks.has(name)) append('\n');
      const around = open.at(-1);
      const parent = around?.element;
      if (name === 'img') noteImage(parent, pixel.test(size));
      if (name === 'img' && hidden === 0 && !isHidden && !pixel.test(size)) seen += 1;
      if (voids.has(name)) return;
      const hides = unseen.has(name) || isHidden;
      if (hides) hidden += 1;
      const isDropped = parent?.isDropped === true || isHidden || droppedClass.test(marks);
      const index = elements.length;
      const element = { name, index, parent, isDropped, href: name === 'a' ? href : undefined, start: length, end: length, last: index };
      elements.push(element);
      open.push({ element, isHidden: hides, isTiny: isTiny ?? around?.isTiny ?? false, seenBefore: seen });
      count(name, 1);
    },
    end(name: string): void {
      if ((counts.get(name) ?? 0) === 0) return;
      while (open.at(-1)?.element.name !== name) endInnermost();
      endInnermost();
    },
    isUnseen: () => hidden > 0 || open.at(-1)?.isTiny === true,
    add(text: string): void {
      if (text.trim() !== '') seen += 1;
      append(collapse(text));
    },
    finish(): HtmlDocument {
      while (open.length > 0) endInnermost();
      return { text: parts.join(''), elements };
    },
  };
}
