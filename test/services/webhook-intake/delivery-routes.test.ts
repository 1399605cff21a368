// The trace of a delivery, its redelivery by a server that behaves as GitHub's API, and the counts of a console.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { z } from 'zod';
import { Secret } from '../../../services/platform/config/secret.ts';
import { parseRules } from '../../../services/webhook-intake/notifications/rules.ts';
import { createNotificationStore } from '../../../services/webhook-intake/notifications/store.ts';
import { messageHeaders } from '../../../services/webhook-relay/contract.ts';
import { at, createDashboard, type Dashboard, issue } from './dashboard/ground.ts';
import { delivery } from './deliveries.ts';

const objects = (value: unknown) => z.array(z.looseObject({})).parse(value);
const rules = parseRules('rules: [{ name: all, smtp: [ada@example.org] }]');

describe('GET /api/v1/trace/{deliveryId}', () => {
  let dashboard: Dashboard;
  before(async () => {
    dashboard = await createDashboard({ workerRules: rules });
  });
  after(() => dashboard.close());
  afterEach(() => dashboard.database.empty());
  const trace = async (deliveryId: string) => (await dashboard.get('/trace/{deliveryId}', { path: { deliveryId } })).body;

  it('answers event, rows, messages and repeats, by the id of the forge and of the relay', async () => {
    const first = delivery({ event: 'issues', payload: issue(1), deliveryId: 'd-1', receivedAt: at(1) });
    const again = delivery({ event: 'issues', payload: issue(1), deliveryId: 'd-1', receivedAt: at(2) });
    await dashboard.deliver([first]);
    await dashboard.deliver([again]);
    await createNotificationStore(dashboard.database.pool).makeMessages('smtp', 100);
    for (const id of ['d-1', first.id, again.id]) {
      const body = await trace(id);
      expect(Object(body['events'])[0], id).to.include({ deliveryId: 'd-1', event: 'issues' });
      expect(Object(body['duplicates']), id).to.deep.equal([{ source: 'forge', deliveryId: 'd-1', relayId: again.id, receivedAt: at(2).toISOString() }]);
      expect(
        objects(body['rows']).map(({ table }) => table),
        id,
      ).to.deep.equal(['repositories', 'issues', 'users']);
      expect(Object(body['rows'])[1], id).to.include({ forgeId: '10001', processingState: 'PROCESSED' });
      expect(Object(body['notifications'])[0], id).to.include({ recipient: 'ada@example.org', status: 'pending' });
      expect(Object(body['trackedAt']), id).to.have.length(1);
      expect(body, id).to.deep.include({ deadLetters: [], connections: [], deletedAt: [] });
    }
  });

  it('finds the event of which a repeat has the same bytes under another id', async () => {
    const gitea = { [messageHeaders.forge]: 'gitea' };
    for (const deliveryId of ['first', 'replay'])
      await dashboard.deliver([{ event: 'issues', payload: issue(1), deliveryId, hookId: '0', headers: gitea, receivedAt: at(1) }]);
    const body = await trace('replay');
    expect(objects(body['events']).map(({ deliveryId }) => deliveryId)).to.deep.equal(['first']);
    expect(objects(body['duplicates']).map(({ deliveryId }) => deliveryId)).to.deep.equal(['replay']);
  });

  it('says when an event was deleted by its retention', async () => {
    await dashboard.deliver([{ event: 'issues', payload: issue(1), deliveryId: 'd-1' }]);
    await dashboard.database.rows('truncate events');
    const body = await trace('d-1');
    expect(body).to.deep.include({ events: [], rows: null });
    expect(body['deletedAt']).to.have.length(1);
  });

  it('answers empty lists for a delivery that is not known', async () => {
    for (const id of ['x', '\0', 'y'.repeat(3000)]) expect(await trace(id)).to.deep.include({ events: [], duplicates: [], notifications: [], rows: null });
  });
});

