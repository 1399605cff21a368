// Notifications beside what else goes on: told at once of a direct source, measured, and not held up by a server that hangs.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as bodyOf } from 'node:stream/consumers';
import { expect } from 'chai';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createLifecycle } from '../../../../services/platform/process/lifecycle.ts';
import { createServiceWorker } from '../../../../services/webhook-intake/forge/service-worker.ts';
import type { ChannelSender } from '../../../../services/webhook-intake/notifications/channel.ts';
import { startNotifications } from '../../../../services/webhook-intake/notifications/notifications.ts';
import { createPush } from '../../../../services/webhook-intake/notifications/push.ts';
import { parseRules } from '../../../../services/webhook-intake/notifications/rules.ts';
import { startSender } from '../../../../services/webhook-intake/notifications/sender.ts';
import { createSmtp } from '../../../../services/webhook-intake/notifications/smtp.ts';
import { createNotificationStore } from '../../../../services/webhook-intake/notifications/store.ts';
import { uptimerobot } from '../../../../services/webhook-intake/sources/uptimerobot.ts';
import { startSilentServer } from '../../../support/silent-server.ts';
import { eventually } from '../../../support/wait.ts';
import { delivery } from '../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';
import { credential, post, secrets, startIntake } from '../sources/ground.ts';

const hourMs = 3_600_000;
const backOff = { message: { firstMs: 20, longestMs: 50 }, channel: { firstMs: 20, longestMs: 50 } };

describe('running notifications', () => {
  let database: IntakeDatabase;
  let server: Server;
  let pushUrl: string;
  const pushed: string[] = [];
  let isDown = false;
  let running: { readonly stop: AbortController; readonly sender: ReturnType<typeof startSender> }[] = [];
  before(async () => {
    database = await createIntakeDatabase();
    server = createServer((request, response) => {
      void bodyOf(request).then((body) => {
        if (!isDown) pushed.push(body);
        response.writeHead(isDown ? 500 : 200).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    pushUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.close();
    await database.close();
  });
  afterEach(async () => {
    for (const { stop } of running) stop.abort();
    await Promise.all(running.map(({ sender }) => sender.ended()));
    running = [];
    pushed.length = 0;
    await database.empty();
  });

  function start(channel: ChannelSender, pollMs: number) {
    const stop = new AbortController();
    const store = createNotificationStore(database.pool);
    let rounds = 0;
    const claim: typeof store.claim = async (...all) => {
      const claimed = await store.claim(...all);
      rounds += 1;
      return claimed;
    };
    const sender = startSender({ store: { ...store, claim }, channel, maxPerHour: 1000, stopping: stop.signal, log: silentLog, pollMs, backOff });
    running.push({ stop, sender });
    return { wake: () => sender.wake(), rounds: () => rounds };
  }
  async function tell(rule: string, count = 1): Promise<void> {
    const rules = parseRules(`rules: [{ name: one, ${rule} }]`);
    const work = createServiceWorker({ database: database.pool, rules, metrics: createMetrics(), log: silentLog });
    await work(Array.from({ length: count }, (_, n) => delivery({ event: 'issues', payload: { issue: { number: n } } })));
  }

  it('tell of a direct source at once, not at the next poll', async () => {
    const sender = start(createPush({ url: pushUrl }), hourMs);
    await eventually(() => sender.rounds() === 1);
    const rules = parseRules('rules: [{ name: one, push: [alerts] }]');
    const intake = await startIntake(database.pool, [uptimerobot], { rules, onStored: sender.wake });
    const body = JSON.stringify({ monitorID: '7', alertDateTime: '1', monitorFriendlyName: 'Interlocking', alertType: '1' });
    const reply = await post(`${intake.url}/uptimerobot`, { body, headers: credential(uptimerobot, secrets[0], body) });
    expect(reply.status).to.equal(202);
    await eventually(() => pushed.length === 1);
    expect(pushed[0]).to.contain('Interlocking is down');
    await intake.close();
  });

  it('do not fail the request of a direct source while their channel does, and are sent once it does not', async () => {
    isDown = true;
    const sender = start(createPush({ url: pushUrl }), 20);
    const rules = parseRules('rules: [{ name: one, push: [alerts] }]');
    const intake = await startIntake(database.pool, [uptimerobot], { rules, onStored: sender.wake });
    const body = JSON.stringify({ monitorID: '8', alertDateTime: '1', monitorFriendlyName: 'Interlocking', alertType: '1' });
    const send = async () => (await post(`${intake.url}/uptimerobot`, { body, headers: credential(uptimerobot, secrets[0], body) })).status;
    expect(await send()).to.equal(202);
    await eventually(async () => (await database.rows('select id from outbox_messages where attempts > 1')).length === 1);
    expect([await send(), await database.count('events'), pushed.length]).to.deep.equal([202, 1, 0]);
    isDown = false;
    await eventually(() => pushed.length === 1);
    await intake.close();
  });

  it('show in the metrics what waits, how old it is, and what was given up', async () => {
    await tell('smtp: [ada@example.org, bob@example.org], push: [alerts]', 3);
    await database.rows(`update outbox_recipients set created_at = now() - interval '90 seconds' where channel = 'smtp'`);
    const store = createNotificationStore(database.pool);
    await store.makeMessages('push', 2);
    const [claimed] = await store.claim('push', 1, hourMs);
    if (claimed) await store.end(claimed, 'failed', 'refused');

    const metrics = createMetrics();
    const config = { rulesFile: undefined, channels: [], notificationsPerHour: 30 };
    startNotifications(config, { database: database.pool, lifecycle: createLifecycle(silentLog), metrics, log: silentLog });
    const text = await metrics.text();
    const valueOf = (name: string, channel: string) => Number(new RegExp(`^signalbox_${name}\\{channel="${channel}"\\} (\\S+)$`, 'm').exec(text)?.[1]);
    expect(['smtp', 'push'].map((channel) => valueOf('outbox_waiting', channel))).to.deep.equal([6, 2]);
    expect(['smtp', 'push'].map((channel) => valueOf('outbox_failed', channel))).to.deep.equal([0, 1]);
    expect(valueOf('outbox_oldest_seconds', 'smtp')).to.be.at.least(90);
  });

  it('give up waiting for a mail server that hangs, try again, and meanwhile send what other channels have', async () => {
    const silent = await startSilentServer();
    try {
      await tell('smtp: [ada@example.org], push: [alerts]', 2);
      start(createSmtp({ url: new Secret(`smtp://127.0.0.1:${silent.port}`), from: 'signalbox@example.org', timeoutMs: 100 }), 20);
      start(createPush({ url: pushUrl }), 20);
      const tried = `select last_error from outbox_messages where channel = 'smtp' and state = 'pending' and attempts > 2`;
      await eventually(async () => (await database.rows(tried)).length === 2);
      await eventually(() => pushed.length === 2);
      const [one] = await database.rows<{ last_error: string }>(tried);
      expect(one?.last_error).to.match(/timeout|greeting/i);
    } finally {
      silent.close();
    }
  });

  it('give up waiting for a push server that hangs, and try again', async () => {
    const silent = await startSilentServer();
    try {
      await tell('push: [alerts]');
      start(createPush({ url: `http://127.0.0.1:${silent.port}`, timeoutMs: 100 }), 20);
      await eventually(async () => (await database.rows(`select 1 from outbox_messages where state = 'pending' and attempts > 2`)).length === 1);
    } finally {
      silent.close();
    }
  });
});
