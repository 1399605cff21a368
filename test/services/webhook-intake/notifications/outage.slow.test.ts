// The mail server is down while 500 notifications arise: all arrive once it is back, none twice to one recipient, the cap held.
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
import { createIntakeDatabase } from '../intake-database.ts';
import { createMailServer } from './mail-server.ts';

const rules = parseRules(`
rules:
  - { name: all, smtp: [ada@example.org, bob@example.org] }
  - { name: again, when: { event: issues }, smtp: [ada@example.org] }
`);
const maxPerHour = 20;
const numbers = Array.from({ length: 500 }, (_, n) => n + 1);

describe('notifications while the mail server is down', () => {
  it('all arrive once it is back, none twice to one recipient, the cap held', async () => {
    const database = await createIntakeDatabase();
    const mails = await createMailServer(await freePort());
    await mails.close();
    const stop = new AbortController();
    const store = createNotificationStore(database.pool);
    const channel = createSmtp({ url: new Secret(mails.url), from: 'signalbox@example.org', timeoutMs: 2000 });
    const backOff = { message: { firstMs: 50, longestMs: 500 }, channel: { firstMs: 50, longestMs: 500 } };
    const senders = [1, 2].map(() => startSender({ store, channel, maxPerHour, stopping: stop.signal, log: silentLog, pollMs: 100, backOff }));
    try {
      const work = createServiceWorker({ database: database.pool, rules, metrics: createMetrics(), log: silentLog });
      for (let from = 0; from < numbers.length; from += 50) {
        await work(numbers.slice(from, from + 50).map((number) => delivery({ event: 'issues', payload: { issue: { number, title: `signal ${number}.` } } })));
      }
      await eventually(async () => (await database.rows('select id from outbox_messages where attempts > 2')).length > 0);
      expect(mails.received).to.have.length(0);

      await mails.open();
      const isUnsent = `select 1 from outbox_recipients left join outbox_messages m on m.id = message_id where m.state is distinct from 'sent'`;
      await eventually(async () => (await database.rows(isUnsent)).length === 0, { withinMs: 120_000 });

      for (const recipient of ['ada@example.org', 'bob@example.org']) {
        const own = mails.received.filter((one) => one.recipient === recipient);
        expect(own.length).to.be.at.most(maxPerHour);
        const told = own.flatMap(({ mail }) => [...(mail.text ?? '').matchAll(/signal (\d+)\./g)].map(([, number]) => Number(number)));
        expect(told.sort((a, b) => a - b)).to.deep.equal(numbers);
      }
    } finally {
      stop.abort();
      await Promise.all(senders.map((sender) => sender.ended()));
      await mails.close();
      await database.close();
    }
  });
});
