// The typed tables in the order in which they are written: tracking first, and in every process the same, so that locks never cross.
import { branches } from './tables/branches.ts';
import { comments } from './tables/comments.ts';
import { installations } from './tables/installations.ts';
import { issues } from './tables/issues.ts';
import { pullRequests } from './tables/pull-requests.ts';
import { pushes } from './tables/pushes.ts';
import { releases } from './tables/releases.ts';
import { repositories } from './tables/repositories.ts';
import { users } from './tables/users.ts';
import { workflowRuns } from './tables/workflow-runs.ts';
import type { TypedTable } from './typed-table.ts';

export const typedTables: readonly TypedTable[] = [
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
