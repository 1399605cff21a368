// The badges of a console: what happened today, and what needs attention. Route and SQL.
import type { z } from 'zod';
import { type AnyRoute, route } from '../platform/http/route.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import { Counts } from './dashboard/contract.ts';
import { createDayStart, DashboardHeaders } from './dashboard/statistics.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Workers } from './jobs/workers.ts';

/** Each is one range of an index, in its order. */
const upTo = (rows: string) => `(select count(*) from (${rows} limit 1000) counted)`;

type Counted = Pick<z.output<typeof Counts>, 'eventsToday' | 'failedNotifications' | 'waitingNotifications' | 'failedWorkflowRuns'>;
const counts = statement<Counted, [since: Date]>(
  'counts',
  `
  select
    (select coalesce(sum(received), 0) from statistics_hours where hour_start >= $1) as "eventsToday",
    ${upTo(`select from outbox_messages where state = 'failed' order by state, id`)} as "failedNotifications",
    ${upTo(`select from outbox_messages where state = 'pending' order by state, id`)} as "waitingNotifications",
    ${upTo(`select from workflow_runs where conclusion >= 'failure' and conclusion <= 'failure' and updated_at >= $1 order by conclusion, updated_at, id`)}
      as "failedWorkflowRuns"`,
);

type CountsParts = { readonly database: Database; readonly deadLetters: Pick<DeadLetters, 'count'>; readonly workers: Workers; readonly clock: () => Date };

export const countsRoute = ({ database, deadLetters, workers, clock }: CountsParts): AnyRoute =>
  route({
    method: 'get',
    path: '/api/v1/counts',
    operationId: 'getCounts',
    summary: 'Counts of today, and of what waits',
    description: 'One cheap call for the badges of a console.',
    headers: DashboardHeaders,
    answers: { 200: Counts },
    async handle({ headers }) {
      const counted = await database.first(counts, createDayStart(headers['X-Timezone'])(clock()));
      const { eventsToday = 0, failedNotifications = 0, waitingNotifications = 0, failedWorkflowRuns = 0 } = counted ?? {};
      const failedWorkers = await workers.failed();
      return { eventsToday, deadLetters: await deadLetters.count(), failedNotifications, waitingNotifications, failedWorkers, failedWorkflowRuns };
    },
  });
