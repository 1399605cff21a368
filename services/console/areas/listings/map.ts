// The map: where listings are, near ones as one dot with their number; a dot leads closer, a single one to its listing.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { PropertyStatus } from '../../../listings/contract.ts';
import { PropertyMap } from '../../../listings/overview/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { answer, Content } from '../../../platform/http/route.ts';
import { page, resource, type Visit } from '../../pages.ts';
import { filterForm } from '../../view/filters.ts';
import { icon } from '../../view/icons.ts';
import type { Locale } from '../../view/locale.ts';
import { withQuery } from '../../view/pager.ts';
import { pageHead } from '../../view/shell.ts';
import { toTrees } from '../../view/tree-message.ts';
import { externalLink } from '../../view/texts.ts';
import type { Tiles } from '../../visits.ts';
import { type Box, coastlines, island, outlineOf, pathStep, projection, type Projection, type Ring } from './coast.ts';
import { filterFields, FilteredQuery, type FilterQuery, ownFilters, statusField } from './filters.ts';
import { areaTabs, type LinkButton } from './tabs.ts';

const path = '/listings/map';
const placesPath = '/listings/map/places';
const width = 400;
/** In pixels of a page: the most that its column has. */
const shownWidth = 704;
const PartOfMap = FilteredQuery.extend({ bbox: z.string().optional(), status: PropertyStatus.optional().catch(undefined) });
type Map = AnswerOf<typeof PropertyMap>;
type Cluster = Map['clusters'][number];

const show = page({
  path,
  area: 'listings',
  query: PartOfMap,
  async show(visit) {
    const { locale, query, tiles } = visit;
    const { listings } = locale.t;
    const [{ found, lead, box, kept, filter }, rings] = await Promise.all([placesOf(visit, query), coastlines()]);
    return {
      title: listings.map.title,
      hasTiles: tiles !== undefined,
      body: [
        pageHead({ title: listings.map.title, lead }),
        areaTabs(locale, 'map'),
        filterForm(locale, {
          path,
          query: kept,
          filters: [...filterFields(locale, filter), statusField(locale)],
          linked: ['status'],
          kept: ['bbox'],
        }),
        h(
          'div',
          { class: 'map-and-list' },
          h(
            'div',
            { class: 'map' },
            drawing(locale, found, { box, kept, rings }),
            tiles ? tiled(visit, tiles, { box, kept }) : null,
            zoomLinks(locale, { box, kept, isWholeShown: tiles !== undefined }),
          ),
          clusterTable(locale, found.clusters, { box, kept }),
        ),
      ],
    };
  },
});

/** The places of a part of the map, with what links to other parts keep. */
async function placesOf({ ask, locale }: Pick<Visit, 'ask' | 'locale'>, query: z.output<typeof PartOfMap>) {
  const box = readBox(query.bbox) ?? island;
  const filter = ownFilters(query);
  const status = query.status ?? 'inbox';
  const found = await ask('listings').get('/api/properties/map', PropertyMap, { ...filter, status, bbox: box.join(',') });
  const { listings } = locale.t;
  const lead = `${listings.map.shown(found.counted)}, ${listings.statuses[status]}`;
  return { found, lead, box, filter, kept: { ...filter, status: query.status, bbox: query.bbox } };
}

/** For the map with tiles: the dots, the list beside it, and the words above it. */
const places = resource({
  path: placesPath,
  area: 'listings',
  query: PartOfMap,
  async answer(visit) {
    const { locale, query } = visit;
    const { found, lead, box, kept } = await placesOf(visit, query);
    const dots = found.clusters.map((cluster) => [cluster.latitude, cluster.longitude, ...toTrees(placeLink(locale, cluster, { box, kept }))]);
    const list = toTrees(clusterTable(locale, found.clusters, { box, kept }));
    return answer(200, new Content('application/json; charset=utf-8', JSON.stringify([dots, ...list, lead])));
  },
});

const placeLink = (locale: Locale, cluster: Cluster, shown: Shown): VNode =>
  h(
    'a',
    { class: cluster.count === 1 ? 'single' : 'several', href: hrefOf(cluster, shown), 'aria-label': labelOf(locale, cluster) },
    cluster.count === 1 ? null : locale.format.compact(cluster.count),
  );

/** Filled by the script, which then hides the drawing. */
function tiled({ locale }: Pick<Visit, 'locale'>, { url, attribution, library }: Tiles, { box, kept }: Shown): VNode[] {
  const { title, byTouch, byWheel } = locale.t.listings.map;
  const data = {
    'data-map': true,
    'data-script': library,
    'data-tiles': url,
    'data-box': box.join(','),
    'data-whole': island.join(','),
    'data-places': withQuery(placesPath, { ...kept, bbox: undefined }),
  };
  const parts = attribution.split(/(https?:\/\/\S+)/).map((part, index) => (index % 2 === 0 ? part : externalLink(part, URL.parse(part)?.host ?? part)));
  return [
    h('div', { class: 'tiled', role: 'group', 'aria-label': title, hidden: true, ...data }),
    h('p', { class: 'quiet' }, h('span', { class: 'by-touch' }, `${byTouch} `), h('span', { class: 'by-wheel' }, `${byWheel} `), parts),
  ];
}

