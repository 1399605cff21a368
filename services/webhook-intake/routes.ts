// The dashboard API's routes: declarations; what they do is in dashboard/.
import { z } from 'zod';
import { type AnyRoute, route, tagged } from '../platform/http/route.ts';
import { Common } from '../platform/problem.ts';
import { EventDetail, EventPage, listOf, Problems, ProcessingCounts, Sender, Statistics } from './contract.ts';
import { EventQuery, type Events, HistoryQuery, repositoryName } from './dashboard/events.ts';
import { type Lists, processingQuery, Recent, RecentQuery, SenderQuery } from './dashboard/lists.ts';
import { type CountReceived, DashboardHeaders, StatisticsQuery } from './dashboard/statistics.ts';
import { allTables, typedTables } from './typed/tables.ts';
import { typedQuery, type TypedTable } from './typed/typed-table.ts';

export const createRoutes = (events: Events, countReceived: CountReceived, lists: Lists): AnyRoute[] => [
  ...tagged({ name: 'Events', description: 'The log of everything that was received' }, eventRoutes(events)),
  ...tagged({ name: 'Overviews', description: 'Counts, senders, and the newest of everything' }, overviewRoutes(countReceived, lists)),
  ...tagged({ name: 'Current state', description: 'Issues, pull requests, releases and their like, as the newest event left them' }, [
    ...allTables.map((table) => listRoute(table, lists)),
    ...repositoryRoutes(events, lists),
  ]),
  ...tagged({ name: 'Processing', description: 'What is still to be looked at by whoever works through the rows' }, processingRoutes(lists)),
];

/** Every route asks the database. */
const problems = [Common.unavailable];

const eventRoutes = (events: Events) => [
  route({
    method: 'get',
    path: '/api/v1/events',
    operationId: 'listEvents',
    summary: 'The event log, newest first',
    query: EventQuery,
    answers: { 200: EventPage },
    problems,
    handle: ({ query }) => events.list(query),
  }),
  route({
    method: 'get',
    path: '/api/v1/events/{id}',
    operationId: 'getEvent',
    summary: 'One event with its headers and payload',
    params: z.object({ id: z.string().meta({ description: 'The id of the event' }) }),
    answers: { 200: EventDetail },
    problems: [Problems.eventMissing, ...problems],
    handle: ({ params }) => events.get(params.id),
  }),
];

const overviewRoutes = (countReceived: CountReceived, lists: Lists) => [
  route({
    method: 'get',
    path: '/api/v1/statistics',
    operationId: 'getStatistics',
    summary: 'How much was received, by source and event; in buckets of six hours, or with by=day in days of a time zone',
    query: StatisticsQuery,
    headers: DashboardHeaders,
    answers: { 200: Statistics },
    problems,
    handle: ({ query, headers }) => countReceived(query, headers['X-Timezone']),
  }),
  route({
    method: 'get',
    path: '/api/v1/senders',
    operationId: 'listSenders',
    summary: 'Who caused the events in the log, by login',
    query: SenderQuery,
    answers: { 200: listOf(Sender) },
    problems,
    handle: ({ query }) => lists.senders(query),
  }),
  route({
    method: 'get',
    path: '/api/v1/recent',
    operationId: 'listRecent',
    summary: 'The newest events and typed rows at a glance',
    query: RecentQuery,
    answers: { 200: Recent },
    problems,
    handle: ({ query }) => lists.recent(query),
  }),
];

const ProcessingState = z.record(z.string(), ProcessingCounts).meta({ id: 'ProcessingStates', description: 'By the path of the table' });

const processingRoutes = (lists: Lists): AnyRoute[] => [
  ...allTables.filter(({ isTracking = false }) => !isTracking).map((table) => processingRoute(table, lists)),
  route({
    method: 'get',
    path: '/api/v1/processing-state',
    operationId: 'countProcessingStates',
    summary: 'How many rows of each typed table are in each processing state; 1000 stands for as many and more',
    answers: { 200: ProcessingState },
    problems,
    handle: () => lists.counts(),
  }),
];

/** `pull_requests` → `PullRequests` */
const pascalOf = ({ name }: TypedTable) => name.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());

const listRoute = (table: TypedTable, lists: Lists) =>
  route({
    method: 'get',
    path: `/api/v1/${table.path}`,
    operationId: `list${pascalOf(table)}`,
    summary: `The ${table.name.replace('_', ' ')}, by their last change, newest first`,
    query: table.query,
    answers: { 200: table.page },
    problems,
    handle: ({ query }) => lists.typed(table, query),
  });

const processingRoute = (table: TypedTable, lists: Lists) =>
  route({
    method: 'get',
    path: `/api/v1/${table.path}/processing`,
    operationId: `listUnprocessed${pascalOf(table)}`,
    summary: `The ${table.name.replace('_', ' ')} not yet PROCESSED, or those in one state; first seen first`,
    query: processingQuery(table.path),
    answers: { 200: table.page },
    problems,
    handle: ({ query }) => lists.processing(table, query),
  });

const { pullRequests } = typedTables;
const { repository: _inPath, ...pullsFilters } = pullRequests.filters;
const pullsList = 'repositories/pulls';
const RepositoryPath = z.object({
  owner: z.string().meta({ description: 'The part of `owner/name` before the slash' }),
  repo: z.string().meta({ description: 'The part behind it' }),
});
const PullRequestHistory = EventPage.extend({ pullRequest: pullRequests.item.nullable() }).meta({ id: 'PullRequestHistory' });

const repositoryRoutes = (events: Events, lists: Lists) => [
  route({
    method: 'get',
    path: '/api/v1/repositories/{owner}/{repo}/pulls',
    operationId: 'listRepositoryPullRequests',
    summary: 'The pull requests of a repository, by their last change, newest first',
    params: RepositoryPath,
    query: typedQuery(pullsFilters, pullsList),
    answers: { 200: pullRequests.page },
    problems,
    handle: ({ params, query }) => lists.typed(pullRequests, { ...query, repository: repositoryName(params) }, pullsList),
  }),
  route({
    method: 'get',
    path: '/api/v1/repositories/{owner}/{repo}/pulls/{n}',
    operationId: 'getPullRequestHistory',
    summary: 'The history of one pull request: its state now, and the events about it, newest first',
    params: RepositoryPath.extend({ n: z.string().meta({ description: 'The number of the pull request' }) }),
    query: HistoryQuery,
    answers: { 200: PullRequestHistory },
    problems: [Problems.pullRequestMissing, ...problems],
    handle: ({ params, query }) => events.pullRequestHistory(params, query),
  }),
];
