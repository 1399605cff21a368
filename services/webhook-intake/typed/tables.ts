// The typed tables: the items of each, what they can be filtered by, and what an event means for them. A member of an item is a column: a
// migration adds it.
import { z } from 'zod';
import { isZeros } from '../../forges/gitea.ts';
import { idOf, integerAt, isObject, type JsonObject, memberAt, objectAt, textAt, timeAt } from '../../platform/json.ts';
import {
  account,
  bigInteger,
  type Change,
  CommentKind,
  commentKinds,
  flag,
  type ForgeEvent,
  integer,
  stateAsReceived,
  stateOf,
  text,
  time,
} from './typed-table.ts';
import { TypedItem, type TypedTable, typedTable } from './typed-table.ts';

// Releases of every repository.
const releases = typedTable({
  name: 'releases',
  item: TypedItem.extend({
    tag_name: text('v1.2.0', 'The tag'),
    target_commitish: text('main', 'The branch or commit that the tag is made from'),
    name: text('Version 1.2', 'The title'),
    draft: flag('Whether it is not published yet'),
    prerelease: flag('Whether it is not ready for production'),
    author: account('The user who made it'),
    html_url: text('https://github.com/me/mine', 'Its page on the forge'),
    created_at: time('When it was made'),
    published_at: time('When it was published'),
  }).meta({ id: 'Release', description: 'A release of a repository' }),
  isTracking: true,
  filters: { repository: 'repository', sender: 'author_login', deleted: 'deleted_at' },
  changes: (event) =>
    event.event === 'release' ? stateOf(event, objectAt(event.payload, 'release'), { isDeleted: event.action === 'deleted', rank: isPublished }) : [],
});

const isPublished = ({ draft }: JsonObject) => (draft === true ? 0 : 1);

// Workflow runs of every repository; a rerun is the same run with a higher attempt.
const workflowRuns = typedTable({
  name: 'workflow_runs',
  item: TypedItem.extend({
    workflow_id: bigInteger(161335, 'The id of the workflow'),
    name: text('CI', 'The name of the workflow'),
    run_number: integer(482, 'Counts the runs of the workflow'),
    event: text('push', 'The event that started it'),
    status: text('completed', 'Where it is: queued, in_progress, completed or another word of the forge'),
    conclusion: text('success', 'How it ended: success, failure, cancelled or another word of the forge; null until then'),
    head_branch: text('main', 'The branch of its commit'),
    head_sha: text('6dcb09b5b57875f334f61aebed695e2e4193db5e', 'Its commit'),
    actor: account('The user who caused it'),
    html_url: text('https://github.com/me/mine', 'Its page on the forge'),
    created_at: time('When it was made'),
    run_started_at: time('When its newest attempt started'),
  }).meta({ id: 'WorkflowRun', description: 'A run of a workflow of GitHub Actions or of Gitea or Forgejo Actions' }),
  isTracking: true,
  // Gitea tells it in deliveries, and not in lists of its API.
  kept: { name: ['name'] },
  // Gitea counts no attempts: a run that was completed and is not any more runs again.
  isAgain: { column: 'status', from: 'completed' },
  filters: {
    repository: 'repository',
    branch: 'head_branch',
    name: 'name',
    status: 'status',
    conclusion: 'conclusion',
    sender: 'actor_login',
    deleted: 'deleted_at',
  },
  changes: (event) => {
    const run = event.event === 'workflow_run' ? objectAt(event.payload, 'workflow_run') : undefined;
    const isRerun = event.action === 'requested' && (integerAt(run, 'run_attempt') ?? 1) > 1;
    return stateOf(event, run, { isRequested: isRerun, rank: progressOf });
  },
});

const progressOf = ({ status }: JsonObject) => (status === 'completed' ? 2 : status === 'in_progress' ? 1 : 0);

// Branches: their creation, their head, their deletion.
const branches = typedTable({
  name: 'branches',
  item: TypedItem.extend({
    name: z.string().meta({ description: 'The name', examples: ['main'] }),
    sha: text('6dcb09b5b57875f334f61aebed695e2e4193db5e', 'The commit of its head; null until the first push'),
    master_branch: text('main', 'The default branch of the repository'),
    pusher_type: text('user', 'The kind of account that created or deleted it'),
  }).meta({ id: 'Branch', description: 'A branch of a repository' }),
  kept: { sha: ['sha'], pusher_type: ['pusher_type'] },
  filters: { repository: 'repository', deleted: 'deleted_at' },
  changes: (event) => {
    if (event.event === 'push') return pushed(event);
    if (event.event !== 'create' && event.event !== 'delete') return [];
    if (textAt(event.payload, 'ref_type') !== 'branch') return [];
    // Gitea and Forgejo tell the head, too: a branch that was renamed has no push.
    const members = { pusher_type: memberAt(event.payload, 'pusher_type'), sha: memberAt(event.payload, 'sha') };
    return branch(event, { name: textAt(event.payload, 'ref'), isDeleted: event.event === 'delete', members });
  },
});

