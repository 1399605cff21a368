import { expect } from 'chai';
import { z } from 'zod';
import { examples } from '../deliveries.ts';
import { expectedRows } from '../expected-rows.ts';
import { at, createDashboard, type Dashboard, issue, pullRequest, type Row } from './ground.ts';

const processed = ['branches', 'comments', 'issues', 'pull-requests', 'pushes', 'repositories', 'installations', 'users'];
const tracked = ['releases', 'workflow-runs'];
const camelCase = (path: string) => path.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const tableOf = (path: string) => path.replace('-', '_');
const Counts = z.record(z.string(), z.record(z.string(), z.number()));

describe('the typed tables of the dashboard', () => {
  let dashboard: Dashboard;
  const get: Dashboard['get'] = (...of) => dashboard.get(...of);
  const numbers = (rows: readonly Row[]) => rows.map((row) => row['number']);
  const found = async (path: string, query: Readonly<Record<string, string | number>> = {}) => numbers((await get(path, { query })).body.items);

  before(async () => {
    dashboard = await createDashboard();
  });
  after(() => dashboard.close());

  describe('after all example payloads of the forge', () => {
    before(() => {
      return dashboard.deliver(examples);
    });
    after(() => dashboard.database.empty());

    for (const path of [...processed, ...tracked])
      it(`GET /api/v1/${path} lists every row once, whatever the page, by its last change`, async () => {
        const expected = new Map(Object.entries(expectedRows(examples))).get(tableOf(path));
        const rows = (await dashboard.pages(`/${path}`, { limit: 7 })).flat();
        expect(new Set(rows.map((row) => row['id']))).to.have.property('size', expected);
        expect(rows).to.have.length(expected ?? NaN);
        const times = rows.map((row) => Date.parse(String(row['updatedAt'])));
        expect(times).to.deep.equal(times.toSorted((one, other) => other - one));
      });

    it('no list takes the cursor of another', async () => {
      const pulls = { owner: 'Codertocat', repo: 'Hello-World' };
      const lists = [
        ...[...processed, ...tracked, 'events', 'senders'].map((path) => ({ template: `/${path}`, path: {} })),
        { template: '/repositories/{owner}/{repo}/pulls', path: pulls },
        { template: '/repositories/{owner}/{repo}/pulls/{n}', path: { ...pulls, n: '2' } },
      ];
      const cursors = new Map<string, string>();
      for (const { template, path } of lists) {
        const { body } = await get(template, { path, query: { limit: 1 } });
        if (body.next !== null) cursors.set(template, body.next);
      }
      expect([...cursors.keys()]).to.include.members(['/events', '/senders', '/issues', '/workflow-runs', '/pull-requests']);
      for (const [of, after] of cursors)
        for (const { template, path } of lists) {
          const { status, body } = await get(template, { path, query: { limit: 1, after } });
          expect(status, `the cursor of ${of} on ${template}`).to.equal(of === template ? 200 : 400);
          if (status === 400) expect(body.errors).to.have.all.keys('after');
        }
      for (const path of processed) {
        const { status } = await get(`/${path}/processing`, { query: { after: cursors.get(`/${path}`) ?? 'none' } });
        expect(status).to.equal(400);
      }
    });

    it('GET /api/v1/processing-state counts every row', async () => {
      const { body } = await get('/processing-state');
      const counts = Counts.parse(Object.fromEntries([...processed, ...tracked].map((path) => [path, body[camelCase(path)]])));
      const expected = expectedRows(examples);
      const processedRows = [...processed, ...tracked].map((path) => [
        path,
        { NEW: 0, PROCESSING: 0, PROCESSED: new Map(Object.entries(expected)).get(tableOf(path)), UPDATED: 0, RE_REQUESTED: 0 },
      ]);
      expect(counts).to.deep.equal(Object.fromEntries(processedRows));
    });
  });

  describe('an item', () => {
    after(() => dashboard.database.empty());

    it('has what all share, and the main members of the object under the names of the forge', async () => {
      const members = { html_url: 'https://forge.example/1', comments: 2, locked: false, created_at: '2026-01-01T00:00:00Z', closed_at: null, body: 'long' };
      await dashboard.deliver([{ event: 'issues', payload: issue(5, members), receivedAt: at(3) }]);
      const { body } = await get('/issues');
      const { id, ...item } = body.items[0] ?? {};
      expect(id).to.match(/^[0-9a-f-]{36}$/);
      expect(item).to.deep.equal({
        forge: 'github',
        forgeId: '10005',
        repository: 'railway/signals',
        processingState: 'PROCESSED',
        firstSeenAt: '2026-01-05T00:00:03.000Z',
        updatedAt: '2026-01-02T03:04:05.000Z',
        deletedAt: null,
        number: 5,
        title: 'Issue 5',
        state: 'open',
        state_reason: null,
        user: { login: 'stationmaster' },
        author_association: null,
        locked: false,
        comments: 2,
        html_url: 'https://forge.example/1',
        created_at: '2026-01-01T00:00:00.000Z',
        closed_at: null,
      });
    });

    it('keeps what the forge nests nested, and says null for what is absent as a whole', async () => {
      await dashboard.deliver([{ event: 'pull_request', payload: pullRequest(6, { head: { ref: 'signals', sha: 'abc' }, user: null }) }]);
      const { body } = await get('/pull-requests');
      expect(body.items[0]).to.deep.include({ user: null, head: { ref: 'signals', sha: 'abc' }, base: null });
    });
  });

  describe('filters', () => {
    before(() => {
      const day = (n: number) => ({ updated_at: `2026-02-0${n}T00:00:00Z` });
      const porter = { user: { login: 'porter' } };
      return dashboard.deliver([
        { event: 'issues', payload: issue(1, day(1)) },
        { event: 'issues', payload: issue(2, { ...day(2), ...porter }) },
        { event: 'issues', payload: issue(3, { ...day(3), state: 'closed' }) },
        { event: 'issues', payload: issue(4, day(4), { repository: { id: 5, full_name: 'railway/points' } }) },
        { event: 'issues', payload: issue(5, day(5), { action: 'deleted' }) },
        { event: 'pull_request', payload: pullRequest(6, day(6)) },
        { event: 'pull_request', payload: pullRequest(7, { ...day(7), ...porter, state: 'closed' }) },
      ]);
    });
    after(() => dashboard.database.empty());

    it('list all when there are none', async () => expect(await found('/issues')).to.deep.equal([5, 4, 3, 2, 1]));
    it('by repository', async () => expect(await found('/issues', { repository: 'railway/points' })).to.deep.equal([4]));
    it('by state, in any case', async () => {
      expect(await found('/issues', { state: 'CLOSED' })).to.deep.equal([3]);
      expect(await found('/pull-requests', { state: 'open' })).to.deep.equal([6]);
    });
    it('by sender: who opened it', async () => {
      expect(await found('/issues', { sender: 'porter' })).to.deep.equal([2]);
      expect(await found('/pull-requests', { sender: 'porter' })).to.deep.equal([7]);
    });
    it('by what the forge has deleted', async () => {
      expect(await found('/issues', { deleted: 'true' })).to.deep.equal([5]);
      expect(await found('/issues', { deleted: 'false' })).to.deep.equal([4, 3, 2, 1]);
      expect((await get('/issues', { query: { deleted: 'true' } })).body.items[0]?.['deletedAt']).to.be.a('string');
    });
    it('by processing state, in any case', async () => {
      expect(await found('/issues', { processingState: 'processed', limit: 1 })).to.deep.equal([5]);
      expect(await found('/issues', { processingState: 'NEW' })).to.deep.equal([]);
    });
    it('by several at once', async () =>
      expect(await found('/issues', { repository: 'railway/signals', state: 'open', sender: 'stationmaster', deleted: 'false' })).to.deep.equal([1]));
    it('by the login of a user', async () => {
      const { body } = await get('/users', { query: { login: 'stationmaster' } });
      expect(body.items.map((row) => row['login'])).to.deep.equal(['stationmaster']);
    });
    it('of an unknown state are refused', async () => {
      const { status, body } = await get('/issues', { query: { state: 'ajar', processingState: 'DONE', deleted: 'maybe', limit: 0 } });
      expect(status).to.equal(400);
      expect(body.errors).to.have.all.keys('state', 'processingState', 'deleted', 'limit');
    });
  });

  it('a page goes on behind its last row while rows change', async () => {
    const updated = (n: number, time: string) => ({ event: 'issues', payload: issue(n, { updated_at: time }) });
    await dashboard.deliver([1, 2, 3, 4].map((n) => updated(n, '2026-02-01T00:00:00Z')));
    const first = (await get('/issues', { query: { limit: 2 } })).body;
    await dashboard.deliver([updated(5, '2026-02-02T00:00:00Z'), ...numbers(first.items).map((n) => updated(Number(n), '2026-02-03T00:00:00Z'))]);
    const second = (await get('/issues', { query: { limit: 2, after: first.next ?? '' } })).body;
    expect([...numbers(first.items), ...numbers(second.items)]).to.have.members([1, 2, 3, 4]);
    expect(second.next).to.equal(null);
    await dashboard.database.empty();
  });

  describe('what is not processed', () => {
    before(() => dashboard.deliver(examples));
    after(() => dashboard.database.empty());

    for (const path of processed)
      describe(`GET /api/v1/${path}/processing`, () => {
        const table = tableOf(path);
        const ids = async (query: Readonly<Record<string, string>> = {}) =>
          (await dashboard.pages(`/${path}/processing`, { limit: 3, ...query })).flat().map((row) => row['id']);

        it('lists nothing when all is processed', async () => expect(await ids()).to.deep.equal([]));

        it('lists what is not, first seen first, of every state or of one', async () => {
          const rows = await dashboard.database.rows<{ id: string }>(`select id from ${table} order by id`);
          const states = ['NEW', 'PROCESSED', 'UPDATED', 'PROCESSING', 'RE_REQUESTED'];
          for (const [index, { id }] of rows.entries())
            await dashboard.database.rows(`update ${table} set processing_state = $1 where id = $2`, [states[index % 5], id]);
          const inState = (...wanted: readonly string[]) => rows.filter((_, index) => wanted.includes(states[index % 5] ?? '')).map(({ id }) => id);
          expect(await ids()).to.deep.equal(inState('NEW', 'UPDATED', 'PROCESSING', 'RE_REQUESTED'));
          for (const state of states) expect(await ids({ state: state.toLowerCase() }), state).to.deep.equal(inState(state));

          const { body } = await get('/processing-state');
          expect(body[camelCase(path)]).to.deep.equal(Object.fromEntries(states.map((state) => [state, inState(state).length])));
        });

        it('refuses an unknown state and the cursor of another list', async () => {
          const after = Buffer.from('["issues/processing-state","0198d3a5-0000-7000-8000-000000000000"]').toString('base64url');
          const { status, body } = await get(`/${path}/processing`, { query: { state: 'DONE', after } });
          expect(status).to.equal(400);
          expect(body.errors).to.have.all.keys('state', 'after');
        });
      });
  });
});
