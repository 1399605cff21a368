// Gitea and Forgejo. Their webhooks have the form of GitHub, with other words and members; the headers of GitHub come beside their own.
// Sources: services/webhook, modules/webhook/type.go and modules/structs/hook.go of both.
import { integerAt, isObject, type JsonObject, memberAt, objectAt, textAt } from '../platform/json.ts';
import type { Forge, ForgeWords } from './forge.ts';
import { github, hubSignature } from './github.ts';

const describe = (kind: string, name: string): Forge => ({
  kind,
  name,
  recognisedBy: [`x-${kind}-event`, `x-${kind}-event-type`, `x-${kind}-delivery`, `x-${kind}-signature`],
  headers: {
    event: [`x-${kind}-event`],
    eventType: [`x-${kind}-event-type`, 'x-github-event-type'],
    deliveryId: [`x-${kind}-delivery`],
    hookId: [],
    targetId: [],
    targetType: [`x-${kind}-hook-installation-target-type`],
    host: [],
  },
  signature: hubSignature,
  otherSignatures: {
    [`X-${name}-Signature`]: `a proxy dropped X-Hub-Signature-256, or this ${name} is too old to send it`,
    ...github.otherSignatures,
  },
  eventOf,
  payloadOf: inGithubForm,
});

export const gitea = describe('gitea', 'Gitea');
export const forgejo: Forge = {
  ...describe('forgejo', 'Forgejo'),
  payloadOf: (event, payload) => inGithubForm(event, event === 'workflow_job' ? forgejoJobForm(payload) : payload),
};

/** GitHub Enterprise Server has its API at /api/v3. */
export const isGiteaApi = (url: string): boolean => /\/api\/v1\/?$/.test(new URL(url).pathname);

/** GitHub's word for an event, by the forge's word or by its finer one. As an event `pull_request_comment` can be a review, as a type it is a comment. */
const events = new Map([
  ['issue_assign', 'issues'],
  ['issue_label', 'issues'],
  ['issue_milestone', 'issues'],
  ['pull_request_assign', 'pull_request'],
  ['pull_request_label', 'pull_request'],
  ['pull_request_milestone', 'pull_request'],
  ['pull_request_sync', 'pull_request'],
  ['pull_request_review_request', 'pull_request'],
  ['pull_request_comment', 'issue_comment'],
  ['pull_request_approved', 'pull_request_review'],
  ['pull_request_rejected', 'pull_request_review'],
  ['pull_request_review_approved', 'pull_request_review'],
  ['pull_request_review_rejected', 'pull_request_review'],
  ['wiki', 'gollum'],
  ['action_run_success', 'workflow_run'],
  ['action_run_failure', 'workflow_run'],
  ['action_run_recover', 'workflow_run'],
]);

// Forgejo and older releases of Gitea send an empty event for packages, with the type beside it.
function eventOf({ event, eventType, action }: ForgeWords): string {
  if (action === 'reviewed') return 'pull_request_review';
  return events.get(eventType) ?? events.get(event) ?? (event || eventType);
}

/** GitHub's word for an action, by `event.action` or for every event. */
const actions = new Map([
  ['pull_request_review.reviewed', 'submitted'],
  ['pull_request.synchronized', 'synchronize'],
  ['label_updated', 'labeled'],
  ['label_cleared', 'unlabeled'],
  ['release.updated', 'edited'],
  ['package.created', 'published'],
  ['workflow_run.success', 'completed'],
  ['workflow_run.failure', 'completed'],
  ['workflow_run.recover', 'completed'],
]);

function actionOf(event: string, payload: JsonObject): unknown {
  const action = memberAt(payload, 'action');
  if (typeof action !== 'string') return action;
  if (action === 'label_updated' && onlyRemovesLabels(payload)) return 'unlabeled';
  return actions.get(`${event}.${action}`) ?? actions.get(action) ?? action;
}

const isFilled = (list: unknown) => Array.isArray(list) && list.length > 0;
const onlyRemovesLabels = ({ changes }: JsonObject) => isFilled(memberAt(changes, 'removed_labels')) && !isFilled(memberAt(changes, 'added_labels'));

