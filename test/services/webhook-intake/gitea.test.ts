// Deliveries of a real Gitea as they are stored, through both workers.
import { expect } from 'chai';
import { objectAt } from '../../../services/platform/json.ts';
import { messageHeaders } from '../../../services/webhook-relay/contract.ts';
import { giteaDelivery } from '../forges/deliveries.ts';
import { createDashboard, type Dashboard } from './dashboard/ground.ts';
import { delivery } from './deliveries.ts';
import { giteaMessage } from './gitea.ts';

const at = (second: number) => new Date(Date.UTC(2026, 10, 25, 18, 0, second));
const host = 'forge.example.test';

describe('deliveries of Gitea', () => {
  let dashboard: Dashboard;
  before(async () => {
    const match = () => [{ rule: 'all', recipients: [{ channel: 'push', recipient: 'all' }] as const }];
    dashboard = await createDashboard({ workerRules: { match } });
  });
  after(() => dashboard.close());
  afterEach(() => dashboard.database.empty());

  /** One after the other. */
  async function deliver(...names: (string | [name: string, change: (payload: object) => object])[]) {
    for (const [second, given] of names.entries()) {
      const [name, change] = typeof given === 'string' ? [given] : given;
      await dashboard.deliver([giteaMessage(name, at(second), change)]);
    }
  }
  const rows = (sql: string) => dashboard.database.rows<Record<string, unknown>>(sql);
  const zeros = '0'.repeat(40);

  it('the test delivery of a webhook changes no branch, and is no push', async () => {
    await deliver('test-delivery-push');
    expect([await dashboard.database.count('branches'), await dashboard.database.count('pushes'), await dashboard.database.count('events')]).to.deep.equal([
      0, 0, 1,
    ]);
    await deliver('push-many', 'test-delivery-push');
    expect(await rows('select name, sha from branches')).to.deep.equal([{ name: 'main', sha: '7821b7bf9f12af7a7d69e1f6d383c72fc76a3946' }]);
    expect(await dashboard.database.count('pushes')).to.equal(1);
  });

  it('a test delivery of a release that names the newest commit changes no branch either, and is no push', async () => {
    const head = 'a'.repeat(40);
    await deliver(['test-delivery-push', (payload) => ({ ...payload, before: head, after: head })]);
    expect([await dashboard.database.count('branches'), await dashboard.database.count('pushes')]).to.deep.equal([0, 0]);
  });

  it('a replay is a duplicate: the same bytes under a new delivery id', async () => {
    await deliver('replay-first');
    const tables = ['branches', 'pushes', 'repositories', 'users'];
    const state = () => Promise.all(tables.map((table) => rows(`select * from ${table}`)));
    const before = await state();
    await deliver('push-again-1', 'push-again-2', 'replay-again');
    expect(await rows('select received, duplicates from statistics_buckets')).to.deep.equal([{ received: 3, duplicates: 1 }]);
    await dashboard.database.empty();
    await deliver('replay-first', 'replay-again');
    expect(await dashboard.database.count('events')).to.equal(1);
    const withoutIds = (table: readonly object[] | undefined) => table?.map((row) => ({ ...row, id: '' }));
    for (const [index, table] of (await state()).entries()) expect(withoutIds(table)).to.deep.equal(withoutIds(before[index]));
  });

  it('a replay in the same batch is a duplicate', async () => {
    await dashboard.deliver(['replay-first', 'replay-again'].map((name, second) => giteaMessage(name, at(second))));
    expect([await dashboard.database.count('events'), await dashboard.database.count('pushes')]).to.deep.equal([1, 1]);
    expect(await rows('select processing_state from pushes')).to.deep.equal([{ processing_state: 'PROCESSED' }]);
  });

  it('an object whose event was logged under another delivery id is processed', async () => {
    const [first, again] = [giteaMessage('replay-first', at(0)), giteaMessage('replay-again', at(1))];
    // The one worker stores the first, the other one the replay.
    await dashboard.deliver([first], { only: 'events' });
    await dashboard.deliver([again], { only: 'rows' });
    expect(await rows('select processing_state from pushes')).to.deep.equal([{ processing_state: 'PROCESSED' }]);
  });

  it('a push has pusher, compare, flags and the true number of commits', async () => {
    await deliver('push-many');
    expect(await rows('select pusher_name, compare, created, deleted, commit_count, ref from pushes')).to.deep.equal([
      {
        pusher_name: 'ann',
        compare: `https://${host}/acme/widget/compare/ca4e22c547a51e593d28baa6cba9078c4a42d83d...7821b7bf9f12af7a7d69e1f6d383c72fc76a3946`,
        created: false,
        deleted: false,
        commit_count: 12,
        ref: 'refs/heads/main',
      },
    ]);
    const { body } = await dashboard.get('/pushes', { query: { sender: 'ann' } });
    expect(body.items).to.have.length(1);
  });

  it('a push that is made again is a push of its own', async () => {
    await deliver('push-again-1', 'push-again-2');
    expect(await dashboard.database.count('pushes')).to.equal(2);
  });

  it('a branch that was renamed has its head, though nothing was pushed', async () => {
    const { payload: pushed } = giteaDelivery('push-many');
    const branch = { ref: 'renamed', ref_type: 'branch', sha: '1'.repeat(40) };
    const payload = { ...branch, repository: objectAt(pushed, 'repository'), sender: objectAt(pushed, 'sender') };
    await dashboard.deliver([delivery({ event: 'create', payload, headers: { [messageHeaders.forge]: 'gitea' } })]);
    expect(await rows('select name, sha from branches')).to.deep.equal([{ name: 'renamed', sha: '1'.repeat(40) }]);
  });

  it('a push that creates or deletes says so', async () => {
    await deliver(['push-many', (payload) => ({ ...payload, before: zeros })], ['push-many', (payload) => ({ ...payload, after: zeros })]);
    expect(await rows('select created, deleted from pushes order by first_seen_at')).to.deep.equal([
      { created: true, deleted: false },
      { created: false, deleted: true },
    ]);
    expect(await rows('select sha, deleted_at from branches')).to.deep.equal([{ sha: '7821b7bf9f12af7a7d69e1f6d383c72fc76a3946', deleted_at: at(1) }]);
  });

  const reviews = [
    { name: 'review-approved', original: 'pull_request_approved', text: 'State: approved\nFine by me' },
    { name: 'review-rejected', original: 'pull_request_rejected', text: 'State: changes_requested' },
    { name: 'review-commented', original: 'pull_request_comment', text: 'State: commented\nSome remarks' },
  ];
  for (const { name, original, text } of reviews)
    it(`${name} is a review of its pull request`, async () => {
      await deliver(name);
      expect(await rows('select event, action, original_event, original_action from events')).to.deep.equal([
        { event: 'pull_request_review', action: 'submitted', original_event: original, original_action: 'reviewed' },
      ]);
      expect(await dashboard.database.count('pull_requests')).to.equal(1);
      expect((await rows('select title, text, url from outbox'))[0]?.['text']).to.contain(text);
    });

  it('a deleted pull request has the time of reception', async () => {
    await deliver('pull-request-deleted');
    expect(await rows('select state, deleted_at from pull_requests')).to.deep.equal([{ state: 'closed', deleted_at: at(0) }]);
    const { body } = await dashboard.get('/pull-requests', { query: { deleted: 'true' } });
    expect(body.items).to.have.length(1);
  });

  it("actions have GitHub's words, and the forge's own beside them", async () => {
    await deliver('pull-request-synchronized', 'issue-label-updated');
    expect(await rows('select event, action, original_action from events order by received_at')).to.deep.equal([
      { event: 'pull_request', action: 'synchronize', original_action: 'synchronized' },
      { event: 'issues', action: 'labeled', original_action: 'label_updated' },
    ]);
  });

  it("the forge's own bot is a bot", async () => {
    await deliver('issue-opened-by-actions');
    expect(await rows('select login, type from users')).to.deep.equal([{ login: 'gitea-actions', type: 'Bot' }]);
  });

  it('a rename is taken from any event, and what hangs on the repository follows', async () => {
    const before = (payload: object) => ({
      ...payload,
      repository: { ...objectAt(payload, 'repository'), id: 4, full_name: 'acme/old-name', name: 'old-name' },
    });
    await deliver('repository-before-rename', ['push-many', before]);
    await deliver('repository-after-rename');
    expect(await rows('select name, full_name, repository from repositories')).to.deep.equal([
      { name: 'new-name', full_name: 'acme/new-name', repository: 'acme/new-name' },
    ]);
    expect(await rows('select repository from pushes union all select repository from branches union all select repository from issues')).to.deep.equal(
      Array.from({ length: 3 }, () => ({ repository: 'acme/new-name' })),
    );
  });

  it('visibility, description and default branch are taken from any event', async () => {
    await deliver('repository-before-privacy', 'repository-after-privacy');
    expect(await rows('select private, visibility, default_branch, description from repositories')).to.deep.equal([
      { private: true, visibility: 'private', default_branch: 'trunk', description: 'now described' },
    ]);
  });

  it('a notice of a wiki page names and links it', async () => {
    await deliver('wiki-edited');
    expect(await rows('select event, original_event from events')).to.deep.equal([{ event: 'gollum', original_event: 'wiki' }]);
    expect(await rows('select title, text, url from outbox')).to.deep.equal([
      { title: '[acme/widget] gollum edited: Home', text: 'By ben\nedited', url: `https://${host}/acme/widget/wiki/Home` },
    ]);
  });

  it('a notice of a push links what was pushed', async () => {
    await deliver('push-many');
    expect((await rows('select title, text, url from outbox'))[0]?.['url']).to.equal(
      `https://${host}/acme/widget/compare/ca4e22c547a51e593d28baa6cba9078c4a42d83d...7821b7bf9f12af7a7d69e1f6d383c72fc76a3946`,
    );
  });

  it('a run that was completed and is requested again is RE_REQUESTED', async () => {
    const completed = (payload: object) => ({
      ...payload,
      action: 'completed',
      workflow_run: { ...objectAt(payload, 'workflow_run'), status: 'completed', conclusion: 'failure' },
    });
    await dashboard.deliver([giteaMessage('workflow-run-rerun', at(0), completed)], { processed: false });
    await dashboard.deliver([giteaMessage('workflow-run-rerun', at(1))], { processed: false });
    expect(await rows('select status, processing_state from workflow_runs')).to.deep.equal([{ status: 'queued', processing_state: 'RE_REQUESTED' }]);
  });

  it('two forges never meet, though each counts its ids from 1', async () => {
    await deliver('two-forges-1', 'two-forges-2');
    for (const table of ['issues', 'repositories', 'users'])
      expect(await rows(`select forge from ${table} order by 1`), table).to.deep.equal([{ forge: host }, { forge: 'other-forge.example.test' }]);
    for (const template of ['/issues', '/events', '/repositories', '/users']) {
      const { body } = await dashboard.get(template, { query: { forge: 'OTHER-forge.example.test' } });
      expect(body.items, template).to.have.length(1);
    }
    const { body } = await dashboard.get('/statistics', { query: { forge: host } });
    expect(body).to.have.nested.property('series[0].points[0].received', 1);
  });

  it('names of repositories know no case', async () => {
    await deliver('two-forges-1', 'pull-request-synchronized');
    for (const template of ['/issues', '/events']) {
      const { body } = await dashboard.get(template, { query: { repository: 'ACME/Widget' } });
      expect(body.items, template).to.have.length.above(0);
    }
    const path = { owner: 'Acme', repo: 'WIDGET' };
    expect((await dashboard.get('/repositories/{owner}/{repo}/pulls', { path })).body.items).to.have.length(1);
    expect((await dashboard.get('/repositories/{owner}/{repo}/pulls/{n}', { path: { ...path, n: '18' } })).body.items).to.have.length(1);
  });
});
