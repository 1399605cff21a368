// The visible text of a mail, with the positions of links, images and addresses in it. Pure.
import { Parser } from 'htmlparser2';

/** A stretch of the text, from `at` to before `end`. */
export type Span = { readonly at: number; end: number };

export type Link = Span & {
  /** The written addresses; the first is the one that a mail program kept when it replaced the link. */
  readonly targets: readonly string[];
  /** The elements around it, the innermost first. */
  readonly around: readonly Span[];
};
export type Image = { readonly at: number; readonly source: string; readonly description: string };

export type MailDocument = {
  /** A line for each block; spacing within a line is as it came. */
  readonly text: string;
  readonly links: readonly Link[];
  readonly images: readonly Image[];
  /** Elements whose class names a postal address. */
  readonly addresses: readonly Span[];
};

/** Zero-width characters, with which mails fill up their preview text. */
const invisible = /[\u00ad\u200b-\u200f\u2060\ufeff]/g;

/** Text on one line. */
export const tidy = (text: string): string => text.replace(invisible, '').replace(/\s+/g, ' ').trim();

const urls = /https?:\/\/[^\s<>"]+/gi;

export function readText(quoted: string): MailDocument {
  const text = quoted.replace(/^(?:>[ \t]?)+/gm, '');
  const links = [...text.matchAll(urls)].map(({ index, 0: url }) => ({ at: index, end: index, targets: [url.replace(/[).,;\]]+$/, '')], around: [] }));
  return { text, links, images: [], addresses: [] };
}

type Attributes = Readonly<Record<string, string>>;
const classesOf = (attributes: Attributes): string[] => `${attributes['class'] ?? ''} ${attributes['css-class'] ?? ''}`.split(/\s+/);

/** The address of a flat, not that of a mail, a page or the agency. */
const namesAddress = (one: string): boolean =>
  /address/i.test(one) && !/e-?mail|web|url|(?:^|[^a-z])ip|agent|agency|office|company|sender|footer|contact|seller|landlord/i.test(one);

/** Elements whose text is not shown, or is struck: a former price. */
const unseen = new Set(['script', 'style', 'title', 'head', 'template', 's', 'strike', 'del']);
const nothing = String.raw`0(?:\.0+)?(?:px|pt|em|rem|%)?\s*(?:;|!|$)`;
const hidingDeclarations = new RegExp(
  String.raw`(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all|(?:max-height|max-width|opacity)\s*:\s*${nothing}|(?:left|top|text-indent)\s*:\s*-\d{3,}|text-decoration[\w-]*\s*:[^;]*line-through)`,
  'i',
);
const isEmptyBox = new RegExp(String.raw`(?:^|;)\s*(?:height|width)\s*:\s*${nothing}`, 'i');
const hides = (style: string): boolean => hidingDeclarations.test(style) || (isEmptyBox.test(style) && /overflow\s*:\s*hidden/i.test(style));

/** The size of text, as the last declaration gives it; the shorthand counts as one that can be read. */
const fontSize = /(?:^|;)\s*font(?:-size\s*:\s*([^;!]*)|\s*:)/gi;
function sizeIn(style: string): string | undefined {
  const last = [...style.matchAll(fontSize)].at(-1);
  return last && (last[1]?.trim() ?? 'medium');
}
const isNoSize = /^(?:0(?:\.0+)?(?:px|pt|em|rem|%)?|1px)$/i;
/** A part of the size around it. */
const isRelativeSize = /^(?:[\d.]+(?:em|%)|inherit|unset|smaller|larger)$/i;
/** Whether text is too small to read. Size is inherited, and replaced by an element within. */
const isTiny = (size: string | undefined, inherited: boolean): boolean =>
  size === undefined || (inherited && isRelativeSize.test(size)) ? inherited : isNoSize.test(size);

const comments = /\/\*[^]*?(?:\*\/|$)/g;
/** Blocks for some screens or media only, which say nothing of what a mail program shows. */
const conditional = /@[\w-]+[^{}@;]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g;
/** Classes with their declarations, of a style sheet's rules of one class such as `.preheader` or `td.old-price`. */
function classRules(sheet: string): { readonly name: string; readonly declarations: string }[] {
  const rules = sheet.replace(comments, '').replace(conditional, '').split('}');
  return rules.flatMap((rule) => {
    const [prelude = '', declarations = ''] = rule.split('{', 2);
    if (declarations === '') return [];
    // Statements such as an `@import` stand before it and end with a semicolon.
    const selectors = prelude.slice(prelude.lastIndexOf(';') + 1).split(',');
    const names = selectors.flatMap((selector) => /^\s*[a-z\d]*\.([\w-]+)\s*$/i.exec(selector)?.[1] ?? []);
    return names.map((name) => ({ name, declarations }));
  });
}

