// Typed rows and their processing states, and the history of one pull request: routes and rules.
import { z } from 'zod';
import { type AnyRoute, route } from '../../platform/http/route.ts';
import { storable } from '../../platform/json.ts';
import { queryChoice } from '../../platform/schema.ts';
import { EventPage, Problems, ProcessingCounts, ProcessingState, processingStates } from '../contract.ts';
import { forgeFilter, idPage, pageOf, timePage } from '../paging.ts';
import { allTables, typedTables } from '../typed/tables.ts';
import { typedQuery, type TypedQuery, type TypedTable } from '../typed/typed-table.ts';
import { eventPage } from './events.ts';
import type { DashboardStore } from './store.ts';

/** `pull_requests` → `PullRequests` */
const pascalOf = ({ name }: TypedTable) => name.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());

export const listRoutes = (store: DashboardStore): AnyRoute[] => [...allTables.map((table) => listRoute(table, store)), ...repositoryRoutes(store)];

const listRoute = (table: TypedTable, store: DashboardStore) =>
  route({
    method: 'get',
    path: `/api/v1/${table.path}`,
    operationId: `list${pascalOf(table)}`,
    summary: `The ${table.name.replace('_', ' ')}, by their last change, newest first`,
    description: 'The newest known state of each object, in whatever order its deliveries came. Deleted ones stay, with `deletedAt`.',
    query: table.query,
    answers: { 200: table.page },
    handle: ({ query }) => rowPage(store, table, query),
  });

/** @param query whose cursors are those of `list` */
async function rowPage(store: DashboardStore, table: TypedTable, { list = table.path, ...query }: TypedQuery & { readonly list?: string }) {
  const found = await store.newestRows(table, query);
  return pageOf(list, { ...found, limit: query.limit }, ({ updatedAt, id }) => [updatedAt.getTime(), id]);
}

const { pullRequests } = typedTables;
const { repository: _inPath, ...pullsFilters } = pullRequests.filters;
const pullsList = 'repositories/pulls';
const historyList = 'pulls/history';
const RepositoryPath = z.object({
  owner: z.string().meta({ description: 'The part of `owner/name` before the slash' }),
  repo: z.string().meta({ description: 'The part behind it' }),
});
type RepositoryPath = z.output<typeof RepositoryPath>;
const PullRequestPath = RepositoryPath.extend({ n: z.string().meta({ description: 'The number of the pull request' }) });
const PullRequestHistory = EventPage.extend({
  pullRequest: pullRequests.item.nullable().meta({ description: 'Its state now; null where the repository is none of `Intake__OwnRepositories`' }),
}).meta({ id: 'PullRequestHistory', description: 'A pull request with its events, oldest first' });

const repositoryRoutes = (store: DashboardStore) => [
  route({
    method: 'get',
    path: '/api/v1/repositories/{owner}/{repo}/pulls',
    operationId: 'listRepositoryPullRequests',
    summary: 'The pull requests of a repository, by their last change, newest first',
    description: 'The name of the repository matches in any case; where two forges have one of this name, `forge` chooses.',
    params: RepositoryPath,
    query: typedQuery(pullsFilters, pullsList),
    answers: { 200: pullRequests.page },
    handle: ({ params, query }) => rowPage(store, pullRequests, { ...query, list: pullsList, repository: repositoryName(params) }),
  }),
  route({
    method: 'get',
    path: '/api/v1/repositories/{owner}/{repo}/pulls/{n}',
    operationId: 'getPullRequestHistory',
    summary: 'The history of one pull request: its state now, and the events about it, newest first',
    description: 'A repository that is none of `Intake__OwnRepositories` has events, and no state.',
    params: PullRequestPath,
    query: z.object({ forge: forgeFilter, ...timePage(historyList) }),
    answers: { 200: PullRequestHistory },
    problems: [Problems.pullRequestMissing],
    async handle({ params: { n, ...path }, query: { forge, ...query } }) {
      const repository = repositoryName(path);
      const number = /^[1-9]\d{0,9}$/.test(n) && Number(n) <= maxNumber ? Number(n) : undefined;
      if (number === undefined) throw Problems.pullRequestMissing();
      const filter = { repository, number, forge };
      const pullRequest = (await store.pullRequest(repository, number, forge)) ?? null;
      // A repository that is not ours has events, but no typed rows; an issue's number is no pull request.
      if (!pullRequest && !(await store.knowsPullRequest(filter))) throw Problems.pullRequestMissing();
      return { pullRequest, ...(await eventPage(store, filter, { ...query, list: historyList })) };
    },
  }),
];

const maxNumber = 2 ** 31 - 1;

/** As it is stored: a name that Postgres cannot hold finds nothing instead of failing. */
const repositoryName = ({ owner, repo }: RepositoryPath) => storable(`${owner}/${repo}`);

const ProcessingStates = z.record(z.string(), ProcessingCounts).meta({ id: 'ProcessingStates', description: 'By the path of the table' });

export const processingRoutes = (store: DashboardStore): AnyRoute[] => [
  ...allTables.filter(({ isTracking = false }) => !isTracking).map((table) => processingRoute(table, store)),
  route({
    method: 'get',
    path: '/api/v1/processing-state',
    operationId: 'countProcessingStates',
    summary: 'How many rows of each typed table are in each processing state; 1000 means 1000 or more',
    description: 'A row is PROCESSED once the event log has the event of its last change.',
    answers: { 200: ProcessingStates },
    handle: () => store.processingCounts(),
  }),
];

const unprocessed = processingStates.filter((state) => state !== 'PROCESSED');

function processingRoute(table: TypedTable, store: DashboardStore) {
  const list = `${table.path}/processing`;
  return route({
    method: 'get',
    path: `/api/v1/${list}`,
    operationId: `listUnprocessed${pascalOf(table)}`,
    summary: `The ${table.name.replace('_', ' ')} not yet PROCESSED, or those in one state; first seen first`,
    description: 'For clients that work through new and changed rows.',
    query: z.object({ state: queryChoice(ProcessingState).optional().meta({ description: 'Rows in this state only' }), ...idPage(list) }),
    answers: { 200: table.page },
    async handle({ query: { state, limit, after } }) {
      const rows = await store.rowsInStates(table, { states: state === undefined ? unprocessed : [state], limit, after: after?.[0] });
      return pageOf(list, { rows, limit }, ({ id }) => [id]);
    },
  });
}
