// Typed rows on the wire: what they share, and the object's own main members under the forge's names.
import { z } from 'zod';
import { Timestamp } from '../../../platform/schema.ts';
import { ProcessingState } from '../../contract.ts';

const text = z.string().nullable();
const integer = z.int().nullable();
const flag = z.boolean().nullable();
const time = Timestamp.nullable();
const account = z.object({ login: text }).nullable();
const tip = z.object({ ref: text, sha: text }).nullable();

export const TypedItem = z.object({
  id: z.uuid(),
  /** The forge's own id of the object; a branch's name, a push's new head. */
  forgeId: z.string(),
  /** owner/name; null where the object is in none. */
  repository: text,
  processingState: ProcessingState,
  firstSeenAt: Timestamp,
  /** The object's own time of change; where it has none, when the relay received it. */
  updatedAt: Timestamp,
  /** Set on what the forge has deleted. */
  deletedAt: time,
});
export type TypedItem = z.output<typeof TypedItem>;

export const Branch = TypedItem.extend({ name: z.string(), sha: text, master_branch: text, pusher_type: text }).meta({ id: 'Branch' });

export const Comment = TypedItem.extend({
  kind: z.enum(['issue_comment', 'commit_comment', 'pull_request_review_comment']),
  /** Of the issue or pull request. */
  number: integer,
  user: account,
  author_association: text,
  body: text,
  commit_id: text,
  path: text,
  line: integer,
  html_url: text,
  created_at: time,
}).meta({ id: 'Comment' });

export const Issue = TypedItem.extend({
  number: z.int(),
  title: text,
  state: text,
  state_reason: text,
  user: account,
  author_association: text,
  locked: flag,
  comments: integer,
  html_url: text,
  created_at: time,
  closed_at: time,
}).meta({ id: 'Issue' });

export const PullRequest = TypedItem.extend({
  number: z.int(),
  title: text,
  state: text,
  draft: flag,
  merged: flag,
  user: account,
  author_association: text,
  head: tip,
  base: tip,
  merge_commit_sha: text,
  commits: integer,
  additions: integer,
  deletions: integer,
  changed_files: integer,
  html_url: text,
  created_at: time,
  closed_at: time,
  merged_at: time,
}).meta({ id: 'PullRequest' });
export type PullRequest = z.output<typeof PullRequest>;

export const Push = TypedItem.extend({
  ref: z.string(),
  before: text,
  after: text,
  created: flag,
  deleted: flag,
  forced: flag,
  commit_count: integer,
  pusher: z.object({ name: text }).nullable(),
  head_commit: z.object({ message: text }).nullable(),
  compare: text,
}).meta({ id: 'Push' });

export const Repository = TypedItem.extend({
  name: text,
  full_name: z.string(),
  owner: account,
  private: flag,
  visibility: text,
  fork: flag,
  archived: flag,
  default_branch: text,
  description: text,
  language: text,
  html_url: text,
  created_at: time,
}).meta({ id: 'Repository' });

export const Installation = TypedItem.extend({
  account,
  app_id: integer,
  app_slug: text,
  target_type: text,
  repository_selection: text,
  html_url: text,
  created_at: time,
  suspended_at: time,
}).meta({ id: 'Installation' });

export const User = TypedItem.extend({ login: z.string(), type: text, site_admin: flag, html_url: text }).meta({ id: 'User' });

export const Release = TypedItem.extend({
  tag_name: text,
  target_commitish: text,
  name: text,
  draft: flag,
  prerelease: flag,
  author: account,
  html_url: text,
  created_at: time,
  published_at: time,
}).meta({ id: 'Release' });

export const WorkflowRun = TypedItem.extend({
  workflow_id: integer,
  name: text,
  run_number: integer,
  event: text,
  status: text,
  conclusion: text,
  head_branch: text,
  head_sha: text,
  actor: account,
  html_url: text,
  created_at: time,
  run_started_at: time,
}).meta({ id: 'WorkflowRun' });