/** Undefined for what is no box on a map of the country's scale, such as one across the date line. */
function readBox(text: string | undefined): Box | undefined {
  const [west = NaN, south = NaN, east = NaN, north = NaN] = (text ?? '').split(',').map(Number);
  const isBox = west >= -180 && east <= 180 && south >= -85 && north <= 85 && east - west >= 0.001 && north - south >= 0.001;
  return isBox ? [west, south, east, north] : undefined;
}

type Shown = { readonly box: Box; readonly kept: FilterQuery };

/** A thousandth of the box is less than a pixel. */
const roundedBy = (size: number) => (value: number) => Number(value.toFixed(Math.max(0, Math.ceil(3 - Math.log10(size)))));

/** The same map so many times as large, about a place. */
function zoomed([west, south, east, north]: Box, { latitude, longitude }: { latitude: number; longitude: number }, factor: number): string {
  const [halfWidth, halfHeight] = [((east - west) * factor) / 2, ((north - south) * factor) / 2];
  return [longitude - halfWidth, latitude - halfHeight, longitude + halfWidth, latitude + halfHeight].map(roundedBy(halfWidth * 2)).join(',');
}

const hrefOf = ({ id, latitude, longitude }: Cluster, { box, kept }: Shown) =>
  id === null ? withQuery(path, { ...kept, bbox: zoomed(box, { latitude, longitude }, 0.3) }) : `/listings/${id}`;

function drawing(locale: Locale, { clusters, counted }: Map, shown: Shown & { readonly rings: readonly Ring[] }): VNode {
  const { map } = locale.t.listings;
  const place = projection(shown.box, width);
  return h(
    'svg',
    {
      class: 'coast',
      width: shownWidth,
      height: Math.round((shownWidth * place.height) / width),
      viewBox: `0 0 ${width} ${place.height}`,
      role: 'group',
      'aria-labelledby': 'map-title',
    },
    h('title', { id: 'map-title' }, map.described(counted)),
    h('path', { class: 'land', d: outlineOf(shown.rings, place), transform: `scale(${pathStep})` }),
    // The smallest come last, above the others.
    clusters.map((cluster) => h('a', { href: hrefOf(cluster, shown), 'aria-label': labelOf(locale, cluster) }, dot(locale, cluster, place))),
  );
}

const radiusOf = (count: number) => (count === 1 ? 5 : Math.min(20, 7 + 2.4 * Math.log2(count)));

function dot({ format }: Locale, { count, longitude, latitude }: Cluster, place: Projection): (VNode | null)[] {
  const [x, y] = [place.x(longitude).toFixed(1), place.y(latitude).toFixed(1)];
  return [
    h('circle', { cx: x, cy: y, r: radiusOf(count).toFixed(1), class: count === 1 ? 'single' : undefined }),
    count === 1 ? null : h('text', { x, y }, format.compact(count)),
  ];
}

/** The place in words, and its rents. */
const labelOf = (locale: Locale, cluster: Cluster) => {
  const { t, format } = locale;
  const { count, minPrice, medianPrice, currency } = cluster;
  const lowest = format.money(minPrice, currency);
  return count === 1
    ? t.listings.map.one(cluster.address, lowest)
    : t.listings.map.several(nameOf(locale, cluster), lowest, format.money(medianPrice, currency));
};

const nameOf = ({ t: { listings } }: Locale, { count, address }: Cluster) => (count === 1 ? address : listings.map.near(count, address));

/** @param isWholeShown the script moves the map, so that any link may be of use */
function zoomLinks({ t }: Locale, { box, kept, isWholeShown }: Shown & { readonly isWholeShown: boolean }): VNode {
  const [west, south, east, north] = box;
  const centre = { latitude: (south + north) / 2, longitude: (west + east) / 2 };
  const to = (bbox: string | undefined) => withQuery(path, { ...kept, bbox });
  const closer = { href: to(zoomed(box, centre, 0.5)), label: t.listings.map.closer, key: '+', image: 'add' } as const;
  const farther = { href: to(zoomed(box, centre, 2)), label: t.listings.map.farther, key: '-', image: 'less' } as const;
  const whole = { href: to(undefined), label: t.listings.map.whole, key: '0', image: 'now' } as const;
  const isPart = isWholeShown || east - west < island[2] - island[0];
  return h('div', { class: 'buttons' }, zoomLink(closer), isPart ? [zoomLink(farther), zoomLink(whole)] : null);
}

const zoomLink = ({ href, label, key, image }: Required<LinkButton>): VNode =>
  h('a', { class: 'button', href, title: label, 'data-key': key, 'data-key-label': label }, icon(image, label));

const mostListed = 40;

function clusterTable(locale: Locale, clusters: readonly Cluster[], shown: Shown): VNode {
  const { map } = locale.t.listings;
  return h(
    'details',
    { class: 'card', open: true },
    h('summary', null, map.list),
    h(
      'table',
      null,
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          [map.place, map.lowest, map.median].map((label, index) => h('th', { scope: 'col', class: index > 0 ? 'number' : undefined }, label)),
        ),
      ),
      h(
        'tbody',
        null,
        clusters
          .toSorted((one, other) => one.minPrice - other.minPrice)
          .slice(0, mostListed)
          .map((cluster) =>
            h(
              'tr',
              null,
              h('td', null, h('a', { href: hrefOf(cluster, shown) }, nameOf(locale, cluster))),
              h('td', { class: 'number' }, locale.format.money(cluster.minPrice, cluster.currency)),
              h('td', { class: 'number' }, locale.format.money(cluster.medianPrice, cluster.currency)),
            ),
          ),
      ),
    ),
  );
}

export const mapPages = [show, places];
