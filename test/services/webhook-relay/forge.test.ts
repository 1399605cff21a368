// POST /Forge on the embedded broker: every documented answer that needs no outage.
import { request } from 'node:http';
import { expect } from 'chai';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import type { Delivery } from '../../../services/platform/broker/broker.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { version } from '../../../services/platform/version.ts';
import { forgeTopology } from '../../../services/webhook-relay/contract.ts';
import { captureLog } from '../../platform/captured-log.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/wait.ts';
import { administer, counts, deliver, migrations, payload, secret, sign, startRelay, type TestRelay } from './relay.ts';

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('POST /Forge', () => {
  let database: TestDatabase;
  const captured = captureLog('info');
  let relay: TestRelay;
  const now = new Date('2026-01-02T03:04:05.678Z');
  before(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    const environment = { BROKER_URL_1: database.url, Forge__WebhookSecrets: `${secret}, the next secret of the tests` };
    relay = await startRelay({ databaseUrl: database.url, environment, clock: () => now, log: captured.log });
  });
  after(async () => {
    await relay.close();
    await database.drop();
  });

  /** The messages of a queue, once there are so many. */
  async function received(queue: string, messages: number): Promise<readonly Delivery[]> {
    const broker = connectBroker(database.url, forgeTopology, { log: silentLog, name: 'test' });
    const deliveries: Delivery[] = [];
    const consumer = broker.consume(queue, { batchSize: 10, prefetch: 10 }, async (batch) => {
      deliveries.push(...batch);
      return batch.map(() => 'ack');
    });
    try {
      await eventually(() => deliveries.length >= messages);
      return deliveries;
    } finally {
      await consumer.stop();
      await broker.close();
    }
  }
  const post = (headers: Readonly<Record<string, string>>, body: string) => fetch(`${relay.url}/Forge`, { method: 'POST', headers, body });

  it('answers 202 with the delivery response body', async () => {
    const { status, body } = await deliver(relay.url);
    expect(status).to.equal(202);
    expect(body['id']).to.match(uuid7);
    expect(body).to.deep.equal({
      id: body['id'],
      time: 1767323045,
      isSignatureValid: true,
      priority: {
        eventType: 'issues',
        action: 'opened',
        senderLogin: 'octocat',
        baseScore: 6,
        actionModifier: 1,
        baseCalculatedScore: 7,
        senderMultiplier: 1,
        finalScore: 7,
        description: 'issues.opened by octocat: base 6 +1, person ×1',
        isCoreFunction: true,
      },
      broker: 'BROKER_URL_1',
      version,
    });
  });

  it('publishes the raw payload once to each of the two queues, with the id, the priority and the headers', async () => {
    const raw = ` ${JSON.stringify({ ...payload, title: 'Prüfung 🚦' })}\n`;
    const { body } = await deliver(relay.url, raw, { 'X-GitHub-Delivery': 'd-1', 'X-GitHub-Hook-ID': '7' });
    for (const { name } of forgeTopology.queues) {
      const copies = (await received(name, 2)).filter(({ id }) => id === body['id']);
      expect(copies.map((copy) => copy.body.toString())).to.deep.equal([raw]);
      expect(copies[0]).to.deep.include({ type: 'issues', priority: 7, contentType: 'application/json' });
      expect(copies[0]?.headers).to.include({ 'x-delivery-id': 'd-1', 'x-hook-id': '7', 'x-target-id': '0', 'x-received-at': now.toISOString() });
    }
  });

  /** Without what is reserved ahead. */
  async function shownUsage(): Promise<number> {
    const { body } = await administer(relay.url, 'GET', '/broker/usage/current');
    const { brokers } = body as { readonly brokers: readonly { readonly messageCount: number }[] };
    return brokers[0]?.messageCount ?? NaN;
  }

  it('reserves one message for each delivery', async () => {
    const before = await shownUsage();
    await Promise.all(Array.from({ length: 30 }, () => deliver(relay.url)));
    expect(await shownUsage()).to.equal(before + 30);
    // Reservations ahead go back when the traffic pauses.
    await eventually(async () => expect(await counts(relay.database)).to.deep.equal({ BROKER_URL_1: before + 30 }));
  });

  it('takes every configured secret', async () => {
    const text = JSON.stringify(payload);
    expect((await deliver(relay.url, text, { 'X-Hub-Signature-256': sign(text, 'the next secret of the tests') })).status).to.equal(202);
  });

  it('writes what became of a delivery into its line of the access log', async () => {
    const named = { 'X-GitHub-Delivery': 'of the log', 'X-Request-Id': 'logged' };
    const published = await deliver(relay.url, payload, named);
    const unsigned = await deliver(relay.url, payload, { ...named, 'X-Hub-Signature-256': 'none' });
    const lines = await eventually(() => {
      const found = captured.lines().filter(({ requestId }) => requestId === 'logged');
      return found.length === 2 && found;
    });
    const line = { deliveryId: 'of the log', event: 'issues', route: '/Forge' };
    expect(lines[0]).to.include({ ...line, id: published.body['id'], outcome: 'published', status: 202 });
    expect(lines[1]).to.include({ ...line, id: unsigned.body['id'], outcome: 'unsigned', status: 401 });
  });

  it('matches its route in any letter case', async () => {
    const text = JSON.stringify(payload);
    const response = await fetch(`${relay.url}/fORGE`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json; charset=utf-8', 'X-Forge-Event': 'push', 'X-Hub-Signature-256': sign(text) },
      body: text,
    });
    expect(response.status).to.equal(202);
  });

  describe('with an invalid signature', () => {
    it('answers 401 with the delivery response body, the score included, and the name of the active connection', async () => {
      const before = await shownUsage();
      const { status, body, headers } = await deliver(relay.url, { ...payload, sender: { login: 'hubot' } }, { 'X-Hub-Signature-256': sign('something else') });
      expect(status).to.equal(401);
      expect(headers.get('www-authenticate')).to.equal('X-Hub-Signature-256');
      expect(body).to.deep.include({ isSignatureValid: false, broker: 'BROKER_URL_1', version, time: 1767323045 });
      expect(body['priority']).to.deep.include({ eventType: 'issues', senderLogin: 'hubot', finalScore: 7 });
      expect(await shownUsage()).to.equal(before);
    });

    it('answers 401 when the signature is missing', async () => {
      const response = await post({ 'Content-Type': 'application/json' }, '{}');
      expect(response.status).to.equal(401);
      expect(await response.json()).to.deep.include({ isSignatureValid: false });
    });

    it('says what is wrong with it: missing, of another form, of another secret', async () => {
      const detailWith = async (headers: Readonly<Record<string, string>>) => {
        const response = await post({ 'Content-Type': 'application/json', ...headers }, '{}');
        return String(((await response.json()) as Readonly<Record<string, unknown>>)['detail']);
      };
      expect(await detailWith({})).to.include('is missing');
      expect(await detailWith({ 'X-Hub-Signature-256': 'sha1=abc' })).to.include('is not sha256= and 64 hexadecimal digits');
      expect(await detailWith({ 'X-Hub-Signature-256': sign('something else') })).to.include('none of Forge__WebhookSecrets');
      expect((await deliver(relay.url)).body).to.not.have.property('detail');
    });

    it('names the missing secret to a forge that sends its headers without a value, and a signature that it does not verify', async () => {
      const detailWith = async (headers: Readonly<Record<string, string>>) => {
        const response = await post({ 'Content-Type': 'application/json', 'X-Gitea-Event': 'push', ...headers }, '{}');
        expect(response.status).to.equal(401);
        return String(((await response.json()) as Readonly<Record<string, unknown>>)['detail']);
      };
      const none = { 'X-Hub-Signature-256': 'sha256=', 'X-Hub-Signature': 'sha1=', 'X-Gitea-Signature': '' };
      expect(await detailWith(none)).to.equal(
        'The header X-Hub-Signature-256 has no value: set a secret at the webhook of Gitea, one of Forge__WebhookSecrets.',
      );
      expect(await detailWith({ 'X-Hub-Signature': `sha1=${'ab'.repeat(20)}` })).to.include('X-Hub-Signature came, which is not verified: it is HMAC-SHA1');
      expect(await detailWith({ 'X-Gitea-Signature': 'ab'.repeat(32) })).to.include('X-Gitea-Signature came, which is not verified');
    });

    it('tells a sender that is no forge of ours where to deliver, and why the signature of Gogs is not verified', async () => {
      const detailWith = async (headers: Readonly<Record<string, string>>) => {
        const response = await post({ 'Content-Type': 'application/json', ...headers }, '{}');
        return String(((await response.json()) as Readonly<Record<string, unknown>>)['detail']);
      };
      expect(await detailWith({ 'X-Gitlab-Event': 'Push Hook', 'X-Gitlab-Token': 'a token' })).to.include('GitLab does not deliver to /Forge');
      expect(await detailWith({ 'X-Event-Key': 'repo:push', 'X-Hub-Signature': `sha256=${'ab'.repeat(32)}` })).to.include('Bitbucket does not deliver to');
      expect(await detailWith({ 'X-Gogs-Event': 'push', 'X-Gogs-Signature': 'ab'.repeat(32) })).to.include('Gogs is not supported');
    });

    it('looks at the signature before the payload: 401 for what is no JSON', async () => {
      const response = await post({ 'Content-Type': 'application/json', 'X-GitHub-Event': 'push' }, 'no json');
      expect(response.status).to.equal(401);
      expect(await response.json()).to.have.nested.property('priority.eventType', 'push');
    });

    it('reads a payload for its score up to 64 KiB only', async () => {
      for (const [bytes, senderLogin] of [
        [65_536, 'octocat'],
        [65_537, ''],
      ] as const) {
        const text = JSON.stringify({ ...payload, padding: '' });
        const { body } = await deliver(relay.url, `${' '.repeat(bytes - text.length)}${text}`, { 'X-Hub-Signature-256': sign('something else') });
        expect(body['priority']).to.deep.include({ senderLogin });
      }
    });

    it('logs the delivery, without a signature', async () => {
      const { body } = await deliver(relay.url, { ...payload, rejected: 'yes' }, { 'X-Hub-Signature-256': sign('else'), 'X-GitHub-Delivery': 'd-2' });
      const row = await eventually(async () => {
        const { rows } = await relay.database.driver.query<Record<string, unknown>>('select * from rejected_deliveries where id = $1', [body['id']]);
        return rows[0] ?? false;
      });
      expect(row['delivery_id']).to.equal('d-2');
      expect(String(row['payload'])).to.include('rejected');
      expect(JSON.stringify(row['headers'])).to.not.include(sign('else').slice(7));
    });

    it('does not count for its sender', async () => {
      await deliver(relay.url, { sender: { login: 'mallory' } }, { 'X-Hub-Signature-256': sign('else') });
      await deliver(relay.url, { sender: { login: 'alice' } });
      const statistics = (await (await fetch(`${relay.url}/stats`)).json()) as object;
      expect(statistics).to.have.property('alice');
      expect(statistics).to.not.have.property('mallory');
    });
  });

  it('answers 413 to more values than may be parsed, and takes as many as may', async () => {
    const holding = (values: number) => `{"action":"x","a":[${'[],'.repeat(values / 2 - 2)}[]]}`;
    const { status, body } = await deliver(relay.url, holding(1_200_002));
    expect([status, body['detail']]).to.deep.equal([413, 'The body holds more than 1200000 values.']);
    expect((await deliver(relay.url, holding(1_200_000))).status).to.equal(202);
  });

  it('answers 400 to signed JSON that cannot be parsed', async () => {
    const { status, body } = await deliver(relay.url, '{"a":');
    expect(status).to.equal(400);
    expect(body).to.deep.include({ title: 'Bad Request', status: 400 });
  });

  it('answers 400 to signed bytes that are no UTF-8', async () => {
    const body = Buffer.from([0x22, 0xff, 0x22]);
    const response = await fetch(`${relay.url}/Forge`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Hub-Signature-256': sign(body) },
      body,
    });
    expect(response.status).to.equal(400);
  });

  it('takes any signed object, of a known event or not', async () => {
    for (const odd of ['{}', '{"action":7,"sender":null}']) expect((await deliver(relay.url, odd, { 'X-GitHub-Event': 'never_seen' })).status).to.equal(202);
  });

  it('takes a signed object without the name of its event as unknown', async () => {
    const { status, body } = await deliver(relay.url, { action: 'opened' }, { 'X-GitHub-Event': '' });
    expect(status).to.equal(202);
    expect(body['priority']).to.deep.include({ eventType: 'unknown', action: 'opened', baseScore: 4 });
  });

  it('answers 400 to signed JSON that is no object', async () => {
    for (const odd of ['null', '7', '[]', '"text"', '[{"action":"opened"}]']) {
      const { status, body } = await deliver(relay.url, odd);
      expect([status, body['detail']]).to.deep.equal([400, 'The body is not a JSON object.']);
    }
  });

  it('takes a header whose one value has a comma', async () => {
    const { status, body } = await deliver(relay.url, payload, { 'X-GitHub-Delivery': 'a,b', 'X-GitHub-Hook-ID': '1, 2' });
    expect(status).to.equal(202);
    expect(captured.lines().find(({ id }) => id === body['id'])).to.include({ deliveryId: 'a,b' });
  });

  it('answers 415 to another media type, before it looks at the signature', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'text/plain']) {
      const response = await post({ 'Content-Type': type, 'X-Hub-Signature-256': sign('{}') }, '{}');
      expect(response.status).to.equal(415);
      expect(response.headers.get('content-type')).to.match(/^application\/problem\+json/);
    }
  });

  for (const name of ['X-GitHub-Event', 'X-Gitea-Event', 'X-GitHub-Delivery', 'X-GitHub-Hook-ID'])
    it(`answers 400 to two lines of ${name}, and publishes nothing`, async () => {
      const before = await shownUsage();
      const body = JSON.stringify(payload);
      const headers = { 'Content-Type': 'application/json', 'X-GitHub-Event': 'issues', 'X-Hub-Signature-256': sign(body), [name]: ['push', 'issues'] };
      const { status, text } = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
        const sent = request(`${relay.url}/Forge`, { method: 'POST', headers }, (response) => {
          response.setEncoding('utf8').once('data', (first: string) => resolve({ status: response.statusCode, text: first }));
        });
        sent.on('error', reject).end(body);
      });
      expect(status).to.equal(400);
      expect(text).to.include(name.toLowerCase());
      expect(await shownUsage()).to.equal(before);
    });
});
