// Replays of stored events, by HTTP: a real database, filled by the real workers.
import { expect } from 'chai';
import { parseRules } from '../../../services/webhook-intake/notifications/rules.ts';
import { eventually } from '../../support/wait.ts';
import { at, createDashboard, type Dashboard, issue, pullRequest, type Reply } from './dashboard/ground.ts';

const rules = parseRules('rules: [{ name: issues, when: { event: issues }, smtp: [ada@example.org] }]');

describe('replays of stored events', function () {
  this.timeout(60_000);
  let dashboard: Dashboard;
  let woken = 0;
  beforeEach(async () => {
    woken = 0;
    dashboard = await createDashboard({ rules, onStored: () => void woken++ });
  });
  afterEach(() => dashboard.close());

  const { rows } = { rows: <Row extends object>(sql: string) => dashboard.database.rows<Row & Record<string, unknown>>(sql) };
  const one = (deliveryId: string, seconds: number, members: object = {}) => ({
    event: 'issues',
    payload: issue(1, { updated_at: at(seconds).toISOString(), ...members }),
    deliveryId,
    receivedAt: at(seconds),
  });
  const start = (body: object) => dashboard.post('/events/replay', { body });
  const finished = async ({ body }: Reply) => {
    const runId = String(body['runId']);
    return eventually(async () => {
      const run = (await dashboard.get('/workers/runs/{runId}', { path: { runId } })).body;
      expect(run['status']).to.be.oneOf(['succeeded', 'failed']);
      return run;
    });
  };
  const outbox = () => dashboard.database.count('outbox_recipients');

  it('bring rows of the typed tables that were not there, as the newest event left them', async () => {
    await dashboard.deliver([one('a', 1), one('b', 2, { state: 'closed' }), { event: 'pull_request', payload: pullRequest(2), receivedAt: at(3) }], {
      only: 'events',
    });
    expect((await dashboard.get('/issues')).body.items).to.have.length(0);
    const accepted = await start({ from: at(0).toISOString() });
    expect(accepted.status).to.equal(202);
    expect(accepted.body).to.deep.include({ worker: 'replay', status: 'accepted', count: 3 });
    expect(accepted.headers['location']).to.equal(`/api/v1/workers/runs/${String(accepted.body['runId'])}`);
    expect(await finished(accepted)).to.deep.include({ worker: 'replay', status: 'succeeded', processed: 3, failed: 0, error: null });
    expect((await dashboard.get('/issues')).body.items.map(({ state }) => state)).to.deep.equal(['closed']);
    expect((await dashboard.get('/pull-requests')).body.items).to.have.length(1);
    expect(await dashboard.database.count('replay_events')).to.equal(0);
  });

  it('never turn a state back, and change nothing the second time', async () => {
    await dashboard.deliver([one('a', 1), one('b', 2, { state: 'closed' })]);
    const typed = 'select to_jsonb(i) as row from issues i union all select to_jsonb(r) from repositories r union all select to_jsonb(u) from users u';
    const before = await rows(typed);
    for (let times = 0; times < 2; times++) await finished(await start({ deliveryId: 'a' }));
    expect(await rows(typed)).to.deep.equal(before);
  });

  it('notify again by the rules of now, each time once', async () => {
    await dashboard.deliver([one('a', 1), one('b', 2), { event: 'pull_request', payload: pullRequest(2), receivedAt: at(3) }]);
    expect(await outbox()).to.equal(0);
    await finished(await start({ event: 'issues' }));
    expect(await outbox()).to.equal(2);
    expect(woken).to.be.above(0);
    await finished(await start({ event: 'issues' }));
    expect(await outbox()).to.equal(4);
    await finished(await start({ event: 'issues', notify: false }));
    expect(await outbox()).to.equal(4);
    expect((await rows<{ title: string }>('select title from outbox')).map(({ title }) => title)).to.include('[railway/signals] issues opened #1: Issue 1');
  });

  it('replay one event', async () => {
    await dashboard.deliver([one('a', 1)], { only: 'events' });
    const [event] = (await dashboard.get('/events')).body.items;
    const accepted = await dashboard.post('/events/{id}/replay', { path: { id: String(event?.['id']) } });
    expect([accepted.status, accepted.body['count']]).to.deep.equal([202, 1]);
    await finished(accepted);
    expect(await outbox()).to.equal(1);
    expect((await dashboard.get('/issues')).body.items).to.have.length(1);
    for (const id of ['x', '019b76da-a800-7000-8000-5f3c1e2d4a6b'])
      expect((await dashboard.post('/events/{id}/replay', { path: { id } })).status).to.equal(404);
  });

  it('say with dryRun what they would replay, the oldest first, and do nothing', async () => {
    await dashboard.deliver(Array.from({ length: 25 }, (_, index) => one(`d-${index}`, index)));
    const listed = (await dashboard.get('/events', { query: { limit: 200 } })).body.items.map(({ id }) => id).toReversed();
    const { status, body } = await start({ event: 'issues', dryRun: true });
    expect([status, body['count']]).to.deep.equal([200, 25]);
    expect(body['ids']).to.deep.equal(listed.slice(0, 20));
    expect((await start({ sender: 'stranger', dryRun: true })).body).to.deep.include({ count: 0, ids: [] });
    expect(await dashboard.database.count('worker_runs')).to.equal(0);
  });

  it('are refused without a filter, for no event, and above the most events', async () => {
    await dashboard.close();
    dashboard = await createDashboard({ rules, maxReplayed: 3 });
    await dashboard.deliver(Array.from({ length: 5 }, (_, index) => one(`d-${index}`, index)));
    const without = [{}, { notify: false }, { dryRun: true }, { event: ' ' }];
    for (const body of [...without, { minScore: 11 }, { event: 'issues', resume: 'x' }, { resume: 'x', notify: false }, { from: 'yesterday' }])
      expect((await start(body)).status, JSON.stringify(body)).to.equal(400);
    expect((await start({ sender: 'stranger' })).status).to.equal(404);
    const tooMany = await start({ event: 'issues', dryRun: true });
    expect([tooMany.status, tooMany.body['title']]).to.deep.equal([400, 'The filter selects more events than a replay may have']);
    expect((await start({ event: 'issues', to: at(3).toISOString(), dryRun: true })).body['count']).to.equal(3);
  });

  it('run one at a time', async () => {
    await dashboard.deliver(Array.from({ length: 3 }, (_, index) => one(`d-${index}`, index)));
    const replies = await Promise.all([start({ event: 'issues' }), start({ event: 'issues' }), start({ event: 'issues' })]);
    const accepted = replies.filter(({ status }) => status === 202);
    expect(replies.every(({ status }) => status === 202 || status === 409)).to.equal(true);
    expect(accepted.length).to.be.at.least(1);
    for (const reply of accepted) await finished(reply);
  });

  it('count an event whose payload is gone, or cannot be read, as failed, and go on', async () => {
    await dashboard.deliver([one('a', 1), one('b', 2), one('c', 3)], { only: 'events' });
    await rows(`delete from event_payloads where event_id = (select id from events where delivery_id = 'a')`);
    await rows(`update event_payloads set body = 'no json' where event_id = (select id from events where delivery_id = 'b')`);
    expect(await finished(await start({ event: 'issues' }))).to.deep.include({ status: 'succeeded', processed: 1, failed: 2 });
    expect((await dashboard.get('/issues')).body.items).to.have.length(1);
  });

  it('leave to another run what they had not come to, and notify nothing twice', async () => {
    await dashboard.deliver(
      Array.from({ length: 4 }, (_, index) => one(`d-${index}`, index)),
      { only: 'events' },
    );
    const killed = '019b76da-a800-7000-8000-00000000000a';
    await rows(`insert into worker_runs (id, worker, status, processed, failed, finished_at) values ('${killed}', 'replay', 'failed', 2, 0, now())`);
    await rows(`insert into replay_events select '${killed}', received_at, id, true from events where delivery_id in ('d-2', 'd-3')`);
    const planned = await start({ resume: killed, dryRun: true });
    expect([planned.status, planned.body['count']]).to.deep.equal([200, 2]);
    expect(planned.body['ids']).to.have.length(2);
    const resumed = await start({ resume: killed });
    expect([resumed.status, resumed.body['count']]).to.deep.equal([202, 2]);
    expect(await finished(resumed)).to.deep.include({ processed: 2 });
    expect(await outbox()).to.equal(2);
    expect((await start({ resume: killed })).status).to.equal(409);
    expect((await start({ resume: 'x' })).status).to.equal(404);
  });

  it('make a row PROCESSED whose deduplication key is gone', async () => {
    await dashboard.deliver([one('a', 1)], { only: 'events' });
    await rows('truncate delivery_keys');
    await finished(await start({ event: 'issues' }));
    expect((await dashboard.get('/issues')).body.items.map(({ processingState }) => processingState)).to.deep.equal(['PROCESSED']);
  });
});
