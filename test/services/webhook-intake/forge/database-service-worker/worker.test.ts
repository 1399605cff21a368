// The database-service worker on a real database: what is stored of each event.
import { expect } from 'chai';
import { silentLog } from '../../../../../services/platform/log.ts';
import { createMetrics } from '../../../../../services/platform/metrics.ts';
import { createDatabaseServiceWorker, createIsOwn } from '../../../../../services/webhook-intake/forge/database-service-worker.ts';
import { messageHeaders } from '../../../../../services/webhook-relay/contract.ts';
import { delivery } from '../../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../../intake-database.ts';
import { at, branch, forgeTime, issue, push, repository, run, sender } from './forge-payloads.ts';

/** The payload with an issue whose member `x` is 20000 arrays in each other: what JSON.parse reads and JSON.stringify does not write. */
const deepJson = (payload: object) => JSON.stringify(payload).replace('"issue":{', `"issue":{"x":${'['.repeat(20000)}${']'.repeat(20000)},`);

describe('the database-service worker', () => {
  let database: IntakeDatabase;
  before(async () => (database = await createIntakeDatabase()));
  after(() => database.close());
  beforeEach(() => database.empty());

  const worker = (globs: readonly string[] = ['*/*']) =>
    createDatabaseServiceWorker({ database: database.pool, isOwn: createIsOwn(globs), metrics: createMetrics(), log: silentLog });
  const send = (...batch: Parameters<typeof delivery>[0][]) => worker()(batch.map(delivery));
  const stateOf = async (table: string, columns: string) => (await database.rows(`select ${columns} from ${table} order by object_key`))[0];

  it('keeps the members of an object in columns, and the rest of it as it came', async () => {
    const one = issue(1, 'Lamp out', 'opened');
    await send({ ...one, deliveryId: 'd-1', payload: { ...one.payload, issue: { ...one.payload.issue, labels: [{ name: 'red' }], comments: 2 } } });
    expect((await database.rows('select * from issues'))[0]).to.deep.include({
      object_key: '11',
      forge_id: '11',
      repository: 'railway/signals',
      processing_state: 'NEW',
      first_seen_at: at(1),
      updated_at: at(1),
      deleted_at: null,
      delivery_id: 'd-1',
      number: 3,
      title: 'Lamp out',
      state: 'open',
      user_login: 'ada',
      comments: 2,
      rest: { id: 11, labels: [{ name: 'red' }], user: sender, updated_at: forgeTime(1) },
    });
  });

  it('takes a milestone of a pull request, which GitHub tells as one of an issue, for no issue', async () => {
    const one = issue(1, 'Paint', 'milestoned');
    await send({
      ...one,
      payload: { ...one.payload, issue: { ...one.payload.issue, pull_request: { url: 'https://api.github.com/repos/railway/signals/pulls/3' } } },
    });
    expect(await database.count('issues')).to.equal(0);
  });

  it('leaves a locked issue of Gitea locked when a comment comes', async () => {
    const one = issue(1, 'Lamp out', 'edited');
    const headers = { [messageHeaders.forge]: 'gitea' };
    const locked = { ...one.payload, issue: { ...one.payload.issue, is_locked: true, pull_request: null } };
    const comment = { id: 9, body: 'Agreed', user: sender, updated_at: forgeTime(2) };
    await send({ ...one, headers, payload: locked });
    await send({ ...one, event: 'issue_comment', headers, payload: { ...locked, issue: { ...locked.issue, updated_at: forgeTime(2) }, comment } });
    expect(await stateOf('issues', 'updated_at, locked')).to.deep.equal({ updated_at: at(2), locked: true });
  });

  it('takes neither a tag nor its push for a branch, and stores that push', async () => {
    await send({ ...branch('create', 1), payload: { ...branch('create', 1).payload, ref_type: 'tag' } }, push(2, 'c'.repeat(40), { ref: 'refs/tags/v1' }));
    expect(await database.count('branches')).to.equal(0);
    expect(await stateOf('pushes', 'ref, commit_count')).to.deep.equal({ ref: 'refs/tags/v1', commit_count: 1 });
  });

  it('stores the same commits twice when they were pushed twice', async () => {
    const pushedAt = (seconds: number) => ({ repository: { ...repository, pushed_at: seconds } });
    await send(push(1, 'c'.repeat(40), pushedAt(100)), push(3, 'c'.repeat(40), pushedAt(103)));
    expect(await database.count('pushes')).to.equal(2);
  });

  it('leaves to a pull request what a review of it does not tell', async () => {
    const pull = { id: 21, number: 4, title: 'Paint', state: 'open', head: { ref: 'red' }, updated_at: forgeTime(1) };
    await send({
      event: 'pull_request',
      receivedAt: at(1),
      payload: { action: 'opened', pull_request: { ...pull, merged: false, additions: 12 }, repository, sender },
    });
    await send({
      event: 'pull_request_review',
      receivedAt: at(2),
      payload: { action: 'submitted', pull_request: { ...pull, title: 'Paint it', updated_at: forgeTime(2) }, repository, sender },
    });
    expect(await stateOf('pull_requests', 'title, merged, additions, head_ref')).to.deep.equal({
      title: 'Paint it',
      merged: false,
      additions: 12,
      head_ref: 'red',
    });
  });

  it('opens again what was closed: a null overwrites', async () => {
    const closed = issue(1, 'Lamp', 'closed');
    await send({ ...closed, payload: { ...closed.payload, issue: { ...closed.payload.issue, closed_at: forgeTime(1) } } });
    await send(issue(2, 'Lamp', 'reopened'));
    expect(await stateOf('issues', 'closed_at')).to.deep.equal({ closed_at: null });
  });

  it('keeps comments of different kinds apart that bear the same id', async () => {
    const comment = (event: string) => ({
      event,
      payload: { action: 'created', comment: { id: 5, body: event, updated_at: forgeTime(1) }, issue: { number: 3 }, repository, sender },
    });
    await send(comment('issue_comment'), comment('commit_comment'), comment('pull_request_review_comment'));
    expect(await database.rows('select kind, forge_id, number from comments order by kind')).to.deep.equal(
      ['commit_comment', 'issue_comment', 'pull_request_review_comment'].map((kind) => ({ kind, forge_id: '5', number: 3 })),
    );
  });

  it('takes repositories and users from the newest event of any kind, and counts as changed what differs', async () => {
    await send({ event: 'repository', receivedAt: at(1), payload: { action: 'created', repository: { ...repository, description: 'first' }, sender } });
    await database.rows(`update repositories set processing_state = 'PROCESSED'`);
    await database.rows(`update users set processing_state = 'PROCESSED'`);
    const mention = (seconds: number, description: string, login: string) => ({
      event: 'star',
      receivedAt: at(seconds),
      payload: { action: 'created', repository: { ...repository, description }, sender: { ...sender, login } },
    });
    await send(mention(3, 'first', 'ada'));
    const states = () => database.rows('select description as fact, processing_state from repositories union all select login, processing_state from users');
    expect(await states()).to.have.deep.members([
      { fact: 'first', processing_state: 'PROCESSED' },
      { fact: 'ada', processing_state: 'PROCESSED' },
    ]);
    await send(mention(2, 'late', 'late'));
    await send(mention(4, 'second', 'eve'));
    expect(await states()).to.have.deep.members([
      { fact: 'second', processing_state: 'UPDATED' },
      { fact: 'eve', processing_state: 'UPDATED' },
    ]);
  });

  it('tracks releases and runs of every repository, and the rest of own ones only', async () => {
    const release = { event: 'release', payload: { action: 'published', release: { id: 41, tag_name: 'v1' }, repository, sender } };
    const installation = {
      event: 'installation',
      payload: { action: 'created', installation: { id: 51, account: { login: 'railway' }, updated_at: 1_772_000_000 }, sender },
    };
    await worker(['other/*', 'RAILWAY/.git*'])([release, run(1, 1, 'queued'), issue(1, 'Lamp'), installation].map(delivery));
    const counts = await Promise.all(['releases', 'workflow_runs', 'issues', 'repositories', 'installations', 'users'].map((table) => database.count(table)));
    expect(counts).to.deep.equal([1, 1, 0, 0, 1, 1]);
    expect(await stateOf('installations', 'updated_at')).to.deep.equal({ updated_at: new Date(1_772_000_000_000) });
    await worker(['RAILWAY/.git*'])([
      delivery({ ...issue(1, 'Lamp'), payload: { ...issue(1, 'Lamp').payload, repository: { ...repository, full_name: 'railway/.github' } } }),
    ]);
    expect(await database.count('issues')).to.equal(1);
  });

  it('takes * for every repository', () => {
    expect([['*'], ['*/*']].map((globs) => createIsOwn(globs)({ repository: 'railway/signals' }))).to.deep.equal([true, true]);
  });

  it('leaves out a member that is nested too deep, and stores the rest of its object', async () => {
    const deep = issue(1, 'deep');
    const [one, two] = [delivery(run(1, 1, 'queued')), { ...delivery(deep), body: Buffer.from(deepJson(deep.payload)) }];
    expect(await worker()([one, two])).to.deep.equal(['ack', 'ack']);
    expect(await stateOf('issues', 'title, rest')).to.deep.equal({ title: 'deep', rest: { id: 11, user: sender, updated_at: forgeTime(1) } });
  });

  it('stores one branch of two whose names are the same once they are stored', async () => {
    const named = (ref: string, second: number) => ({ ...branch('create', second), payload: { ...branch('create', second).payload, ref } });
    expect(await send(named('a\u0000', 1), named('a\ufffd', 2))).to.deep.equal(['ack', 'ack']);
    expect(await database.rows('select name from branches')).to.deep.equal([{ name: 'a\ufffd' }]);
  });

  describe('an object that lacks a member its row needs', () => {
    const release = { id: 41, tag_name: 'v1', updated_at: forgeTime(1) };
    const cases: Readonly<Record<string, { readonly table: string; readonly event: string; readonly payload: object }>> = {
      'a repository without full_name': { table: 'repositories', event: 'brand_new_event', payload: { repository: { id: 1, name: 'signals' }, sender } },
      'a sender without login': { table: 'users', event: 'brand_new_event', payload: { repository, sender: { id: 7 } } },
      'a push without ref': { table: 'pushes', event: 'push', payload: { before: 'b', after: 'a', repository, sender } },
      'an issue without number': { table: 'issues', event: 'issues', payload: { action: 'opened', issue: { id: 12, title: 'no number' }, repository, sender } },
      'a pull request without number': {
        table: 'pull_requests',
        event: 'pull_request',
        payload: { action: 'opened', pull_request: { id: 21 }, repository, sender },
      },
    };
    for (const [name, { table, event, payload }] of Object.entries(cases))
      it(`${name} is left out and counted, and the rest of its delivery is stored`, async () => {
        const metrics = createMetrics();
        const handle = createDatabaseServiceWorker({ database: database.pool, isOwn: () => true, metrics, log: silentLog });
        expect(await handle([delivery({ event, payload })])).to.deep.equal(['ack']);
        expect(await database.count(table)).to.equal(0);
        const others = ['repositories', 'users'].filter((other) => other !== table);
        for (const other of others) expect(await database.count(other), other).to.equal(1);
        expect(await metrics.text()).to.contain(`signalbox_intake_objects_left_out_total{table="${table}"} 1`);
      });

    it('does not keep the release of its delivery from being tracked', async () => {
      expect(await send({ event: 'release', payload: { action: 'published', release, repository, sender: { id: 7 } } })).to.deep.equal(['ack']);
      expect(await stateOf('releases', 'tag_name')).to.deep.equal({ tag_name: 'v1' });
    });

    it('has its row after a later delivery that has it', async () => {
      await send({ event: 'star', payload: { repository: { id: 1 }, sender } }, { event: 'star', payload: { repository: { ...repository, id: 1 }, sender } });
      expect(await stateOf('repositories', 'full_name')).to.deep.equal({ full_name: 'railway/signals' });
    });
  });

  it('takes a time outside the years 1 to 9999 as one that is absent', async () => {
    const times = ['-000001-01-01T00:00:00Z', '+010000-01-01T00:00:00Z', '0000-12-31T23:59:59Z', 1e15];
    for (const [index, time] of times.entries()) {
      const one = issue(1, 'Lamp');
      const members = { id: 100 + index, created_at: time, updated_at: time, closed_at: '0001-01-01T00:00:00Z' };
      expect(await send({ ...one, receivedAt: at(3), payload: { ...one.payload, issue: { ...one.payload.issue, ...members } } })).to.deep.equal(['ack']);
    }
    const rows = await database.rows('select created_at, updated_at, closed_at is not null as closed from issues');
    expect(rows).to.deep.equal(times.map(() => ({ created_at: null, updated_at: at(3), closed: true })));
  });

  it('gives users no repository: they are in none', async () => {
    await send(issue(1, 'Lamp'));
    expect(await stateOf('users', 'login, repository')).to.deep.equal({ login: 'ada', repository: null });
  });

  it('stores what it can of odd payloads: unknown events, members of other kinds, NUL in texts', async () => {
    const odd = [
      { event: 'quantum_leap', payload: { action: 'leapt' } },
      { event: 'issues', payload: { action: 'opened', issue: null, repository: 'none', sender: [] } },
      { event: 'issues', payload: { action: 'opened', issue: { id: 12, number: 3, title: 'a\u0000b\ud800', locked: 'no', created_at: 'yesterday' } } },
    ];
    expect(await send(...odd)).to.deep.equal(['ack', 'ack', 'ack']);
    expect(await stateOf('issues', 'title, locked, created_at')).to.deep.equal({ title: 'a\ufffdb\ufffd', locked: null, created_at: null });
  });

  it('never crosses locks when workers have the same objects in different orders', async () => {
    const events = Array.from({ length: 60 }, (_, index) => {
      const one = issue(index, `title ${index}`);
      return { ...one, payload: { ...one.payload, issue: { ...one.payload.issue, id: 100 + (index % 9) } } };
    });
    const orders = [events, [...events].reverse(), [...events.slice(30), ...events.slice(0, 30)]];
    const results = await Promise.all(orders.map((order) => worker()(order.map(delivery))));
    expect(results.flat().every((outcome) => outcome === 'ack')).to.equal(true);
    expect(await database.rows('select title from issues order by updated_at')).to.deep.equal(
      [51, 52, 53, 54, 55, 56, 57, 58, 59].map((number) => ({ title: `title ${number}` })),
    );
  });
});
