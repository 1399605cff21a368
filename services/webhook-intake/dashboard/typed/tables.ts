// The typed tables as the dashboard serves them: path, item, and the columns that may be filtered by.
import { z } from 'zod';
import { queryChoice } from '../../../platform/schema.ts';
import { processingStates } from '../../contract.ts';
import { filterText, timePage, type TimePosition } from '../paging.ts';
import { Branch, Comment, Installation, Issue, PullRequest, Push, Release, Repository, type TypedItem, User, WorkflowRun } from './items.ts';

const isDeleted = queryChoice(['true', 'false']).optional();
const processingState = queryChoice(processingStates).optional();
/** @param list whose cursors it takes: the path, where there is one list of the table only */
const ofAny = (list: string) => ({ processingState, ...timePage(list) });
const deletable = (list: string) => ({ ...ofAny(list), deleted: isDeleted });
const openOrClosed = queryChoice(['open', 'closed']).optional();

export const ownFilters = ['repository', 'state', 'kind', 'status', 'conclusion', 'sender', 'login', 'account'] as const;
type OwnFilter = (typeof ownFilters)[number];

export type TypedQuery = {
  readonly limit: number;
  readonly after?: TimePosition | undefined;
  readonly processingState?: string | undefined;
  readonly deleted?: 'true' | 'false' | undefined;
} & Readonly<Partial<Record<OwnFilter, string | undefined>>>;

export type TypedTable<Item extends TypedItem> = {
  /** Below `/api/v1/`. */
  readonly path: string;
  readonly table: string;
  /** Plural, for people. */
  readonly things: string;
  /** Its members are the columns: `user.login` is `user_login`. */
  readonly item: z.ZodObject & z.ZodType<Item>;
  readonly query: z.ZodObject & z.ZodType<TypedQuery>;
  /** The column behind each filter of its own. */
  readonly filters: Readonly<Partial<Record<OwnFilter, string>>>;
};

type ItemOf<Schema> = Schema extends z.ZodType<infer Item extends TypedItem> ? Item : never;
const table = <Schema extends z.ZodObject & z.ZodType<TypedItem>>(described: Omit<TypedTable<ItemOf<Schema>>, 'item'> & { readonly item: Schema }) => described;

export const branches = table({
  path: 'branches',
  table: 'branches',
  things: 'branches',
  item: Branch,
  query: z.object({ repository: filterText, ...deletable('branches') }),
  filters: { repository: 'repository' },
});

export const comments = table({
  path: 'comments',
  table: 'comments',
  things: 'comments',
  item: Comment,
  query: z.object({ repository: filterText, kind: queryChoice(Comment.shape.kind.options).optional(), sender: filterText, ...deletable('comments') }),
  filters: { repository: 'repository', kind: 'kind', sender: 'user_login' },
});

export const issues = table({
  path: 'issues',
  table: 'issues',
  things: 'issues',
  item: Issue,
  query: z.object({ repository: filterText, state: openOrClosed, sender: filterText, ...deletable('issues') }),
  filters: { repository: 'repository', state: 'state', sender: 'user_login' },
});

const pullsQuery = (list: string) => z.object({ state: openOrClosed, sender: filterText, ...ofAny(list) });

/** The pull requests of one repository. */
export const pullsList = 'repositories/pulls';
export const PullsQuery = pullsQuery(pullsList);

export const pullRequests = table({
  path: 'pull-requests',
  table: 'pull_requests',
  things: 'pull requests',
  item: PullRequest,
  query: pullsQuery('pull-requests').extend({ repository: filterText }),
  filters: { repository: 'repository', state: 'state', sender: 'user_login' },
});

export const pushes = table({
  path: 'pushes',
  table: 'pushes',
  things: 'pushes',
  item: Push,
  query: z.object({ repository: filterText, sender: filterText, ...ofAny('pushes') }),
  filters: { repository: 'repository', sender: 'pusher_name' },
});

export const repositories = table({
  path: 'repositories',
  table: 'repositories',
  things: 'repositories',
  item: Repository,
  query: z.object({ repository: filterText, ...deletable('repositories') }),
  filters: { repository: 'repository' },
});

export const installations = table({
  path: 'installations',
  table: 'installations',
  things: 'installations',
  item: Installation,
  query: z.object({ account: filterText, ...deletable('installations') }),
  filters: { account: 'account_login' },
});

export const users = table({
  path: 'users',
  table: 'users',
  things: 'users',
  item: User,
  query: z.object({ login: filterText, ...ofAny('users') }),
  filters: { login: 'login' },
});

export const releases = table({
  path: 'releases',
  table: 'releases',
  things: 'releases',
  item: Release,
  query: z.object({ repository: filterText, sender: filterText, ...deletable('releases') }),
  filters: { repository: 'repository', sender: 'author_login' },
});

export const workflowRuns = table({
  path: 'workflow-runs',
  table: 'workflow_runs',
  things: 'workflow runs',
  item: WorkflowRun,
  query: z.object({ repository: filterText, status: filterText, conclusion: filterText, sender: filterText, ...ofAny('workflow-runs') }),
  filters: { repository: 'repository', status: 'status', conclusion: 'conclusion', sender: 'actor_login' },
});

/** In the order in which overviews name them. */
export const allTables = { branches, comments, issues, pullRequests, pushes, repositories, installations, users, releases, workflowRuns } as const;
