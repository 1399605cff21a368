// Links as rows: why each is where it is, and the decisions on it.
import { h, type VNode } from '../../view/elements.ts';
import type { LinkStatus } from '../../../link-digest/contract.ts';
import type { Visit } from '../../pages.ts';
import { type Action, actionButton, actionsFor, rowList, selectBox, waitingCount } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { dotted, externalRowLink, hostOf, time } from '../../view/texts.ts';
import { type Link, statusBadge } from './digest.ts';

/** The rights that decide which decisions are offered. */
export type May = { readonly decide: boolean; readonly bookmark: boolean };
export const mayOf = ({ may, has }: Pick<Visit, 'may' | 'has'>): May => ({
  decide: may('links', 'editor'),
  bookmark: may('links', 'editor') && has('bookmarks') && may('bookmarks', 'editor'),
});

/** The name of the count of links with a status. */
export const countedAs = (status: LinkStatus): string => (status === 'Awaiting' ? waitingCount : status);

/** The decisions that change something about a link of this status. */
export function decisionsOn({ t: { links } }: Locale, path: string, status: LinkStatus): Action[] {
  const to = (next: LinkStatus, rest: Omit<Action, 'path' | 'field'>): Action => ({
    ...rest,
    path,
    field: ['status', next],
    inPlace: 'leave',
    moves: [countedAs(status), countedAs(next)],
    tone: 'plain',
  });
  const all: readonly (readonly [LinkStatus, Omit<Action, 'path' | 'field'>])[] = [
    ['Liked', { label: links.like, icon: 'like', key: 'l' }],
    ['Discarded', { label: links.discard, icon: 'no', key: 'd' }],
    ['DiscardedAfterReview', { label: links.discardAfterReview, icon: 'reviewed', key: 'r' }],
    ['Awaiting', { label: links.backToQueue, icon: 'undo', key: 'w' }],
  ];
  return all.flatMap(([next, rest]) => (next === status ? [] : [to(next, rest)]));
}

/** @param may `hasWords`: beside the icons, where there is room */
export function buttonsOf(
  locale: Locale,
  { id, status, title }: Pick<Link, 'id' | 'status' | 'title'>,
  may: May & { readonly hasWords?: boolean },
): VNode | null {
  if (!may.decide) return null;
  const { links } = locale.t;
  const bookmark: Action = {
    path: `/links/${id}/bookmark`,
    label: links.toBookmarks,
    icon: 'bookmarks',
    key: 'b',
    inPlace: 'leave',
    moves: [countedAs(status), countedAs('Liked')],
  };
  const button = ({ tone: _, ...action }: Action) => actionButton(may.hasWords ? action : { ...action, tone: 'plain', isIconOnly: true });
  return actionsFor(title, decisionsOn(locale, `/links/${id}/decide`, status).map(button), may.bookmark ? button(bookmark) : null);
}

export const linkRows = (locale: Locale, items: readonly Link[], may: May): VNode =>
  rowList({
    label: locale.t.links.list,
    kind: 'lines',
    items,
    idOf: ({ id }) => id,
    content: (link) => [
      may.decide ? selectBox(locale, link.id, link.title) : null,
      h(
        'div',
        { class: 'text' },
        externalRowLink(link.url, link.title),
        dotted(
          hostOf(link.url),
          link.authorNames.join(', '),
          time(locale, link.firstSeen, 'ago'),
          h('a', { href: `/links/${link.id}` }, locale.t.links.details),
        ),
        why(locale, link),
      ),
      buttonsOf(locale, link, may),
    ],
  });

/** Links of an author or a newsletter, whatever was decided on them. */
export const decidedRows = (locale: Locale, items: readonly Pick<Link, 'id' | 'url' | 'title' | 'status'>[], may: May): VNode =>
  rowList({
    label: locale.t.links.list,
    kind: 'lines',
    items,
    idOf: ({ id }) => id,
    content: (link) => [
      h(
        'div',
        { class: 'text' },
        externalRowLink(link.url, link.title),
        dotted(hostOf(link.url), statusBadge(locale, link.status), h('a', { href: `/links/${link.id}` }, locale.t.links.details)),
      ),
      buttonsOf(locale, link, may),
    ],
  });

const signed = ({ format }: Locale, value: number) => `${value > 0 ? '+' : '−'}${format.number(Math.abs(Math.round(100 * value) / 100))}`;

/** The score and the parts that made it, those that count most first. */
function why(locale: Locale, { priorityScore, score, newsletterAppearanceCount }: Link): VNode {
  const { links } = locale.t;
  const { author, keyword, recency, popularity } = score?.factors ?? {};
  const authors = author?.authors.filter(({ sampleSize }) => sampleSize > 0).map(({ name }) => name) ?? [];
  const parts: readonly (readonly [string, number])[] = [
    [authors.length > 0 ? locale.format.list(authors) : links.author, author?.contribution ?? 0],
    [keyword?.keywords.map(({ keyword: word }) => word).join(', ') ?? '', keyword?.contribution ?? 0],
    [links.fresh, recency?.contribution ?? 0],
    [links.inNewsletters(newsletterAppearanceCount), popularity?.contribution ?? 0],
  ];
  const counted = parts.filter(([, adds]) => Math.abs(adds) >= 0.005).toSorted(([, one], [, other]) => Math.abs(other) - Math.abs(one));
  return h(
    'span',
    { class: 'why', title: links.why },
    h('strong', null, locale.format.number(priorityScore)),
    counted.map(([name, adds]) => h('span', null, `${name} ${signed(locale, adds)}`)),
  );
}
