// Finds the listings of an alert mail, and where in its text the facts of each stand. Pure.
import type { Image } from '../../platform/mail/html.ts';
import { unwrap } from '../../platform/mail/wrappers.ts';
import type { Link, MailDocument, Span } from './document.ts';
import { factsOf, isOfBer } from './facts.ts';
import { hasPrice, rentAlone, rentIn } from './prices.ts';

export type Card = {
  readonly sourceId: string;
  readonly sourceUrl: string;
  readonly links: readonly Link[];
  /** Where its facts are searched first: what is around its links and between them, without any other listing's link; the smallest first. */
  readonly places: readonly Span[];
  /** The text before and after them, up to the neighbouring cards. */
  readonly before: readonly Span[];
  readonly after: readonly Span[];
  /** Whether the facts stand before the link, as in mails of text. */
  readonly isBefore: boolean;
};

type Target = { readonly sourceId: string; readonly sourceUrl: string };
/** Links to one listing with none to another between them: the picture, the title and the button of a card. */
type Run = Target & { readonly links: readonly Link[]; readonly places: readonly Span[]; readonly outer: Span; readonly isLine: boolean };

/** The facts of a listing are near its link; longer texts are not read. */
export const mostRead = 20_000;

/** More are those of a menu, and cost much to read. */
const mostRuns = 8;

/** Every listing that a link leads to, in the order of the mail. */
export function findCards(document: MailDocument, pattern: RegExp): Card[] {
  const { text } = document;
  const runs = runsOf(document, pattern);
  const byId = [...Map.groupBy(runs.keys(), (at) => runs[at]?.sourceId).values()];
  const isBefore = hasFactsBefore(text, runs, byId.length > 1);
  const beforeOf = (at: number): Span[] => {
    const from = at === 0 ? 0 : isBefore ? runs[at - 1]?.outer.end : undefined;
    const end = runs[at]?.outer.at ?? 0;
    return from === undefined ? [] : [{ at: Math.max(from, end - mostRead), end }];
  };
  // The text between two cards belongs to one of them.
  const afterOf = (at: number): Span[] => {
    const end = at === runs.length - 1 ? text.length : isBefore ? undefined : runs[at + 1]?.outer.at;
    return end === undefined ? [] : [{ at: runs[at]?.outer.end ?? 0, end }];
  };
  return byId.flatMap((all) => {
    const read = all.slice(0, mostRuns);
    const own = read.flatMap((at) => runs[at] ?? []);
    const [first] = own;
    if (!first) return [];
    const { sourceId, sourceUrl } = first;
    const [links, places] = [own.flatMap((run) => run.links), own.flatMap((run) => run.places)];
    return [{ sourceId, sourceUrl, links, places, before: read.flatMap(beforeOf), after: read.flatMap(afterOf), isBefore }];
  });
}

/** Only lines without an element of their own tell nothing of the order, so the prices before the first link and behind the last one do. */
function hasFactsBefore(text: string, runs: readonly Run[], hasSeveral: boolean): boolean {
  const [first, last] = [runs[0], runs.at(-1)];
  if (!first?.isLine || !last) return false;
  const hasRent = (part: string) => {
    const facts = factsOf(part);
    return rentIn([facts]) !== undefined || rentAlone(facts) !== undefined;
  };
  return (
    hasRent(text.slice(Math.max(0, first.outer.at - mostRead), first.outer.at)) &&
    !(hasSeveral && hasRent(text.slice(last.outer.end, last.outer.end + mostRead)))
  );
}

function runsOf({ text, links }: MailDocument, pattern: RegExp): readonly Run[] {
  const groups: (Target & { readonly links: Link[] })[] = [];
  for (const link of links) {
    const target = link.targets.map((one) => targetOf(one, pattern)).find((one) => one !== undefined);
    if (!target) continue;
    if (groups.at(-1)?.sourceId === target.sourceId) groups.at(-1)?.links.push(link);
    else groups.push({ ...target, links: [link] });
  }
  return groups.map((group, at) => {
    const [first, last] = [group.links[0], group.links.at(-1)];
    const span = { at: first?.at ?? 0, end: last?.end ?? 0 };
    const [previous, next] = [groups[at - 1]?.links.at(-1)?.at ?? -1, groups[at + 1]?.links[0]?.at ?? Infinity];
    const own = [...new Set([first, last])].flatMap((link) => link?.around ?? []).filter((element) => previous < element.at && next >= element.end);
    const line = { at: text.lastIndexOf('\n', span.at - 1) + 1, end: endOfLine(text, span.end) };
    const places = distinct(own.length === 0 ? [line] : first === last ? own : [...own, span]);
    const outer = { at: Math.min(...places.map((place) => place.at)), end: Math.max(...places.map(({ end }) => end)) };
    return { ...group, places, outer, isLine: own.length === 0 };
  });
}

/** The smallest first. */
const distinct = (spans: readonly Span[]): Span[] =>
  [...new Map(spans.map((span) => [`${span.at} ${span.end}`, span])).values()].sort((a, b) => a.end - a.at - (b.end - b.at));

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

function targetOf(written: string, pattern: RegExp): Target | undefined {
  for (const url of [unwrap(written)?.href ?? '', written.trim()]) {
    const match = pattern.exec(url);
    // The rest of the address counts clicks.
    if (match?.[1] !== undefined) return { sourceId: match[1], sourceUrl: url.slice(0, match.index + match[0].length) };
  }
  return undefined;
}

/** In front of a picture is a badge or a price at most, and buttons have backgrounds, too. */
const mostInFront = 100;

/** The picture that is a link, else one behind a link, else one in the background before it. */
export function mainImageOf({ images, text }: MailDocument, { links, places }: Card): string | undefined {
  const isBare = ({ at, end }: Span) => {
    const written = end - at > mostInFront ? 'more' : text.slice(at, end);
    return !/\p{L}/u.test(written) || hasPrice(written);
  };
  const isPicture = (image: Image) => isBare(image) && !image.isSmall && /^https?:\/\//i.test(image.source) && !isOfBer(image.source);
  const isIn = (outer: Span, { at, end }: Span) => outer.at <= at && end <= outer.end;
  const first = links[0]?.at ?? 0;
  const isBefore = ({ at, end }: Span) => end <= first && first - at <= mostInFront && text.slice(at, first).trim() === '';
  const inLink = images.find((image) => links.some((link) => isIn(link, image)) && isPicture(image));
  const behindLink = () => images.find((image) => image.isBackground && links.some((link) => isIn(image, link) && isBare(link)) && isPicture(image));
  const before = () => images.find((image) => image.isBackground && isBefore(image) && places.some((place) => isIn(place, image)) && isPicture(image));
  return (inLink ?? behindLink() ?? before())?.source;
}
