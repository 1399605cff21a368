// Publishes with confirms: thousands a second on one channel, one timer for all their deadlines.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelModel, ConfirmChannel, Message as AmqpMessage, Options } from 'amqplib';
import { describeError } from '../../errors.ts';
import type { Message, PublishResult } from '../broker.ts';
import { toPublishOptions } from './message.ts';

export type Target = {
  readonly exchange: string;
  readonly routingKey: string;
  /** Which attempt the consumer of it makes. */
  readonly attempt: number;
};

export type AmqpPublisher = ReturnType<typeof createAmqpPublisher>;

/** A message this large has a channel to itself and goes alone on it, so that a server that refuses it, which
 *  closes the channel, leaves every other publish unharmed; nor does it hold up the small ones. */
const largeBytes = 1024 * 1024;

/** Only when closing: a message on its way pays nothing for it. */
const lookEveryMs = 10;

/** @param reconnect drops the connection, so that a new one declares everything again */
export function createAmqpPublisher(reconnect: (reason: string) => void) {
  let model: ChannelModel | null = null;
  let closedReason: string | null = 'not connected yet';
  let maxBytes = Infinity;
  const hooks = { tooLarge: (limit: number) => (maxBytes = limit), broken: reconnectSoon };
  const smallMessages = createConfirmChannel(Infinity, hooks);
  const largeMessages = createConfirmChannel(1, hooks);

  let sweepAt = Infinity;
  let timer: NodeJS.Timeout | undefined;

  // Not at once: when the connection is what was lost, amqplib closes its channels first and says so next.
  function reconnectSoon(reason: string): void {
    const lost = model;
    setImmediate(() => {
      if (lost && lost === model) reconnect(reason);
    });
  }

  function sweep(): void {
    const now = performance.now();
    sweepAt = Infinity;
    sweepBy(Math.min(smallMessages.expire(now), largeMessages.expire(now)));
  }

  function sweepBy(deadline: number): void {
    if (deadline >= sweepAt) return;
    clearTimeout(timer);
    sweepAt = deadline;
    timer = setTimeout(sweep, Math.max(1, deadline - performance.now()));
    timer.unref();
  }

  /** Answers messages from now on at once, and those that have not been written yet. */
  function refuse(reason: string): void {
    closedReason = reason;
    for (const channel of [smallMessages, largeMessages]) channel.dropWaiting(reason);
  }

  return {
    /** Opens its channels on a new connection. */
    async open(opened: ChannelModel): Promise<void> {
      model = opened;
      maxBytes = Infinity;
      await smallMessages.open(opened);
      await largeMessages.open(opened);
    },
    refuse,
    /** The connection is gone. */
    lose(reason: string): void {
      model = null;
      refuse(reason);
    },
    /** Takes messages again. */
    admit(): void {
      closedReason = null;
    },
    publish({ exchange, routingKey, attempt }: Target, message: Message, timeoutMs: number): Promise<PublishResult> {
      const { body } = message;
      if (closedReason !== null) return Promise.resolve({ outcome: 'unpublished', reason: closedReason });
      if (body.length > maxBytes) return Promise.resolve(tooLarge(maxBytes));
      return new Promise((resolve) => {
        const deadline = performance.now() + timeoutMs;
        const options = toPublishOptions(message, attempt);
        const pending: PendingPublish = { exchange, routingKey, body, options, deadline, resolve, isAnswered: false, isReturned: false };
        (body.length < largeBytes ? smallMessages : largeMessages).push(pending);
        sweepBy(deadline);
      });
    },
    /** Resolves when no publish is pending. */
    async idle(): Promise<void> {
      while (smallMessages.isBusy() || largeMessages.isBusy()) await sleep(lookEveryMs);
    },
  };
}

/** One message on its way to the server. */
type PendingPublish = {
  readonly exchange: string;
  readonly routingKey: string;
  readonly body: Buffer;
  readonly options: Options.Publish;
  /** By the clock of `performance.now()`. */
  readonly deadline: number;
  readonly resolve: (result: PublishResult) => void;
  /** Its publisher has its answer, perhaps because it timed out; what the server says later changes nothing. */
  isAnswered: boolean;
  /** The server returned it: no queue takes it. Its confirm still follows. */
  isReturned: boolean;
};

type ConfirmChannelHooks = {
  /** The server closed the channel over a message larger than this, which it told. */
  tooLarge(maxBytes: number): void;
  /** The channel is gone for another reason: what was declared may be gone too. */
  broken(reason: string): void;
};

