// The statistics: a series for each source and event, in buckets of six hours or in days of a time zone.
import { z } from 'zod';
import { queryChoice, textFor, TimestampInput } from '../../platform/schema.ts';
import { type Statistics, type StatisticsPoint } from '../contract.ts';
import { createDayStart, timeZone } from './local-days.ts';
import { filterText } from './paging.ts';
import type { Bucket } from './store.ts';

export const StatisticsQuery = z.object({
  source: filterText,
  event: filterText,
  from: TimestampInput.optional(),
  to: TimestampInput.optional(),
  by: queryChoice(['day']).optional(),
});

export const StatisticsHeaders = z.object({
  'X-Timezone': textFor(timeZone, 'must be an IANA time zone')
    .default('UTC')
    .meta({ override: { type: 'string', default: 'UTC', description: 'IANA name of the time zone whose days `by=day` counts in' } }),
});

/** A bucket belongs to the day in which it begins. Order is kept, so the buckets of a day follow each other. */
export function inDays(buckets: readonly Bucket[], zone: string): Bucket[] {
  const dayStart = createDayStart(zone);
  const days: Bucket[] = [];
  for (const bucket of buckets) {
    const day = { ...bucket, start: dayStart(bucket.start) };
    const last = days.at(-1);
    if (last && isSameSeries(last, day) && last.start.getTime() === day.start.getTime()) days[days.length - 1] = sum(last, day);
    else days.push(day);
  }
  return days;
}

const isSameSeries = (one: Pick<Bucket, 'source' | 'event'>, other: Pick<Bucket, 'source' | 'event'>) =>
  one.source === other.source && one.event === other.event;

const sum = (one: Bucket, other: Bucket): Bucket => ({
  ...one,
  received: one.received + other.received,
  duplicates: one.duplicates + other.duplicates,
  bytes: one.bytes + other.bytes,
});

export function seriesOf(buckets: readonly Bucket[]): Statistics['series'] {
  const series: { source: string; event: string; points: StatisticsPoint[] }[] = [];
  for (const { source, event, ...point } of buckets) {
    const last = series.at(-1);
    if (last && isSameSeries(last, { source, event })) last.points.push(point);
    else series.push({ source, event, points: [point] });
  }
  return series;
}
