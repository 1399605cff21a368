// Deliveries that a real relay answers with a refusal: each is recorded with its status and reason, and `signalbox trace` tells it.
import { request } from 'node:http';
import { expect } from 'chai';
import { trace } from '../../../../services/command/trace.ts';
import { createTracer } from '../../../../services/webhook-relay/trace.ts';
import { settings } from '../../../../services/webhook-relay/config.ts';
import { createTestDatabase, startPostgres, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { migrate } from '../../../../services/platform/postgres/migrations.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { administer, deliver, migrations, payload, sign, startRelay, type TestRelay } from '../relay.ts';

type Item = Readonly<Record<string, unknown>>;
type Listed = { readonly items: readonly Item[]; readonly next: string | null };

describe('deliveries that are answered with a refusal', () => {
  let database: TestDatabase;
  let relay: TestRelay;
  before(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    const environment = {
      BROKER_URL_1: database.url,
      BROKER_LIMIT_1: '1',
      Forge__MaxPayloadBytes: '2000',
      Forge__MaxPayloadValues: '1000',
      Relay__DeliveryBudgetMs: '1000',
    };
    relay = await startRelay({ databaseUrl: database.url, environment });
  });
  after(async () => {
    await relay.close();
    await database.drop();
  });

  const list = async (query = '') => (await administer(relay.url, 'GET', `/Broker/rejected${query}`)).body as Listed;
  const listed = (deliveryId: string) =>
    eventually(async () => {
      const { items } = await list(`?deliveryId=${deliveryId}`);
      return items.length > 0 && items;
    });
  async function traced(id: string): Promise<string> {
    const printed: string[] = [];
    const environment = { DATABASE_URL: database.url, FailedPayloads__Directory: relay.spoolDirectory };
    await trace(id, { environment, print: (text) => void printed.push(text) }, { 'webhook-relay': createTracer(settings) });
    return printed.join('');
  }
  const named = (deliveryId: string, more: Readonly<Record<string, string>> = {}) => ({ 'X-GitHub-Delivery': deliveryId, ...more });
  async function isRecorded(deliveryId: string, status: number, reason: RegExp): Promise<Item> {
    const [item = {}, ...others] = await listed(deliveryId);
    expect(others).to.deep.equal([]);
    expect(item).to.include({ status, deliveryId, event: 'issues' });
    expect(item['reason']).to.match(reason);
    expect(await traced(deliveryId)).to.match(new RegExp(`relay, rejected.*${status} for event issues: `));
    expect(await traced(String(item['id']))).to.match(reason);
    return item;
  }

  it('with 413 are recorded by their headers, and read no further', async () => {
    expect((await deliver(relay.url, { x: 'x'.repeat(3000) }, named('large'))).status).to.equal(413);
    const item = await isRecorded('large', 413, /larger than 2000 bytes/);
    expect(item['payloadBytes']).to.equal(3008);
    const { body } = await administer(relay.url, 'GET', `/Broker/rejected/${String(item['id'])}`);
    expect([body['payload'], Object(body['headers'])['x-hub-signature-256']]).to.deep.equal(['', '[hidden]']);
  });

  it('with 413 for their values, and with 400 for what is no JSON object, are recorded with their payload', async () => {
    const costly = `{"x":[${'0,'.repeat(900)}0]}`.replaceAll('0,', ',').replaceAll(',', '[],').slice(0, 1990);
    expect((await deliver(relay.url, '[1]', named('list'))).status).to.equal(400);
    const item = await isRecorded('list', 400, /not a JSON object/);
    const response = await fetch(`${relay.url}/Broker/rejected/${String(item['id'])}/payload`, { headers: { Authorization: 'Bearer the administrator' } });
    expect([response.status, response.headers.get('content-type'), await response.text()]).to.deep.equal([200, 'application/octet-stream', '[1]']);
    expect((await deliver(relay.url, costly, named('costly'))).status).to.equal(413);
    await isRecorded('costly', 413, /more than 1000 values/);
  });

  it('with 415 are recorded: a hook that sends forms', async () => {
    expect((await deliver(relay.url, 'payload=x', named('form', { 'Content-Type': 'application/x-www-form-urlencoded' }))).status).to.equal(415);
    await isRecorded('form', 415, /must be application\/json/);
  });

  it('with 408 are recorded: a body that does not end in time', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': '100', 'X-GitHub-Event': 'issues', ...named('slow') };
      const asked = request(`${relay.url}/Forge`, { method: 'POST', headers }, (answer) => {
        resolve(answer.statusCode);
        asked.destroy();
      });
      asked.on('error', reject);
      asked.write('{');
    });
    expect(status).to.equal(408);
    await isRecorded('slow', 408, /did not arrive in time/);
  });

  it('with 503 are recorded, with the counts: every connection is at its limit', async () => {
    expect((await deliver(relay.url, payload, named('first'))).status).to.equal(202);
    expect((await deliver(relay.url, payload, named('beyond'))).status).to.equal(503);
    const item = await isRecorded('beyond', 503, /BROKER_URL_1 \(1 of 1\)/);
    expect(item['payloadBytes']).to.equal(JSON.stringify(payload).length);
    expect(await traced('first')).to.include('no delivery first found');
  });

  it('with 401 are recorded, and the list is filtered by status, event, time and id, page by page', async () => {
    for (const id of ['u-1', 'u-2', 'u-3']) await deliver(relay.url, payload, named(id, { 'X-Hub-Signature-256': sign('else'), 'X-GitHub-Event': 'push' }));
    await listed('u-3');
    const idsOf = ({ items }: Listed) => items.map(({ deliveryId }) => deliveryId);
    expect(idsOf(await list('?status=401'))).to.deep.equal(['u-3', 'u-2', 'u-1']);
    expect(idsOf(await list('?event=push&deliveryId=u-2'))).to.deep.equal(['u-2']);
    const first = await list('?status=401&limit=2');
    expect(idsOf(first)).to.deep.equal(['u-3', 'u-2']);
    expect(idsOf(await list(`?status=401&limit=2&after=${first.next}`))).to.deep.equal(['u-1']);
    expect(idsOf(await list('?to=2020-01-01T00:00:00Z'))).to.deep.equal([]);
    expect(idsOf(await list(`?from=${new Date(Date.now() - 3_600_000).toISOString()}&status=415`))).to.deep.equal(['form']);
    for (const query of ['?status=200', '?status=x', '?from=yesterday', '?limit=0', '?after=x'])
      expect((await administer(relay.url, 'GET', `/Broker/rejected${query}`)).status, query).to.equal(400);
  });
});

describe('a delivery that is refused while Postgres is away', () => {
  it('is answered at once, and counted where it cannot be recorded', async () => {
    const server = await startPostgres();
    const embedded = await createTestDatabase();
    await migrate(server.url, { schema: 'relay', directory: migrations }, silentLog);
    const relay = await startRelay({ databaseUrl: server.url, environment: { BROKER_URL_1: embedded.url, Forge__MaxPayloadBytes: '2000' } });
    try {
      await server.stop();
      const begun = performance.now();
      const statuses = await Promise.all(Array.from({ length: 300 }, async () => (await deliver(relay.url, { x: 'x'.repeat(3000) })).status));
      expect([new Set(statuses), performance.now() - begun < 10_000]).to.deep.equal([new Set([413]), true]);
      expect(Number(/signalbox_relay_rejected_dropped_total (\d+)/.exec(await relay.metrics.text())?.[1])).to.be.at.least(40);
    } finally {
      await server.start();
      await relay.close();
      await server.close();
      await embedded.drop();
    }
  });
});
