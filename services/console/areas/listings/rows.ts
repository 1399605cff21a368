// A listing in a list: its card or its dense row, with the other listings of its flat, and what can be decided.
import { type ComponentChildren, h, type VNode } from '../../view/elements.ts';
import type { Property, Status } from '../../../listings/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { actionBar, actionButton, actionsFor, keyedBox, onlyIcon, rowLink, rowList, table, waitingCount } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { badge, dotted, externalLink, hostOf, safeUrl, time } from '../../view/texts.ts';

export type Listing = AnswerOf<typeof Property>;
/** A flat: a listing, with those of the same flat that are on the page as well. */
export type Flat = { readonly listing: Listing; readonly ids: string };

/** One entry for each flat: a listing that is a duplicate of an earlier one of the page is shown and decided on with it. */
export function flatsOf(listings: readonly Listing[]): Flat[] {
  const here = new Set(listings.map(({ id }) => id));
  const shown = new Set<string>();
  return listings.flatMap((listing) => {
    if (shown.has(listing.id)) return [];
    const others = (listing.duplicates ?? []).map(({ id }) => id).filter((id) => here.has(id) && !shown.has(id));
    for (const id of [listing.id, ...others]) shown.add(id);
    return [{ listing, ids: [listing.id, ...others].join(',') }];
  });
}

export type RowParts = {
  readonly locale: Locale;
  readonly status: Status;
  readonly mayDecide: boolean;
  readonly isPictureShown: (url: string) => boolean;
};

const countedAs = (status: Status) => (status === 'inbox' ? waitingCount : status);
/** The counts that a decision changes. */
export const movesOf = (from: Status, to: Status) => [countedAs(from), countedAs(to)] as const;

export const decidePath = (from: Status, to: Status) => `/listings/decide/${from}/${to}`;

/** Decisions other than the present one, the likeliest first. */
export const decisionsFrom: Readonly<Record<Status, readonly Status[]>> = {
  inbox: ['approved', 'recycled'],
  approved: ['recycled', 'inbox'],
  recycled: ['approved', 'inbox'],
};
export const decisionKeys = { approved: 'a', recycled: 'x', inbox: 'i' } as const;
export const decisionIcons = { approved: 'yes', recycled: 'delete', inbox: 'undo' } as const;

const decisions = ({ locale, status }: RowParts, { ids }: Flat, isIconOnly: boolean) =>
  decisionsFrom[status].map((to, index) =>
    actionButton({
      path: decidePath(status, to),
      label: locale.t.listings.decide[to],
      icon: decisionIcons[to],
      key: decisionKeys[to],
      inPlace: 'leave',
      moves: movesOf(status, to),
      field: ['id', ids],
      ...(index === 0 && { tone: 'primary' }),
      ...(isIconOnly && { isIconOnly: true }),
    }),
  );

const noteLink = ({ locale }: RowParts, { id, notes }: Listing) =>
  h(
    'a',
    { class: `button plain ${onlyIcon('edit')}`, href: `/listings/${id}#field-notes`, 'data-key': 'n', 'data-key-label': locale.t.listings.note.write },
    notes ? locale.t.listings.note.edit : locale.t.listings.note.write,
  );

export const cardList = (parts: RowParts, label: string, flats: readonly Flat[]): VNode =>
  rowList({ label, kind: 'cards', items: flats, idOf: ({ listing }) => listing.id, content: (flat) => card(parts, flat) });

function card(parts: RowParts, flat: Flat): ComponentChildren {
  const { locale, mayDecide } = parts;
  const { listing } = flat;
  return [
    picture(parts, listing),
    h(
      'div',
      { class: 'price-line' },
      mayDecide ? keyedBox(locale, { id: flat.ids, name: listing.address, key: 's' }) : null,
      price(locale, listing),
      withdrawn(locale, listing),
    ),
    h('h2', { class: 'address' }, rowLink(`/listings/${listing.id}`, listing.address)),
    facts(locale, listing),
    dotted(externalLink(listing.sourceUrl, hostOf(listing.sourceUrl) || listing.sourceUrl), time(locale, listing.receivedAt, 'ago')),
    duplicates(locale, listing),
    listing.notes ? h('p', { class: 'note-text brief' }, listing.notes) : null,
    mayDecide ? actionsFor(listing.address, decisions(parts, flat, false), noteLink(parts, listing)) : null,
  ];
}

