// How many workflow runs ended how, by days of a time zone: route and rules.
import { z } from 'zod';
import { type AnyRoute, route } from '../../platform/http/route.ts';
import { typedTables } from '../typed/tables.ts';
import { typedFilters } from '../typed/typed-table.ts';
import { type WorkflowDay, WorkflowSeries } from './contract.ts';
import { createDayStart, DashboardHeaders } from './statistics.ts';
import type { DashboardStore, RunCount } from './store.ts';

export const workflowSeriesRoute = (store: DashboardStore): AnyRoute =>
  route({
    method: 'get',
    path: '/api/v1/workflow-runs/series',
    operationId: 'countWorkflowRuns',
    summary: 'How many workflow runs ended how, by days of a time zone',
    description:
      'A run belongs to the day of `X-Timezone` on which it changed last. Looks at the newest 20 000 runs at most; `from` is the oldest of them where there are more.',
    query: z.object(typedFilters(typedTables.workflowRuns.filters)),
    headers: DashboardHeaders,
    answers: { 200: WorkflowSeries },
    async handle({ query, headers }) {
      const { rows, from } = await store.workflowRunCounts(query);
      return { days: daysOf(rows, createDayStart(headers['X-Timezone'])), from };
    },
  });

/** @param rows in order of time */
function daysOf(rows: readonly RunCount[], dayStart: (instant: Date) => Date): WorkflowDay[] {
  const days = Map.groupBy(rows, ({ start }) => dayStart(start).getTime());
  return [...days].map(([start, counts]) => {
    const ended = counts.filter(({ conclusion, seconds }) => conclusion !== null && seconds !== null);
    const sum = (some: readonly RunCount[], of: (one: RunCount) => number) => some.reduce((total, one) => total + of(one), 0);
    const byConclusion = Map.groupBy(counts, ({ conclusion }) => conclusion ?? '');
    byConclusion.delete('');
    return {
      start: new Date(start),
      runs: sum(counts, ({ runs }) => runs),
      conclusions: Object.fromEntries([...byConclusion].map(([conclusion, some]) => [conclusion, sum(some, ({ runs }) => runs)])),
      averageSeconds: ended.length === 0 ? null : sum(ended, ({ seconds }) => seconds ?? 0) / sum(ended, ({ runs }) => runs),
    };
  });
}
