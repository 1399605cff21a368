// Totals of links by status, newsletters and authors, the newest newsletters, and numbers by day.
import { z } from 'zod';
import { route } from '../platform/http/route.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import { dayMs } from '../platform/time.ts';
import { Problems, Series, Stats } from './contract.ts';
import { success, Success } from './envelope.ts';
import type { LinkStore } from './links/store.ts';
import type { NewsletterLists } from './newsletters/store.ts';
import { queryText, readInteger } from './paging.ts';

const recentNewsletters = 5;
const usualDays = 30;
const mostDays = 366;

// Each table is counted within the days only, off an index. The first day is a parameter: of one that the statement computes, Postgres expects a third of all
// rows, and takes memory for as many groups.
const series = statement<Series[number], [firstDay: Date, lastDay: Date]>(
  'statistics.series',
  `
  with days as (
    select day::date as day from generate_series(($1::timestamptz at time zone 'UTC')::date, ($2::timestamptz at time zone 'UTC')::date, interval '1 day') as day),
  links_in as (
    select (first_seen at time zone 'UTC')::date as day, count(*) as n from links where first_seen >= $1 group by 1),
  decided as (
    select (decided_at at time zone 'UTC')::date as day, count(*) as n from links where status <> 'Awaiting' and decided_at >= $1 group by 1),
  received as (
    select (received_at at time zone 'UTC')::date as day, count(*) as n from newsletters where rejection is null and received_at >= $1 group by 1)
  select to_char(day, 'YYYY-MM-DD') as day, coalesce(links_in.n, 0) as "linksIn", coalesce(decided.n, 0) as decided, coalesce(received.n, 0) as newsletters
  from days left join links_in using (day) left join decided using (day) left join received using (day)
  order by day`,
);

type StatisticsParts = { readonly database: Database; readonly newsletters: NewsletterLists; readonly links: LinkStore; readonly clock: () => Date };

export const statisticsRoutes = ({ database, newsletters, links, clock }: StatisticsParts) => [
  route({
    method: 'get',
    path: '/api/stats',
    operationId: 'getStatistics',
    summary: 'How many links, newsletters and authors there are, and the newest newsletters',
    description: 'Counts are exact. Refused mails are not among the newsletters.',
    answers: { 200: Success(Stats) },
    async handle() {
      const [totals, recent] = await Promise.all([links.totals(), newsletters.stored({ limit: recentNewsletters, offset: 0 })]);
      const { totalLinks = 0, totalNewsletters = 0, totalAuthors = 0, Awaiting = 0, Liked = 0, Discarded = 0, DiscardedAfterReview = 0 } = totals ?? {};
      const recentItems = recent.map(({ id, title, receivedDate, linkCount }) => ({ id, title, receivedDate, linkCount }));
      const statusCounts = { Awaiting, Liked, Discarded, DiscardedAfterReview };
      return success({ statusCounts, totalLinks, totalNewsletters, totalAuthors, recentNewsletters: recentItems });
    },
  }),
  route({
    method: 'get',
    path: '/api/stats/series',
    operationId: 'getSeries',
    summary: 'Links that came in, decisions and newsletters by day',
    description:
      'Each day in UTC has an item, also one on which nothing happened. Newsletters count on the day of their reception, and only the last decision on a link counts.',
    query: z.object({
      days: queryText({ type: 'integer', minimum: 1, maximum: mostDays, default: usualDays, description: 'How many days, today included' }),
    }),
    answers: { 200: Success(Series) },
    problems: [Problems.invalidQuery],
    async handle({ query: { days } }) {
      const today = clock();
      const first = new Date(today.getTime() - ((days === undefined ? usualDays : readInteger('days', days, mostDays)) - 1) * dayMs);
      first.setUTCHours(0, 0, 0, 0);
      return success(await database.all(series, first, today));
    },
  }),
];
