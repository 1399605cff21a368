// The dashboard API's routes: declarations; what they do is in dashboard/.
import { z } from 'zod';
import { type AnyRoute, route } from '../platform/http/route.ts';
import { Common } from '../platform/problem.ts';
import { Event, EventDetail, listOf, Problems, ProcessingCounts, Sender, Statistics } from './contract.ts';
import { EventQuery, type Events, HistoryQuery, repositoryName } from './dashboard/events.ts';
import { type Lists, processingQuery, Recent, RecentQuery, SenderQuery } from './dashboard/lists.ts';
import { type CountReceived, DashboardHeaders, StatisticsQuery } from './dashboard/statistics.ts';
import { allTables, typedTables } from './typed/tables.ts';
import { typedQuery, type TypedTable } from './typed/typed-table.ts';

export const createRoutes = (events: Events, countReceived: CountReceived, lists: Lists): AnyRoute[] => [
  ...eventRoutes(events),
  ...overviewRoutes(countReceived, lists),
  ...typedRoutes(lists),
  ...repositoryRoutes(events, lists),
];

/** Every route asks the database. */
const problems = [Common.unavailable];

const eventRoutes = (events: Events) => [
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

const overviewRoutes = (countReceived: CountReceived, lists: Lists) => [
  route({
    method: 'get',
    path: '/api/v1/statistics',
    summary: 'How much was received, by source and event; in buckets of six hours, or with `by=day` in days of a time zone',
    query: StatisticsQuery,
    headers: DashboardHeaders,
    answers: { 200: Statistics },
    problems,
    handle: ({ query, headers }) => countReceived(query, headers['X-Timezone']),
  }),
  route({
    method: 'get',
    path: '/api/v1/senders',
    summary: 'Who caused the events in the log, by login',
    query: SenderQuery,
    answers: { 200: listOf(Sender) },
    problems,
    handle: ({ query }) => lists.senders(query),
  }),
  route({
    method: 'get',
    path: '/api/v1/recent',
    summary: 'The newest events and typed rows at a glance',
    query: RecentQuery,
    answers: { 200: Recent },
    problems,
    handle: ({ query }) => lists.recent(query),
  }),
];

const typedRoutes = (lists: Lists): AnyRoute[] => [
  ...allTables.flatMap((table) => [listRoute(table, lists), ...(table.isTracking ? [] : [processingRoute(table, lists)])]),
  route({
    method: 'get',
    path: '/api/v1/processing-state',
    summary: 'How many rows of each typed table are in each processing state; 1000 stands for as many and more',
    answers: { 200: z.record(z.string(), ProcessingCounts) },
    problems,
    handle: () => lists.counts(),
  }),
];

const listRoute = (table: TypedTable, lists: Lists) =>
  route({
    method: 'get',
    path: `/api/v1/${table.path}`,
    summary: `The ${table.name.replace('_', ' ')}, by their last change, newest first`,
    query: table.query,
    answers: { 200: listOf(table.item) },
    problems,
    handle: ({ query }) => lists.typed(table, query),
  });

const processingRoute = (table: TypedTable, lists: Lists) =>
  route({
    method: 'get',
    path: `/api/v1/${table.path}/processing`,
    summary: `The ${table.name.replace('_', ' ')} not yet PROCESSED, or those in one state; first seen first`,
    query: processingQuery(table.path),
    answers: { 200: listOf(table.item) },
    problems,
    handle: ({ query }) => lists.processing(table, query),
  });

const { pullRequests } = typedTables;
const { repository: _inPath, ...pullsFilters } = pullRequests.filters;
const pullsList = 'repositories/pulls';
const RepositoryPath = z.object({ owner: z.string(), repo: z.string() });

const repositoryRoutes = (events: Events, lists: Lists) => [
  route({
    method: 'get',
    path: '/api/v1/repositories/{owner}/{repo}/pulls',
    summary: 'The pull requests of a repository, by their last change, newest first',
    params: RepositoryPath,
    query: typedQuery(pullsFilters, pullsList),
    answers: { 200: listOf(pullRequests.item) },
    problems,
    handle: ({ params, query }) => lists.typed(pullRequests, { ...query, repository: repositoryName(params) }, pullsList),
  }),
  route({
    method: 'get',
    path: '/api/v1/repositories/{owner}/{repo}/pulls/{n}',
    summary: 'The history of one pull request: its state now, and the events about it, newest first',
    params: RepositoryPath.extend({ n: z.string() }),
    query: HistoryQuery,
    answers: { 200: listOf(Event).extend({ pullRequest: pullRequests.item.nullable() }) },
    problems: [Problems.pullRequestMissing, ...problems],
    handle: ({ params, query }) => events.pullRequestHistory(params, query),
  }),
];
