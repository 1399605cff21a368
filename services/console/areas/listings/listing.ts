// One listing: what it offers, its rent over time, notes, the same flat elsewhere, its neighbours.
import { z } from 'zod';
import { type ComponentChildren, h, type VNode } from '../../view/elements.ts';
import { PriceChange, Property } from '../../../listings/contract.ts';
import { Neighbours } from '../../../listings/relations/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { page } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import type { Visit } from '../../visits.ts';
import { detailList } from '../../view/details.ts';
import { field, form } from '../../view/forms.ts';
import { icon } from '../../view/icons.ts';
import { actionBar, actionButton, actionsFormElement, rowLink, rowList } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { withQuery } from '../../view/pager.ts';
import { lines } from '../../view/plots.ts';
import { pageHead, section } from '../../view/shell.ts';
import { badge, dotted, externalLink, hostOf, time } from '../../view/texts.ts';
import { decidePath, decisionIcons, decisionKeys, decisionsFrom, facts, type Listing, picture, price, withdrawn } from './rows.ts';

const History = z.array(PriceChange);
type Prices = AnswerOf<typeof History>;

const show = page({
  path: '/listings/{id}',
  area: 'listings',
  params: z.object({ id: z.string() }),
  async show(visit) {
    const { locale, params, ask, may } = visit;
    const api = ask('listings');
    const path = pathOf`/api/properties/${params.id}`;
    const [listing, history, neighbours] = await Promise.all([
      api.get(path, Property, { include: 'price,withdrawal,duplicates' }),
      api.get(`${path}/history`, History),
      api.get(`${path}/neighbours`, Neighbours, { limit: 6 }),
    ]);
    const { listings } = locale.t;
    const mayDecide = may('listings', 'editor');
    return {
      title: listing.address,
      body: [
        pageHead({
          title: listing.address,
          trail: [{ label: listings.titles[listing.status], href: listing.status === 'inbox' ? '/listings' : `/listings/${listing.status}` }],
          lead: summary(locale, listing),
          actions: mayDecide ? decisionBar(locale, listing) : null,
        }),
        mayDecide ? actionsFormElement() : null,
        h(
          'div',
          { class: 'columns' },
          h('div', { class: 'part' }, picture(visit, listing), h('div', { class: 'card' }, details(locale, listing)), pricePlot(locale, listing, history)),
          h(
            'div',
            { class: 'apart' },
            mayDecide ? notes(locale, listing) : section(listings.note.title, h('p', { class: 'note-text' }, listing.notes ?? locale.t.view.none)),
            sameFlat(locale, listing),
            near(visit, neighbours.items),
          ),
        ),
      ],
    };
  },
});

const summary = (locale: Locale, listing: Listing) =>
  h(
    'span',
    { class: 'price-line' },
    price(locale, listing),
    badge('plain', locale.t.listings.statuses[listing.status]),
    withdrawn(locale, listing),
    facts(locale, listing),
  );

const decisionBar = ({ t }: Locale, { status, id }: Listing) =>
  actionBar(
    decisionsFrom[status].map((to, index) =>
      actionButton({
        path: decidePath(status, to),
        label: t.listings.decide[to],
        icon: decisionIcons[to],
        key: decisionKeys[to],
        field: ['id', id],
        ...(index === 0 && { tone: 'primary' }),
      }),
    ),
    h('a', { class: 'button', href: '#field-notes', 'data-key': 'n', 'data-key-label': t.listings.note.write }, icon('edit'), t.listings.note.write),
  );