describe('POST /api/v1/deliveries/{deliveryId}/redeliver', () => {
  let dashboard: Dashboard;
  let forge: Server;
  let asked: string[];
  let answers: Readonly<Record<string, number>>;
  const listed = { hook7: ['d-1', 'd-2'], hook8: ['d-3'] };

  beforeEach(async () => {
    [asked, answers] = [[], {}];
    forge = createServer(({ method, url = '' }, response) => {
      asked.push(`${method} ${url.replace(/\?.*/, '')}`);
      const guids = url.includes('/hooks/7/') ? listed.hook7 : listed.hook8;
      const status = answers[method ?? ''] ?? (method === 'POST' ? 202 : 200);
      const attempts = guids.map((guid, index) => ({ id: index + 1, guid, delivered_at: new Date().toISOString(), status_code: 502 }));
      response.writeHead(status, status === 429 ? { 'retry-after': '3600' } : {}).end(JSON.stringify(attempts));
    }).listen(0, '127.0.0.1');
    await once(forge, 'listening');
  });
  afterEach(async () => {
    await dashboard.close();
    forge.close();
  });
  const hooks = ['repos/me/mine/hooks/7', 'orgs/us/hooks/8'];
  async function open(access: { readonly hooks?: readonly string[]; readonly token?: Secret | undefined; readonly path?: string } = {}) {
    const url = `http://127.0.0.1:${(forge.address() as AddressInfo).port}${access.path ?? ''}`;
    dashboard = await createDashboard({ forge: { url, hooks, token: new Secret('forge-token'), ...access } });
  }
  const isRedeliverable = async (deliveryId: string) => (await dashboard.get('/trace/{deliveryId}', { path: { deliveryId } })).body['isRedeliverable'];
  const redeliver = (deliveryId: string) => dashboard.post('/deliveries/{deliveryId}/redeliver', { path: { deliveryId } });

  it('asks the webhook that made the delivery, known here or not', async () => {
    await open();
    const { status, body } = await redeliver('d-3');
    expect([status, body]).to.deep.equal([202, { items: [], next: null, errors: {}, deliveryId: 'd-3', hook: 'orgs/us/hooks/8' }]);
    expect(asked).to.deep.equal(['GET /repos/me/mine/hooks/7/deliveries', 'GET /orgs/us/hooks/8/deliveries', 'POST /orgs/us/hooks/8/deliveries/1/attempts']);
  });

  it('asks only the webhook of a stored event, by the id of the relay too', async () => {
    await open();
    const stored = delivery({ event: 'issues', payload: issue(1), deliveryId: 'd-3', hookId: '8' });
    await dashboard.deliver([stored]);
    expect([await isRedeliverable('d-3'), await isRedeliverable('unknown')]).to.deep.equal([true, true]);
    expect((await redeliver(stored.id)).status).to.equal(202);
    expect(asked[0]).to.equal('GET /orgs/us/hooks/8/deliveries');
  });

  it('answers 404 for a delivery that no webhook has, and 409 for one that the forge refuses', async () => {
    await open();
    expect((await redeliver('unknown')).status).to.equal(404);
    answers = { POST: 422 };
    expect((await redeliver('d-1')).status).to.equal(409);
  });

  it('says why a forge cannot be asked', async () => {
    const detailOf = async (access: Parameters<typeof open>[0]) => {
      await open(access);
      const { status, body } = await redeliver('d-1');
      expect(await isRedeliverable('d-1')).to.equal(false);
      await dashboard.close();
      return `${status} ${String(body['detail'])}`;
    };
    expect(await detailOf({ path: '/api/v1' })).to.match(/^409 Gitea and Forgejo have no API of deliveries/);
    expect(await detailOf({ token: undefined })).to.equal('409 Forge__ApiToken is not set.');
    expect(await detailOf({ hooks: [] })).to.equal('409 Forge__ApiHooks names no webhook.');
    expect(asked).to.deep.equal([]);
    await open();
  });
});

describe('GET /api/v1/counts', () => {
  let dashboard: Dashboard;
  before(async () => {
    dashboard = await createDashboard({ workerRules: rules, clock: () => new Date('2026-01-05T12:30:00Z') });
  });
  after(() => dashboard.close());

  it('counts what happened today and what waits', async () => {
    await dashboard.deliver(
      ['2026-01-04T22:00:00Z', '2026-01-05T00:00:00Z', '2026-01-05T12:00:00Z'].map((time, n) => ({
        event: 'issues',
        payload: issue(n + 1),
        receivedAt: new Date(time),
      })),
    );
    const store = createNotificationStore(dashboard.database.pool);
    await store.makeMessages('smtp', 100);
    for (const message of await store.claim('smtp', 1, 1000)) await store.end(message, 'failed', 'no such mailbox');
    await dashboard.database.rows(`
      insert into worker_runs (id, worker, status, started_at, finished_at, processed, failed)
      values (gen_random_uuid(), 'cleanup', 'failed', now(), now(), 0, 0), (gen_random_uuid(), 'maintenance', 'succeeded', now(), now(), 0, 0)`);
    const expected = { deadLetters: 0, failedNotifications: 1, waitingNotifications: 2, failedWorkers: 1, failedWorkflowRuns: 0 };
    expect((await dashboard.get('/counts')).body).to.deep.include({ eventsToday: 2, ...expected });
    expect((await dashboard.get('/counts', { headers: { 'X-Timezone': 'Europe/Athens' } })).body).to.deep.include({ eventsToday: 3, ...expected });
  });
});
