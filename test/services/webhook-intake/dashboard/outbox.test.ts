import { expect } from 'chai';
import { z } from 'zod';
import { parseRules } from '../../../../services/webhook-intake/notifications/rules.ts';
import { createNotificationStore } from '../../../../services/webhook-intake/notifications/store.ts';
import { at, createDashboard, type Dashboard, issue } from './ground.ts';

const rules = parseRules('rules: [{ name: all, smtp: [ada@example.org], push: [signals] }]');

describe('GET /api/v1/notifications', () => {
  let dashboard: Dashboard;
  let woken = 0;
  before(async () => {
    dashboard = await createDashboard({ workerRules: rules, onStored: () => void woken++ });
  });
  after(() => dashboard.close());
  afterEach(() => dashboard.database.empty());

  const store = () => createNotificationStore(dashboard.database.pool);
  async function notified(count = 1): Promise<void> {
    await dashboard.deliver(Array.from({ length: count }, (_, index) => ({ event: 'issues', payload: issue(index + 1), receivedAt: at(index) })));
    for (const channel of ['smtp', 'push']) await store().makeMessages(channel, 100);
  }
  async function attempted(channel: string, outcome: 'sent' | 'failed' | 'retried'): Promise<void> {
    for (const message of await store().claim(channel, 10, 60_000))
      await (outcome === 'retried'
        ? store().postpone(message, 'mailbox full', 60_000)
        : store().end(message, outcome, outcome === 'failed' ? 'no such mailbox' : null));
  }
  const list = async (query: Readonly<Record<string, string | number>> = {}) => (await dashboard.get('/notifications', { query })).body.items;

  it('answers messages with what they tell and each attempt', async () => {
    await notified();
    await attempted('smtp', 'retried');
    await dashboard.database.rows('update outbox_messages set due_at = now()');
    await attempted('smtp', 'failed');
    const [message] = await list({ channel: 'smtp' });
    const { id, createdAt, dueAt, endedAt, notices, attempts, ...rest } = message ?? {};
    expect(rest).to.deep.equal({ channel: 'smtp', recipient: 'ada@example.org', status: 'failed', attemptCount: 2, lastError: 'no such mailbox' });
    expect([id, createdAt, dueAt, endedAt].every((value) => typeof value === 'string')).to.equal(true);
    const [event] = (await dashboard.get('/events')).body.items;
    expect(notices).to.deep.equal([{ eventId: event?.['id'], rule: 'all', title: '[railway/signals] issues opened #1: Issue 1' }]);
    expect(
      z
        .array(z.looseObject({}))
        .parse(attempts)
        .map((one) => ({ ...one, attemptedAt: '' })),
    ).to.deep.equal([
      { attempt: 2, attemptedAt: '', outcome: 'failed', reason: 'no such mailbox' },
      { attempt: 1, attemptedAt: '', outcome: 'retried', reason: 'mailbox full' },
    ]);
  });

  it('filters by status and channel, in any case of the status', async () => {
    await notified(3);
    await attempted('smtp', 'sent');
    expect(await list()).to.have.length(6);
    expect(await list({ status: 'SENT' })).to.have.length(3);
    expect(await list({ status: 'pending', channel: 'push' })).to.have.length(3);
    expect(await list({ status: 'pending', channel: 'smtp' })).to.have.length(0);
    expect((await dashboard.get('/notifications', { query: { status: 'lost' } })).status).to.equal(400);
  });

  it('has pages that neither repeat nor miss one', async () => {
    await notified(5);
    const pages = await dashboard.pages('/notifications', { limit: 4 });
    const ids = pages.flat().map(({ id }) => id);
    expect(pages.map(({ length }) => length)).to.deep.equal([4, 4, 2]);
    expect(new Set(ids)).to.have.property('size', 10);
  });

  describe('POST /api/v1/notifications/{id}/retry', () => {
    const retry = (id: unknown) => dashboard.post('/notifications/{id}/retry', { path: { id: String(id) } });

    it('makes a failed message due at once, under its id', async () => {
      await notified();
      await attempted('smtp', 'failed');
      const [failed] = await list({ status: 'failed' });
      const { status, body } = await retry(failed?.['id']);
      expect(status).to.equal(200);
      expect(body).to.deep.include({ id: failed?.['id'], status: 'pending', endedAt: null, attemptCount: 1 });
      expect(woken).to.be.above(0);
      expect((await store().claim('smtp', 10, 60_000)).map(({ id }) => id)).to.deep.equal([failed?.['id']]);
    });

    it('makes a message that waits for its next attempt due at once', async () => {
      await notified();
      await attempted('push', 'retried');
      const [waiting] = await list({ channel: 'push' });
      expect(await store().claim('push', 10, 60_000)).to.have.length(0);
      expect((await retry(waiting?.['id'])).status).to.equal(200);
      expect(await store().claim('push', 10, 60_000)).to.have.length(1);
    });

    it('leaves a message alone that a sender is at', async () => {
      await notified();
      const [claimed] = await store().claim('push', 1, 60_000);
      expect((await retry(claimed?.id)).status).to.equal(200);
      expect(await store().claim('push', 1, 60_000)).to.have.length(0);
    });

    it('answers 409 for a message that was sent, and 404 for one that is not there', async () => {
      await notified();
      await attempted('push', 'sent');
      const [sent] = await list({ status: 'sent' });
      expect((await retry(sent?.['id'])).status).to.equal(409);
      for (const id of ['x', '019b76da-a800-7000-8000-5f3c1e2d4a6b']) expect((await retry(id)).status).to.equal(404);
    });
  });
});