/** Former prices are marked so where they are not struck by an element or a style. */
const isFormerPrice = (one: string): boolean =>
  /(?:old|former|previous|was|original|strike[\w]*)-?_?price|price-{0,2}_{0,2}(?:old|was|former|previous|struck)|line-through/i.test(one);

const blocks = new Set(
  'address article aside blockquote body br center dd div dl dt footer h1 h2 h3 h4 h5 h6 header hr li main ol p pre section table tbody td th tr ul'.split(' '),
);

/** Elements around a link that are remembered. */
const mostAround = 32;

type OpenElement = {
  readonly name: string;
  readonly isUnseen: boolean;
  /** Its text is too small to read; images and larger text in it are shown. */
  readonly isTiny: boolean;
  readonly spans: readonly Span[];
  /** How many images were before it. */
  readonly images: number;
};

export function readHtml(html: string): MailDocument {
  let text = '';
  let hidden = 0;
  const links: Link[] = [];
  const images: Image[] = [];
  const addresses: Span[] = [];
  const open: OpenElement[] = [];

  let sheet = '';
  const hiding = new Set<string>();
  const sizes = new Map<string, string>();
  const sizeOf = (attributes: Attributes) =>
    sizeIn(attributes['style'] ?? '') ??
    classesOf(attributes)
      .map((one) => sizes.get(one))
      .find((size) => size !== undefined);
  const isUnseen = (name: string, attributes: Attributes): boolean =>
    unseen.has(name) ||
    attributes['hidden'] !== undefined ||
    hides(attributes['style'] ?? '') ||
    classesOf(attributes).some((one) => hiding.has(one) || isFormerPrice(one));
  const spansOf = (name: string, attributes: Attributes): Span[] => {
    const spans: Span[] = [];
    const { originalsrc, href } = attributes;
    const targets = [originalsrc, href].filter((target) => target !== undefined);
    const around = open.slice(-mostAround).map(({ spans: [element] }) => element);
    begin(spans);
    if (name === 'a' && targets.length > 0 && hidden === 0)
      links.push(Object.assign(begin(spans), { targets, around: around.filter((element) => element !== undefined).toReversed() }));
    if (classesOf(attributes).some(namesAddress)) addresses.push(begin(spans));
    return spans;
  };
  /** A link without anything to click on is not shown. */
  const dropEmpty = (spans: readonly Span[]): void => {
    const at = links.findLastIndex((link) => spans.includes(link));
    const link = links[at];
    if (link && tidy(text.slice(link.at, link.end)) === '') links.splice(at, 1);
  };
  const learn = (): void => {
    for (const { name, declarations } of classRules(sheet)) {
      if (hides(declarations)) hiding.add(name);
      const size = sizeIn(declarations);
      if (size !== undefined) sizes.set(name, size);
    }
  };
  const begin = (spans: Span[]): Span => {
    const span = { at: text.length, end: text.length };
    spans.push(span);
    return span;
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (blocks.has(name)) text += '\n';
      const isHidden = isUnseen(name, attributes);
      if (name === 'style') sheet = '';
      if (isHidden) hidden += 1;
      const isSmall = isTiny(sizeOf(attributes), open.at(-1)?.isTiny ?? false);
      open.push({ name, isUnseen: isHidden, isTiny: isSmall, images: images.length, spans: spansOf(name, attributes) });
      const { src, alt = '' } = attributes;
      if (name === 'img' && src !== undefined && hidden === 0) images.push({ at: text.length, source: src, description: alt });
    },
    ontext(data) {
      if (open.at(-1)?.name === 'style') sheet += data;
      else if (hidden === 0 && open.at(-1)?.isTiny !== true) text += data.replace(/\s+/g, ' ');
    },
    // Called for every element in order, also for those that the mail does not close.
    onclosetag(name) {
      const element = open.pop();
      if (name === 'style') learn();
      for (const span of element?.spans ?? []) span.end = text.length;
      if (name === 'a' && element?.isTiny === true && element.images === images.length) dropEmpty(element.spans);
      if (element?.isUnseen === true) hidden -= 1;
      if (blocks.has(name)) text += '\n';
    },
  });
  parser.end(html);
  return { text, links, images, addresses };
}
