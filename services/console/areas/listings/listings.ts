// Listings that wait, that are approved and that are recycled: lists with presets, filters and decisions.
import { z } from 'zod';
import type { VNode } from '../../view/elements.ts';
import { PropertyPage, type Status } from '../../../listings/contract.ts';
import { mostCounted, PresetCount } from '../../../listings/presets/contract.ts';
import { page } from '../../pages.ts';
import { besideMs, partOf } from '../../parts.ts';
import type { Visit } from '../../visits.ts';
import { chips, filterForm, type Filter } from '../../view/filters.ts';
import { actionsFormElement, bulkBar } from '../../view/lists.ts';
import { pager, withQuery } from '../../view/pager.ts';
import { pageHead } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { chosenBy, type Chosen, filterFields, ListQuery, noPreset, orderOf, type Preset, Presets, sorts } from './filters.ts';
import { cardList, decidePath, decisionIcons, decisionsFrom, denseTable, type Flat, flatsOf, movesOf } from './rows.ts';
import { areaTabs, linkButton } from './tabs.ts';

/** A page of cards is higher than one of rows. */
const pageSizes = { cards: 24, rows: 50 } as const;
const paths: Readonly<Record<Status, `/${string}`>> = { inbox: '/listings', approved: '/listings/approved', recycled: '/listings/recycled' };
const PresetCounts = z.array(PresetCount);

type ListVisit = Visit & { readonly query: z.output<typeof ListQuery> };

const listOf = (status: Status) =>
  page({
    path: paths[status],
    area: 'listings',
    query: ListQuery,
    async show(visit) {
      const { locale, query, ask } = visit;
      const api = ask('listings');
      // Presets are for looking: lists of decided listings have none.
      const [presets, counts] =
        status === 'inbox'
          ? await Promise.all([api.get('/api/presets', Presets), partOf(api.send({ path: '/api/presets/counts', timeoutMs: besideMs }, PresetCounts))])
          : [[], undefined];
      const chosen = chosenBy(query, presets);
      const { items, next } = await api.get('/api/properties', PropertyPage, {
        status,
        ...chosen.filter,
        ...(status === 'approved' && query.sort === undefined ? { sortBy: 'approvedAt', sortDir: 'desc' } : orderOf(query.sort)),
        after: query.after,
        limit: pageSizes[query.view ?? 'cards'],
        include: 'price,withdrawal,duplicates',
        total: false,
      });
      const flats = flatsOf(items);
      const shown = flats.length === items.length ? items.length || undefined : locale.t.listings.words.joined(flats.length, items.length);
      const title = locale.t.listings.titles[status];
      return {
        title,
        body: [
          pageHead({ title, actions: headActions(visit, status, chosen) }),
          areaTabs(locale, status),
          status === 'inbox' ? presetChips(visit, { presets, counts: counts?.value ?? [], preset: chosen.preset }) : null,
          filterForm(locale, {
            path: paths[status],
            query: { ...chosen.filter, sort: query.sort, preset: noPreset, view: query.view },
            filters: [...filterFields(locale, chosen.filter), sortField(visit)],
            kept: ['preset', 'view'],
          }),
          listBody(visit, { status, flats, chosen }),
          pager(locale, { path: paths[status], query: { ...linkQuery(query, chosen), after: query.after }, shown, next }),
        ],
      };
    },
  });

type Found = { readonly status: Status; readonly flats: readonly Flat[]; readonly chosen: Chosen };

function listBody(visit: ListVisit, { status, flats, chosen }: Found): (VNode | null)[] {
  const { locale, query, may, isPictureShown } = visit;
  const { listings } = locale.t;
  if (flats.length === 0) {
    const isFiltered = Object.keys(chosen.filter).length > 0;
    return [isFiltered ? filteredEmpty(locale, withQuery(paths[status], { preset: noPreset })) : empty(listings.empty[status])];
  }
  const mayDecide = may('listings', 'editor');
  const parts = { locale, status, mayDecide, isPictureShown };
  const bulk = decisionsFrom[status].map((to) => ({
    path: decidePath(status, to),
    label: listings.decide[to],
    icon: decisionIcons[to],
    inPlace: 'leave' as const,
    moves: movesOf(status, to),
    ...(to === decisionsFrom[status][0] && { tone: 'primary' as const }),
  }));
  return [
    query.view === 'rows' ? denseTable(parts, listings.titles[status], flats) : cardList(parts, listings.titles[status], flats),
    mayDecide ? actionsFormElement() : null,
    mayDecide ? bulkBar(locale, bulk) : null,
  ];
}

/** The query of a link that keeps what is shown: a preset by its id, or the filters themselves. */
const linkQuery = ({ sort, view }: { sort?: string | undefined; view?: string | undefined }, { preset, filter }: Chosen) => ({
  ...(preset ? { preset: preset.id } : { preset: noPreset, ...filter }),
  sort,
  view,
});

function headActions({ locale, query, may }: ListVisit, status: Status, chosen: Chosen): VNode[] {
  const { listings } = locale.t;
  const isDense = query.view === 'rows';
  const other = linkQuery({ ...query, view: isDense ? undefined : 'rows' }, chosen);
  return [
    linkButton({
      href: withQuery('/listings/map', { ...chosen.filter, status: status === 'inbox' ? undefined : status }),
      label: listings.map.open,
      key: 'm',
      image: 'map',
    }),
    linkButton({
      href: withQuery(paths[status], other),
      label: isDense ? listings.words.asCards : listings.words.asRows,
      key: 'v',
      image: isDense ? 'system' : 'rows',
    }),
    ...(may('listings', 'editor') && !chosen.preset && Object.keys(chosen.filter).length > 0
      ? [linkButton({ href: withQuery('/presets/new', chosen.filter), label: listings.presets.keep, image: 'add' })]
      : []),
  ];
}

type Tabs = { readonly presets: readonly Preset[]; readonly counts: readonly z.output<typeof PresetCount>[]; readonly preset: Preset | undefined };

function presetChips({ locale, query }: ListVisit, { presets, counts, preset }: Tabs): VNode {
  const { listings } = locale.t;
  const kept = { sort: query.sort, view: query.view };
  const known = new Map(counts.map(({ id, count }) => [id, count]));
  const isAll = !preset && query.preset === noPreset && !chosenFilters(query);
  return chips(locale, listings.presets.title, [
    ...presets.map(({ id, name }) => ({
      label: name,
      href: withQuery('/listings', { preset: id, ...kept }),
      count: known.get(id),
      most: mostCounted.listings,
      isCurrent: preset?.id === id,
    })),
    { label: listings.presets.all, href: withQuery('/listings', { preset: noPreset, ...kept }), isCurrent: isAll || (presets.length === 0 && !preset) },
  ]);
}

const chosenFilters = (query: z.output<typeof ListQuery>) => Object.keys(chosenBy(query, []).filter).length > 0;

const sortField = ({ locale }: Visit): Filter => ({
  kind: 'choice',
  name: 'sort',
  label: locale.t.listings.filters.sort,
  any: locale.t.listings.sorts[sorts[0]],
  options: sorts.slice(1).map((value) => ({ value, label: locale.t.listings.sorts[value] })),
});

export const listPages = (['inbox', 'approved', 'recycled'] as const).map(listOf);
