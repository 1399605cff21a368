// Plots of the use of brokers: messages per day, and each quota in this month with its forecast.
import { dayMs } from '../../../platform/time.ts';
import { h, type VNode } from '../../view/elements.ts';
import { type Brokers, type Connection, type DailyUsage, shareOf, shareText } from '../../connections.ts';
import type { Forecast } from '../../../webhook-relay/client.ts';
import { createLocale, type Locale } from '../../view/locale.ts';
import { lines, type Series, stackedBars, together } from '../../view/plots.ts';

const shownDays = 31;
/** Labels at the very ends would touch the next ones on a phone. */
const isTick = (index: number) => index % 7 === 3;
const mostSeries = 5;

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

/** Quotas and usage are counted by days of UTC, whatever the person's zone. */
const dayFormat = ({ language, now }: Locale) => createLocale({ language, zone: 'UTC', now }).format.day;

export function usagePlots(locale: Locale, { connections, days, forecasts }: Brokers): VNode[] {
  const months = connections.map((one, index) => monthPlot(locale, { connection: one, index, days, forecast: forecasts.get(one.name) }));
  return [perDay(locale, days), h('div', { class: 'columns' }, months)];
}

function perDay(locale: Locale, days: DailyUsage): VNode {
  const { brokers } = locale.t.system;
  const today = Math.floor(locale.now.getTime() / dayMs);
  const shown = Array.from({ length: shownDays }, (_, index) => dayOf((today - shownDays + 1 + index) * dayMs));
  const series = largest(
    [...Map.groupBy(days, ({ broker }) => broker)].map(([name, some]) => {
      const counts = new Map(some.map(({ day, messageCount }) => [day, messageCount]));
      return { name, values: shown.map((day) => counts.get(day) ?? 0) };
    }),
    brokers.others,
  );
  const format = dayFormat(locale);
  const places = shown.map((day, index) => {
    const label = format(new Date(day));
    return { label, tick: isTick(index) ? label : undefined };
  });
  const total = sum(series.flatMap(({ values }) => values));
  const plot = { id: 'usage-days', title: brokers.perDay, description: brokers.perDayDescription(locale.format.number(total)) };
  return stackedBars(locale, plot, { places, series });
}

/** By name; beyond five the smallest ones together. */
function largest(series: readonly Series[], others: string): readonly Series[] {
  const kept = series.toSorted((one, other) => sum(other.values) - sum(one.values)).slice(0, mostSeries);
  const rest = series.filter((one) => !kept.includes(one));
  const byName = kept.toSorted((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }));
  return rest.length > 0 ? [...byName, together(others, rest)] : byName;
}

type Month = { readonly connection: Connection; readonly index: number; readonly days: DailyUsage; readonly forecast: Forecast | undefined };

/** The sum of each day until today, so that it ends at the count of the quota; from there the forecast. */
function monthPlot(locale: Locale, { connection, index, days, forecast }: Month): VNode {
  const { system } = locale.t;
  const { brokers } = system;
  const { name, messageCount, monthlyLimit } = connection;
  const { now } = locale;
  const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const length = Math.round((Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - first) / dayMs);
  const today = now.getUTCDate() - 1;
  const counts = new Map(days.flatMap(({ day, broker, messageCount: count }) => (broker === name ? [[day, count] as const] : [])));
  const perDate = Array.from({ length }, (_, date) => counts.get(dayOf(first + date * dayMs)) ?? 0);
  const used = perDate.map((_, date) => (date > today ? NaN : Math.max(0, messageCount - sum(perDate.slice(date + 1, today + 1)))));
  const expected = perDate.map((_, date) => {
    if (!forecast || date < today) return NaN;
    return date === today ? messageCount : Math.round(forecast.usedAt(first + (date + 1) * dayMs));
  });
  const format = dayFormat(locale);
  const places = perDate.map((_, date) => {
    const label = format(new Date(first + date * dayMs));
    return { label, tick: isTick(date) ? label : undefined };
  });
  const text = system.used(locale.format.number(messageCount), locale.format.number(monthlyLimit), shareText(locale, shareOf(connection)));
  return lines(
    locale,
    { id: `usage-${index}`, title: brokers.month(name), description: brokers.monthDescription(`${text}.`) },
    {
      places,
      series: [
        { name: brokers.usedSeries, values: used },
        { name: brokers.forecastSeries, values: expected },
      ],
      limit: { value: monthlyLimit, label: brokers.limit },
    },
  );
}
