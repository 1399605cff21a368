// All typed tables.
import { branches } from './branches.ts';
import { comments } from './comments.ts';
import { installations } from './installations.ts';
import { issues } from './issues.ts';
import { pullRequests } from './pull-requests.ts';
import { pushes } from './pushes.ts';
import { releases } from './releases.ts';
import { repositories } from './repositories.ts';
import type { TypedTable } from './typed-table.ts';
import { users } from './users.ts';
import { workflowRuns } from './workflow-runs.ts';

/** By the names that overviews have for them, in their order. */
export const typedTables = { branches, comments, issues, pullRequests, pushes, repositories, installations, users, releases, workflowRuns } as const;

/** As they are written: tracking first, and in every process the same, so that locks never cross. */
export const writtenTables: readonly TypedTable[] = [
  releases,
  workflowRuns,
  branches,
  comments,
  issues,
  pullRequests,
  pushes,
  repositories,
  installations,
  users,
];
