// What a reader sees of a mail: its text, and what stands where in it. Pure.
import { Parser } from 'htmlparser2';

/** A stretch of the text, from `at` to before `end`. */
type Span = { readonly at: number; end: number };

export type Link = Span & {
  /** Addresses that it leads to, as they are written; the first is the one that a mail program kept when it replaced the link. */
  readonly targets: readonly string[];
};
export type Image = { readonly at: number; readonly source: string };

export type MailDocument = {
  /** A line for each block; spacing within a line is not tidied. */
  readonly text: string;
  readonly links: readonly Link[];
  readonly images: readonly Image[];
  /** Of elements whose class names an address. */
  readonly addresses: readonly Span[];
};

/** Joiners, soft hyphens and other characters without a width, by which mails fill up their preview text. */
const invisible = /[\u00ad\u200b-\u200f\u2060\ufeff]/g;

/** Text as it reads in one line. */
export const tidy = (text: string): string => text.replace(invisible, '').replace(/\s+/g, ' ').trim();

const urls = /https?:\/\/[^\s<>"]+/gi;

export function readText(text: string): MailDocument {
  const links = [...text.matchAll(urls)].map(({ index, 0: url }) => ({ at: index, end: index, targets: [url.replace(/[).,;\]]+$/, '')] }));
  return { text, links, images: [], addresses: [] };
}

const unseen = new Set(['script', 'style', 'title', 'head', 'template']);
const blocks = new Set(
  'address article aside blockquote body br center dd div dl dt footer h1 h2 h3 h4 h5 h6 header hr li main ol p pre section table tbody td th tr ul'.split(' '),
);

export function readHtml(html: string): MailDocument {
  let text = '';
  let hidden = 0;
  const links: Link[] = [];
  const images: Image[] = [];
  const addresses: Span[] = [];
  /** What ends with each open element. */
  const open: { readonly name: string; readonly spans: readonly Span[] }[] = [];

  const spansOf = (name: string, attributes: Readonly<Record<string, string>>): Span[] => {
    const spans: Span[] = [];
    const { originalsrc, href } = attributes;
    const targets = [originalsrc, href].filter((target) => target !== undefined);
    if (name === 'a' && targets.length > 0) links.push(Object.assign(begin(spans), { targets }));
    if (/address/i.test(`${attributes['class'] ?? ''} ${attributes['css-class'] ?? ''}`)) addresses.push(begin(spans));
    return spans;
  };
  const begin = (spans: Span[]): Span => {
    const span = { at: text.length, end: text.length };
    spans.push(span);
    return span;
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (blocks.has(name)) text += '\n';
      if (unseen.has(name)) hidden += 1;
      const { src } = attributes;
      if (name === 'img' && src !== undefined) images.push({ at: text.length, source: src });
      open.push({ name, spans: spansOf(name, attributes) });
    },
    ontext(data) {
      if (hidden === 0) text += data.replace(/\s+/g, ' ');
    },
    // Every element is closed, in order, also those that the mail leaves open.
    onclosetag(name) {
      for (const span of open.pop()?.spans ?? []) span.end = text.length;
      if (unseen.has(name)) hidden -= 1;
      if (blocks.has(name)) text += '\n';
    },
  });
  parser.end(html);
  return { text, links, images, addresses };
}
