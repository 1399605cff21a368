// The anchors of a mail's HTML, each with its text, its nearest heading and its byline. Pure; each step looks at no more than a few elements around an anchor.
import { namesIn } from './bylines.ts';
import type { Candidate } from './candidates.ts';
import { type Element, type HtmlDocument, readHtml } from './html-document.ts';
import { mostRead, tidy } from './texts.ts';

type Anchor = Element & { readonly href: string };
type Page = HtmlDocument & {
  readonly anchors: readonly Anchor[];
  readonly headings: readonly Heading[];
};
/** One that says something, and what. */
type Heading = Element & { readonly title: string };

const isAnchor = (element: Element): element is Anchor => element.href !== undefined;
const isHeading = ({ name }: Element): boolean => /^h[1-6]$/.test(name);

export function linksOfHtml(html: string, droppedClasses: readonly string[]): readonly Candidate[] {
  const document = readHtml(html, new RegExp(droppedClasses.join('|'), 'i'));
  const { text, elements } = document;
  const headings = elements
    .filter(isHeading)
    .map((element) => ({ ...element, title: textOf(text, element) }))
    .filter(({ title }) => title !== '');
  const page: Page = { ...document, anchors: elements.filter(isAnchor), headings };
  return page.anchors.map((anchor, place) => candidateOf(page, anchor, place));
}

const textOf = (text: string, { start, end }: { readonly start: number; readonly end: number }): string =>
  tidy(text.slice(start, Math.min(end, start + mostRead)));

function candidateOf(page: Page, anchor: Anchor, place: number): Candidate {
  const { text } = page;
  const { headings } = page;
  const next = firstAfter(headings, anchor.index);
  const inner = headings[next];
  const isCard = inner !== undefined && inner.index <= anchor.last;
  const end = Math.min(anchor.end, page.anchors[place + 1]?.start ?? anchor.end);
  const own = isCard ? inner.title : textOf(text, { start: anchor.start, end });
  const around = { before: headings[next - 1], after: inner };
  return {
    foundUrl: anchor.href.trim(),
    text: own,
    isBare: false,
    isHeading: isCard || (around.before !== undefined && around.before.last >= anchor.index),
    heading: isCard ? own : headingOf(page, anchor, { ...around, isImage: own === '' }),
    line: lineAround(text, anchor.start, end),
    names: namesAfter(page, anchor, place),
    isDropped: anchor.isDropped,
  };
}

/** How many elements begin at or before one: the place of the first that begins after it. */
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

/** Of the headings before and after it the one that shares the closer element with it, as a card does; of two that do, the one before, but for an image right above. */
function headingOf(
  { text }: Page,
  anchor: Anchor,
  { before, after, isImage }: { before: Heading | undefined; after: Heading | undefined; isImage: boolean },
): string {
  const isAbove = isImage && after !== undefined && tidy(text.slice(anchor.end, Math.min(after.start, anchor.end + mostRead))) === '';
  const both = (isAbove ? after : before) ?? after;
  let around = anchor.parent;
  for (let climbed = 0; around && climbed < mostAncestors; climbed += 1, around = around.parent) {
    const holdsBefore = before !== undefined && before.index >= around.index;
    const holdsAfter = after !== undefined && after.index <= around.last;
    if (holdsBefore && holdsAfter) break;
    if (holdsBefore) return before.title;
    if (holdsAfter) return after.title;
  }
  return both?.title ?? '';
}

const mostOfLine = 200;

function lineAround(text: string, start: number, end: number): string {
  const before =
    text
      .slice(Math.max(start - mostOfLine, 0), start)
      .split('\n')
      .at(-1) ?? '';
  const after = text.slice(end, end + mostOfLine).split('\n', 1)[0] ?? '';
  return tidy(`${before}${text.slice(start, Math.min(end, start + mostOfLine))}${after}`);
}

const mostLines = 8;

function namesAfter(page: Page, anchor: Anchor, place: number): readonly string[] {
  const limit = bylineEnd(page, anchor, place);
  for (const text of textsAfter(page, anchor, limit)) {
    const names = text.split('\n', mostLines).map((line) => namesIn(tidy(line)));
    const found = names.find((some) => some.length > 0);
    if (found) return found;
  }
  return [];
}

const mostAuthorLinks = 5;

/** Where the next heading begins, or the next link to something else, unless that is the name in a byline. */
function bylineEnd({ text, headings, anchors }: Page, anchor: Anchor, place: number): number {
  const heading = headings[firstAfter(headings, anchor.last)]?.start ?? text.length;
  for (const other of anchors.slice(place + 1, place + 1 + mostAuthorLinks)) {
    if (other.start >= heading) return heading;
    const before = text.slice(Math.max(other.start - 20, anchor.end), other.start);
    const isName = /(?:\bby:?|\band|&|,|\b(?:von|par|por|di|door))\s*$/i.test(before) || /^\s*by\s/i.test(text.slice(other.start, other.start + 20));
    if (other.href !== anchor.href && !isName) return other.start;
  }
  return heading;
}

const mostSiblings = 3;
const mostBlankSiblings = 12;
const mostWrapping = 4;

/** What follows the anchor within its parent; then up to three siblings of its parent, or, where nothing follows that, of what is around it. */
function* textsAfter({ text, elements }: Page, anchor: Anchor, limit: number): Generator<string> {
  const textFrom = (start: number, end: number) => text.slice(start, Math.min(end, limit, start + mostRead));
  let around = anchor.parent;
  yield textFrom(anchor.end, around?.end ?? limit);
  let siblings = 0;
  for (let climbed = 0; around && climbed < mostWrapping && siblings === 0; climbed += 1, around = around.parent) {
    let at = around.end;
    let sibling = elements[around.last + 1];
    for (let seen = 0; seen < mostBlankSiblings && siblings < mostSiblings && at < limit; seen += 1) {
      const isSibling = sibling !== undefined && sibling.parent === around.parent;
      const next = isSibling ? sibling : undefined;
      for (const one of [textFrom(at, next?.start ?? around.parent?.end ?? limit), next ? textFrom(next.start, next.end) : '']) {
        if (one.trim() === '' || siblings >= mostSiblings) continue;
        siblings += 1;
        yield one;
      }
      if (!next) break;
      at = next.end;
      sibling = elements[next.last + 1];
    }
  }
}
