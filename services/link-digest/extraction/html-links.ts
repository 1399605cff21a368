// The anchors of a mail's HTML, each with its text, its nearest heading and its byline. Pure; each step looks at no more than a few elements around an anchor.
import { type Element, type HtmlDocument, isBlock } from '../../platform/mail/html.ts';
import { namesIn } from './bylines.ts';
import type { Candidate } from './candidates.ts';
import type { Rules } from './rules.ts';
import { linksOfText } from './text-links.ts';
import { isAddress, mostRead, tidy } from './texts.ts';

type Anchor = Element & { readonly href: string };
type Page = HtmlDocument & {
  readonly anchors: readonly Anchor[];
  readonly headings: readonly Heading[];
  readonly genericTexts: RegExp;
  /** By index, whether the class or id of an element, or of one around it, is dropped. */
  readonly dropped: readonly boolean[];
};
/** A heading with text; in a mail without any, a line in bold type. */
type Heading = Element & { readonly title: string; readonly url: string | undefined };

const isAnchor = (element: Element): element is Anchor => element.href !== undefined;
const isHeading = ({ name, classes }: Element): boolean => /^h[1-6]$/.test(name) && !/(?:^|\s)subtitle(?:\s|$)/.test(classes);

export function linksOfHtml(document: HtmlDocument, { droppedClasses, genericTexts }: Pick<Rules, 'droppedClasses' | 'genericTexts'>): readonly Candidate[] {
  const { text, elements } = document;
  const droppedClass = new RegExp(droppedClasses.join('|'), 'i');
  const dropped: boolean[] = [];
  for (const { classes, id, parent } of elements)
    dropped.push((parent && dropped[parent.index]) === true || droppedClass.test(classes) || droppedClass.test(id));
  const anchors = elements.filter(isAnchor);
  const headingsOf = (isOne: (element: Element) => boolean) =>
    elements
      .filter(isOne)
      .map((element) => ({ ...element, title: textOf(text, element), url: linkOf(anchors, element)?.href.trim() }))
      .filter(({ title }) => title !== '');
  const written = headingsOf(isHeading);
  const headings =
    written.length > 0
      ? written
      : headingsOf((element) => isBoldLine(text, element)).filter(({ title }) => !/[:,]$/.test(title) && isTitle(title, genericTexts));
  const page: Page = { ...document, anchors, headings, genericTexts, dropped };
  return page.anchors.map((anchor, place) => candidateOf(page, anchor, place));
}

const beginsBold = (text: string, { name, start }: Element): boolean =>
  /^(?:b|strong)$/.test(name) && /(?:^|\n) *$/.test(text.slice(Math.max(start - mostIndent, 0), start));
/** Whether it is all that its line has. */
const isBoldLine = (text: string, element: Element): boolean =>
  beginsBold(text, element) && /^ *(?:\n|$)/.test(text.slice(element.end, element.end + mostIndent));
const mostIndent = 20;

const isTitle = (text: string, genericTexts: RegExp): boolean => !genericTexts.test(text) && namesIn(text).length === 0;

const textOf = (text: string, { start, end }: { readonly start: number; readonly end: number }): string =>
  tidy(text.slice(start, Math.min(end, start + mostRead)));

/** The first link within a heading, or the one directly around it. */
function linkOf(anchors: readonly Anchor[], heading: Element): Anchor | undefined {
  const within = anchors[firstAfter(anchors, heading.index)];
  if (within && within.index <= heading.last) return within;
  return heading.parent && isAnchor(heading.parent) ? heading.parent : undefined;
}

const mostOfCard = 24;

/** The title of a card that is one link, by the class that editors of mails give it. */
const cardTitleOf = ({ text, elements }: Page, { index, last }: Anchor): string => {
  const title = elements.slice(index + 1, Math.min(last, index + mostOfCard) + 1).find(({ classes }) => /(?:^|[\s-])(?:title|headline)(?:\s|$)/i.test(classes));
  return title ? textOf(text, title) : '';
};

function candidateOf(page: Page, anchor: Anchor, place: number): Candidate {
  const { text, headings } = page;
  const next = firstAfter(headings, anchor.index);
  const [before, after] = [headings[next - 1], headings[next]];
  const inner = after !== undefined && after.index <= anchor.last ? after : undefined;
  const end = Math.min(anchor.end, page.anchors[place + 1]?.start ?? anchor.end);
  const own = inner ? inner.title : cardTitleOf(page, anchor) || textOf(text, { start: anchor.start, end });
  const isBare = isAddress(own);
  const isTitledByHeading = inner !== undefined || own === '' || page.genericTexts.test(own);
  const lead = isTitledByHeading && !inner ? leadOf(page, anchor, before) : undefined;
  const heading = inner ?? lead ?? headingOf(page, anchor, { before, after, isImage: own === '' });
  return {
    foundUrl: anchor.href.trim(),
    text: (isBare && titleShown(page, anchor, end)) || own,
    alt: tidy(anchor.alt),
    isBare,
    isIcon: own === '' && anchor.isIcon === true,
    isHeading: inner !== undefined || (before !== undefined && before.last >= anchor.index),
    heading: heading?.title ?? '',
    headingUrl: heading?.url,
    line: () => lineAround(text, anchor.start, end),
    names() {
      const names = namesAfter(page, anchor, anchor.href);
      return names.length === 0 && heading && isTitledByHeading ? namesAfter(page, heading, anchor.href) : names;
    },
    isDropped: page.dropped[anchor.index] === true || anchor.isHidden || anchor.isEmpty,
  };
}

const mostShown = 1500;

