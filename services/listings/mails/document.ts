// The visible text of an alert mail, with the positions of links, images and addresses in it. Pure.
import { joinUrls } from '../../platform/mail/wrappers.ts';
import { type Element, type Image, readHtml } from '../../platform/mail/html.ts';
import { labelOfIcon } from './room-labels.ts';

/** A stretch of the text, from `at` to before `end`. */
export type Span = { readonly at: number; readonly end: number };

export type Link = Span & {
  /** The written addresses; the first is the one that a mail program kept when it replaced the link. */
  readonly targets: readonly string[];
  /** The elements around it, the innermost first. */
  readonly around: readonly Span[];
};

export type MailDocument = {
  /** A line for each block; spacing within a line is not tidied. */
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

export function documentOfText(quoted: string): MailDocument {
  const text = joinUrls(quoted.replace(/^(?:[>|][ \t]?)+/gm, ''));
  const links = [...text.matchAll(urls)].map(({ index, 0: url }) => ({ at: index, end: index, targets: [url.replace(/[).,;\]]+$/, '')], around: [] }));
  return { text, links, images: [], addresses: [] };
}

/** The address of a flat, not that of a mail, a page or the agency. */
const namesAddress = (one: string): boolean =>
  /address/i.test(one) && !/e-?mail|web|url|(?:^|[^a-z])ip|agent|agency|office|company|sender|footer|contact|seller|landlord/i.test(one);

/** Former prices are marked so where they are not struck by an element or a style. */
const isFormerPrice = /(?:old|former|previous|was|original|strike[\w]*)-?_?price|price-{0,2}_{0,2}(?:old|was|former|previous|struck)|line-through/i;

/** Elements around a link that are remembered. */
const mostAround = 32;

const spanOf = ({ start, end }: Element): Span => ({ at: start, end });

function around({ parent }: Element): Span[] {
  const spans: Span[] = [];
  for (let element = parent; element && spans.length < mostAround; element = element.parent) spans.push(spanOf(element));
  return spans;
}

function linkOf(element: Element): Link[] {
  const targets = [element.originalHref, element.href].filter((target) => target !== undefined);
  const isLink = element.name === 'a' && targets.length > 0 && !element.isHidden && !element.isEmpty;
  return isLink ? [{ ...spanOf(element), targets, around: around(element) }] : [];
}

export function documentOfHtml(html: string): MailDocument {
  const { text, elements, images } = readHtml(html, {
    leavesOutStruck: true,
    isLeftOut: (classes) => isFormerPrice.test(classes),
    textOf: (description) => labelOfIcon(tidy(description)),
  });
  const addresses = elements.filter(({ classes }) => classes !== '' && classes.split(/\s+/).some(namesAddress));
  return { text, links: elements.flatMap(linkOf), images, addresses: addresses.map(spanOf) };
}
