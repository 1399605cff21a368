// Notifications on their way: a real database, a real mail server, a real push server.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as bodyOf } from 'node:stream/consumers';
import { expect } from 'chai';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createServiceWorker } from '../../../../services/webhook-intake/forge/service-worker.ts';
import type { ChannelSender } from '../../../../services/webhook-intake/notifications/channel.ts';
import { createPush } from '../../../../services/webhook-intake/notifications/push.ts';
import { parseRules } from '../../../../services/webhook-intake/notifications/rules.ts';
import { startSender } from '../../../../services/webhook-intake/notifications/sender.ts';
import { createSmtp } from '../../../../services/webhook-intake/notifications/smtp.ts';
import { createNotificationStore } from '../../../../services/webhook-intake/notifications/store.ts';
import { captureLog } from '../../../platform/captured-log.ts';
import { eventually, freePort } from '../../../support/wait.ts';
import { delivery } from '../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';
import { createMailServer, type MailServer } from './mail-server.ts';

const backOff = { message: { firstMs: 20, longestMs: 50 }, channel: { firstMs: 20, longestMs: 50 } };

describe('the sender of notifications', () => {
  let database: IntakeDatabase;
  let mails: MailServer;
  let running: { readonly stop: AbortController; readonly sender: ReturnType<typeof startSender> }[] = [];
  before(async () => {
    database = await createIntakeDatabase();
    mails = await createMailServer(await freePort());
  });
  after(async () => {
    await mails.close();
    await database.close();
  });
  afterEach(async () => {
    for (const { stop } of running) stop.abort();
    await Promise.all(running.map(({ sender }) => sender.ended()));
    running = [];
    mails.received.length = 0;
    mails.refusals.clear();
    await database.empty();
  });

  const smtp = () => createSmtp({ url: new Secret(mails.url), from: 'signalbox@example.org', timeoutMs: 2000 });
  function start(channel: ChannelSender, more: Partial<Parameters<typeof startSender>[0]> = {}): void {
    const stop = new AbortController();
    const store = createNotificationStore(database.pool);
    running.push({ stop, sender: startSender({ store, channel, maxPerHour: 1000, stopping: stop.signal, log: silentLog, pollMs: 50, backOff, ...more }) });
  }
  async function tell(count: number, rule: string, title = 'Points'): Promise<void> {
    const rules = parseRules(`rules: [{ name: one, ${rule} }, { name: two, ${rule} }]`);
    const work = createServiceWorker({ database: database.pool, rules, metrics: createMetrics(), log: silentLog });
    await work(Array.from({ length: count }, (_, n) => delivery({ event: 'issues', payload: { issue: { number: n + 1, title, body: '<b>bold</b>' } } })));
  }
  const ended = (state: string, count: number) =>
    eventually(async () => (await database.rows('select id from outbox_messages where state = $1', [state])).length === count);

  it('sends no password to a mail server without TLS', async () => {
    const channel = createSmtp({ url: new Secret(mails.url.replace('//', '//ada:secret@')), from: 'signalbox@example.org', timeoutMs: 2000 });
    const outcome = await channel.send({ id: 'one', recipient: 'ada@example.org', subject: 'x', text: 'x', body: 'x', html: 'x', url: null });
    expect(outcome).to.have.property('kind', 'unavailable');
    expect(outcome)
      .to.have.property('reason')
      .that.matches(/STARTTLS/i);
    expect(mails.received).to.have.length(0);
  });

  it('sends a mail with a text and an HTML part, once to each recipient though two rules name it and two senders work', async () => {
    await tell(3, 'smtp: [ada@example.org, bob@example.org]', 'Points\rBcc: eve@example.org');
    start(smtp());
    start(smtp());
    await ended('sent', 6);
    expect(mails.received.map(({ recipient, mail }) => `${recipient} ${mail.subject}`)).to.have.members(
      ['ada', 'bob'].flatMap((who) => [1, 2, 3].map((n) => `${who}@example.org issues #${n}: Points Bcc: eve@example.org`)),
    );
    const [one] = mails.received;
    expect(one?.mail.text).to.contain('<b>bold</b>');
    expect(one?.mail.html).to.contain('&lt;b&gt;bold&lt;/b&gt;');
    expect([one?.mail.bcc, one?.mail.to?.length, one?.raw.includes('Auto-Submitted: auto-generated')]).to.deep.equal([undefined, 1, true]);
    expect(new Set(mails.received.map(({ mail }) => mail.messageId)).size).to.equal(6);
  });

  it('marks what the server refuses for good as failed, with the reason, and sends the rest', async () => {
    mails.refusals.set('gone@example.org', 550);
    await tell(1, 'smtp: [gone@example.org, ada@example.org]');
    start(smtp());
    await Promise.all([ended('failed', 1), ended('sent', 1)]);
    const [failed] = await database.rows<{ recipient: string; last_error: string }>(`select recipient, last_error from outbox_messages where state = 'failed'`);
    expect(failed?.recipient).to.equal('gone@example.org');
    expect(failed?.last_error).to.contain('550');
    expect(await createNotificationStore(database.pool).states()).to.deep.equal([{ channel: 'smtp', waiting: 0, failed: 1, oldestSeconds: 0 }]);
  });

  it('tries again what is refused for now, while others are sent', async () => {
    mails.refusals.set('full@example.org', 452);
    await tell(1, 'smtp: [full@example.org, ada@example.org]');
    start(smtp());
    await eventually(async () => (await database.rows(`select id from outbox_messages where state = 'pending' and attempts > 2`)).length === 1);
    expect(mails.received.map(({ recipient }) => recipient)).to.deep.equal(['ada@example.org']);
    mails.refusals.clear();
    await ended('sent', 2);
    expect(mails.received).to.have.length(2);
  });

  it('holds the cap over two senders; the last message of the hour tells all the rest', async () => {
    await tell(20, 'smtp: [ada@example.org]');
    start(smtp(), { maxPerHour: 4 });
    start(smtp(), { maxPerHour: 4 });
    await ended('sent', 4);
    expect(mails.received.map(({ mail }) => mail.subject).filter((subject) => subject !== '17 notifications')).to.have.length(3);
    await tell(2, 'smtp: [ada@example.org]');
    start(smtp(), { maxPerHour: 4 });
    const store = createNotificationStore(database.pool);
    await store.makeMessages('smtp', 4);
    expect(await database.count('outbox_messages')).to.equal(4);
    await database.rows(`update outbox_messages set ended_at = ended_at - interval '1 hour'`);
    await ended('sent', 6);
  });

  it('takes over the message of a sender that died, once its lease is over', async () => {
    await tell(1, 'smtp: [ada@example.org]');
    const store = createNotificationStore(database.pool);
    await store.makeMessages('smtp', 10);
    const [claimed] = await store.claim('smtp', 5, 300);
    expect(await store.claim('smtp', 5, 300)).to.deep.equal([]);
    start(smtp());
    await ended('sent', 1);
    if (claimed) expect(await store.end(claimed, 'failed', 'late')).to.equal(0);
  });

  describe('push', () => {
    let server: Server;
    let status = 200;
    const received: { readonly authorization: string | undefined; readonly body: unknown }[] = [];
    before(async () => {
      server = createServer((request, response) => {
        void bodyOf(request).then((body) => {
          if (status === 200) received.push({ authorization: request.headers.authorization, body: JSON.parse(body) });
          response.writeHead(status).end();
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    after(() => server.close());
    const push = () => {
      const address: AddressInfo | string | null = server.address();
      return createPush({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, token: new Secret('token'), timeoutMs: 2000 });
    };

    it('posts JSON as ntfy takes it, with the token, when the server is back after failures', async () => {
      status = 503;
      await tell(1, 'push: [alerts]');
      start(push());
      await eventually(async () => (await database.rows('select id from outbox_messages where attempts > 2')).length === 1);
      status = 200;
      await ended('sent', 1);
      expect(received).to.deep.equal([{ authorization: 'Bearer token', body: { topic: 'alerts', title: 'issues #1: Points', message: '<b>bold</b>' } }]);
    });

    it('says once that a channel is unavailable, however often it looks meanwhile, and once that it is back', async () => {
      status = 503;
      received.length = 0;
      const { log, lines } = captureLog();
      await tell(1, 'push: [alerts]');
      start(push(), { log, backOff: { ...backOff, channel: { firstMs: 100, longestMs: 100 } } });
      await eventually(async () => {
        // Rounds in which no message is due.
        running.forEach(({ sender }) => sender.wake());
        return (await database.rows('select id from outbox_messages where attempts > 3')).length === 1;
      });
      status = 200;
      await ended('sent', 1);
      const told = lines().map(({ level, msg }) => [level, msg]);
      expect(told).to.deep.equal([
        ['warn', 'sending notifications failed, channel unavailable, retrying'],
        ['info', 'channel of notifications available again'],
      ]);
    });

    it('says once why messages to a recipient are tried again, however many there are', async () => {
      status = 403;
      const { log, lines } = captureLog();
      await tell(2, 'push: [alerts]');
      start(push(), { log });
      await eventually(async () => (await database.rows('select id from outbox_messages where attempts > 1')).length === 2);
      status = 200;
      await ended('sent', 2);
      expect(lines().map(({ level, recipient, reason }) => [level, recipient, reason])).to.deep.equal([['warn', 'alerts', 'the push server answered 403']]);
    });

    it('gives up what the server calls malformed', async () => {
      status = 400;
      await tell(1, 'push: [alerts]');
      start(push());
      await ended('failed', 1);
    });
  });
});
