// The words and payloads of Gitea and Forgejo in GitHub's form, by deliveries that a Gitea 1.26.0 made and by the source of Forgejo.
import { expect } from 'chai';
import { inGithubForm, recognise, readIdentity, translate } from '../../../services/forges/forges.ts';
import { forgejo, gitea } from '../../../services/forges/gitea.ts';
import { memberAt } from '../../../services/platform/json.ts';
import { giteaDelivery } from './deliveries.ts';

function translated(name: string) {
  const { headers, payload } = giteaDelivery(name);
  return translate(recognise(headers), readIdentity(headers), payload);
}

const translateFrom = (event: string, eventType: string, payload: object) => translate(forgejo, { event, eventType }, payload);

describe('words of Gitea and Forgejo', () => {
  const named: [delivery: string, event: string, action: string | undefined][] = [
    ['review-approved', 'pull_request_review', 'submitted'],
    ['review-rejected', 'pull_request_review', 'submitted'],
    ['review-commented', 'pull_request_review', 'submitted'],
    ['pull-request-synchronized', 'pull_request', 'synchronize'],
    ['pull-request-deleted', 'pull_request', 'deleted'],
    ['issue-label-updated', 'issues', 'labeled'],
    ['issue-opened-by-actions', 'issues', 'opened'],
    ['wiki-edited', 'gollum', 'edited'],
    ['workflow-run-rerun', 'workflow_run', 'requested'],
    ['repository-before-rename', 'repository', 'created'],
    ['push-many', 'push', undefined],
  ];
  for (const [delivery, event, action] of named) {
    it(`reads ${delivery} as ${event}${action === undefined ? '' : `.${action}`}`, () => {
      const { event: read, payload } = translated(delivery);
      expect([read, memberAt(payload, 'action')]).to.deep.equal([event, action]);
    });
  }

  const words: [event: string, eventType: string, action: string | undefined, read: string, readAction: string | undefined][] = [
    ['issues', 'issue_label', 'label_cleared', 'issues', 'unlabeled'],
    ['issues', 'issue_assign', 'assigned', 'issues', 'assigned'],
    ['', 'issue_milestone', 'demilestoned', 'issues', 'demilestoned'],
    ['pull_request', 'pull_request_label', 'label_updated', 'pull_request', 'labeled'],
    ['pull_request', 'pull_request_review_request', 'review_request_removed', 'pull_request', 'review_request_removed'],
    ['issue_comment', 'pull_request_comment', 'created', 'issue_comment', 'created'],
    ['pull_request_comment', '', 'reviewed', 'pull_request_review', 'submitted'],
    ['pull_request_comment', '', 'edited', 'issue_comment', 'edited'],
    ['', 'package', 'created', 'package', 'published'],
    ['package', 'package', 'deleted', 'package', 'deleted'],
    ['release', 'release', 'updated', 'release', 'edited'],
    ['release', 'release', 'published', 'release', 'published'],
    ['wiki', 'wiki', 'created', 'gollum', 'created'],
    ['action_run_failure', 'action_run_failure', 'failure', 'workflow_run', 'completed'],
    ['action_run_recover', 'action_run_recover', 'recover', 'workflow_run', 'completed'],
    ['workflow_job', 'workflow_job', 'running', 'workflow_job', 'in_progress'],
    ['workflow_job', 'workflow_job', 'skipped', 'workflow_job', 'completed'],
    ['workflow_job', 'workflow_job', 'waiting', 'workflow_job', 'queued'],
    ['workflow_job', 'workflow_job', 'blocked', 'workflow_job', 'waiting'],
    ['status', 'status', undefined, 'status', undefined],
    ['fork', 'fork', undefined, 'fork', undefined],
    ['something_new', 'something_new', 'happened', 'something_new', 'happened'],
    ['constructor', '__proto__', 'toString', 'constructor', 'toString'],
  ];
  for (const [event, eventType, action, read, readAction] of words) {
    it(`reads event ${event || '(empty)'}, type ${eventType || '(none)'}, action ${action ?? '(none)'} as ${read}${readAction ? `.${readAction}` : ''}`, () => {
      const { event: found, payload } = translateFrom(event, eventType, action === undefined ? {} : { action });
      expect([found, memberAt(payload, 'action')]).to.deep.equal([read, readAction]);
    });
  }

  it('reads an update that only removes labels as unlabeled', () => {
    const changes = { added_labels: [], removed_labels: [{ name: 'bug' }] };
    expect(translateFrom('issues', 'issue_label', { action: 'label_updated', changes }).payload).to.deep.include({ action: 'unlabeled' });
  });
});