function details(locale: Locale, listing: Listing): VNode {
  const { words, types, columns, map } = locale.t.listings;
  const { latitude, longitude, baths, beds } = listing;
  const members: [name: string, value: ComponentChildren][] = [
    [columns.source, externalLink(listing.sourceUrl, hostOf(listing.sourceUrl) || listing.sourceUrl)],
    [words.type, types[listing.propertyType]],
    [words.bedsTitle, beds > 0 ? beds : null],
    [words.bathsTitle, baths > 0 ? baths : null],
    [words.ber, listing.berRating],
    [words.eircode, listing.eircode ?? listing.routingKey],
    [
      map.place,
      latitude === null || longitude === null
        ? null
        : h('a', { href: withQuery('/listings/map', { bbox: boxAround(latitude, longitude) }), 'data-key': 'm', 'data-key-label': map.open }, map.open),
    ],
    [columns.received, time(locale, listing.receivedAt, 'whole')],
    [words.approvedAt, listing.approvedAt && time(locale, listing.approvedAt, 'whole')],
    [words.recycledAt, listing.recycledAt && time(locale, listing.recycledAt, 'whole')],
    [words.withdrawn, listing.withdrawnAt && time(locale, listing.withdrawnAt, 'whole')],
  ];
  return detailList(members.filter(([, value]) => value !== null));
}

/** Degrees about a place: some streets. */
const around = 0.02;
const boxAround = (latitude: number, longitude: number) =>
  [longitude - around, latitude - around, longitude + around, latitude + around].map((at) => at.toFixed(4)).join(',');

const plotPlaces = 48;

/** The rent at even steps of time, from its first day until now. */
function pricePlot(locale: Locale, { currency }: Listing, newestFirst: Prices): VNode {
  const { t, format, now } = locale;
  const { history } = t.listings;
  const changes = newestFirst.toReversed().map(({ changedAt, priceMonthly }) => ({ at: Date.parse(changedAt), priceMonthly }));
  const [first] = changes;
  if (!first || changes.length === 1) return section(history.title, h('p', { class: 'quiet' }, history.never));
  const span = Math.max(1, now.getTime() - first.at);
  const times = Array.from({ length: plotPlaces }, (_, index) => first.at + (span * index) / (plotPlaces - 1));
  const values = times.map((until) => changes.findLast(({ at }) => at <= until)?.priceMonthly ?? NaN);
  const isTick = (index: number) => index === 0 || index === plotPlaces - 1 || index === Math.floor(plotPlaces / 2);
  return lines(
    locale,
    { id: 'history', title: history.title, description: history.description(changes.length), format: (value) => format.money(value, currency) },
    {
      isStepped: true,
      places: times.map((at, index) => ({ label: format.date(new Date(at)), tick: isTick(index) ? format.day(new Date(at)) : undefined })),
      series: [{ name: t.listings.columns.rent, values }],
    },
  );
}

function notes(locale: Locale, { id, notes: text }: Listing): VNode {
  const { note } = locale.t.listings;
  return section(
    note.title,
    form(
      locale,
      { path: `/listings/${id}/note`, submit: note.save },
      field(locale, { kind: 'lines', name: 'notes', label: note.label, value: text ?? '', rows: 4, maxLength: 4000 }),
    ),
  );
}

function sameFlat(locale: Locale, { duplicates = [] }: Listing): VNode | null {
  const { words, statuses } = locale.t.listings;
  if (duplicates.length === 0) return null;
  return section(
    words.sameFlatTitle,
    rowList({
      label: words.sameFlatTitle,
      kind: 'lines',
      items: duplicates,
      idOf: ({ id }) => id,
      content: ({ id, address, priceMonthly, currency, sourceUrl, status }) =>
        h(
          'div',
          { class: 'text' },
          rowLink(`/listings/${id}`, address),
          dotted(locale.format.money(priceMonthly, currency), externalLink(sourceUrl, hostOf(sourceUrl) || sourceUrl), statuses[status]),
        ),
    }),
  );
}

function near({ locale }: Visit, items: AnswerOf<typeof Neighbours>['items']): VNode {
  const { neighbours, statuses, words } = locale.t.listings;
  const list = rowList({
    label: neighbours.title,
    kind: 'lines',
    items,
    idOf: ({ id }) => id,
    content: (one) =>
      h(
        'div',
        { class: 'text' },
        rowLink(`/listings/${one.id}`, one.address),
        dotted(
          locale.format.money(one.priceMonthly, one.currency),
          one.beds > 0 ? words.bedCount(one.beds) : null,
          neighbours.away(locale.format.distance(one.metres)),
          statuses[one.status],
        ),
      ),
  });
  return section(neighbours.title, items.length === 0 ? h('p', { class: 'quiet' }, neighbours.none) : list);
}

export const listingPages = [show];
