// Sends what the outbox holds for one channel, beside any number of other processes that do the same.
import type { Log } from '../../platform/log.ts';
import { type BackOffRange, backOffMs, createWakeUp, withTimeout } from '../../platform/time.ts';
import type { ChannelSender, SendOutcome } from './channel.ts';
import type { ClaimedMessage, NotificationStore } from './store.ts';
import { contentOf } from './templates.ts';

export type SenderParts = {
  readonly store: NotificationStore;
  readonly channel: ChannelSender;
  readonly maxPerHour: number;
  readonly stopping: AbortSignal;
  readonly log: Log;
  readonly onOutcome?: (outcome: 'sent' | 'failed' | 'retried') => void;
  readonly pollMs?: number;
  /** Between attempts of a message, and of a channel that is unavailable. */
  readonly backOff?: { readonly message: BackOffRange; readonly channel: BackOffRange };
  readonly leaseMs?: number;
};

const usualPollMs = 2000;
const usualBackOff = { message: { firstMs: 5000, longestMs: 5 * 60_000 }, channel: { firstMs: 1000, longestMs: 30_000 } };
/** Longer than a channel takes for a message, with all its timeouts. */
const usualLeaseMs = 3 * 60_000;
const atOnce = 5;
/** A receiver of events that takes longer is not waited for, up to so many messages. */
const slowAfterMs = 1000;
const mostSlow = 15;
/** Mail servers give up on a mailbox that is full after some days, too. */
const usualGiveUpAfterMs = 3 * 24 * 60 * 60_000;

export function startSender(parts: SenderParts) {
  const { store, channel, maxPerHour, stopping, log, pollMs = usualPollMs, backOff = usualBackOff, leaseMs = usualLeaseMs } = parts;
  const wakeUp = createWakeUp(stopping);
  const context = { channel: channel.channel };
  const { pause = backOff.message, giveUpAfterMs = usualGiveUpAfterMs } = channel.retries ?? {};
  /** In a row, of the channel: a round that sent nothing says nothing of it. */
  let channelFailures = 0;
  /** In a row: the database was away. */
  let roundFailures = 0;
  const recipients = createRecipients(log.child(context));
  const sends = createSends(sendOne, {
    waitsForAll: channel.sendsEvents !== true,
    onSlowEnded(error) {
      if (error !== undefined) log.warn({ ...context, error }, 'sending notifications failed, retrying');
      wakeUp.wake();
    },
  });

  /** @returns whether there may be more to do at once */
  async function round(): Promise<boolean> {
    await store.makeMessages(channel.channel, channel.sendsEvents ? Infinity : maxPerHour);
    const messages = await store.claim(channel.channel, atOnce, leaseMs, sends.slowRecipients());
    if (messages.length === 0) return false;
    const outcomes = await sends.start(messages);
    const failed = outcomes.filter((outcome) => outcome !== 'sent').find(({ kind }) => kind === 'unavailable');
    if (failed && channelFailures === 0) log.warn({ ...context, reason: failed.reason }, 'sending notifications failed, channel unavailable, retrying');
    if (!failed && channelFailures > 0) log.info({ ...context, attempts: channelFailures + 1 }, 'channel of notifications available again');
    channelFailures = failed ? channelFailures + 1 : 0;
    return !failed;
  }

  async function sendOne(message: ClaimedMessage): Promise<SendOutcome> {
    const content = contentOf(await store.noticesOf(message.id));
    const event = channel.sendsEvents && { event: await store.eventOf(message.id) };
    const outcome = await channel.send({ id: message.id, recipient: message.recipient, ...content, ...event });
    await record(message, outcome);
    return outcome;
  }

  async function record(message: ClaimedMessage, outcome: SendOutcome): Promise<void> {
    if (outcome === 'sent') {
      await store.end(message, 'sent');
      recipients.reached(message);
      return parts.onOutcome?.('sent');
    }
    const isTooOld = outcome.kind === 'retry' && Date.now() - message.createdAt.getTime() > giveUpAfterMs;
    if (outcome.kind === 'refused' || isTooOld) {
      await store.end(message, 'failed', outcome.reason);
      log.error({ ...context, messageId: message.id, recipient: message.recipient, reason: outcome.reason }, 'sending a notification failed, given up');
      parts.onOutcome?.('failed');
      return;
    }
    // Postponed also when the channel is unavailable: a message that ends the connection each time must not stay first in line.
    const range = outcome.kind === 'unavailable' ? backOff.channel : pause;
    await store.postpone(message, outcome.reason, pauseMs(message.attempts, range, outcome.retryAfterMs));
    parts.onOutcome?.('retried');
    if (outcome.kind === 'retry') recipients.missed(message, outcome.reason);
  }

  async function attempt(): Promise<boolean> {
    try {
      const isMore = await round();
      roundFailures = 0;
      return isMore;
    } catch (error) {
      if (roundFailures === 0) log.warn({ ...context, error }, 'sending notifications failed, retrying');
      roundFailures += 1;
      return false;
    }
  }

  async function run(): Promise<void> {
    while (!stopping.aborted) {
      const isMore = await attempt();
      if (isMore) continue;
      await wakeUp.pause(pollMs);
      // A wake-up does not cut the pause of a failing channel short.
      const failures = Math.max(channelFailures, roundFailures);
      if (failures > 0) await wakeUp.pause(Math.max(0, backOffMs(failures, backOff.channel) - pollMs));
    }
  }

  const running = run();
  return {
    wake: () => wakeUp.wake(),
    ended: async () => {
      await running;
      await sends.ended();
    },
  };
}