describe('payloads of Gitea and Forgejo', () => {
  it('has pusher, compare, count, created and deleted of a push', () => {
    expect(translated('push-many').payload).to.deep.include({
      compare: 'https://forge.example.test/acme/widget/compare/ca4e22c547a51e593d28baa6cba9078c4a42d83d...7821b7bf9f12af7a7d69e1f6d383c72fc76a3946',
      commit_count: 12,
      created: false,
      deleted: false,
    });
    expect(memberAt(translated('push-many').payload, 'pusher', 'name')).to.equal('ann');
  });
  it('tells a push that creates or deletes a ref by zeros, and neither from zeros to zeros', () => {
    const [zeros, commit] = ['0'.repeat(40), 'a'.repeat(40)];
    const push = (before: string, after: string) => translateFrom('push', 'push', { before, after }).payload;
    expect(push(zeros, commit)).to.deep.include({ created: true, deleted: false });
    expect(push(commit, zeros)).to.deep.include({ created: false, deleted: true });
    expect(translated('test-delivery-push').payload).to.deep.include({ created: false, deleted: false });
  });
  it('has state, text, author and link of a review', () => {
    const state = (name: string) => memberAt(translated(name).payload, 'review', 'state');
    expect(['review-approved', 'review-rejected', 'review-commented'].map(state)).to.deep.equal(['approved', 'changes_requested', 'commented']);
    const review = memberAt(translated('review-commented').payload, 'review');
    expect(review).to.deep.include({ body: 'Some remarks', html_url: 'https://forge.example.test/acme/widget/pulls/20' });
    expect(memberAt(review, 'user', 'login')).to.equal('cyd');
  });
  it('has the page of a wiki as GitHub has it', () => {
    const page = { page_name: 'Home', title: 'Home', summary: 'edited', action: 'edited', html_url: 'https://forge.example.test/acme/widget/wiki/Home' };
    expect(memberAt(translated('wiki-edited').payload, 'pages')).to.deep.equal([page]);
  });
  it('has the type of the sender: a bot for the user of its actions and for names that end in [bot]', () => {
    const typeOf = (payload: unknown) => memberAt(payload, 'sender', 'type');
    expect(typeOf(translated('issue-opened-by-actions').payload)).to.equal('Bot');
    expect(typeOf(translated('push-many').payload)).to.equal('User');
    expect(typeOf(translateFrom('push', 'push', { sender: { id: 7, login: 'renovate[bot]' } }).payload)).to.equal('Bot');
    expect(typeOf(translateFrom('push', 'push', { sender: { id: -2, login: 'forgejo-actions' } }).payload)).to.equal('Bot');
  });
  it('has the visibility of the repository', () => {
    const visibility = (repository: object) => memberAt(translateFrom('push', 'push', { repository }).payload, 'repository', 'visibility');
    expect(visibility({ private: true, internal: false })).to.equal('private');
    expect(visibility({ private: false, internal: true })).to.equal('internal');
    expect(visibility({ private: false, internal: false })).to.equal('public');
    expect(visibility({})).to.equal(undefined);
  });
  it('has the name and the start of a workflow run, and no start that is not set', () => {
    const run = memberAt(translated('workflow-run-rerun').payload, 'workflow_run');
    expect(run).to.deep.include({ name: 'CI of widget' }).and.not.have.property('run_started_at');
    const { payload } = translateFrom('workflow_run', 'workflow_run', { workflow_run: { started_at: '2026-11-25T17:50:14Z' } });
    expect(memberAt(payload, 'workflow_run', 'run_started_at')).to.equal('2026-11-25T17:50:14Z');
  });
  it('has no start of a run that is not set, in any time zone of the server', () => {
    for (const started_at of ['1970-01-01T00:00:00Z', '1970-01-01T01:00:00+01:00', '1969-12-31T19:00:00-05:00', '0001-01-01T00:00:00Z'])
      expect(memberAt(translateFrom('workflow_run', 'workflow_run', { workflow_run: { started_at } }).payload, 'workflow_run')).not.to.have.property(
        'run_started_at',
      );
  });
  it('has the tag, or the branch of the pull request, of a run of Gitea that names no branch', () => {
    const branchOf = (workflow_run: object) => memberAt(translateFrom('workflow_run', 'workflow_run', { workflow_run }).payload, 'workflow_run', 'head_branch');
    expect(branchOf({ path: 'ci.yml@refs/tags/v1/rc@2', pull_requests: [] })).to.equal('v1/rc@2');
    expect(branchOf({ path: 'ci.yml@refs/pull/7/head', pull_requests: [{ head: { ref: 'fix' } }] })).to.equal('fix');
    expect(branchOf({ path: 'ci.yml@refs/heads/main', head_branch: 'main', pull_requests: [{ head: { ref: 'main' } }] })).to.equal('main');
    expect(branchOf({ path: 'ci.yml@refs/pull/7/head' })).to.equal(undefined);
  });
  it('has a run of Forgejo with its repository, its actor and its outcome', () => {
    const repository = { full_name: 'acme/widget' };
    const run = { id: 7, title: 'Fix', workflow_id: 'ci.yaml', index_in_repo: 3, status: 'failure', commit_sha: 'abc', prettyref: 'main', repository };
    const { payload } = translateFrom('action_run_failure', 'action_run_failure', { action: 'failure', run: { ...run, trigger_user: { login: 'ann' } } });
    expect(payload).to.deep.include({ action: 'completed', repository });
    expect(memberAt(payload, 'sender', 'login')).to.equal('ann');
    const members = { id: 7, status: 'completed', conclusion: 'failure', name: 'ci.yaml', run_number: 3, head_sha: 'abc', head_branch: 'main' };
    expect(memberAt(payload, 'workflow_run')).to.deep.include(members);
  });
  it('has a job of Forgejo that has ended as completed, with its conclusion', () => {
    const { payload } = translateFrom('workflow_job', 'workflow_job', { action: 'failure', workflow_job: { id: 1, status: 'failure' } });
    expect(payload).to.deep.include({ action: 'completed', workflow_job: { id: 1, status: 'completed', conclusion: 'failure' } });
  });
  it("has GitHub's word for the status of each run and job of Forgejo that has not ended", () => {
    const statusOf = (event: string, member: string, status: string) =>
      memberAt(translateFrom(event, event, { [member]: { id: 1, status } }).payload, event, 'status');
    for (const [status, read] of [
      ['waiting', 'queued'],
      ['running', 'in_progress'],
      ['blocked', 'waiting'],
    ] as const) {
      expect(statusOf('workflow_job', 'workflow_job', status)).to.equal(read);
      expect(statusOf('workflow_run', 'run', status)).to.equal(read);
    }
  });
  it("leaves the status of a job of Gitea, which has GitHub's words", () => {
    const { payload } = translate(gitea, { event: 'workflow_job', eventType: 'workflow_job' }, { action: 'waiting', workflow_job: { status: 'waiting' } });
    expect(payload).to.deep.equal({ action: 'waiting', workflow_job: { status: 'waiting' } });
  });
  it('links the page of a wiki in a folder', () => {
    const payload = { action: 'created', page: 'Guide/First steps', repository: { html_url: 'https://f.test/acme/widget' } };
    const pages = memberAt(translateFrom('wiki', 'wiki', payload).payload, 'pages');
    expect(pages).to.have.nested.property('[0].html_url', 'https://f.test/acme/widget/wiki/Guide/First%20steps');
  });
  it('names a page of the wiki by its title, and links it as its address has it', () => {
    for (const [page, title, address] of [
      ['%C3%9Cber-uns%2FSeite', 'Über uns/Seite', '%C3%9Cber-uns%2FSeite'],
      ['a+b%2Fc-d.-', 'a b/c-d', 'a+b%2Fc-d.-'],
      ['100%25+Free', '100% Free', '100%25+Free'],
      ['100% free', '100% free', '100%%20free'],
      ['Über uns', 'Über uns', '%C3%9Cber%20uns'],
    ] as const) {
      const payload = { action: 'created', page, repository: { html_url: 'https://f.test/acme/widget' } };
      const pages = memberAt(translateFrom('wiki', 'wiki', payload).payload, 'pages');
      expect(pages, page).to.have.nested.property('[0].title', title);
      expect(pages, page).to.have.nested.property('[0].html_url', `https://f.test/acme/widget/wiki/${address}`);
    }
  });
  it('has the short name of a ref that Forgejo names in full', () => {
    const ref = (full: string) => memberAt(translateFrom('create', 'create', { ref: full, ref_type: 'branch' }).payload, 'ref');
    expect([ref('refs/heads/feature/x'), ref('refs/tags/v1'), ref('main')]).to.deep.equal(['feature/x', 'v1', 'main']);
  });
  it('has the original as repository and the fork as forkee, whichever way they came', () => {
    const [original, fork] = [{ id: 1 }, { id: 2, parent: { id: 1 } }];
    for (const payload of [
      { repository: original, forkee: fork },
      { repository: fork, forkee: original },
    ])
      expect(translateFrom('fork', 'fork', payload).payload).to.deep.equal({ repository: original, forkee: fork });
  });
  it('has the repository of a package that names one', () => {
    const payload = { action: 'created', package: { name: 'widget', repository: { full_name: 'acme/widget' } } };
    expect(memberAt(translateFrom('', 'package', payload).payload, 'repository', 'full_name')).to.equal('acme/widget');
  });
  it('has whether an issue is locked', () => {
    for (const event of ['issues', 'issue_comment'])
      expect(memberAt(translateFrom(event, event, { issue: { is_locked: true } }).payload, 'issue', 'locked'), event).to.equal(true);
  });
  it('leaves members of another kind than expected as they are, and never throws', () => {
    const odd = [null, 7, 'text', [], {}];
    const membersOf = (value: unknown) =>
      Object.fromEntries(['review', 'sender', 'repository', 'pusher', 'page', 'ref', 'run', 'workflow_run'].map((name) => [name, value]));
    const events = ['push', 'create', 'fork', 'gollum', 'issues', 'package', 'pull_request_review', 'workflow_run', 'workflow_job'];
    for (const event of events) {
      for (const value of odd) expect(inGithubForm(gitea, event, { ...membersOf(value), other: value })).to.have.property('other', value);
    }
    for (const payload of odd.slice(0, 4)) expect(translate(gitea, { event: 'push', eventType: '' }, payload).payload).to.equal(payload);
  });
});