type Form = (payload: JsonObject) => JsonObject;

/** The members that GitHub has under other names, or not at all, by event. */
const forms = new Map<string, Form>([
  ['push', pushForm],
  ['create', shortRef],
  ['delete', shortRef],
  ['fork', forkForm],
  ['gollum', wikiForm],
  ['issues', issueForm],
  ['issue_comment', issueForm],
  ['package', packageForm],
  ['pull_request_review', reviewForm],
  ['workflow_run', runForm],
]);

function inGithubForm(event: string, payload: JsonObject): JsonObject {
  const formed = forms.get(event)?.(payload) ?? payload;
  const action = actionOf(event, payload);
  return { ...formed, ...(action !== undefined && { action }), ...withType(formed, 'sender'), ...withVisibility(formed) };
}

/** The user that acts for the forge itself; users of these forges have no `type`. models/user/user_system.go */
const actionsUserId = -2;

function withType(payload: JsonObject, member: string): JsonObject {
  const user = objectAt(payload, member);
  if (!user || 'type' in user) return {};
  const isBot = user['id'] === actionsUserId || /\[bot\]$/i.test(textAt(user, 'login') ?? '');
  return { [member]: { ...user, type: isBot ? 'Bot' : 'User' } };
}

function withVisibility(payload: JsonObject): JsonObject {
  const repository = objectAt(payload, 'repository');
  if (!repository || 'visibility' in repository || typeof repository['private'] !== 'boolean') return {};
  const visibility = repository['private'] ? 'private' : repository['internal'] === true ? 'internal' : 'public';
  return { repository: { ...repository, visibility } };
}

/** Whether a commit's id is the one that names no commit. */
export const isZeros = (sha: unknown): boolean => typeof sha === 'string' && /^0{40,64}$/.test(sha);

// `commits` is cut at five by default, and `total_commits` says how many there are.
function pushForm(payload: JsonObject): JsonObject {
  const { before, after } = payload;
  const pusher = objectAt(payload, 'pusher');
  const count = integerAt(payload, 'total_commits');
  return {
    compare: payload['compare_url'],
    created: isZeros(before) && !isZeros(after),
    deleted: isZeros(after) && !isZeros(before),
    ...(count !== undefined && { commit_count: count }),
    ...payload,
    ...(pusher && { pusher: { name: pusher['login'], ...pusher } }),
  };
}

