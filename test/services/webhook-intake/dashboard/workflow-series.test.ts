import { expect } from 'chai';
import { z } from 'zod';
import { createDashboard, type Dashboard, repository } from './ground.ts';

const Days = z.array(z.looseObject({ runs: z.int() }));

describe('workflow runs', () => {
  let dashboard: Dashboard;
  before(async () => {
    dashboard = await createDashboard();
  });
  after(() => dashboard.close());
  afterEach(() => dashboard.database.empty());

  let ids = 0;
  const run = (members: object) => ({
    event: 'workflow_run',
    payload: {
      action: 'completed',
      workflow_run: {
        id: ++ids,
        name: 'CI',
        head_branch: 'main',
        run_attempt: 1,
        status: 'completed',
        conclusion: 'success',
        run_started_at: '2026-01-05T10:00:00Z',
        updated_at: '2026-01-05T10:01:00Z',
        ...members,
      },
      repository,
      sender: { id: 7, login: 'stationmaster' },
    },
  });
  const series = async (query: Readonly<Record<string, string>> = {}, headers: Readonly<Record<string, string>> = {}) =>
    dashboard.get('/workflow-runs/series', { query, headers });

  it('are listed by branch, name and time of change', async () => {
    await dashboard.deliver([
      run({ head_branch: 'main' }),
      run({ head_branch: 'fix/lamp', updated_at: '2026-01-06T10:00:00Z' }),
      run({ name: 'Release', updated_at: '2026-01-07T10:00:00Z' }),
    ]);
    const count = async (query: Readonly<Record<string, string>>) => (await dashboard.get('/workflow-runs', { query })).body.items.length;
    expect(await count({ branch: 'fix/lamp' })).to.equal(1);
    expect(await count({ name: 'CI' })).to.equal(2);
    expect(await count({ name: 'CI', branch: 'main' })).to.equal(1);
    expect(await count({ from: '2026-01-06T10:00:00Z' })).to.equal(2);
    expect(await count({ from: '2026-01-06T10:00:00Z', to: '2026-01-07T10:00:00Z' })).to.equal(1);
    expect(await count({ name: 'Release', to: '2026-01-07T10:00:00Z' })).to.equal(0);
  });

  it('are counted by day and conclusion, with how long they took', async () => {
    await dashboard.deliver([
      run({}),
      run({ updated_at: '2026-01-05T23:30:00Z', run_started_at: '2026-01-05T23:27:00Z', conclusion: 'failure' }),
      run({ updated_at: '2026-01-06T01:00:00Z', status: 'in_progress', conclusion: null }),
    ]);
    expect((await series()).body).to.deep.include({
      from: null,
      days: [
        { start: '2026-01-05T00:00:00.000Z', runs: 2, conclusions: { success: 1, failure: 1 }, averageSeconds: 120 },
        { start: '2026-01-06T00:00:00.000Z', runs: 1, conclusions: {}, averageSeconds: null },
      ],
    });
    const { body } = await series({ conclusion: 'failure' }, { 'X-Timezone': 'Asia/Kolkata' });
    expect(body['days']).to.deep.equal([{ start: '2026-01-05T18:30:00.000Z', runs: 1, conclusions: { failure: 1 }, averageSeconds: 180 }]);
  });

  it('are counted by repository, branch, name and time', async () => {
    await dashboard.deliver([run({}), run({ head_branch: 'fix/lamp' }), run({ name: 'Release', updated_at: '2026-01-07T10:00:00Z' })]);
    const runs = async (query: Readonly<Record<string, string>>) => Days.parse((await series(query)).body['days']).reduce((sum, day) => sum + day.runs, 0);
    expect(await runs({})).to.equal(3);
    expect(await runs({ branch: 'main' })).to.equal(2);
    expect(await runs({ name: 'Release', branch: 'main' })).to.equal(1);
    expect(await runs({ to: '2026-01-06T00:00:00Z' })).to.equal(2);
    expect(await runs({ repository: 'railway/other' })).to.equal(0);
  });

  it('are looked at up to the newest 20 000', async () => {
    await dashboard.database.rows(`
      insert into workflow_runs (id, forge, object_key, forge_id, repository, processing_state, first_seen_at, updated_at, event_received_at, version, delivery_id, hook_id, target_id, rest, conclusion)
      select gen_random_uuid(), 'github', n::text, n::text, 'a/b', 'PROCESSED', now(), timestamptz '2026-01-05Z' + n * interval '1 s', now(), n::text, n::text, '0', '0', '{}', 'success'
      from generate_series(1, 20001) n`);
    const { body } = await series();
    expect(body['from']).to.equal('2026-01-05T00:00:02.000Z');
    expect(Object(body['days'])[0]).to.include({ runs: 20_000, averageSeconds: null });
  });
});

describe('GET /api/v1/workers/runs', () => {
  let dashboard: Dashboard;
  before(async () => {
    dashboard = await createDashboard();
    await dashboard.database.rows(`
      insert into worker_runs (id, worker, status, started_at, processed, failed)
      select ('019b76da-a800-7000-8000-00000000000' || n)::uuid, case when n % 2 = 0 then 'cleanup' else 'service' end, case when n < 3 then 'failed' else 'succeeded' end, now(), n, 0
      from generate_series(1, 6) n`);
  });
  after(() => dashboard.close());

  const list = async (query: Readonly<Record<string, string>> = {}) =>
    (await dashboard.get('/workers/runs', { query })).body.items.map(({ processed }) => processed);

  it('lists runs, the newest first', async () => expect(await list()).to.deep.equal([6, 5, 4, 3, 2, 1]));
  it('filters by worker and status', async () => {
    expect(await list({ worker: 'Cleanup' })).to.deep.equal([6, 4, 2]);
    expect(await list({ status: 'failed' })).to.deep.equal([2, 1]);
    expect(await list({ status: 'failed', worker: 'service' })).to.deep.equal([1]);
    expect(await list({ worker: 'replay' })).to.deep.equal([]);
    expect((await dashboard.get('/workers/runs', { query: { worker: 'other' } })).status).to.equal(400);
  });
  it('has pages', async () => {
    const pages = await dashboard.pages('/workers/runs', { limit: 2, worker: 'cleanup' });
    expect(pages.map((page) => page.map(({ processed }) => processed))).to.deep.equal([[6, 4], [2]]);
  });
});
