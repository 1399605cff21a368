// Usage by day: confirmed messages, which the publisher counts in memory, written every few seconds, so that no delivery waits for it.
import { z } from 'zod';
import { route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { rowsStatement } from '../../platform/postgres/rows.ts';
import { dayMs, sleepUntil, withTimeout } from '../../platform/time.ts';
import { DailyUsageList, Day } from '../administration-contract.ts';
import { answerInTime } from '../database.ts';

type Row = { readonly day: string; readonly broker: string; readonly messageCount: number };

// In one order everywhere, so that two relays cannot lock each other out.
const add = rowsStatement<unknown, [rows: readonly Row[]]>(
  'usageDays.add',
  [{ day: 'date', broker: 'text', messageCount: 'bigint' }],
  (rows) => `
  insert into broker_usage_days as d (day, broker, message_count)
  select day, broker, message_count from ${rows} as given order by day, broker
  on conflict (day, broker) do update set message_count = d.message_count + excluded.message_count`,
);

const list = statement<Row, [from: string, to: string]>(
  'usageDays.list',
  `
  select day::text as day, broker, message_count as "messageCount" from broker_usage_days
  where day >= $1::date and day <= $2::date order by day desc, broker`,
);

const deleteBefore = statement<unknown, [day: string]>('usageDays.deleteBefore', 'delete from broker_usage_days where day < $1::date');

/** @returns how many rows were deleted */
export const deleteDaysBefore = (database: Database, day: string) => database.run(deleteBefore, day);

const everyMs = 3000;
const closeMs = 2000;
const dayOf = (date: Date) => date.toISOString().slice(0, 10);

type DailyParts = {
  readonly database: Database;
  readonly log: Log;
  readonly clock: () => Date;
  /** Confirmed messages since the last call, by connection. */
  readonly takeConfirmed: () => ReadonlyMap<string, number>;
};

export type DailyUsage = ReturnType<typeof createDailyUsage>;

/** A crash loses what was counted since the last write, some seconds; the monthly count, which limits go by, is another one and loses nothing. */
export function createDailyUsage({ database, log, clock, takeConfirmed }: DailyParts) {
  /** Not written yet, by day and connection. */
  let counts = new Map<string, Row>();
  const closing = new AbortController();
  let isFailing = false;
  let last = Promise.resolve();

  function count({ day, broker, messageCount }: Row): void {
    const key = `${day} ${broker}`;
    counts.set(key, { day, broker, messageCount: (counts.get(key)?.messageCount ?? 0) + messageCount });
  }

  async function write(): Promise<void> {
    const day = dayOf(clock());
    for (const [broker, messageCount] of takeConfirmed()) count({ day, broker, messageCount });
    const rows = [...counts.values()];
    if (rows.length === 0) return;
    counts = new Map();
    try {
      await database.run(add, rows);
      isFailing = false;
    } catch (error) {
      rows.forEach(count);
      if (!isFailing) log.warn({ error }, 'writing usage by day failed, kept in memory and retrying');
      isFailing = true;
    }
  }

  const flush = () => (last = last.then(write));

  async function loop(): Promise<void> {
    while (await sleepUntil(closing.signal, everyMs)) await flush();
  }
  void loop();

  return {
    /** Both days included. */
    async list(from: string | undefined, to: string | undefined): Promise<readonly Row[]> {
      await flush();
      const until = to ?? dayOf(clock());
      return database.all(list, from ?? dayOf(new Date(Date.parse(until) - 30 * dayMs)), until);
    },
    /** Writes what was counted, as far as the database can be asked. Never rejects. */
    async close(): Promise<void> {
      closing.abort();
      await withTimeout(flush(), closeMs, () => undefined);
    },
  };
}

/** The longest range of one answer, some thousand rows. */
const mostDays = 400;

/** Postgres and JavaScript disagree on the days before the year 1. */
const AskedDay = Day.refine((day) => day >= '1970', { error: 'must be a day of 1970 or later' });

export const dailyUsageRoute = (daily: Pick<DailyUsage, 'list'>) =>
  route({
    method: 'get',
    path: '/broker/usage/daily',
    operationId: 'listDailyUsage',
    summary: 'Lists the usage of each day',
    description:
      'Messages that connections confirmed, by day in UTC, over all relays; the last 31 days unless said otherwise. A reset of a monthly count changes nothing here. Days are kept as long as months (`Retention__UsageMonths`).',
    isQueryClosed: true,
    query: z
      .object({
        from: AskedDay.optional().meta({ description: 'The first day; 30 days before `to` unless given' }),
        to: AskedDay.optional().meta({ description: 'The last day; today unless given' }),
      })
      .refine(({ from, to }) => from === undefined || to === undefined || (Date.parse(to) - Date.parse(from)) / dayMs < mostDays, {
        error: `must be at most ${mostDays} days`,
        path: ['from'],
      }),
    answers: { 200: DailyUsageList },
    handle: async ({ query: { from, to } }) => ({ days: [...(await answerInTime(daily.list(from, to)))] }),
  });
