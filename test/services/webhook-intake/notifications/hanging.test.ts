// One recipient whose mail hangs, and one whom two rules name, beside others: a real mail server, a real database.
import { expect } from 'chai';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createServiceWorker } from '../../../../services/webhook-intake/forge/service-worker.ts';
import { parseRules } from '../../../../services/webhook-intake/notifications/rules.ts';
import { startSender } from '../../../../services/webhook-intake/notifications/sender.ts';
import { createSmtp } from '../../../../services/webhook-intake/notifications/smtp.ts';
import { createNotificationStore } from '../../../../services/webhook-intake/notifications/store.ts';
import { eventually, freePort } from '../../../support/wait.ts';
import { delivery } from '../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';
import { createMailServer, type MailServer } from './mail-server.ts';

const backOff = { message: { firstMs: 20, longestMs: 50 }, channel: { firstMs: 20, longestMs: 50 } };

describe('recipients of notifications, beside each other', () => {
  let database: IntakeDatabase;
  let mails: MailServer;
  let stop: AbortController;
  let sender: ReturnType<typeof startSender> | undefined;
  beforeEach(async () => {
    database = await createIntakeDatabase();
    mails = await createMailServer(await freePort());
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await sender?.ended();
    await mails.close();
    await database.close();
  });

  function start(maxPerHour: number): void {
    const channel = createSmtp({ url: new Secret(mails.url), from: 'signalbox@example.org', timeoutMs: 300 });
    const store = createNotificationStore(database.pool);
    sender = startSender({ store, channel, maxPerHour, stopping: stop.signal, log: silentLog, pollMs: 20, backOff });
  }
  async function tell(rules: string, events: readonly string[]): Promise<void> {
    const work = createServiceWorker({ database: database.pool, rules: parseRules(rules), metrics: createMetrics(), log: silentLog });
    await work(events.map((event, number) => delivery({ event, payload: { issue: { number, title: `signal ${number}.` } } })));
  }
  const messages = (where: string) => database.rows<{ recipient: string; attempts: number }>(`select recipient, attempts from outbox_messages where ${where}`);

  it('get their mails while the one of another hangs again and again, and that one is sent once it no longer does', async () => {
    const others = Array.from({ length: 12 }, (_, n) => `other${n}@example.org`);
    mails.hanging.add('ada@example.org');
    await tell(`rules: [{ name: all, smtp: [ada@example.org, ${others.join(', ')}] }]`, ['issues']);
    start(10);
    await eventually(async () => (await messages(`state = 'sent'`)).length === others.length);
    expect(mails.received.map(({ recipient }) => recipient)).to.have.members(others);
    await eventually(async () => expect(await messages(`state = 'pending' and attempts > 2`)).to.have.length(1));
    expect((await messages(`state = 'pending'`))[0]?.recipient).to.equal('ada@example.org');

    mails.hanging.clear();
    await eventually(async () => (await messages(`state = 'sent'`)).length === others.length + 1);
    expect(mails.received.filter(({ recipient }) => recipient === 'ada@example.org')).to.have.length(1);
  });

  it('have one cap, over all rules that name them', async () => {
    const rules = `rules: [{ name: one, when: { event: issues }, smtp: [ada@example.org] }, { name: two, when: { event: push }, smtp: [ada@example.org] }]`;
    await tell(rules, ['issues', 'push', 'issues', 'push', 'issues', 'push', 'issues', 'push']);
    start(4);
    await eventually(async () => (await messages(`state = 'sent'`)).length === 4);
    expect(await database.rows('select id from outbox_recipients where message_id is null')).to.deep.equal([]);
    await tell(rules, ['issues', 'push']);
    await createNotificationStore(database.pool).makeMessages('smtp', 4);
    expect(await messages('true')).to.have.length(4);
    const [told] = await database.rows<{ rules: string[] }>(
      `select array_agg(distinct rule order by rule) as rules from outbox_recipients where message_id is not null`,
    );
    expect(told?.rules).to.deep.equal(['one', 'two']);
  });
});
