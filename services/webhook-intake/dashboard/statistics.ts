// How much was received, by source and event, in buckets of six hours or in days of a time zone: route and rules.
import { z } from 'zod';
import { type AnyRoute, route } from '../../platform/http/route.ts';
import { queryChoice, textFor, TimestampInput } from '../../platform/schema.ts';
import { dayMs } from '../../platform/time.ts';
import { bucketHours, Statistics } from '../contract.ts';
import { filterText, forgeFilter, sourceFilter } from '../paging.ts';
import type { Bucket, DashboardStore } from './store.ts';

const StatisticsQuery = z
  .object({
    source: sourceFilter,
    forge: forgeFilter,
    event: filterText.meta({ description: 'The kind of the event, such as `issues`' }),
    from: TimestampInput.optional().meta({ description: 'Buckets that begin at this time or later' }),
    to: TimestampInput.optional().meta({ description: 'Buckets that begin before this time' }),
    by: queryChoice(['hour', 'day']).optional().meta({ description: 'Points of an hour or a day instead of six hours; hours are kept for 60 days' }),
  })
  .refine(({ from, to }) => !from || !to || from <= to, { path: ['to'], error: 'must not be before from' });

/** Names of the IANA time zone database, in any case; undefined for anything else, offsets included. */
export function timeZone(name: string): string | undefined {
  if (!/^[a-z]/i.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined; // RangeError: there is no such zone
  }
}

/** On every route of the dashboard: an unknown zone is refused also where nothing is counted by days. */
export const DashboardHeaders = z.object({
  'X-Timezone': textFor(timeZone, 'must be an IANA time zone')
    .default('UTC')
    .meta({
      override: { type: 'string', default: 'UTC' },
      description: 'IANA name of the time zone whose days `by=day` of `statistics` counts in; refused everywhere when there is none of that name',
    }),
});

export const statisticsRoute = (store: DashboardStore): AnyRoute =>
  route({
    method: 'get',
    path: '/api/v1/statistics',
    operationId: 'getStatistics',
    summary: 'How much was received, by source and event; in buckets of six hours, or by=hour, or by=day in days of a time zone',
    description: 'Buckets begin at 0, 6, 12 and 18 hours UTC. With `by=day` a bucket belongs to the day of `X-Timezone` in which it begins.',
    query: StatisticsQuery,
    headers: DashboardHeaders,
    answers: { 200: Statistics },
    async handle({ query: { by, ...filter }, headers }): Promise<Statistics> {
      const buckets = await store.buckets(filter, by === 'hour' ? 'hour' : 'sixHours');
      // A bucket belongs to the day in which it begins.
      return {
        bucketHours: by === 'hour' ? 1 : bucketHours,
        series: seriesOf(buckets, by === 'day' ? createDayStart(headers['X-Timezone']) : (start) => start),
      };
    },
  });

/** Buckets come in order of their series and of time. @param pointStart begin of the point that a bucket belongs to */
function seriesOf(buckets: readonly Bucket[], pointStart: (bucketStart: Date) => Date): Statistics['series'] {
  const series: Statistics['series'] = [];
  for (const { source, event, ...counted } of buckets) {
    let current = series.at(-1);
    if (current?.source !== source || current.event !== event) series.push((current = { source, event, points: [] }));
    const start = pointStart(counted.start);
    const last = current.points.at(-1);
    if (last?.start.getTime() === start.getTime()) {
      last.received += counted.received;
      last.duplicates += counted.duplicates;
      last.bytes += counted.bytes;
    } else current.points.push({ ...counted, start });
  }
  return series;
}

/** @returns when the day began in which an instant lies; that is another hour than 0 where clocks were put forward at midnight */
export function createDayStart(zone: string): (instant: Date) => Date {
  // Sweden writes ISO 8601 but for the `T`: 2026-03-04 18:00:00.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  /** The local time, as if it were UTC. */
  const wallClock = (ms: number): number => Date.parse(`${format.format(ms).replace(' ', 'T')}Z`);
  const known = new Map<number, Date>();

  function find(instant: number): Date {
    const wall = wallClock(instant);
    const midnight = Math.floor(wall / dayMs) * dayMs;
    // The offset may change within the day: midnight is tried with that of the day before too, and the first hit counts.
    const offsets = [wallClock(instant - dayMs) - (instant - dayMs), wall - instant];
    const starts = offsets.map((offset) => midnight - offset).filter((start) => wallClock(start) >= midnight);
    return new Date(Math.min(...starts, instant));
  }

  return (instant) => {
    const found = known.get(instant.getTime()) ?? find(instant.getTime());
    known.set(instant.getTime(), found);
    return found;
  };
}