/** Logs the first message that a recipient does not take, and again after one that it takes. */
function createRecipients(log: Log) {
  const missing = new Set<string>();
  return {
    reached: ({ recipient }: ClaimedMessage) => missing.delete(recipient),
    missed({ id, recipient }: ClaimedMessage, reason: string): void {
      if (missing.has(recipient)) return;
      missing.add(recipient);
      log.warn({ messageId: id, recipient, reason }, 'sending notifications failed, recipient does not take them, retrying');
    },
  };
}

/** As long as the receiver asks for, within the back-off. */
const pauseMs = (attempts: number, range: BackOffRange, retryAfterMs = 0): number =>
  Math.max(backOffMs(attempts, range), Math.min(retryAfterMs, range.longestMs));

type SendsOptions = {
  /** False for receivers of events: one says nothing of another, so the others do not wait for one that takes long. */
  readonly waitsForAll: boolean;
  /** Called when the sends of a round that were not waited for have ended, with the first error. */
  readonly onSlowEnded: (error: unknown) => void;
};

/** The sends that are under way. */
function createSends(send: (message: ClaimedMessage) => Promise<SendOutcome>, { waitsForAll, onSlowEnded }: SendsOptions) {
  const underWay = new Map<ClaimedMessage, Promise<SendOutcome>>();
  return {
    /** Their other messages wait for the one that is under way. */
    slowRecipients: () => [...new Set([...underWay.keys()].map(({ recipient }) => recipient))],
    /** @returns the outcomes; none where some take long and are not waited for */
    start(messages: readonly ClaimedMessage[]): Promise<readonly SendOutcome[]> {
      const sends = messages.map((message) => {
        const done = send(message).finally(() => underWay.delete(message));
        underWay.set(message, done);
        return done;
      });
      if (waitsForAll || underWay.size > mostSlow) return Promise.all(sends);
      return withTimeout<readonly SendOutcome[]>(Promise.all(sends), slowAfterMs, () => {
        void Promise.allSettled(sends).then((ended) => onSlowEnded(ended.find((one) => one.status === 'rejected')?.reason));
        return [];
      });
    },
    ended: () => Promise.allSettled(underWay.values()),
  };
}