const prefix = 'refs/heads/';

function pushed(event: ForgeEvent): readonly Change[] {
  const { payload } = event;
  const ref = textAt(payload, 'ref') ?? '';
  if (!ref.startsWith(prefix) || isEmptyPush(payload)) return [];
  const after = memberAt(payload, 'after');
  const isDeleted = memberAt(payload, 'deleted') === true || isZeros(after);
  // A push that deletes has a head of zeros, which is none.
  const members = isDeleted ? {} : { sha: after, head_commit: memberAt(payload, 'head_commit') };
  return branch(event, { name: ref.slice(prefix.length), isDeleted, members });
}

/** The test delivery of a webhook's page, which pushes nothing: from zeros to zeros, or from the newest commit to itself. */
const isEmptyPush = (payload: unknown) => isObject(payload) && payload['after'] !== undefined && payload['after'] === payload['before'];

type State = { readonly name: string | undefined; readonly isDeleted: boolean; readonly members: JsonObject };

// A branch has no id: it is its name in its repository, and may come again after its deletion. Its time is that of the repository's last push.
function branch(event: ForgeEvent, { name, isDeleted, members }: State): readonly Change[] {
  const { payload } = event;
  const repository = objectAt(payload, 'repository');
  const id = idOf(repository);
  if (name === undefined || id === undefined) return [];
  const updatedAt = timeAt(repository, 'pushed_at') ?? timeAt(repository, 'updated_at') ?? event.receivedAt;
  const mainBranch = memberAt(payload, 'master_branch') ?? memberAt(repository, 'default_branch');
  const object = { name, master_branch: mainBranch, ...members };
  // A branch that was deleted may be there again within the same second: the time of reception tells.
  return stateOf(event, object, { key: `${id}:${name}`, forgeId: name, updatedAt, isDeleted }).map((change) => ({ ...change, rank: 0 }));
}

// Comments on issues, commits and changes, told apart by the event that brings them: each kind numbers its own.
const comments = typedTable({
  name: 'comments',
  item: TypedItem.extend({
    kind: CommentKind.meta({ description: 'The event that brings it; each kind counts its own ids' }),
    number: integer(7, 'The number of the issue or pull request'),
    user: account('The author'),
    author_association: text('CONTRIBUTOR', "The author's relation to the repository"),
    body: text('Looks good to me', 'The text'),
    commit_id: text('6dcb09b5b57875f334f61aebed695e2e4193db5e', 'The commit that it is about'),
    path: text('README.md', 'The file that it is about'),
    line: integer(12, 'The line of the file'),
    html_url: text('https://github.com/me/mine', 'Its page on the forge'),
    created_at: time('When it was written'),
  }).meta({ id: 'Comment', description: 'A comment on an issue, pull request or commit' }),
  alternatives: { line: ['original_line'] },
  filters: { repository: 'repository', kind: 'kind', sender: 'user_login', deleted: 'deleted_at' },
  changes: (event) => {
    const comment = commentKinds.some((kind) => kind === event.event) ? objectAt(event.payload, 'comment') : undefined;
    const id = idOf(comment);
    if (!comment || id === undefined) return [];
    const number = memberAt(event.payload, 'issue', 'number') ?? memberAt(event.payload, 'pull_request', 'number');
    return stateOf(event, { ...comment, kind: event.event, number }, { key: `${event.event}:${id}`, isDeleted: event.action === 'deleted' });
  },
});

const issues = typedTable({
  name: 'issues',
  item: TypedItem.extend({
    number: z.int32().meta({ description: 'The number within the repository', examples: [7] }),
    title: text('Spelling error in the README file', 'The title'),
    state: text('open', 'open or closed'),
    state_reason: text(null, 'Why it has its state, such as completed or not_planned'),
    user: account('The author'),
    author_association: text('CONTRIBUTOR', "The author's relation to the repository"),
    locked: flag('Whether comments are limited'),
    comments: integer(3, 'How many comments it has'),
    html_url: text('https://github.com/me/mine', 'Its page on the forge'),
    created_at: time('When it was opened'),
    closed_at: time('When it was closed'),
  }).meta({ id: 'Issue', description: 'An issue' }),
  filters: { repository: 'repository', state: 'state', sender: 'user_login', deleted: 'deleted_at' },
  changes: (event) => {
    // A comment tells how many there are now.
    const issue = event.event === 'issues' || event.event === 'issue_comment' ? objectAt(event.payload, 'issue') : undefined;
    // A pull request is an issue, too, which has its own table: GitHub tells its comments and milestones as those of an issue.
    if (objectAt(issue, 'pull_request')) return [];
    // A transferred issue is another one in its new repository.
    const isGone = event.event === 'issues' && (event.action === 'deleted' || event.action === 'transferred');
    return stateOf(event, issue, { isDeleted: isGone, rank: isClosed });
  },
});

