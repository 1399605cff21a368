// Plots, drawn as SVG on the server. Positions along the axis are shares of the width, so that text keeps its size on every screen.
import { scaleLinear } from 'd3-scale';
import { curveLinear, curveStepAfter, line, stack } from 'd3-shape';
import { type ComponentChildren, h, type VNode } from './elements.ts';
import type { Locale } from './locale.ts';

export type Plot = {
  /** Unique in its page. */
  readonly id: string;
  readonly title: string;
  /** A sentence on what it shows, for people who do not see it. */
  readonly description: string;
  /** How a value reads; by number unless given. */
  readonly format?: (value: number) => string;
};

/** A place on the axis. */
export type Place = {
  readonly label: string;
  /** Shown below the axis; most places have none, so that labels do not touch. */
  readonly tick?: string | undefined;
};

export type Bar = Place & { readonly value: number; readonly href?: string | undefined };
export type Series = { readonly name: string; readonly values: readonly number[] };

/** Several series as one. */
export const together = (name: string, all: readonly Series[]): Series => ({
  name,
  values: all[0]?.values.map((_, index) => all.reduce((sum, { values }) => sum + (values[index] ?? 0), 0)) ?? [],
});

/** A legend of more is hard to read. */
const mostSeries = 5;

/** The first series, and the others together. */
export const withOthers = (all: readonly Series[], others: string): readonly Series[] =>
  all.length <= mostSeries ? all : [...all.slice(0, mostSeries - 1), together(others, all.slice(mostSeries - 1))];

const height = 150;
const headroom = 10;
const footroom = 22;
const base = height - footroom;
/** A share of the width of a place. */
const gap = 0.18;

/** One bar for each place: deliveries per hour, listings per price. */
export function bars(locale: Locale, plot: Plot, values: readonly Bar[]): VNode {
  return stacked(locale, plot, {
    places: values,
    series: [{ name: locale.t.view.plot.value, values: values.map(({ value }) => value) }],
    hrefs: values.some(({ href }) => href !== undefined) ? values.map(({ href }) => href) : [],
  });
}

/** Bars whose parts are several series, at most six, in the order of the legend. */
export function stackedBars(locale: Locale, plot: Plot, { places, series }: { readonly places: readonly Place[]; readonly series: readonly Series[] }): VNode {
  return stacked(locale, plot, { places, series });
}

type Stack = { readonly places: readonly Place[]; readonly series: readonly Series[]; readonly hrefs?: readonly (string | undefined)[] };

function stacked(locale: Locale, plot: Plot, { places, series, hrefs = [] }: Stack): VNode {
  const format = plot.format ?? locale.format.number;
  const totals = places.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const y = scaleOf(Math.max(0, ...totals));
  const step = 100 / Math.max(1, places.length);
  const layers = stack<number, Series>()
    .keys(series)
    .value((index, { values }) => values[index] ?? 0)(places.map((_, index) => index));
  const columns = places.map(({ label }, index) => {
    const parts = layers.map((layer, level) => {
      const [from = 0, to = 0] = layer[index] ?? [];
      return to > from
        ? h('rect', {
            class: `series-${level + 1}`,
            x: share(index * step + (step * gap) / 2),
            width: share(step * (1 - gap)),
            y: y(to),
            height: y(from) - y(to),
          })
        : null;
    });
    const column = [h('title', null, `${label}: ${format(totals[index] ?? 0)}`), parts];
    const href = hrefs[index];
    return h('g', null, href === undefined ? column : h('a', { href, 'aria-label': `${label}: ${format(totals[index] ?? 0)}` }, column));
  });
  const drawing = [grid(y, inMargin(locale, plot)), columns, axis(places, step)];
  const isEmpty = totals.every((total) => total === 0);
  return figure(locale, plot, { drawing: isEmpty ? nothing(locale, places, step) : drawing, places, series, hasLinks: hrefs.length > 0 });
}

export type Lines = {
  readonly places: readonly Place[];
  readonly series: readonly Series[];
  /** Values stay until the next place, as prices do, instead of moving towards it. */
  readonly isStepped?: boolean;
  /** A line to compare with, such as a limit. */
  readonly limit?: { readonly value: number; readonly label: string };
};

