// The log of changes: the connection that became active, and counts that were reset.
import { z } from 'zod';
import { route } from '../../platform/http/route.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { encodeCursor, queryCursor, queryInteger } from '../../platform/schema.ts';
import { ConnectionChangeList } from '../administration-contract.ts';
import { answerInTime } from '../database.ts';

type Change = z.output<typeof ConnectionChangeList>['items'][number];

const list = statement<Change, [before: number | null, limit: number]>(
  'changes.list',
  `
  select id, changed_at as "changedAt", kind, broker, previous, changed_by as "changedBy" from connection_changes
  where $1::bigint is null or id < $1 order by id desc limit $2`,
);
const deleteBefore = statement<unknown, [limit: Date]>('changes.deleteBefore', 'delete from connection_changes where changed_at < $1');

/** @returns how many were deleted */
export const deleteChangesBefore = (database: Database, limit: Date) => database.run(deleteBefore, limit);

export const changesRoute = (database: Database) =>
  route({
    method: 'get',
    path: '/Broker/changes',
    operationId: 'listConnectionChanges',
    summary: 'Lists changes of the active connection, and resets',
    description: 'The newest come first. They are kept as long as usage (`Retention__UsageMonths`).',
    isQueryClosed: true,
    query: z.object({
      limit: queryInteger({ min: 1, max: 200, default: 50 }).meta({ description: 'The most items of a page' }),
      after: queryCursor('changes', z.tuple([z.int()])),
    }),
    answers: { 200: ConnectionChangeList },
    async handle({ query: { limit, after } }) {
      const rows = await answerInTime(database.all(list, after?.[0] ?? null, limit + 1));
      const items = rows.slice(0, limit);
      const last = rows.length > limit ? items.at(-1) : undefined;
      return { items, next: last ? encodeCursor('changes', [last.id]) : null };
    },
  });
