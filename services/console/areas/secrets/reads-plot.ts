// How often secrets are read, by day and environment.
import type { VNode } from '../../view/elements.ts';
import { ReadStatistics } from '../../../secrets/overview/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { dayMs } from '../../../platform/time.ts';
import type { Visit } from '../../pages.ts';
import { besideMs, faultOf, type Part, partOf } from '../../parts.ts';
import type { Locale } from '../../view/locale.ts';
import { stackedBars, withOthers } from '../../view/plots.ts';
import { appRoot } from './application-page.ts';

/** Days between labels, the last of which is that of today. */
const tickDays = 9;

type Reads = AnswerOf<typeof ReadStatistics>;

/** @param secret one of them; default: all */
export const readsOf = ({ ask }: Pick<Visit, 'ask'>, app: string, secret?: string): Promise<Part<Reads>> =>
  partOf(ask('secrets').send({ path: `${appRoot(app)}/reads`, query: { secret }, timeoutMs: besideMs }, ReadStatistics));

/** The plot, or why there is none. */
export const readsPart = (visit: Visit, { value, problem }: Part<Reads>): VNode => (problem ? faultOf(visit, problem) : readsPlot(visit.locale, value));

function readsPlot(locale: Locale, { from, to, series }: Reads): VNode {
  const { reads } = locale.t.secrets;
  const days = Array.from({ length: (Date.parse(to) - Date.parse(from)) / dayMs + 1 }, (_, index) =>
    new Date(Date.parse(from) + index * dayMs).toISOString().slice(0, 10),
  );
  const all = series.map(({ environment: name, points }) => {
    const byDay = new Map(points.map(({ day, reads: count }) => [day, count]));
    return { name, values: days.map((day) => byDay.get(day) ?? 0) };
  });
  const total = all.reduce((sum, { values }) => sum + values.reduce((some, value) => some + value, 0), 0);
  const last = days.length - 1;
  const places = days.map((day, index) => {
    // A day of UTC has its name at its noon in nearly every zone.
    const label = locale.format.day(new Date(`${day}T12:00:00Z`));
    return { label, ...(index % tickDays === last % tickDays && { tick: label }) };
  });
  return stackedBars(
    locale,
    { id: 'reads', title: reads.title, description: reads.description(locale.format.number(total)) },
    { places, series: withOthers(all, reads.others) },
  );
}
