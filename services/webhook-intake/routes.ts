// The dashboard API's routes: declarations; what they do is in dashboard/.
import { z } from 'zod';
import { type AnyRoute, route } from '../platform/http/route.ts';
import { Common } from '../platform/problem.ts';
import { Event, EventDetail, listOf, Problems, ProcessingCounts, Sender, Statistics } from './contract.ts';
import { type createEvents, EventQuery, HistoryQuery, repositoryName } from './dashboard/events.ts';
import { type createRecent, type createSenders, Recent, RecentQuery, SenderQuery } from './dashboard/overviews.ts';
import { type createStatistics, StatisticsHeaders, StatisticsQuery } from './dashboard/statistics.ts';
import { processingQuery, type Typed } from './dashboard/typed.ts';
import type { TypedItem } from './typed/columns.ts';
import { PullRequest, pullRequests, pullsList, PullsQuery } from './typed/pull-requests.ts';
import { typedTables } from './typed/tables.ts';
import type { TypedTable } from './typed/typed-table.ts';

export type RouteParts = {
  readonly events: ReturnType<typeof createEvents>;
  readonly statistics: ReturnType<typeof createStatistics>;
  readonly typed: Typed;
  readonly senders: ReturnType<typeof createSenders>;
  readonly recent: ReturnType<typeof createRecent>;
};

export const createRoutes = (parts: RouteParts): AnyRoute[] => [
  ...eventRoutes(parts),
  ...overviewRoutes(parts),
  ...typedRoutes(parts.typed),
  ...repositoryRoutes(parts),
];

/** Every route asks the database. */
const problems = [Common.unavailable];

const eventRoutes = ({ events }: RouteParts) => [
  route({
    method: 'get',
    path: '/api/v1/events',
    summary: 'The event log, newest first',
    query: EventQuery,
    answers: { 200: listOf(Event) },
    problems,
    handle: ({ query }) => events.list(query),
  }),
  route({
    method: 'get',
    path: '/api/v1/events/{id}',
    summary: 'One event with its headers and payload',
    params: z.object({ id: z.string() }),
    answers: { 200: EventDetail },
    problems: [Problems.eventMissing, ...problems],
    handle: ({ params }) => events.get(params.id),
  }),
];

const overviewRoutes = ({ statistics, senders, recent }: RouteParts) => [
  route({
    method: 'get',
    path: '/api/v1/statistics',
    summary: 'How much was received, by source and event; in buckets of six hours, or with `by=day` in days of a time zone',
    query: StatisticsQuery,
    headers: StatisticsHeaders,
    answers: { 200: Statistics },
    problems,
    handle: ({ query, headers }) => statistics.series(query, headers['X-Timezone']),
  }),
  route({
    method: 'get',
    path: '/api/v1/senders',
    summary: 'Who caused the events in the log, by login',
    query: SenderQuery,
    answers: { 200: listOf(Sender) },
    problems,
    handle: ({ query }) => senders.list(query),
  }),
  route({
    method: 'get',
    path: '/api/v1/recent',
    summary: 'The newest events and typed rows at a glance',
    query: RecentQuery,
    answers: { 200: Recent },
    problems,
    handle: ({ query }) => recent.newest(query),
  }),
];

function typedRoutes(typed: Typed): AnyRoute[] {
  const { branches, comments, issues, pullRequests, pushes, repositories, installations, users, releases, workflowRuns } = typedTables;
  return [
    ...processedRoutes(branches, typed),
    ...processedRoutes(comments, typed),
    ...processedRoutes(issues, typed),
    ...processedRoutes(pullRequests, typed),
    ...processedRoutes(pushes, typed),
    ...processedRoutes(repositories, typed),
    ...processedRoutes(installations, typed),
    ...processedRoutes(users, typed),
    listRoute(releases, typed),
    listRoute(workflowRuns, typed),
    route({
      method: 'get',
      path: '/api/v1/processing-state',
      summary: 'How many rows of each typed table are in each processing state',
      answers: { 200: z.record(z.string(), ProcessingCounts) },
      problems,
      handle: () => typed.counts(),
    }),
  ];
}

const processedRoutes = <Item extends TypedItem>(table: TypedTable<Item>, typed: Typed) => [listRoute(table, typed), processingRoute(table, typed)];

const listRoute = <Item extends TypedItem>(table: TypedTable<Item>, typed: Typed) =>
  route({
    method: 'get',
    path: `/api/v1/${table.path}`,
    summary: `The ${table.things}, by their last change, newest first`,
    query: table.query,
    answers: { 200: listOf(table.item) },
    problems,
    handle: ({ query }) => typed.list(table, query),
  });

const processingRoute = <Item extends TypedItem>(table: TypedTable<Item>, typed: Typed) =>
  route({
    method: 'get',
    path: `/api/v1/${table.path}/processing`,
    summary: `The ${table.things} not yet PROCESSED, or those in one state; first seen first`,
    query: processingQuery(table.path),
    answers: { 200: listOf(table.item) },
    problems,
    handle: ({ query }) => typed.processing(table, query),
  });

const RepositoryPath = z.object({ owner: z.string(), repo: z.string() });

const repositoryRoutes = ({ events, typed }: RouteParts) => [
  route({
    method: 'get',
    path: '/api/v1/repositories/{owner}/{repo}/pulls',
    summary: 'The pull requests of a repository, by their last change, newest first',
    params: RepositoryPath,
    query: PullsQuery,
    answers: { 200: listOf(PullRequest) },
    problems,
    handle: ({ params, query }) => typed.list(pullRequests, { ...query, repository: repositoryName(params) }, pullsList),
  }),
  route({
    method: 'get',
    path: '/api/v1/repositories/{owner}/{repo}/pulls/{n}',
    summary: 'The history of one pull request: its state now, and the events about it, newest first',
    params: RepositoryPath.extend({ n: z.string() }),
    query: HistoryQuery,
    answers: { 200: listOf(Event).extend({ pullRequest: PullRequest.nullable() }) },
    problems: [Problems.pullRequestMissing, ...problems],
    handle: ({ params, query }) => events.pullRequestHistory(params, query),
  }),
];
