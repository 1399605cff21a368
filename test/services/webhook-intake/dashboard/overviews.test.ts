import { expect } from 'chai';
import { at, createDashboard, type Dashboard, issue, pullRequest, type Row } from './ground.ts';

describe('the overviews of the dashboard', () => {
  let dashboard: Dashboard;
  const get: Dashboard['get'] = (...of) => dashboard.get(...of);
  const by = (login: string) => ({ sender: { id: login.length, login } });

  before(async () => {
    dashboard = await createDashboard();
  });
  after(() => dashboard.close());
  afterEach(() => dashboard.database.empty());

  describe('GET /api/v1/senders', () => {
    const logins = (rows: readonly Row[]) => rows.map((row) => row['sender']);

    it('lists who caused events, how many, and from when to when', async () => {
      await dashboard.deliver([
        { event: 'issues', payload: issue(1, {}, by('porter')), receivedAt: at(1) },
        { event: 'issues', payload: issue(2, {}, by('guard')), receivedAt: at(2), headers: { 'x-sender-class': 'bot' } },
        { event: 'issues', payload: issue(3, {}, by('porter')), receivedAt: at(3) },
        { event: 'ping', payload: {} },
      ]);
      expect((await get('/senders')).body).to.deep.include({
        items: [
          { sender: 'guard', senderClass: 'bot', events: 1, firstEventAt: '2026-01-05T00:00:02.000Z', lastEventAt: '2026-01-05T00:00:02.000Z' },
          { sender: 'porter', senderClass: 'person', events: 2, firstEventAt: '2026-01-05T00:00:01.000Z', lastEventAt: '2026-01-05T00:00:03.000Z' },
        ],
        next: null,
      });
    });

    it('goes on behind the last login of a page', async () => {
      const all = ['a', 'b', 'c', 'd', 'e[bot]'];
      await dashboard.deliver(all.map((login, index) => ({ event: 'issues', payload: issue(index + 1, {}, by(login)) })));
      expect((await dashboard.pages('/senders', { limit: 2 })).map(logins)).to.deep.equal([['a', 'b'], ['c', 'd'], ['e[bot]']]);
    });

    it('refuses a cursor and a limit that are none', async () => {
      const { status, body } = await get('/senders', { query: { after: 'x', limit: '201' } });
      expect(status).to.equal(400);
      expect(body.errors).to.have.all.keys('after', 'limit');
    });
  });

  describe('GET /api/v1/recent', () => {
    it('answers the newest of everything', async () => {
      await dashboard.deliver(
        [1, 2, 3].map((n) => ({ event: 'issues', payload: issue(n, { updated_at: `2026-01-0${n}T00:00:00Z` }), deliveryId: `d${n}`, receivedAt: at(n) })),
      );
      const { body } = await get('/recent', { query: { limit: 2 } });
      expect(body['events']).to.be.an('array').with.length(2);
      expect(body['events']).to.have.nested.property('[0].deliveryId', 'd3');
      expect(body['issues']).to.be.an('array').with.length(2);
      expect(body['issues']).to.have.nested.property('[0].number', 3);
      expect(body['repositories']).to.be.an('array').with.length(1);
      expect(body['pullRequests']).to.deep.equal([]);
    });

    it('answers ten of each unless told otherwise', async () => {
      await dashboard.deliver(Array.from({ length: 11 }, (_, index) => ({ event: 'issues', payload: issue(index + 1) })));
      const { body } = await get('/recent');
      expect(body['events']).to.be.an('array').with.length(10);
      expect(body['issues']).to.be.an('array').with.length(10);
    });

    for (const limit of ['0', '51', 'x'])
      it(`answers 400 for limit=${limit}`, async () => {
        expect((await get('/recent', { query: { limit } })).body.errors).to.have.all.keys('limit');
      });
  });

  describe('GET /api/v1/repositories/{owner}/{repo}/pulls', () => {
    it('lists the pull requests of that repository', async () => {
      const closed = { updated_at: '2026-01-03T00:00:00Z', state: 'closed', user: { login: 'porter' } };
      await dashboard.deliver([
        { event: 'pull_request', payload: pullRequest(1) },
        { event: 'pull_request', payload: pullRequest(2, closed) },
        { event: 'pull_request', payload: pullRequest(3, {}, { repository: { id: 5, full_name: 'railway/points' } }) },
      ]);
      const pulls = async (query = {}) =>
        (await get('/repositories/{owner}/{repo}/pulls', { path: { owner: 'railway', repo: 'signals' }, query })).body.items.map((row) => row['number']);
      expect(await pulls()).to.deep.equal([2, 1]);
      expect(await pulls({ state: 'open' })).to.deep.equal([1]);
      expect(await pulls({ sender: 'porter' })).to.deep.equal([2]);
    });
    it('answers an empty list for a repository that is not known', async () => {
      const { status, body } = await get('/repositories/{owner}/{repo}/pulls', { path: { owner: 'no', repo: '\0' } });
      expect(status).to.equal(200);
      expect(body.items).to.deep.equal([]);
    });
  });

  describe('GET /api/v1/repositories/{owner}/{repo}/pulls/{n}', () => {
    const history = (n: string, query = {}) => get('/repositories/{owner}/{repo}/pulls/{n}', { path: { owner: 'railway', repo: 'signals', n }, query });
    const comment = (number: number) => ({
      action: 'created',
      comment: { id: 1, body: 'Well' },
      issue: { id: 30_000 + number, number },
      ...by('porter'),
      repository: { id: 1001, full_name: 'railway/signals' },
    });
    const deliveries = (rows: readonly Row[]) => rows.map((row) => row['deliveryId']).join('');

    it('answers its state now and the events about it, newest first', async () => {
      await dashboard.deliver([
        { event: 'pull_request', payload: pullRequest(7), deliveryId: 'a', receivedAt: at(1) },
        { event: 'issue_comment', payload: comment(7), deliveryId: 'b', receivedAt: at(2) },
        { event: 'pull_request', payload: pullRequest(7, { state: 'closed', updated_at: '2026-01-03T00:00:00Z' }), deliveryId: 'c', receivedAt: at(3) },
        { event: 'pull_request', payload: pullRequest(8), deliveryId: 'x', receivedAt: at(4) },
        { event: 'pull_request', payload: pullRequest(7, {}, { repository: { id: 5, full_name: 'railway/points' } }), deliveryId: 'y', receivedAt: at(5) },
      ]);
      const { body } = await history('7');
      expect(deliveries(body.items)).to.equal('cba');
      expect(body['pullRequest']).to.include({ number: 7, state: 'closed' });

      const first = (await history('7', { limit: 2 })).body;
      const second = (await history('7', { limit: 2, after: first.next })).body;
      expect([first, second].map(({ items }) => deliveries(items))).to.deep.equal(['cb', 'a']);
      expect(second.next).to.equal(null);
    });

    it('answers the events alone where the state is not kept', async () => {
      await dashboard.deliver([{ event: 'pull_request', payload: pullRequest(7), deliveryId: 'a' }]);
      await dashboard.database.rows('truncate pull_requests');
      const { body } = await history('7');
      expect(body['pullRequest']).to.equal(null);
      expect(deliveries(body.items)).to.equal('a');
    });

    it('answers 404 for what is no pull request', async () => {
      await dashboard.deliver([
        { event: 'issues', payload: issue(7) },
        { event: 'issue_comment', payload: comment(7) },
      ]);
      for (const n of ['7', '8', '0', '-1', '1.5', 'x', '2147483648', '99999999999', '%00']) expect((await history(n)).status, n).to.equal(404);
    });
  });
});
