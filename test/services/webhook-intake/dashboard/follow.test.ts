import { expect } from 'chai';
import request from 'supertest';
import type { Database } from '../../../../services/platform/postgres/pool.ts';
import { eventually } from '../../../support/wait.ts';
import { at, createDashboard, type Dashboard, issue, pullRequest, type Reply, tokens } from './ground.ts';

describe('GET /api/v1/events with before and wait', () => {
  let dashboard: Dashboard;
  let stopping: AbortController;
  const one = (deliveryId: string, seconds = 0) => ({ event: 'issues', payload: issue(1), deliveryId, receivedAt: at(seconds) });
  const get = (query: Readonly<Record<string, string | number>> = {}) => dashboard.get('/events', { query });
  const deliveriesOf = ({ body }: Reply) => body.items.map(({ deliveryId }) => deliveryId);
  const newestOf = ({ body }: Reply) => String(body['newest']);

  beforeEach(async () => {
    stopping = new AbortController();
    dashboard = await createDashboard({ stopping: stopping.signal });
  });
  afterEach(() => dashboard.close());

  it('answers what was stored after another answer, in the order of storing', async () => {
    await dashboard.deliver([one('a', 5)]);
    const newest = newestOf(await get());
    await dashboard.deliver([one('late', 1), one('b', 9)]);
    await dashboard.deliver([one('c', 7)]);
    const followed = await get({ before: newest });
    expect(deliveriesOf(followed)).to.deep.equal(['late', 'b', 'c']);
    expect(followed.body.next).to.equal(null);
    expect(deliveriesOf(await get({ before: newestOf(followed) }))).to.deep.equal([]);
  });

  it('leads on behind its limit, without a gap', async () => {
    const start = newestOf(await get());
    await dashboard.deliver([...'abcde'].map((id) => one(id)));
    const pages: unknown[][] = [];
    for (let before = start; pages.length < 3;) {
      const reply = await get({ before, limit: 2 });
      pages.push(deliveriesOf(reply));
      before = newestOf(reply);
    }
    expect(pages).to.deep.equal([['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('waits for the first event that passes the filters, whichever process stores it', async () => {
    const asked = get({ wait: 20, event: 'pull_request', q: 'CHANGE 7' });
    await dashboard.deliver([one('a'), { event: 'pull_request', payload: pullRequest(6), deliveryId: 'b' }]);
    await dashboard.deliver([{ event: 'pull_request', payload: pullRequest(7), deliveryId: 'c' }]);
    const reply = await asked;
    expect(deliveriesOf(reply)).to.deep.equal(['c']);
    await dashboard.deliver([one('d')]);
    expect(deliveriesOf(await get({ before: newestOf(reply), wait: 5 }))).to.deep.equal(['d']);
  });

  it('passes each filter as the list does', async () => {
    const start = newestOf(await get());
    await dashboard.deliver([
      { event: 'issues', payload: issue(1), deliveryId: 'a', priority: 3, receivedAt: at(1) },
      { event: 'issues', payload: issue(2, {}, { action: 'closed' }), deliveryId: 'b', priority: 8, receivedAt: at(2) },
      { event: 'pull_request', payload: pullRequest(3, {}, { sender: { id: 8, login: 'Porter' } }), deliveryId: 'c', priority: 9, receivedAt: at(3) },
      { event: 'issues', payload: issue(4, {}, { repository: { id: 5, full_name: 'railway/Points' } }), deliveryId: 'd', priority: 5, receivedAt: at(4) },
      { event: 'ping', payload: { zen: 'Keep it' }, deliveryId: 'e', priority: 1, receivedAt: at(5) },
    ]);
    const queries: readonly Readonly<Record<string, string>>[] = [
      {},
      { source: 'FORGE' },
      { source: 'sentry' },
      { forge: 'GitHub' },
      { event: 'issues' },
      { action: 'closed' },
      { repository: 'RAILWAY/points' },
      { sender: 'Porter' },
      { senderClass: 'person' },
      { minScore: '8' },
      { deliveryId: 'd' },
      { from: at(3).toISOString() },
      { to: at(3).toISOString() },
      { q: 'porter' },
      { q: 'way/POINTS', event: 'issues', minScore: '5' },
    ];
    for (const query of queries) {
      const listed = deliveriesOf(await get(query)).toReversed();
      expect(deliveriesOf(await get({ ...query, before: start })), JSON.stringify(query)).to.deep.equal(listed);
    }
  });

  it('answers nothing when the seconds are over, and says from where to go on', async () => {
    const start = newestOf(await get());
    const began = performance.now();
    const asked = get({ before: start, wait: 1, event: 'push' });
    await dashboard.deliver([one('a')]);
    const reply = await asked;
    expect(performance.now() - began).to.be.within(900, 5000);
    expect(deliveriesOf(reply)).to.deep.equal([]);
    expect(newestOf(reply)).to.not.equal(start);
    expect(deliveriesOf(await get({ before: start }))).to.deep.equal(['a']);
  });

  it('ends when the process stops', async () => {
    const asked = get({ wait: 30 });
    setTimeout(() => stopping.abort(), 300);
    const began = performance.now();
    expect(deliveriesOf(await asked)).to.deep.equal([]);
    expect(performance.now() - began).to.be.below(5000);
  });

  it('asks the database once for all that wait, and no more when they have left', async () => {
    const asked: string[] = [];
    await dashboard.close();
    const through = (pool: Database): Database => ({
      ...pool,
      all(question, ...values) {
        asked.push(question.name);
        return pool.all(question, ...values);
      },
      first(question, ...values) {
        asked.push(question.name);
        return pool.first(question, ...values);
      },
    });
    dashboard = await createDashboard({ stopping: stopping.signal, through });
    const clients = Array.from({ length: 20 }, () => new AbortController());
    const waiting = clients.map(({ signal }) =>
      fetch(`${dashboard.url}/api/v1/events?wait=30`, { headers: { Authorization: `token ${tokens[0]}` }, signal }).catch(() => undefined),
    );
    const timesOf = (question: string) => asked.filter((name) => name === question).length;
    // Each begins with a look at the events behind its position.
    await eventually(() => expect(timesOf('feed.after')).to.equal(clients.length));
    const [before, began] = [asked.length, performance.now()];
    await eventually(() => expect(asked.length).to.be.above(before + 3));
    clients.forEach((client) => client.abort());
    await Promise.all(waiting);
    let last = -1;
    await eventually(
      () => {
        const isQuiet = asked.length === last;
        last = asked.length;
        expect(isQuiet).to.equal(true);
      },
      { everyMs: 600 },
    );
    expect(asked.length - before).to.be.below((performance.now() - began) / 40);
    expect(timesOf('feed.after'), 'nothing was stored').to.equal(clients.length);
  });

  it('refuses a cursor of a log that has not come so far, and one of another list', async () => {
    await dashboard.deliver([one('a'), one('b')]);
    const newest = newestOf(await get());
    await dashboard.database.rows('update event_feed set last_position = 1');
    expect((await get({ before: newest })).status).to.equal(410);
    const { body } = await get({ limit: 1 });
    for (const query of [{ before: String(body.next) }, { before: 'x' }, { after: String(body.next), wait: 1 }, { wait: 61 }, { wait: -1 }])
      expect((await get(query)).status, JSON.stringify(query)).to.equal(400);
    expect((await get({ before: 'x' })).body['errors']).to.deep.equal({ before: ['must be the `newest` of another answer'] });
  });

  it('misses none of the events that many workers store at once', async () => {
    const start = newestOf(await get());
    const all = Array.from({ length: 60 }, (_, index) => `d-${index}`);
    const seen: unknown[] = [];
    const following = (async () => {
      for (let before = start; seen.length < all.length;) {
        const reply = await get({ before, wait: 10, limit: 200 });
        seen.push(...deliveriesOf(reply));
        before = newestOf(reply);
      }
    })();
    await Promise.all(all.map((id) => dashboard.deliver([one(id)], { only: 'events' })));
    await following;
    expect(seen).to.have.members(all);
    expect(new Set(seen).size).to.equal(all.length);
  });

  it('needs the token', () => request(dashboard.url).get('/api/v1/events?wait=30').expect(401));
});
