// Notifications as the API runs them: the rules, a sender for each configured channel, and their metrics.
import { forScrape, type Metrics } from '../../platform/metrics.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import type { Log } from '../../platform/log.ts';
import { withTimeout } from '../../platform/time.ts';
import type { ConfiguredChannel } from './channel.ts';
import { channels } from './channels.ts';
import type { Rules } from './rules.ts';
import { followRules } from './rules-file.ts';
import { startSender } from './sender.ts';
import { createNotificationStore, type NotificationStore } from './store.ts';

export type NotificationConfig = {
  readonly rulesFile: string | undefined;
  readonly channels: readonly ConfiguredChannel[];
  readonly notificationsPerHour: number;
};

/** Faults between the settings and the rules. */
export const notificationFaults = (configured: readonly ConfiguredChannel[], rules: Pick<Rules, 'channels'>): string[] =>
  configured.flatMap(({ name, faults }) => faults(rules.channels.has(name)));

const stopMs = 10_000;

type Parts = { readonly database: Database; readonly lifecycle: Lifecycle; readonly metrics: Metrics; readonly log: Log };

/** @returns the rules, and what is called when there may be something to send */
export function startNotifications(config: NotificationConfig, { database, lifecycle, metrics, log }: Parts) {
  const store = createNotificationStore(database);
  const rules = followRules({ file: config.rulesFile, part: 'api', check: (some) => notificationFaults(config.channels, some), metrics, log });
  measureOutbox(store, metrics);
  const series = channels.flatMap(({ name: channel }) => ['sent', 'failed', 'retried'].map((outcome) => ({ channel, outcome })));
  const counter = metrics.counter({
    name: 'signalbox_notifications_total',
    help: 'Messages by channel and by what became of an attempt: sent, failed (given up), retried.',
    labels: ['channel', 'outcome'],
    series,
  });
  const senders = config.channels
    .flatMap(({ open }) => open() ?? [])
    .map((channel) =>
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

function measureOutbox(store: Pick<NotificationStore, 'states'>, metrics: Metrics): void {
  const ask = forScrape(() => store.states());
  const gauge = (name: string, help: string, member: 'waiting' | 'failed' | 'oldestSeconds') =>
    metrics.gauge({
      name,
      help,
      labels: ['channel'],
      async collect(reading) {
        const states = await ask();
        if (states) for (const { name } of channels) reading.set({ channel: name }, states.find(({ channel }) => channel === name)?.[member] ?? 0);
      },
    });
  gauge('signalbox_outbox_waiting', 'Notifications and messages that wait to be sent.', 'waiting');
  gauge('signalbox_outbox_oldest_seconds', 'Age of the oldest notification that was not sent; beyond the cap up to an hour is usual.', 'oldestSeconds');
  gauge('signalbox_outbox_failed', 'Messages that were given up: the server refused them for good.', 'failed');
}
