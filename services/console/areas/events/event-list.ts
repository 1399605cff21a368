// The event log: filters with their counts, deliveries by time, and the list, which follows.
import { z } from 'zod';
import { type ComponentChildren, h, type VNode } from '../../view/elements.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { FollowedEventPage, senderClasses } from '../../../webhook-intake/contract.ts';
import { EventFacets } from '../../../webhook-intake/dashboard/contract.ts';
import { deliveriesPlot, PlotSpan } from '../../deliveries-plot.ts';
import { type Declared, page, pageRows, type Visit } from '../../pages.ts';
import { besideMs, faultOf, type Part, partOf } from '../../parts.ts';
import { type Chip, chips, type Filter, filterForm, tabs } from '../../view/filters.ts';
import { liveBar, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager, withQuery } from '../../view/pager.ts';
import { pageHead } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { askedFilter, EventFilter, type FacetName, facetNames } from './event-filter.ts';
import { eventColumns, senderClassIn } from './event-table.ts';
import { kindTabs } from './kind-tabs.ts';

export const path = '/events';
const ListQuery = EventFilter.extend({ after: z.string().optional(), plot: PlotSpan.optional() });
type ListQuery = z.output<typeof ListQuery>;

export const eventList: Declared = page({
  path,
  area: 'events',
  query: ListQuery,
  async show(visit) {
    const { locale, query, person } = visit;
    const intake = visit.ask('intake');
    const { events } = locale.t;
    const { after, plot, ...filter } = query;
    const asked = askedFilter(filter, person.zone);
    const isFirst = after === undefined;
    const [list, { value: counted } = {}, plotted] = await Promise.all([
      intake.get('/api/v1/events', FollowedEventPage, { ...asked, after, limit: pageRows }),
      isFirst ? partOf(intake.send({ path: '/api/v1/events/facets', query: asked, timeoutMs: besideMs }, EventFacets)) : undefined,
      isFirst && isPlotted(filter) ? partOf(plotWithSpans(visit, filter, plot ?? 'hours')) : undefined,
    ]);
    const isFiltered = Object.values(filter).some((value) => value !== undefined);
    const isLive = isFirst && filter.to === undefined;
    const { items, next, newest } = list;
    const rows = table({
      caption: events.list,
      columns: eventColumns(locale),
      items,
      idOf: ({ id }) => id,
      ...(isLive && { live: withQuery(`${path}/follow`, { ...filter, since: newest }) }),
    });
    const none = isFiltered ? filteredEmpty(locale, path) : empty(events.empty);
    return {
      title: locale.t.view.areas.events,
      body: [
        pageHead({ title: locale.t.view.areas.events }),
        kindTabs(locale, path),
        filterForm(locale, { path, query: { ...filter, plot }, filters: filtersOf(locale, counted), kept: ['plot'], linked: facetsOfPhone }),
        h('div', { class: counted && items.length > 0 ? 'faceted' : undefined }, [
          counted && items.length > 0 ? facets(locale, { counted, filter, plot }) : null,
          h('div', { class: 'part' }, plotOf(visit, plotted), isLive ? liveBar(locale) : null, listOr(none, rows, { isEmpty: items.length === 0, isLive }), [
            // A list that follows has more rows than those that came with the page.
            items.length > 0 && (next || !isLive) ? pager(locale, { path, query, shown: isLive ? undefined : items.length, next }) : null,
          ]),
        ]),
      ],
    };
  },
});

const plotOf = (visit: Visit, plotted: Part<VNode> | undefined) => (plotted?.problem ? faultOf(visit, plotted.problem) : plotted?.value);

/** Statistics are counted by source, forge and event only. */
const isPlotted = ({ source: _source, forge: _forge, event: _event, ...others }: EventFilter): boolean =>
  Object.values(others).every((value) => value === undefined);

async function plotWithSpans(visit: Visit, filter: EventFilter, span: PlotSpan): Promise<VNode> {
  const { events } = visit.locale.t;
  const { source, forge, event } = filter;
  const plot = await deliveriesPlot(visit, { span, source, forge, event });
  const link = (one: PlotSpan) => ({ label: events.plot.spans[one], href: withQuery(path, { ...filter, plot: one }), isCurrent: one === span });
  return h('div', { class: 'deliveries' }, tabs(events.plot.span, PlotSpan.options.map(link)), plot);
}

/** An empty list that follows becomes a table with its first row; the style shows one or the other. */
const listOr = (none: VNode, rows: VNode, { isEmpty, isLive }: { readonly isEmpty: boolean; readonly isLive: boolean }): ComponentChildren =>
  isEmpty && !isLive ? none : isEmpty ? h('div', { class: 'followed' }, none, rows) : rows;

type Counted = AnswerOf<typeof EventFacets>;

function filtersOf({ t }: Locale, counted: Counted | undefined): readonly Filter[] {
  const { events } = t;
  const suggestions = (name: FacetName) => ({ suggestions: counted?.facets[name].map(({ value }) => value) ?? [] });
  return [
    { kind: 'search', name: 'q', label: events.search },
    { kind: 'text', name: 'repository', label: events.repository, ...suggestions('repository') },
    { kind: 'text', name: 'event', label: events.kind, ...suggestions('event') },
    { kind: 'text', name: 'action', label: events.action, ...suggestions('action') },
    { kind: 'text', name: 'sender', label: events.sender, ...suggestions('sender') },
    {
      kind: 'choice',
      name: 'senderClass',
      label: events.senderClass,
      options: senderClasses.map((value) => ({ value, label: events.senderClasses[value] })),
    },
    { kind: 'text', name: 'source', label: events.source, ...suggestions('source') },
    { kind: 'number', name: 'minScore', label: events.minScore },
    { kind: 'date', name: 'from', label: events.from },
    { kind: 'date', name: 'to', label: events.to },
  ];
}

const shownValues = 6;
/** A phone shows these only. */
const facetsOfPhone: readonly FacetName[] = ['event', 'action', 'repository'];

/** Links to what the list can be narrowed to, with how many events of it there are; a chosen one leads back. */
function facets(
  locale: Locale,
  { counted, filter, plot }: { readonly counted: Counted; readonly filter: EventFilter; readonly plot: ListQuery['plot'] },
): VNode {
  const { events } = locale.t;
  const groups = facetNames.flatMap((name) => {
    const values = counted.facets[name];
    // One value of everything narrows nothing.
    if (values.length === 0 || (values.length === 1 && filter[name] === undefined)) return [];
    const entries = values.slice(0, shownValues).map(({ value, count }): Chip => {
      const isCurrent = filter[name]?.toLowerCase() === value.toLowerCase();
      return {
        label: name === 'senderClass' ? senderClassIn(locale, value) : value,
        count,
        isCurrent,
        href: withQuery(path, { ...filter, plot, [name]: isCurrent ? undefined : value }),
      };
    });
    return [h('section', null, h('h2', null, events.facets[name]), chips(locale, events.facets[name], entries))];
  });
  return h('aside', { class: 'facets', 'aria-label': events.narrow }, groups);
}