/** A link whose text is an address, as programs make of a written one, has the title that it would have in a text; below headings, where its paragraph has it in a line above. */
function titleShown({ text, headings, genericTexts }: Page, anchor: Anchor, end: number): string {
  const from = Math.max(anchor.start - mostShown, headings.length === 0 ? 0 : (blockOf(anchor)?.start ?? 0));
  const isAlone = text.slice(from, anchor.start).split('\n').at(-1)?.trim() === '';
  return headings.length === 0 || isAlone ? (linksOfText(text.slice(from, end), genericTexts).at(-1)?.text ?? '') : '';
}

const mostOfLead = 24;

/** The words in bold type with which a paragraph around a link begins, after the heading before it. A label such as "Note:" is none. */
function leadOf({ text, elements, genericTexts }: Page, anchor: Anchor, before: Heading | undefined): Heading | undefined {
  const from = Math.max(blockOf(anchor)?.index ?? anchor.index, before?.last ?? 0, anchor.index - mostOfLead) + 1;
  for (const element of elements.slice(from, anchor.index).reverse()) {
    if (element.last >= anchor.index || !beginsBold(text, element)) continue;
    const title = textOf(text, element);
    if (/^(?:\S+ ?){1,3}:$|,$/.test(title) || !isTitle(title, genericTexts)) continue;
    return { ...element, title: title.replace(/\s*:$/, ''), url: undefined };
  }
  return undefined;
}

/** The position of the first element that begins after an index. */
function firstAfter(sorted: readonly Element[], index: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.index ?? 0) <= index) low = middle + 1;
    else high = middle;
  }
  return low;
}

const mostAncestors = 32;

/** The heading with the nearest common ancestor, as in a card; on a tie the preceding one, unless the link is an image directly before the next heading. */
function headingOf(
  { text }: Page,
  anchor: Anchor,
  { before, after, isImage }: { before: Heading | undefined; after: Heading | undefined; isImage: boolean },
): Heading | undefined {
  const isAbove = isImage && after !== undefined && tidy(text.slice(anchor.end, Math.min(after.start, anchor.end + mostRead))) === '';
  const both = (isAbove ? after : before) ?? after;
  let around = anchor.parent;
  for (let climbed = 0; around && climbed < mostAncestors; climbed += 1, around = around.parent) {
    const holdsBefore = before !== undefined && before.index >= around.index;
    const holdsAfter = after !== undefined && after.index <= around.last;
    if (holdsBefore && holdsAfter) break;
    if (holdsBefore) return before;
    if (holdsAfter) return after;
  }
  return both;
}

const mostOfLine = 200;

/** With the line before it where a sentence goes on. */
function lineAround(text: string, start: number, end: number): string {
  const lines = text.slice(Math.max(start - mostOfLine, 0), start).split('\n');
  const before = lines.slice(/[\p{L}\p{N},]\s*$/u.test(lines.at(-2) ?? '') ? -2 : -1).join(' ');
  const after = text.slice(end, end + mostOfLine).split('\n', 1)[0] ?? '';
  return tidy(`${before}${text.slice(start, Math.min(end, start + mostOfLine))}${after}`);
}

const mostLines = 8;

/** The names of the byline after an anchor, or after the heading that titles it. */
function namesAfter(page: Page, title: Element, href: string): readonly string[] {
  const limit = bylineEnd(page, title, href);
  for (const text of textsAfter(page, title, limit)) {
    for (const line of text.split('\n', mostLines)) {
      const names = namesIn(tidy(line));
      if (names.length > 0) return names;
    }
  }
  return [];
}

const mostAuthorLinks = 5;

/** A byline is searched up to the next heading, or the next link to another page that is not the name in a byline. */
function bylineEnd({ text, headings, anchors }: Page, title: Element, href: string): number {
  const heading = headings[firstAfter(headings, title.last)]?.start ?? text.length;
  const place = firstAfter(anchors, title.index);
  for (const other of anchors.slice(place, place + mostAuthorLinks)) {
    if (other.start >= heading) return heading;
    const before = text.slice(Math.max(other.start - 20, title.end), other.start);
    const isName = /(?:\bby:?|\band|&|,|\b(?:von|par|por|di|door))\s*$/i.test(before) || /^\s*by\s/i.test(text.slice(other.start, other.start + 20));
    if (other.href !== href && !isName) return other.start;
  }
  return heading;
}

const mostSiblings = 3;
const mostBlankSiblings = 12;
const mostAround = 4;

/** The rest of the block; then up to three siblings of the block, or, where none follow, of the elements around it. */
function* textsAfter({ text, elements }: Page, title: Element, limit: number): Generator<string> {
  const textFrom = (start: number, end: number) => text.slice(start, Math.min(end, limit, start + mostRead));
  let around = blockOf(title);
  if (around !== title) yield textFrom(title.end, around?.end ?? limit);
  let siblings = 0;
  for (let climbed = 0; around && climbed < mostAround && siblings === 0; climbed += 1, around = around.parent) {
    let at = around.end;
    for (let seen = 0, last = around.last; seen < mostBlankSiblings && at < limit; seen += 1) {
      const next = elements[last + 1];
      const sibling = next?.parent === around.parent ? next : undefined;
      for (const one of [textFrom(at, sibling?.start ?? around.parent?.end ?? limit), sibling ? textFrom(sibling.start, sibling.end) : '']) {
        if (one.trim() === '') continue;
        yield one;
        siblings += 1;
        if (siblings === mostSiblings) return;
      }
      if (!sibling) break;
      [at, last] = [sibling.end, sibling.last];
    }
  }
}

function blockOf(element: Element): Element | undefined {
  let around: Element | undefined = element;
  for (let climbed = 0; around && !isBlock(around) && climbed < mostAncestors; climbed += 1) around = around.parent;
  return around;
}