/** A confirm channel: what waits to be written to it, and what was written and is not confirmed yet. */
function createConfirmChannel(maxUnconfirmed: number, hooks: ConfirmChannelHooks) {
  let channel: ConfirmChannel | null = null;
  /** False while amqplib's buffer is full: writing on would only grow it. */
  let isWritable = false;
  /** What this connection's server has told; another connection's may take more. */
  let maxBytes = Infinity;
  const waiting = new Set<PendingPublish>();
  const unconfirmed = new Set<PendingPublish>();

  const isOpen = () => isWritable && unconfirmed.size < maxUnconfirmed;

  function write(to: ConfirmChannel, pending: PendingPublish): void {
    const { exchange, routingKey, body, options } = pending;
    if (body.length > maxBytes) return answer(pending, tooLarge(maxBytes));
    try {
      isWritable = to.publish(exchange, routingKey, body, options, (error: Error | null) => {
        // amqplib tells of a lost channel here first; what waits may fit the next one.
        if (error !== null && !isNack(error)) channel = null;
        unconfirmed.delete(pending);
        answer(pending, resultOf(pending, error, maxBytes));
        if (waiting.size > 0) flush();
      });
      unconfirmed.add(pending);
    } catch (error) {
      // amqplib encodes before it writes, so nothing has left: a property that AMQP cannot hold.
      answer(pending, { outcome: 'refused', reason: describeError(error) });
    }
  }

  function flush(): void {
    for (const pending of waiting) {
      if (!channel || !isOpen()) return;
      waiting.delete(pending);
      write(channel, pending);
    }
  }

  function returned({ properties: { messageId } }: AmqpMessage): void {
    const pending = [...unconfirmed].find((one) => one.options.messageId === messageId && !one.isReturned);
    if (pending) pending.isReturned = true;
  }

  async function open(model: ChannelModel): Promise<void> {
    const opened = await model.createConfirmChannel();
    let reason = 'the channel was closed';
    let refusedAbove: number | null = null;
    opened.on('error', (error) => {
      reason = describeError(error);
      refusedAbove = sizeLimitIn(reason);
      maxBytes = refusedAbove ?? maxBytes;
    });
    opened.on('return', returned);
    opened.on('drain', () => {
      isWritable = true;
      flush();
    });
    // amqplib has by now answered everything that was written, with an error.
    opened.on('close', () => {
      channel = null;
      if (refusedAbove === null) return hooks.broken(reason);
      hooks.tooLarge(refusedAbove);
      open(model).catch((error: unknown) => hooks.broken(describeError(error)));
    });
    channel = opened;
    isWritable = true;
    flush();
  }

  return {
    /** On a new connection. */
    async open(model: ChannelModel): Promise<void> {
      maxBytes = Infinity;
      await open(model);
    },

    push(pending: PendingPublish): void {
      if (channel && isOpen() && waiting.size === 0) write(channel, pending);
      else waiting.add(pending);
    },

    /** Answers what has never been written. */
    dropWaiting(reason: string): void {
      for (const pending of waiting) answer(pending, { outcome: 'unpublished', reason });
      waiting.clear();
    },

    isBusy: () => waiting.size > 0 || [...unconfirmed].some((pending) => !pending.isAnswered),

    /** Answers what has timed out; gives the earliest deadline left. */
    expire(now: number): number {
      let earliest = Infinity;
      for (const pending of waiting) {
        if (pending.deadline > now) earliest = Math.min(earliest, pending.deadline);
        else if (waiting.delete(pending)) answer(pending, { outcome: 'unpublished', reason: 'timed out before it could be written' });
      }
      for (const pending of unconfirmed) {
        if (pending.isAnswered) continue;
        if (pending.deadline > now) earliest = Math.min(earliest, pending.deadline);
        else answer(pending, { outcome: 'unknown', reason: 'the server did not confirm in time' });
      }
      return earliest;
    },
  };
}

function answer(pending: PendingPublish, result: PublishResult): void {
  if (pending.isAnswered) return;
  pending.isAnswered = true;
  pending.resolve(result);
}

const confirmed: PublishResult = { outcome: 'confirmed' };
/** The only error that amqplib gives a confirm callback while the channel lives. */
const isNack = (failure: Error) => failure.message === 'message nacked';

/** Of what was written: `failure` is what amqplib's confirm callback was given, `maxBytes` what the server is known to take. */
function resultOf(pending: PendingPublish, failure: Error | null, maxBytes: number): PublishResult {
  if (failure === null && !pending.isReturned) return confirmed;
  if (failure === null) return { outcome: 'unpublished', reason: 'returned: no queue is bound to take it' };
  if (isNack(failure)) return { outcome: 'unpublished', reason: 'the server would not take it (nack)' };
  if (pending.body.length > maxBytes) return tooLarge(maxBytes);
  return { outcome: 'unknown', reason: 'the channel was lost before the server answered' };
}

const tooLarge = (maxBytes: number): PublishResult => ({ outcome: 'refused', reason: `larger than the ${maxBytes} bytes that the server takes` });

/** The limit that the server tells when it closes a channel over a message's size: it has no error code of its own for that. */
function sizeLimitIn(reason: string): number | null {
  const limit = /message size \d+ is larger than configured max size (\d+)/.exec(reason)?.[1];
  return limit === undefined ? null : Number(limit);
}
