// The routes of rejected deliveries.
import { expect } from 'chai';
import { encodeCursor } from '../../../../services/platform/schema.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { administer, deliver, migrations, payload, sign, startRelay, type TestRelay } from '../relay.ts';

type Listed = { readonly items: readonly Readonly<Record<string, unknown>>[]; readonly next: string | null };

describe('GET /Broker/rejected', () => {
  let database: TestDatabase;
  let relay: TestRelay;
  const ids: unknown[] = [];
  let now = Date.parse('2026-01-02T03:04:05.678Z');
  before(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    relay = await startRelay({ databaseUrl: database.url, environment: { BROKER_URL_1: database.url }, clock: () => new Date(now) });
    for (const delivery of ['d-1', 'd-2', 'd-3']) {
      now += 1000;
      const { body } = await deliver(relay.url, payload, { 'X-Hub-Signature-256': sign('else'), 'X-GitHub-Delivery': delivery });
      ids.unshift(body['id']);
    }
    await eventually(async () => (await list()).items.length === 3);
  });
  after(async () => {
    await relay.close();
    await database.drop();
  });

  const list = async (query = '') => (await administer(relay.url, 'GET', `/Broker/rejected${query}`)).body as Listed;

  it('lists the newest first, without payload', async () => {
    const { items, next } = await list();
    expect(items.map(({ id }) => id)).to.deep.equal(ids);
    expect(next).to.equal(null);
    const bytes = Buffer.byteLength(JSON.stringify(payload));
    const newest = { event: 'issues', deliveryId: 'd-3', hookId: '0', targetId: '0', payloadBytes: bytes, receivedAt: '2026-01-02T03:04:08.678Z' };
    const reason = 'The signature matches none of Forge__WebhookSecrets: the secret at the forge is another one, or a proxy changed the body.';
    expect(items[0]).to.deep.equal({ id: ids[0], ...newest, status: 401, reason });
  });
  it('pages by a cursor, and refuses one that is none', async () => {
    const first = await list('?limit=2');
    expect(first.items.map(({ id }) => id)).to.deep.equal(ids.slice(0, 2));
    const second = await list(`?limit=2&after=${first.next}`);
    expect([second.items.map(({ id }) => id), second.next]).to.deep.equal([ids.slice(2), null]);
    expect((await administer(relay.url, 'GET', '/Broker/rejected?after=none')).status).to.equal(400);
  });
  it('finds nothing by text that cannot be stored, and refuses a cursor with a time that is none', async () => {
    for (const query of ['event=%00', 'deliveryId=a%00b'])
      expect(await administer(relay.url, 'GET', `/Broker/rejected?${query}`), query).to.deep.include({ status: 200, body: { items: [], next: null } });
    const cursor = encodeCursor('rejected', [Number.MAX_SAFE_INTEGER, '019b76da-a800-7000-8000-5f3c1e2d4a6b']);
    expect((await administer(relay.url, 'GET', `/Broker/rejected?after=${cursor}`)).status).to.equal(400);
  });
  it('shows one with its payload and its headers, and no signature', async () => {
    const { status, body } = await administer(relay.url, 'GET', `/Broker/rejected/${String(ids[0])}`);
    expect([status, body['payload']]).to.deep.equal([200, JSON.stringify(payload)]);
    expect(body['headers']).to.include({ 'x-github-delivery': 'd-3', 'x-hub-signature-256': '[hidden]' });
  });
  it('answers 404 to an id that names none', async () => {
    for (const id of ['none', '019b76da-a800-7000-8000-5f3c1e2d4a6b'])
      expect((await administer(relay.url, 'GET', `/Broker/rejected/${id}`)).status).to.equal(404);
  });
  it('needs the token', async () => {
    expect((await fetch(`${relay.url}/Broker/rejected`)).status).to.equal(401);
  });
});