const isClosed = ({ state }: JsonObject) => (state === 'closed' ? 1 : 0);

// Pull requests, from their own events and from reviews of them; checks that are asked for again ask for them again.
const Tip = z
  .object({ ref: text('main', 'The name of the branch'), sha: text('6dcb09b5b57875f334f61aebed695e2e4193db5e', 'Its commit') })
  .meta({ id: 'GitRef', description: 'An end of a pull request' });
const tip = (description: string) => Tip.nullable().meta({ description });

const pullRequests = typedTable({
  name: 'pull_requests',
  item: TypedItem.extend({
    number: z.int32().meta({ description: 'The number within the repository', examples: [7] }),
    title: text('Spelling error in the README file', 'The title'),
    state: text('open', 'open or closed'),
    draft: flag('Whether it is not ready for review'),
    merged: flag('Whether it was merged'),
    user: account('The author'),
    author_association: text('CONTRIBUTOR', "The author's relation to the repository"),
    head: tip('The branch with the changes'),
    base: tip('The branch that the changes go to'),
    merge_commit_sha: text(null, 'The commit of the merge'),
    commits: integer(2, 'How many commits it has'),
    additions: integer(40, 'How many lines it adds'),
    deletions: integer(8, 'How many lines it deletes'),
    changed_files: integer(3, 'How many files it changes'),
    html_url: text('https://github.com/me/mine', 'Its page on the forge'),
    created_at: time('When it was opened'),
    closed_at: time('When it was closed'),
    merged_at: time('When it was merged'),
  }).meta({ id: 'PullRequest', description: 'A pull request' }),
  // A review carries its pull request without these.
  kept: { merged: ['merged', 'merge_commit_sha', 'commits', 'additions', 'deletions', 'changed_files'] },
  filters: { repository: 'repository', state: 'state', sender: 'user_login', deleted: 'deleted_at' },
  changes: (event) => {
    const pull = objectAt(event.payload, 'pull_request');
    if (event.event === 'pull_request') return stateOf(event, pull, { isDeleted: event.action === 'deleted', rank: mergedOrClosed });
    if (event.event === 'pull_request_review') return stateOf(event, pull, { rank: mergedOrClosed });
    return requestedAgain(event);
  },
});

const mergedOrClosed = (pull: JsonObject) => (pull['merged'] === true || textAt(pull, 'merged_at') !== undefined ? 2 : isClosed(pull));

const reruns = new Map([
  ['check_run', 'rerequested'],
  ['check_suite', 'rerequested'],
  ['workflow_run', 'requested'],
]);

function requestedAgain(event: ForgeEvent): readonly Change[] {
  const subject = objectAt(event.payload, event.event);
  if (!subject || reruns.get(event.event) !== event.action) return [];
  if (event.event === 'workflow_run' && !(Number(memberAt(subject, 'run_attempt')) > 1)) return [];
  const named = memberAt(subject, 'pull_requests');
  return (Array.isArray(named) ? named : []).flatMap((one: unknown) =>
    stateAsReceived(event, isObject(one) ? one : undefined, { kind: 'request', isRequested: true }),
  );
}

