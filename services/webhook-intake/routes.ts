// The dashboard API's routes: declarations; what they do is in dashboard/.
import { z } from 'zod';
import { Common } from '../platform/problem.ts';
import { type AnyRoute, route } from '../platform/http/route.ts';
import { Event, EventDetail, listOf, Problems, Sender, Statistics } from './contract.ts';
import { EventQuery, type Events, HistoryQuery, repositoryName } from './dashboard/events/events.ts';
import { Recent, RecentQuery, type RecentReader } from './dashboard/recent.ts';
import { SenderQuery, type Senders } from './dashboard/senders/senders.ts';
import { StatisticsHeaders, StatisticsQuery, type StatisticsReader } from './dashboard/statistics/statistics.ts';
import { PullRequest } from './dashboard/typed/items.ts';
import { createTypedRoutes } from './dashboard/typed/routes.ts';
import { pullRequests, pullsList, PullsQuery } from './dashboard/typed/tables.ts';
import type { Typed } from './dashboard/typed/typed.ts';

export type RouteParts = {
  readonly events: Events;
  readonly statistics: StatisticsReader;
  readonly typed: Typed;
  readonly senders: Senders;
  readonly recent: RecentReader;
};

export const createRoutes = (parts: RouteParts): AnyRoute[] => [
  ...eventRoutes(parts),
  ...overviewRoutes(parts),
  ...createTypedRoutes(parts.typed),
  ...repositoryRoutes(parts),
];

const eventRoutes = ({ events }: RouteParts) => [
  route({
    method: 'get',
    path: '/api/v1/events',
    summary: 'The event log, newest first',
    query: EventQuery,
    answers: { 200: listOf(Event) },
    handle: ({ query }) => events.list(query),
  }),
  route({
    method: 'get',
    path: '/api/v1/events/{id}',
    summary: 'One event with its headers and payload',
    params: z.object({ id: z.string() }),
    answers: { 200: EventDetail },
    problems: [Problems.eventMissing, Common.unavailable],
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
    handle: ({ query, headers }) => statistics.series(query, headers['X-Timezone']),
  }),
  route({
    method: 'get',
    path: '/api/v1/senders',
    summary: 'Who caused the events in the log, by login',
    query: SenderQuery,
    answers: { 200: listOf(Sender) },
    handle: ({ query }) => senders.list(query),
  }),
  route({
    method: 'get',
    path: '/api/v1/recent',
    summary: 'The newest events and typed rows at a glance',
    query: RecentQuery,
    answers: { 200: Recent },
    handle: ({ query }) => recent.newest(query),
  }),
];

const RepositoryPath = z.object({ owner: z.string(), repo: z.string() });

const repositoryRoutes = ({ events, typed }: RouteParts) => [
  route({
    method: 'get',
    path: '/api/v1/repositories/{owner}/{repo}/pulls',
    summary: 'The pull requests of a repository, by their last change, newest first',
    params: RepositoryPath,
    query: PullsQuery,
    answers: { 200: listOf(PullRequest) },
    handle: ({ params, query }) => typed.list(pullRequests, { ...query, repository: repositoryName(params) }, pullsList),
  }),
  route({
    method: 'get',
    path: '/api/v1/repositories/{owner}/{repo}/pulls/{n}',
    summary: 'The history of one pull request: its state now, and the events about it, newest first',
    params: RepositoryPath.extend({ n: z.string() }),
    query: HistoryQuery,
    answers: { 200: listOf(Event).extend({ pullRequest: PullRequest.nullable() }) },
    problems: [Problems.pullRequestMissing],
    handle: ({ params, query }) => events.pullRequestHistory(params, query),
  }),
];
