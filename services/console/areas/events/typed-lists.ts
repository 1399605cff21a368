// Issues, pull requests, releases, runs and the other typed lists: one declaration of their pages.
import { z } from 'zod';
import { dayMs } from '../../../platform/time.ts';
import { h, type VNode } from '../../view/elements.ts';
import { WorkflowSeries } from '../../../webhook-intake/dashboard/contract.ts';
import { type Declared, page, pageRows, type Visit } from '../../pages.ts';
import { besideMs, faultOf, partOf } from '../../parts.ts';
import { chips, type Filter, filterForm } from '../../view/filters.ts';
import { table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager, withQuery } from '../../view/pager.ts';
import { stackedBars } from '../../view/plots.ts';
import { pageHead } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { kindTabs } from './kind-tabs.ts';
import { type FilterName, filterNames, typedColumns, type TypedList, typedLists, TypedRow, wordOf } from './typed-columns.ts';

const text = z.string().optional();
const TypedQuery = z.object({
  after: text,
  repository: text,
  state: text,
  conclusion: text,
  branch: text,
  name: text,
  status: text,
  kind: text,
  sender: text,
  login: text,
  account: text,
  deleted: text,
} satisfies Record<FilterName | 'after', typeof text>);
type Query = Partial<Record<FilterName, string | undefined>>;

const TypedPage = z.object({ items: z.array(TypedRow), next: z.string().nullable() });

const typedPage = (list: TypedList): Declared =>
  page({
    path: list.path,
    area: 'events',
    query: TypedQuery,
    async show(visit) {
      const { locale, ask } = visit;
      const { after, ...given } = visit.query;
      const { events } = locale.t;
      const names = filterNames.filter((name) => list.filters.includes(name) || list.choices?.name === name);
      const query: Query = Object.fromEntries(names.flatMap((name) => (given[name] ? [[name, given[name]]] : [])));
      const [{ items, next }, plotted] = await Promise.all([
        ask('intake').get(`/api/v1/${list.api}`, TypedPage, { ...query, after, limit: pageRows }),
        list.hasSeries && after === undefined ? partOf(runsPlot(visit, query)) : undefined,
      ]);
      const title = events.typed[list.name];
      const rows = table({ caption: events.typedList(title), columns: typedColumns(locale, list), items, idOf: ({ id }) => id });
      const isFiltered = Object.keys(query).length > 0;
      return {
        title,
        body: [
          pageHead({ title: locale.t.view.areas.events }),
          kindTabs(locale, list.path),
          filterForm(locale, { path: list.path, query, filters: filtersOf(locale, list), kept: list.choices ? [list.choices.name] : [] }),
          choicesOf(locale, list, query),
          items.length > 0 ? (plotted?.problem ? faultOf(visit, plotted.problem) : plotted?.value) : null,
          items.length > 0 ? rows : isFiltered ? filteredEmpty(locale, list.path) : empty({ ...events.typedEmpty, title: events.typedNone(title) }),
          items.length > 0 ? pager(locale, { path: list.path, query: { ...query, after }, shown: items.length, next }) : null,
        ],
      };
    },
  });

function filtersOf({ t: { events } }: Locale, { filters }: TypedList): readonly Filter[] {
  return filters.map((name): Filter =>
    name === 'deleted'
      ? {
          kind: 'choice',
          name,
          label: events.filters.deleted,
          options: [
            { value: 'false', label: events.filters.present },
            { value: 'true', label: events.filters.onlyDeleted },
          ],
        }
      : { kind: 'text', name, label: events.filters[name] },
  );
}

function choicesOf(locale: Locale, { choices, path }: TypedList, query: Query): VNode | null {
  if (!choices) return null;
  const { name, values } = choices;
  const entry = (value: string | undefined) => ({
    label: value === undefined ? locale.t.view.filters.any : wordOf(locale, value),
    isCurrent: query[name] === value,
    href: withQuery(path, { ...query, [name]: value }),
  });
  return chips(locale, locale.t.events.filters[name], [entry(undefined), ...values.map(entry)]);
}

const shownDays = 30;
const shownConclusions = ['success', 'failure', 'cancelled'];

/** Runs of the last 30 days by conclusion. */
async function runsPlot({ ask, locale, person: { zone } }: Pick<Visit, 'ask' | 'locale' | 'person'>, query: Query): Promise<VNode> {
  const { events } = locale.t;
  const from = new Date(locale.now.getTime() - shownDays * dayMs).toISOString();
  const { days } = await ask('intake').send(
    { path: '/api/v1/workflow-runs/series', query: { ...query, from }, headers: { 'X-Timezone': zone }, timeoutMs: besideMs },
    WorkflowSeries,
  );
  const byDay = new Map(days.map((day) => [locale.format.date(new Date(day.start)), day]));
  const places = Array.from({ length: shownDays }, (_, index) => new Date(locale.now.getTime() - (shownDays - 1 - index) * dayMs));
  const valuesOf = (count: (conclusions: Readonly<Record<string, number>>, runs: number) => number) =>
    places.map((at) => {
      const day = byDay.get(locale.format.date(at));
      return day ? count(day.conclusions, day.runs) : 0;
    });
  const known = (conclusions: Readonly<Record<string, number>>) => shownConclusions.reduce((sum, one) => sum + (conclusions[one] ?? 0), 0);
  const series = [
    ...shownConclusions.map((one) => ({ name: wordOf(locale, one), values: valuesOf((conclusions) => conclusions[one] ?? 0) })),
    { name: events.plot.others, values: valuesOf((conclusions, runs) => runs - known(conclusions)) },
  ];
  const plot = stackedBars(
    locale,
    { id: 'runs', title: events.plot.runs, description: events.plot.runsDescription },
    { places: places.map((at, index) => ({ label: locale.format.day(at), ...(index % 7 === 2 && { tick: locale.format.day(at) }) })), series },
  );
  return h('div', { class: 'conclusions' }, plot);
}

export const typedPages: readonly Declared[] = typedLists.map(typedPage);