/** At most six lines over the same places: a price over time, usage with its forecast. A value that is NaN interrupts its line. */
export function lines(locale: Locale, plot: Plot, { places, series, isStepped = false, limit }: Lines): VNode {
  const known = series.flatMap(({ values }) => values).filter(Number.isFinite);
  const y = scaleOf(Math.max(0, ...known, limit?.value ?? 0));
  const step = 100 / Math.max(1, places.length);
  const path = line<number>()
    .defined(Number.isFinite)
    .x((_, index) => index * step + step / 2)
    .y((value) => y(value))
    .curve(isStepped ? curveStepAfter : curveLinear);
  // Stretched to the width; its strokes are not, by the style.
  const curves = h(
    'svg',
    { viewBox: `0 0 100 ${height}`, preserveAspectRatio: 'none', width: '100%', height },
    series.map(({ values }, level) => h('path', { class: `line-${level + 1}`, d: path(values) ?? '' })),
  );
  const limits = limit
    ? [
        h('line', { class: 'limit', x1: '0', x2: '100%', y1: y(limit.value), y2: y(limit.value) }),
        h('text', { x: '100%', y: y(limit.value) - 4, class: 'end' }, limit.label),
      ]
    : null;
  const drawing = known.length === 0 ? nothing(locale, places, step) : [grid(y, inMargin(locale, plot)), curves, limits, axis(places, step)];
  return figure(locale, plot, { drawing, places, series });
}

const share = (percent: number) => `${Number(percent.toFixed(3))}%`;

const scaleOf = (most: number) =>
  scaleLinear()
    .domain([0, most > 0 ? most : 1])
    .nice(4)
    .rangeRound([base, headroom]);

/** Wider numbers than these would leave the margin. */
const inMargin =
  ({ format }: Locale, plot: Plot) =>
  (value: number) =>
    value < 100_000 ? (plot.format ?? format.number)(value) : format.compact(value);

/** Lines of up to three whole values, each with its value in the margin. */
function grid(y: ReturnType<typeof scaleOf>, format: (value: number) => string): ComponentChildren {
  const ticks = y.ticks(3).filter((value) => value > 0 && Number.isInteger(value));
  return [
    ticks.map((value) => [
      h('line', { class: 'grid', x1: '0', x2: '100%', y1: y(value), y2: y(value) }),
      h('text', { class: 'end', x: '-8', y: y(value) + 4 }, format(value)),
    ]),
    h('line', { class: 'axis', x1: '0', x2: '100%', y1: y(0), y2: y(0) }),
  ];
}

function axis(places: readonly Place[], step: number): ComponentChildren {
  const isSparse = places.some(({ tick }) => tick === undefined);
  return places.map(({ tick }, index) => {
    const anchor = isSparse ? anchorOf(index, places.length) : 'middle';
    return tick === undefined ? null : h('text', { class: anchor, x: share(index * step + step / 2), y: height - 6 }, tick);
  });
}

/** An axis without values above it. */
const nothing = ({ t }: Locale, places: readonly Place[], step: number): ComponentChildren => [
  h('line', { class: 'axis', x1: '0', x2: '100%', y1: base, y2: base }),
  h('text', { class: 'middle', x: '50%', y: height / 2 }, t.view.plot.none),
  axis(places, step),
];

/** Labels at the ends of many places stay within the plot; those of few have room below their own. */
const anchorOf = (index: number, places: number) => (places < 12 ? 'middle' : index === 0 ? 'start' : index === places - 1 ? 'end' : 'middle');

type Figure = Pick<Lines, 'places' | 'series'> & { readonly drawing: ComponentChildren; readonly hasLinks?: boolean };

function figure(locale: Locale, { id, title, description, format }: Plot, { drawing, places, series, hasLinks = false }: Figure): VNode {
  const { plot } = locale.t.view;
  const read = format ?? locale.format.number;
  const svg = h(
    'svg',
    { class: 'plot', role: hasLinks ? 'group' : 'img', 'aria-labelledby': `${id}-title ${id}-desc`, width: '100%', height },
    h('title', { id: `${id}-title` }, title),
    h('desc', { id: `${id}-desc` }, description),
    drawing,
  );
  const head = h(
    'tr',
    null,
    h('th', { scope: 'col' }, title),
    series.map(({ name }) => h('th', { scope: 'col', class: 'number' }, name)),
  );
  const rows = places.map(({ label }, index) =>
    h(
      'tr',
      null,
      h('th', { scope: 'row' }, label),
      series.map(({ values }) => h('td', { class: 'number' }, cellOf(values[index], read))),
    ),
  );
  return h(
    'figure',
    { class: 'plotted' },
    h('figcaption', null, h('span', { class: 'strong' }, title), series.length > 1 ? legend(series) : null),
    svg,
    h('details', null, h('summary', null, plot.table), h('table', null, h('thead', null, head), h('tbody', null, rows))),
  );
}

const cellOf = (value: number | undefined, read: (value: number) => string) => (value === undefined || Number.isNaN(value) ? '–' : read(value));

const legend = (series: readonly Series[]): VNode =>
  h(
    'ul',
    { class: 'legend' },
    series.map(({ name }, level) =>
      h('li', null, h('svg', { 'aria-hidden': 'true' }, h('rect', { class: `series-${level + 1}`, width: 10, height: 10, rx: 2 })), name),
    ),
  );
