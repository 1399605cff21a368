// Publishes with confirms, thousands a second on one channel.
import { AsyncLocalStorage } from 'node:async_hooks';
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

export type Publish = ReturnType<typeof createAmqpPublisher>['publish'];

/** A message this large has a channel to itself and goes alone on it, so that a server that refuses it, which
 *  closes the channel, leaves every other publish unharmed; nor does it hold up the small ones. */
const largeBytes = 1024 * 1024;

/** Only when closing: a message on its way pays nothing for it. */
const lookEveryMs = 10;

/** @param reconnect drops the connection, so that a new one declares everything again */
export function createAmqpPublisher(reconnect: (reason: string) => void) {
  const server: ServerLimits = { maxBytes: Infinity };
  const smallMessages = createConfirmChannel(Infinity, server, reconnect);
  const largeMessages = createConfirmChannel(1, server, reconnect);

  return {
    /** Opens its channels on a new connection. */
    async open(model: ChannelModel): Promise<void> {
      server.maxBytes = Infinity;
      await smallMessages.open(model);
      await largeMessages.open(model);
    },
    /** Answers what has not been written yet. */
    dropWaiting(reason: string): void {
      smallMessages.dropWaiting(reason);
      largeMessages.dropWaiting(reason);
    },
    /** Confirmed; otherwise as the contract's. */
    publish({ exchange, routingKey, attempt }: Target, message: Message, timeoutMs: number): Promise<PublishResult> {
      const { body } = message;
      const channel = body.length < largeBytes ? smallMessages : largeMessages;
      return new Promise((resolve) => {
        const timer = setTimeout(() => channel.timeOut(pending), timeoutMs);
        const pending: PendingPublish = {
          exchange,
          routingKey,
          body,
          options: toPublishOptions(message, attempt),
          isReturned: false,
          answer(result) {
            clearTimeout(timer);
            resolve(result);
          },
        };
        channel.push(pending);
      });
    },
    /** Resolves when no publish is pending. */
    async idle(): Promise<void> {
      while (smallMessages.isBusy() || largeMessages.isBusy()) await sleep(lookEveryMs);
    },
  };
}

/** What the server of this connection has told; another connection's may take more. */
type ServerLimits = { maxBytes: number };

/** One message on its way to the server. */
type PendingPublish = {
  readonly exchange: string;
  readonly routingKey: string;
  readonly body: Buffer;
  readonly options: Options.Publish;
  /** The server returned it: no queue takes it. Its confirm still follows. */
  isReturned: boolean;
  /** Only the first answer counts. */
  answer(result: PublishResult): void;
};

/** A confirm channel: what waits to be written to it, and what was written and is not answered yet. */
function createConfirmChannel(maxUnconfirmed: number, server: ServerLimits, reconnect: (reason: string) => void) {
  let channel: ConfirmChannel | null = null;
  /** False while amqplib's buffer is full: writing on would only grow it. */
  let isWritable = false;
  /** Each with the async context that it was published in: the trace that it is written into. */
  const waiting = new Map<PendingPublish, ReturnType<typeof AsyncLocalStorage.snapshot>>();
  const unconfirmed = new Set<PendingPublish>();

  const isOpen = () => isWritable && unconfirmed.size < maxUnconfirmed;

  function write(to: ConfirmChannel, pending: PendingPublish): void {
    const { exchange, routingKey, body, options } = pending;
    if (body.length > server.maxBytes) return pending.answer(tooLarge(server.maxBytes));
    try {
      isWritable = to.publish(exchange, routingKey, body, options, (error: Error | null) => {
        // amqplib tells of a lost channel here first; what waits may fit the next one.
        if (error !== null && !isNack(error)) channel = null;
        unconfirmed.delete(pending);
        pending.answer(resultOf(pending, error, server.maxBytes));
        if (waiting.size > 0) flush();
      });
      unconfirmed.add(pending);
    } catch (error) {
      // amqplib encodes before it writes, so nothing has left: a property that AMQP cannot hold.
      pending.answer({ outcome: 'refused', reason: describeError(error) });
    }
  }

  function flush(): void {
    for (const [pending, inItsContext] of waiting) {
      if (!channel || !isOpen()) return;
      waiting.delete(pending);
      inItsContext(write, channel, pending);
    }
  }

  function returned({ properties: { messageId } }: AmqpMessage): void {
    const pending = [...unconfirmed].find((one) => one.options.messageId === messageId && !one.isReturned);
    if (pending) pending.isReturned = true;
  }

  async function open(model: ChannelModel): Promise<void> {
    const opened = await model.createConfirmChannel();
    let reason = 'the channel was closed';
    let sizeLimit: number | null = null;
    opened.on('error', (error) => {
      reason = describeError(error);
      sizeLimit = sizeLimitIn(reason);
      server.maxBytes = sizeLimit ?? server.maxBytes;
    });
    opened.on('return', returned);
    opened.on('drain', () => {
      isWritable = true;
      flush();
    });
    // amqplib has by now answered everything that was written, with an error.
    opened.on('close', () => {
      channel = null;
      // What was declared may be gone too, unless a message was too large.
      if (sizeLimit === null) return reconnect(reason);
      open(model).catch((error: unknown) => reconnect(describeError(error)));
    });
    channel = opened;
    isWritable = true;
    flush();
  }

  return {
    open,
    push(pending: PendingPublish): void {
      if (channel && isOpen() && waiting.size === 0) write(channel, pending);
      else waiting.set(pending, AsyncLocalStorage.snapshot());
    },
    /** Answers what has never been written. */
    dropWaiting(reason: string): void {
      for (const pending of waiting.keys()) pending.answer({ outcome: 'unpublished', reason });
      waiting.clear();
    },
    timeOut(pending: PendingPublish): void {
      if (waiting.delete(pending)) return pending.answer({ outcome: 'unpublished', reason: 'timed out before it could be written' });
      unconfirmed.delete(pending);
      pending.answer({ outcome: 'unknown', reason: 'the server did not confirm in time' });
    },
    isBusy: () => waiting.size > 0 || unconfirmed.size > 0,
  };
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