// Pushes, of branches and tags alike; a push never changes.
const pushes = typedTable({
  name: 'pushes',
  item: TypedItem.extend({
    ref: z.string().meta({ description: 'The full name of the branch or tag', examples: ['refs/heads/main'] }),
    before: text('6113728f27ae82c7b1a177c8d03f9e96e0adf246', 'The commit before the push; zeros for a new branch or tag'),
    after: text('6dcb09b5b57875f334f61aebed695e2e4193db5e', 'The commit after the push; zeros for a deleted branch or tag'),
    created: flag('Whether it created the branch or tag'),
    deleted: flag('Whether it deleted the branch or tag'),
    forced: flag('Whether it was forced'),
    commit_count: integer(2, 'How many commits were pushed'),
    pusher: z
      .object({ name: text('octocat', 'The login') })
      .meta({ id: 'Pusher', description: 'The account that pushed' })
      .nullable()
      .meta({ description: 'The account that pushed' }),
    head_commit: z
      .object({ message: text('Update README.md', 'The message') })
      .meta({ id: 'HeadCommit', description: 'The newest commit of a push' })
      .nullable()
      .meta({ description: 'The newest commit' }),
    compare: text('https://github.com/me/mine/compare/6113728f27ae...6dcb09b5b578', 'The page that compares before and after'),
  }).meta({ id: 'Push', description: 'A push to a branch or tag' }),
  filters: { repository: 'repository', sender: 'pusher_name', deleted: 'deleted_at' },
  changes: (event) => {
    const { payload } = event;
    if (event.event !== 'push' || !isObject(payload) || isEmptyPush(payload)) return [];
    const commits = memberAt(payload, 'commits');
    const push = { ...withoutContext(payload), commit_count: integerAt(payload, 'commit_count') ?? (Array.isArray(commits) ? commits.length : undefined) };
    // A push has no id, and the same commits may be pushed back and forth: each delivery is one.
    return stateAsReceived(event, push, { key: event.digest ?? event.deliveryId, forgeId: textAt(payload, 'after') ?? '' });
  },
});

// The payload is the push itself, in the company of what every event carries.
const context = new Set(['repository', 'organization', 'sender', 'installation', 'enterprise']);
const withoutContext = (payload: JsonObject): JsonObject => Object.fromEntries(Object.entries(payload).filter(([name]) => !context.has(name)));

// Repositories, as the newest event of any kind tells them: forges send none of their own for many changes, or to many hooks.
const repositories = typedTable({
  name: 'repositories',
  item: TypedItem.extend({
    name: text('mine', 'The name without its owner'),
    full_name: z.string().meta({ description: '`owner/name`', examples: ['me/mine'] }),
    owner: account('The owner'),
    private: flag('Whether it is private'),
    visibility: text('private', 'public, private or internal'),
    fork: flag('Whether it is a fork'),
    archived: flag('Whether it is archived'),
    default_branch: text('main', 'The default branch'),
    description: text('Signals of a railway', 'The description'),
    language: text('TypeScript', 'The main programming language'),
    html_url: text('https://github.com/me/mine', 'Its page on the forge'),
    created_at: time('When it was made'),
  }).meta({ id: 'Repository', description: 'A repository of a forge' }),
  alternatives: { owner_login: ['owner', 'name'] },
  filters: { repository: 'repository', deleted: 'deleted_at' },
  isMentioned: true,
  changes: (event) => stateOf(event, objectAt(event.payload, 'repository'), { isDeleted: event.event === 'repository' && event.action === 'deleted' }),
});

// Installations of the forge's app.
const installations = typedTable({
  name: 'installations',
  item: TypedItem.extend({
    account: account('The account that has the app installed'),
    app_id: bigInteger(29310, 'The id of the app'),
    app_slug: text('signalbox', 'The name of the app in addresses'),
    target_type: text('User', 'The kind of account, User or Organization'),
    repository_selection: text('selected', 'Whether it has access to all or selected repositories'),
    html_url: text('https://github.com/me/mine', 'Its page on the forge'),
    created_at: time('When it was made'),
    suspended_at: time('When it was suspended; null while it works'),
  }).meta({ id: 'Installation', description: 'An installation of a GitHub App' }),
  filters: { account: 'account_login', deleted: 'deleted_at' },
  changes: (event) => {
    if (event.event !== 'installation' && event.event !== 'installation_repositories') return [];
    const isDeleted = event.event === 'installation' && event.action === 'deleted';
    return stateOf(event, objectAt(event.payload, 'installation'), { isDeleted });
  },
});

// Users: members and senders, as the newest event tells them.
const users = typedTable({
  name: 'users',
  item: TypedItem.extend({
    login: z.string().meta({ description: 'The login', examples: ['octocat'] }),
    type: text('User', 'User, Bot or Organization'),
    site_admin: flag('Whether the user administers the forge'),
    html_url: text('https://github.com/me/mine', 'The page on the forge'),
  }).meta({ id: 'User', description: 'An account of a forge' }),
  filters: { login: 'login' },
  isMentioned: true,
  changes: (event) => [
    ...(event.event === 'member' ? stateAsReceived(event, objectAt(event.payload, 'member')) : []),
    ...stateAsReceived(event, objectAt(event.payload, 'sender')),
  ],
});

/**
 * By their names in overviews. Written in this order in every process, so that locks never cross; repositories first, since what hangs on them takes
 * their name and follows their deletion.
 */
export const typedTables = { repositories, releases, workflowRuns, branches, comments, issues, pullRequests, pushes, installations, users } as const;
export const allTables: readonly TypedTable[] = Object.values(typedTables);
