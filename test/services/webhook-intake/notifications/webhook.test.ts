// Events that are sent to receivers by POST: a real database, a real receiver.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { text as bodyOf } from 'node:stream/consumers';
import { expect } from 'chai';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { memberAt } from '../../../../services/platform/json.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createServiceWorker } from '../../../../services/webhook-intake/forge/service-worker.ts';
import { parseRules } from '../../../../services/webhook-intake/notifications/rules.ts';
import { startSender } from '../../../../services/webhook-intake/notifications/sender.ts';
import { createNotificationStore } from '../../../../services/webhook-intake/notifications/store.ts';
import { createWebhook } from '../../../../services/webhook-intake/notifications/webhook.ts';
import { eventually } from '../../../support/wait.ts';
import { delivery } from '../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';

describe('webhooks of events', () => {
  let database: IntakeDatabase;
  let receiver: Server;
  let url: string;
  let statuses: number[];
  let retryAfter: string | undefined;
  /** Answers the requests to /hanging. */
  let hanging: (() => void)[];
  let received: { readonly headers: IncomingHttpHeaders; readonly body: string }[];
  let running: { readonly stop: AbortController; readonly sender: ReturnType<typeof startSender> }[];
  const keys = ['an old key of the receiver', 'a key as text'] as const;
  const secrets = [new Secret(`whsec_${Buffer.from(keys[0]).toString('base64')}`), new Secret(keys[1])];

  before(async () => {
    database = await createIntakeDatabase();
    receiver = createServer((request, response) => {
      void bodyOf(request).then((body) => {
        if (request.url === '/hanging') return void hanging.push(() => response.writeHead(204).end());
        received.push({ headers: request.headers, body });
        response.writeHead(statuses.shift() ?? 204, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const address = receiver.address();
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/hook`;
  });
  after(async () => {
    receiver.close();
    await database.close();
  });
  beforeEach(() => ([statuses, hanging, received, running, retryAfter] = [[], [], [], [], undefined]));
  afterEach(async () => {
    for (const { stop } of running) stop.abort();
    await Promise.all(running.map(({ sender }) => sender.ended()));
    await database.empty();
  });

  async function deliver(count: number, urls: readonly string[] = [url]): Promise<void> {
    const rules = parseRules(`rules: [{ name: all, webhook: ${JSON.stringify(urls)} }]`);
    const work = createServiceWorker({ database: database.pool, rules, metrics: createMetrics(), log: silentLog });
    await work(Array.from({ length: count }, (_, n) => delivery({ event: 'issues', payload: { action: 'opened', issue: { number: n + 1, title: 'Lamp' } } })));
  }
  function start({ timeoutMs = 2000, longestMs = 20 } = {}): void {
    const stop = new AbortController();
    const channel = { ...createWebhook({ secrets, timeoutMs }), retries: { pause: { firstMs: 10, longestMs }, giveUpAfterMs: 60_000 } };
    const sender = startSender({ store: createNotificationStore(database.pool), channel, maxPerHour: 1, stopping: stop.signal, log: silentLog, pollMs: 20 });
    running.push({ stop, sender });
  }

  it('have the event and its payload, signed by every secret as Standard Webhooks says', async () => {
    await deliver(1);
    start();
    await eventually(() => received.length === 1);
    const [{ headers, body } = expect.fail('nothing was received')] = received;
    const content: unknown = JSON.parse(body);
    expect(memberAt(content, 'type')).to.equal('forge.issues');
    expect(memberAt(content, 'data')).to.include({ source: 'forge', event: 'issues', action: 'opened' });
    expect(memberAt(content, 'data', 'payload')).to.deep.equal({ action: 'opened', issue: { number: 1, title: 'Lamp' } });
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
    // As a receiver computes it, from the bytes that it got.
    const signatureBy = (key: string) =>
      `v1,${createHmac('sha256', key)
        .update(`${String(id)}.${String(timestamp)}.${body}`)
        .digest('base64')}`;
    expect(String(signatures).split(' ')).to.deep.equal(keys.map(signatureBy));
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).to.be.below(60);
  });

  it('are sent one for each event, whatever the cap of an hour', async () => {
    await deliver(12);
    start();
    await eventually(() => received.length === 12);
  });

  it('are tried again under the same id, and each attempt is recorded', async () => {
    statuses = [500, 302, 404];
    await deliver(1);
    start();
    await eventually(async () => (await database.rows(`select 1 from outbox_messages where state = 'sent'`)).length === 1);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    expect(await database.rows('select attempt, outcome, reason from outbox_attempts order by attempt')).to.deep.equal([
      { attempt: 1, outcome: 'retried', reason: 'the receiver answered 500' },
      { attempt: 2, outcome: 'retried', reason: 'the receiver answered 302' },
      { attempt: 3, outcome: 'retried', reason: 'the receiver answered 404' },
      { attempt: 4, outcome: 'sent', reason: null },
    ]);
  });

  for (const [what, written, due] of [
    ['seconds', () => '600', 600],
    ['a date', () => new Date(Date.now() + 600_000).toUTCString(), 600],
    ['more than the longest pause', () => '999999', 1800],
    ['neither', () => 'soon', 0],
  ] as const)
    it(`are tried again when the receiver asks for it: Retry-After has ${what}`, async () => {
      [statuses, retryAfter] = [Array.from({ length: 10 }, () => 503), written()];
      await deliver(1);
      start({ longestMs: 1_800_000 });
      const waiting = `select extract(epoch from due_at - clock_timestamp())::float8 as seconds from outbox_messages where last_error is not null`;
      await eventually(async () => (await database.rows(waiting)).length === 1);
      const [row] = await database.rows(waiting);
      expect(memberAt(row, 'seconds')).to.be.closeTo(due, 30);
    });

  it('reach a receiver while another one hangs, which is sent the rest once it answers', async () => {
    await deliver(12, [url.replace('hook', 'hanging'), url]);
    start({ timeoutMs: 60_000 });
    await eventually(() => received.length === 12);
    expect(hanging.length).to.be.within(1, 5);
    await eventually(async () => {
      hanging.splice(0).forEach((answer) => answer());
      return (await database.rows(`select 1 from outbox_messages where state = 'sent'`)).length === 24;
    });
  });

  it('are given up when the receiver wants no more', async () => {
    statuses = [410];
    await deliver(1);
    start();
    await eventually(async () => (await database.rows(`select 1 from outbox_messages where state = 'failed'`)).length === 1);
    expect(received).to.have.length(1);
  });
});