// Forgejo names a ref in full where GitHub and Gitea have the branch or tag alone.
function shortRef(payload: JsonObject): JsonObject {
  const ref = textAt(payload, 'ref');
  return ref === undefined ? payload : { ...payload, ref: ref.replace(/^refs\/(heads|tags)\//, '') };
}

// Some releases have the new fork as `repository` and the original as `forkee`.
function forkForm(payload: JsonObject): JsonObject {
  const { repository, forkee } = payload;
  const origin = memberAt(repository, 'parent', 'id');
  return origin !== undefined && origin === memberAt(forkee, 'id') ? { ...payload, repository: forkee, forkee: repository } : payload;
}

function wikiForm(payload: JsonObject): JsonObject {
  const page = textAt(payload, 'page');
  const repositoryUrl = textAt(payload, 'repository', 'html_url');
  if (page === undefined) return payload;
  const url = repositoryUrl && URL.parse(`${repositoryUrl}/wiki/${page}`)?.href;
  const title = page.split('/').map(wikiTitle).join('/');
  return { pages: [{ page_name: page, title, summary: payload['comment'], action: payload['action'], ...(url && { html_url: url }) }], ...payload };
}

// A page is named as its address has it, with dashes for spaces but where it ends with ".-". services/wiki/wiki_path.go
function wikiTitle(name: string): string {
  const spaced = name.endsWith('.-') ? name.slice(0, -2) : name.replaceAll('-', ' ');
  try {
    return decodeURIComponent(spaced.replaceAll('+', ' '));
  } catch {
    return name; // one of an older release, which names it by its title
  }
}

function issueForm(payload: JsonObject): JsonObject {
  const issue = objectAt(payload, 'issue');
  return issue ? { ...payload, issue: { locked: issue['is_locked'], ...issue } } : payload;
}

// A package belongs to its owner, and to a repository where it was linked with one.
function packageForm(payload: JsonObject): JsonObject {
  const repository = objectAt(payload, 'package', 'repository');
  return repository && !objectAt(payload, 'repository') ? { ...payload, repository } : payload;
}

const reviewStates = new Map([
  ['pull_request_review_approved', 'approved'],
  ['pull_request_review_rejected', 'changes_requested'],
  ['pull_request_review_comment', 'commented'],
]);

function reviewForm(payload: JsonObject): JsonObject {
  const review = objectAt(payload, 'review');
  if (!review) return payload;
  const state = reviewStates.get(textAt(review, 'type') ?? '');
  const link = textAt(payload, 'pull_request', 'html_url');
  return { ...payload, review: { state, body: review['content'], user: payload['sender'], ...(link !== undefined && { html_url: link }), ...review } };
}

/** Go writes a time that is not set as the year 1, or as 1970 in the time zone of the server. */
const isTime = (time: unknown) => typeof time === 'string' && Date.parse(time) > 0;

// Forgejo has a run of its own form as `run`, and neither repository nor sender beside it.
function runForm({ run: forgejoRun, ...payload }: JsonObject): JsonObject {
  if (isObject(forgejoRun)) return { ...payload, ...ofForgejoRun(forgejoRun) };
  const run = objectAt(payload, 'workflow_run');
  if (!run) return payload;
  const started = run['started_at'];
  const name = textAt(payload, 'workflow', 'name');
  const head = headOf(run);
  const told = { ...(name !== undefined && { name }), ...(isTime(started) && { run_started_at: started }), ...(head !== undefined && { head_branch: head }) };
  return { ...payload, workflow_run: { ...told, ...run } };
}

// Gitea has `head_branch` for pushes to branches only: the ref of a tag ends the path, and the run of a pull request lists it.
function headOf(run: JsonObject): string | undefined {
  const pulls = memberAt(run, 'pull_requests');
  return /@refs\/tags\/(.+)$/.exec(textAt(run, 'path') ?? '')?.[1] ?? (Array.isArray(pulls) ? textAt(pulls[0], 'head', 'ref') : undefined);
}

/** Statuses of a run or job of Forgejo that has ended. */
const conclusions = new Set<unknown>(['success', 'failure', 'cancelled', 'skipped']);
/** GitHub's word for the others. Gitea has GitHub's words, among which `waiting` is another one. */
const statuses = new Map<unknown, string>([
  ['waiting', 'queued'],
  ['running', 'in_progress'],
  ['blocked', 'waiting'],
]);
const progressOf = (status: unknown) => (conclusions.has(status) ? { status: 'completed', conclusion: status } : { status: statuses.get(status) ?? status });

function ofForgejoRun(run: JsonObject): JsonObject {
  const { repository, trigger_user: actor, status, started } = run;
  const workflowRun = {
    ...run,
    name: run['workflow_id'],
    display_title: run['title'],
    run_number: run['index_in_repo'],
    event: run['trigger_event'] ?? run['event'],
    ...progressOf(status),
    head_branch: run['prettyref'],
    head_sha: run['commit_sha'],
    actor,
    created_at: run['created'],
    updated_at: run['updated'],
    ...(isTime(started) && { run_started_at: started }),
  };
  return { workflow_run: workflowRun, repository, sender: actor };
}

// Gitea has a job in GitHub's words.
function forgejoJobForm(payload: JsonObject): JsonObject {
  const job = objectAt(payload, 'workflow_job');
  const action = textAt(payload, 'action');
  return {
    ...payload,
    ...(action !== undefined && { action: progressOf(action).status }),
    ...(job && { workflow_job: { ...job, ...progressOf(job['status']) } }),
  };
}
