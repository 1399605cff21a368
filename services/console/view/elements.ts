// Elements of a page: `h` makes them, `toMarkup` writes them as HTML. They are data, which a live list sends to the script as well (tree-message.ts).

export type ComponentChildren = VNode | string | number | boolean | null | undefined | readonly ComponentChildren[];

/** Names as HTML and SVG write them. Values are text or flags: pages have no handlers, which their policy would refuse. */
export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A class, so that data from outside that looks like an element is none, whatever a type says. */
export class VNode {
  readonly tag: string;
  readonly attributes: Attributes | null;
  readonly children: readonly ComponentChildren[];
  /** Its HTML as `binaryOf` gives it, if `written` has kept that. */
  written: string | undefined;

  constructor(tag: string, attributes: Attributes | null, children: readonly ComponentChildren[]) {
    this.tag = tag;
    this.attributes = attributes;
    this.children = children;
    this.written = undefined;
  }
}

/** Names of tags and attributes are those of the code: they are written as they are. */
export const h = (tag: string, attributes: Attributes | null, ...children: readonly ComponentChildren[]): VNode => new VNode(tag, attributes, children);

/** An element that many pages show many times, written once. */
export function written(node: VNode): VNode {
  node.written = binaryOf(node);
  return node;
}

/** They have no content and no end. */
const voidTags = new Set(['br', 'hr', 'img', 'input', 'link', 'meta']);

/** A parser of HTML drops a line feed at their beginning. */
const losesNewline = new Set(['pre', 'textarea']);

/** HTML of elements and text. Whatever comes from outside is text or the value of an attribute, where no character can begin markup. */
export const toMarkup = (node: ComponentChildren): string => Buffer.from(binaryOf(node), 'latin1').toString();

/** A whole document in UTF-8. */
export const toDocument = (html: VNode): Buffer => Buffer.from(`<!doctype html>${binaryOf(html)}`, 'latin1');

/** UTF-8 with a character for each byte: V8 needs twice the memory and time for a text that has one character beyond Latin-1. */
function binaryOf(node: ComponentChildren): string {
  const written = new Markup();
  written.add(node);
  return written.text;
}

/** One text that only grows at its end: V8 needs half of the time that it takes to put a page together from the texts of its elements. */
class Markup {
  text = '';

  add(node: ComponentChildren): void {
    if (typeof node === 'string') this.text += escaped(node);
    else if (typeof node === 'number') this.text += String(node);
    else if (node instanceof VNode) this.#addElement(node);
    else if (node !== null && node !== undefined && typeof node !== 'boolean') for (const one of node) this.add(one);
  }

  #addElement({ tag, attributes, children, written: known }: VNode): void {
    if (known !== undefined) {
      this.text += known;
      return;
    }
    this.text += beginOf(tag);
    if (attributes !== null) this.#addAttributes(attributes);
    if (voidTags.has(tag)) {
      this.text += '/>';
      return;
    }
    this.text += '>';
    if (losesNewline.has(tag)) this.#addPreformatted(binaryOf(children));
    else this.add(children);
    this.text += endOf(tag);
  }

  #addPreformatted(content: string): void {
    this.text += content.startsWith('\n') ? `\n${content}` : content;
  }

  #addAttributes(attributes: Attributes): void {
    for (const name of Object.keys(attributes)) {
      const value = attributes[name];
      if (value === null || value === undefined) continue;
      if (typeof value !== 'boolean' || hasWords(name)) {
        this.text += nameOf(name);
        this.text += escaped(String(value));
        this.text += '"';
      } else if (value) this.text += ` ${name}`;
    }
  }
}

/** Makes the text of each name once: one that is glued for each element is a piece more to copy. */
function once(make: (name: string) => string): (name: string) => string {
  const made = new Map<string, string>();
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const text = make(name);
    made.set(name, text);
    return text;
  };
}
const beginOf = once((tag) => `<${tag}`);
const endOf = once((tag) => `</${tag}>`);
const nameOf = once((name) => ` ${name}="`);

/** HTML has words for these values, where other attributes are there or not. */
const hasWords = (name: string) => name.startsWith('data-') || name.startsWith('aria-') || name === 'spellcheck';

const special = /["&<\u0080-\uffff]/;
const everySpecial = /["&<]/g;
const references: Readonly<Record<string, string>> = { '"': '&quot;', '&': '&amp;', '<': '&lt;' };

/** Most texts hold none: to ask first is cheaper. */
const escaped = (text: string) =>
  special.test(text) ? Buffer.from(text.replaceAll(everySpecial, (character) => references[character] ?? '')).toString('latin1') : text;
