// Deliveries per hour or day, by source, or by kind of event where there is one source only.
import { z } from 'zod';
import { dayMs, hourMs } from '../platform/time.ts';
import type { VNode } from './view/elements.ts';
import { Statistics } from '../webhook-intake/contract.ts';
import type { Visit } from './pages.ts';
import { besideMs } from './parts.ts';
import type { Locale } from './view/locale.ts';
import { stackedBars, withOthers } from './view/plots.ts';

export const PlotSpan = z.enum(['hours', 'days']);
export type PlotSpan = z.output<typeof PlotSpan>;

const spans = { hours: { by: 'hour', ms: hourMs, places: 24 }, days: { by: 'day', ms: dayMs, places: 30 } } as const;

/** Statistics are counted by source, forge and event. */
export type Plotted = {
  readonly span: PlotSpan;
  readonly source?: string | undefined;
  readonly forge?: string | undefined;
  readonly event?: string | undefined;
};

export async function deliveriesPlot(
  { ask, locale, person: { zone } }: Pick<Visit, 'ask' | 'locale' | 'person'>,
  { span, ...filter }: Plotted,
): Promise<VNode> {
  const { by, ms, places } = spans[span];
  const from = new Date(Math.floor(locale.now.getTime() / ms) * ms - (places - 1) * ms).toISOString();
  const { series } = await ask('intake').send(
    { path: '/api/v1/statistics', query: { ...filter, by, from }, headers: { 'X-Timezone': zone }, timeoutMs: besideMs },
    Statistics,
  );
  const { events } = locale.t;
  const starts = startsOf(
    series.flatMap(({ points }) => points.map(({ start }) => Date.parse(start))),
    { end: locale.now.getTime(), ms, places },
  );
  const names = new Set(series.map((one) => one.source));
  const named = largest(series, { by: names.size > 1 ? 'source' : 'event', starts, others: events.plot.others });
  const total = named.reduce((sum, { values }) => sum + values.reduce((all, value) => all + value, 0), 0);
  return stackedBars(
    locale,
    { id: 'deliveries', title: events.plot[span], description: events.plot.description(locale.format.number(total)) },
    { places: starts.map((start, index) => placeOf(locale, span, { start, index })), series: named },
  );
}

type Axis = { readonly end: number; readonly ms: number; readonly places: number };

/** Every hour or day, also those without a delivery. Days begin when the intake says; without a delivery they are 24 hours before the next. */
function startsOf(known: readonly number[], { end, ms, places }: Axis): number[] {
  const latest = known.length > 0 ? Math.max(...known) : Math.floor(end / ms) * ms;
  const last = latest + Math.floor((end - latest) / ms) * ms;
  return Array.from({ length: places }, (_, index) => last - (places - 1 - index) * ms);
}

function placeOf({ format }: Locale, span: PlotSpan, { start, index }: { readonly start: number; readonly index: number }) {
  const at = new Date(start);
  const label = span === 'hours' ? format.time(at) : format.day(at);
  return { label, ...((span === 'hours' ? index % 6 === 0 : index % 7 === 3) && { tick: label }) };
}

type Counted = { readonly source: string; readonly event: string; readonly points: readonly { readonly start: string; readonly received: number }[] };

type Largest = { readonly by: 'source' | 'event'; readonly starts: readonly number[]; readonly others: string };

/** The largest series, and the others together. */
function largest(series: readonly Counted[], { by, starts, others }: Largest) {
  const [first = 0] = starts;
  const step = (starts[1] ?? first + 1) - first;
  const sums = [...Map.groupBy(series, (one) => one[by])].map(([name, some]) => {
    const values = starts.map(() => 0);
    for (const { start, received } of some.flatMap(({ points }) => points)) {
      // A day of 23 or 25 hours begins beside its place.
      const place = Math.round((Date.parse(start) - first) / step);
      if (place >= 0 && place < values.length) values[place] = (values[place] ?? 0) + received;
    }
    return { name, values, sum: values.reduce((all, value) => all + value, 0) };
  });
  const sorted = sums.filter(({ sum }) => sum > 0).toSorted((one, other) => other.sum - one.sum);
  return withOthers(sorted, others);
}
