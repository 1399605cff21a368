// Notifications as the API runs them: the rules, a sender for each channel that is configured, and what is measured of them.
import type { Secret } from '../../platform/config/secret.ts';
import { forScrape, type Metrics } from '../../platform/metrics.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import type { Log } from '../../platform/log.ts';
import { withTimeout } from '../../platform/time.ts';
import type { ChannelSender } from './channel.ts';
import { createPush } from './push.ts';
import { channels, isEmail, type Rules } from './rules.ts';
import { followRules } from './rules-file.ts';
import { startSender } from './sender.ts';
import { createSmtp } from './smtp.ts';
import { createNotificationStore, type NotificationStore } from './store.ts';

export type NotificationConfig = {
  readonly rulesFile: string | undefined;
  readonly smtpUrl: Secret | undefined;
  readonly mailFrom: string | undefined;
  readonly pushUrl: string | undefined;
  readonly pushToken: Secret | undefined;
  readonly notificationsPerHour: number;
};

/** What is wrong between the settings and the rules. */
export function notificationFaults(config: NotificationConfig, rules: Pick<Rules, 'channels'>): string[] {
  const faults = [];
  if (rules.channels.has('smtp') && !config.smtpUrl) faults.push('Notifications__SmtpUrl is required: the notification rules name mail addresses');
  if (rules.channels.has('push') && !config.pushUrl) faults.push('Notifications__PushUrl is required: the notification rules name push topics');
  if (config.smtpUrl && !isEmail(config.mailFrom)) faults.push('Notifications__MailFrom must be a mail address where Notifications__SmtpUrl is set');
  return faults;
}

const stopMs = 10_000;

type Parts = { readonly database: Database; readonly lifecycle: Lifecycle; readonly metrics: Metrics; readonly log: Log };

/** @returns the rules, and what is called when there may be something to send */
export function startNotifications(config: NotificationConfig, { database, lifecycle, metrics, log }: Parts) {
  const store = createNotificationStore(database);
  const rules = followRules({ file: config.rulesFile, part: 'api', check: (some) => notificationFaults(config, some), metrics, log });
  measureOutbox(store, metrics);
  const series = channels.flatMap((channel) => (['sent', 'failed', 'retried'] as const).map((outcome) => ({ channel, outcome })));
  const counter = metrics.counter({
    name: 'signalbox_notifications_total',
    help: 'Messages by channel and by what became of an attempt: sent, failed (given up), retried.',
    labels: ['channel', 'outcome'],
    series,
  });
  const senders = configured(config).map((channel) =>
    startSender({
      store,
      channel,
      maxPerHour: config.notificationsPerHour,
      stopping: lifecycle.stopping,
      log,
      onOutcome: (outcome) => counter.inc({ channel: channel.channel, outcome }),
    }),
  );
  lifecycle.onStop('senders of notifications', async () => {
    // A server that hangs does not hold up the process: the claim of its message runs out.
    await withTimeout<unknown>(Promise.all(senders.map((sender) => sender.ended())), stopMs, () => undefined);
  });
  return { rules, wake: () => senders.forEach((sender) => sender.wake()) };
}

function configured({ smtpUrl, mailFrom, pushUrl, pushToken }: NotificationConfig): ChannelSender[] {
  return [
    ...(smtpUrl && mailFrom !== undefined ? [createSmtp({ url: smtpUrl, from: mailFrom })] : []),
    ...(pushUrl === undefined ? [] : [createPush({ url: pushUrl, token: pushToken })]),
  ];
}

function measureOutbox(store: Pick<NotificationStore, 'states'>, metrics: Metrics): void {
  const ask = forScrape(() => store.states());
  const gauge = (name: string, help: string, member: 'waiting' | 'failed' | 'oldestSeconds') =>
    metrics.gauge({
      name,
      help,
      labels: ['channel'],
      async collect(reading) {
        const states = await ask();
        if (states) for (const channel of channels) reading.set({ channel }, states.find((state) => state.channel === channel)?.[member] ?? 0);
      },
    });
  gauge('signalbox_outbox_waiting', 'Notifications and messages that wait to be sent.', 'waiting');
  gauge('signalbox_outbox_oldest_seconds', 'Age of the oldest notification that was not sent; beyond the cap up to an hour is usual.', 'oldestSeconds');
  gauge('signalbox_outbox_failed', 'Messages that were given up: the server refused them for good.', 'failed');
}