export const denseTable = (parts: RowParts, caption: string, flats: readonly Flat[]): VNode => {
  const { locale, mayDecide } = parts;
  const { columns } = locale.t.listings;
  return table<Flat>({
    caption,
    items: flats,
    idOf: ({ listing }) => listing.id,
    columns: [
      {
        label: columns.address,
        kind: 'main',
        cell: ({ ids, listing }) => [
          mayDecide ? keyedBox(locale, { id: ids, name: listing.address, key: 's' }) : null,
          ' ',
          rowLink(`/listings/${listing.id}`, listing.address),
          ' ',
          withdrawn(locale, listing),
          duplicates(locale, listing),
        ],
      },
      { label: columns.rent, kind: 'number', cell: ({ listing }) => price(locale, listing) },
      { label: columns.facts, cell: ({ listing }) => facts(locale, listing) },
      { label: columns.source, kind: 'minor', cell: ({ listing }) => externalLink(listing.sourceUrl, hostOf(listing.sourceUrl) || listing.sourceUrl) },
      { label: columns.received, cell: ({ listing }) => time(locale, listing.receivedAt) },
      ...(mayDecide
        ? [{ label: columns.actions, kind: 'actions', cell: (flat: Flat) => actionBar(decisions(parts, flat, true), noteLink(parts, flat.listing)) } as const]
        : []),
    ],
  });
};

/** A picture of an origin that the console's policy lets pages show; the browser would refuse any other. */
export function picture({ isPictureShown }: Pick<RowParts, 'isPictureShown'>, { mainImageUrl }: Pick<Listing, 'mainImageUrl'>): VNode | null {
  const url = mainImageUrl === null ? undefined : safeUrl(mainImageUrl);
  if (!url || !isPictureShown(url.href)) return null;
  return h('img', { class: 'picture', src: url.href, alt: '', loading: 'lazy', referrerpolicy: 'no-referrer' });
}

/** The rent; where it has changed, the former one as well, and whether it rose or fell. */
export function price({ format, t }: Locale, { priceMonthly, currency, previousPrice }: Listing): VNode {
  const now = h('span', { class: 'price' }, format.money(priceMonthly, currency));
  if (previousPrice === undefined || previousPrice === null || previousPrice === priceMonthly) return now;
  const isLower = previousPrice > priceMonthly;
  const difference = `${isLower ? '−' : '+'}${format.money(Math.abs(previousPrice - priceMonthly), currency)}`;
  const former = h('s', { class: 'quiet' }, h('span', { class: 'unseen' }, t.listings.words.before), format.money(previousPrice, currency));
  return h('span', { class: 'prices' }, now, ' ', former, ' ', badge(isLower ? 'good' : 'warn', difference));
}

export function facts({ t }: Locale, { beds, baths, propertyType, berRating, eircode, routingKey }: Listing): VNode {
  const { words, types } = t.listings;
  return dotted(
    beds > 0 ? words.bedCount(beds) : null,
    baths > 0 ? words.bathCount(baths) : null,
    types[propertyType],
    berRating === null ? null : `${words.ber} ${berRating}`,
    (eircode ?? routingKey)?.replace(' ', '\u00a0'),
  );
}

export const withdrawn = ({ t }: Locale, { withdrawnAt }: Listing): VNode | null => (withdrawnAt ? badge('bad', t.listings.words.withdrawn) : null);

const shownDuplicates = 3;

/** The same flat elsewhere, each a link to the other listing with its rent. */
function duplicates({ t, format }: Locale, { duplicates: all = [] }: Listing): VNode | null {
  if (all.length === 0) return null;
  const links = all
    .slice(0, shownDuplicates)
    .map(({ id, sourceUrl, priceMonthly, currency }) =>
      h('li', null, h('a', { href: `/listings/${id}` }, `${hostOf(sourceUrl) || sourceUrl} ${format.money(priceMonthly, currency)}`)),
    );
  const further = all.length - links.length;
  return h(
    'div',
    { class: 'same-flat' },
    h('span', { class: 'quiet' }, t.listings.words.sameFlat),
    h('ul', null, links, further > 0 ? h('li', { class: 'quiet' }, t.listings.words.further(further)) : null),
  );
}
