// The elements and the text of a mail's HTML, in one pass. Pure; linear in its length, however broken or deep it is.
// Uses htmlparser2's tokenizer only: its parser inserts at the front of an array, which takes 122 s for 200 000 unclosed elements.
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { collapse } from './texts.ts';

export type Element = {
  readonly name: string;
  /** Position among all elements, in the order in which they begin. */
  readonly index: number;
  readonly parent: Element | undefined;
  /** Whether its class or id, or that of an element around it, is dropped. */
  readonly isDropped: boolean;
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

/** `marks` are its class and its id. */
type Tag = { readonly name: string; href: string | undefined; marks: string };

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

/** @param droppedClass found in a class or an id */
export function readHtml(html: string, droppedClass: RegExp): HtmlDocument {
  const tree = createTree(droppedClass);
  const decode = createEntityDecoder();
  let tag: Tag = { name: '', href: undefined, marks: '' };
  let attribute = '';
  let value = '';
  const begin = () => tree.begin(tag);
  const tokenizer = new Tokenizer(
    // Decoding entities takes 2.5 times as long, and few texts and attributes have any.
    { decodeEntities: false },
    {
      ...ignored,
      onopentagname: (from, to) => (tag = { name: html.slice(from, to).toLowerCase(), href: undefined, marks: '' }),
      onattribname: (from, to) => ([attribute, value] = [html.slice(from, to).toLowerCase(), '']),
      onattribdata: (from, to) => (value = html.slice(from, to)),
      onattribend() {
        if (attribute === 'href') tag.href ??= decode.attribute(value);
        if (attribute === 'class' || attribute === 'id') tag.marks += ` ${decode.attribute(value)}`;
      },
      onopentagend: begin,
      onselfclosingtag: begin,
      onclosetag: (from, to) => tree.end(html.slice(from, to).toLowerCase()),
      ontext: (from, to) => tree.isHidden() || tree.add(decode.text(html.slice(from, to))),
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

function createTree(droppedClass: RegExp) {
  const elements: Element[] = [];
  const open: Element[] = [];
  /** Open elements by name, so that an end tag without a start tag costs nothing. */
  const counts = new Map<string, number>();
  const parts: string[] = [];
  let length = 0;
  let hidden = 0;
  const append = (text: string) => {
    parts.push(text);
    length += text.length;
  };
  const count = (name: string, by: number) => counts.set(name, (counts.get(name) ?? 0) + by);

  function endInnermost(): void {
    const element = open.pop();
    if (!element) return;
    const { name } = element;
    count(name, -1);
    if (unseen.has(name)) hidden -= 1;
    [element.end, element.last] = [length, elements.length - 1];
    if (blocks.has(name)) append('\n');
  }

  return {
    begin({ name, href, marks }: Tag): void {
      const ended = endedBy.get(name);
      while (ended?.has(open.at(-1)?.name ?? '') === true) endInnermost();
      if (name === 'br' || blocks.has(name)) append('\n');
      if (voids.has(name)) return;
      if (unseen.has(name)) hidden += 1;
      const parent = open.at(-1);
      const isDropped = parent?.isDropped === true || droppedClass.test(marks);
      const index = elements.length;
      const element = { name, index, parent, isDropped, href: name === 'a' ? href : undefined, start: length, end: length, last: index };
      elements.push(element);
      open.push(element);
      count(name, 1);
    },
    end(name: string): void {
      if ((counts.get(name) ?? 0) === 0) return;
      while (open.at(-1)?.name !== name) endInnermost();
      endInnermost();
    },
    isHidden: () => hidden > 0,
    add(text: string): void {
      append(collapse(text));
    },
    finish(): HtmlDocument {
      while (open.length > 0) endInnermost();
      return { text: parts.join(''), elements };
    },
  };
}
