// How many rows each typed table must have after some payloads: counted from the payloads by the table of events alone.
import { z } from 'zod';
import type { Example } from './deliveries.ts';

const Id = z.object({ id: z.number() });
const Payload = z.looseObject({
  action: z.string().optional(),
  ref: z.string().optional(),
  ref_type: z.string().optional(),
  before: z.string().optional(),
  after: z.string().optional(),
  repository: z.object({ id: z.number(), full_name: z.string(), pushed_at: z.unknown() }).optional(),
  sender: Id.nullish(),
  member: Id.nullish(),
  issue: z.looseObject({ id: z.number(), pull_request: z.unknown().optional() }).nullish(),
  comment: Id.nullish(),
  pull_request: Id.nullish(),
  installation: Id.nullish(),
  release: Id.nullish(),
  workflow_run: Id.nullish(),
});
type Payload = z.output<typeof Payload>;

const tables = ['branches', 'comments', 'installations', 'issues', 'pull_requests', 'pushes', 'releases', 'repositories', 'users', 'workflow_runs'] as const;
export type RowCounts = Record<(typeof tables)[number], number>;

/** The object that an event stores in each table, as a text that is the same for the same object. */
function objects(event: string, payload: Payload): Partial<Record<keyof RowCounts, unknown>> {
  const { repository, ref = '' } = payload;
  const found: Partial<Record<keyof RowCounts, unknown>> = { repositories: repository?.id, users: payload.sender?.id };
  switch (event) {
    case 'create':
    case 'delete':
      return { ...found, ...(payload.ref_type === 'branch' && { branches: [repository?.id, ref] }) };
    case 'push':
      return {
        ...found,
        pushes: payload,
        ...(ref.startsWith('refs/heads/') && { branches: [repository?.id, ref.replace('refs/heads/', '')] }),
      };
    case 'issue_comment':
    case 'commit_comment':
    case 'pull_request_review_comment':
      return { ...found, comments: [event, payload.comment?.id] };
    case 'issues':
      // A milestone of a pull request comes as one of an issue.
      return { ...found, ...(payload.issue?.pull_request === undefined && { issues: payload.issue?.id }) };
    case 'pull_request':
    case 'pull_request_review':
      return { ...found, pull_requests: payload.pull_request?.id };
    case 'installation':
    case 'installation_repositories':
      return { ...found, installations: payload.installation?.id };
    case 'release':
      return { ...found, releases: payload.release?.id };
    case 'workflow_run':
      return { ...found, workflow_runs: payload.workflow_run?.id };
    default:
      return found;
  }
}

export function expectedRows(examples: readonly Example[]): RowCounts {
  const seen = Object.fromEntries(tables.map((table) => [table, new Set<string>()]));
  for (const { event, payload: raw } of examples) {
    const payload = Payload.parse(raw);
    for (const [table, object] of Object.entries(objects(event, payload))) if (object !== undefined) seen[table]?.add(JSON.stringify(object));
    if (event === 'member' && payload.member) seen['users']?.add(JSON.stringify(payload.member.id));
  }
  const size = (table: keyof RowCounts) => seen[table]?.size ?? 0;
  return {
    branches: size('branches'),
    comments: size('comments'),
    installations: size('installations'),
    issues: size('issues'),
    pull_requests: size('pull_requests'),
    pushes: size('pushes'),
    releases: size('releases'),
    repositories: size('repositories'),
    users: size('users'),
    workflow_runs: size('workflow_runs'),
  };
}
