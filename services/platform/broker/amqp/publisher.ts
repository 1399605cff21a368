// Publishes with confirms, thousands a second on one channel.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChannelModel, ConfirmChannel, Message as AmqpMessage, Options } from 'amqplib';
import { describeError } from '../../errors.ts';
import { withTimeout } from '../../time.ts';
import type { ConnectionState } from '../adapter.ts';
import type { Message, PublishResult } from '../broker.ts';

/** The attempt that the consumer of a message makes; the first has no header. */
export const attemptHeader = 'x-attempt';

export type Target = {
  readonly exchange: string;
  readonly routingKey: string;
  /** Which attempt the consumer of it makes. */
  readonly attempt: number;
};

/** @param target the first queue's, unless given */
export type Publish = (message: Message, timeoutMs: number, target?: Target) => Promise<PublishResult>;

type PublisherParts = {
  /** Where what has no target goes. */
  readonly exchange: string;
  readonly state: Pick<ConnectionState, 'refusal'>;
  /** Drops the connection, so that a new one declares everything again. */
  readonly reconnect: (reason: string) => void;
};

/** A message this large has a channel to itself and goes alone on it, so that a server that refuses it, which
 *  closes the channel, leaves every other publish unharmed; nor does it hold up the small ones. */
const largeBytes = 1024 * 1024;

export function createAmqpPublisher({ exchange, state, reconnect }: PublisherParts) {
  const confirms: Confirms = { lastAt: 0 };
  const smallMessages = createConfirmChannel(Infinity, { confirms, state, reconnect });
  const largeMessages = createConfirmChannel(1, { confirms, state, reconnect });
  const publish: Publish = (message, timeoutMs, target = { exchange, routingKey: '', attempt: 1 }) => {
    const { refusal } = state;
    if (refusal) return Promise.resolve(refusal);
    return (message.body.length < largeBytes ? smallMessages : largeMessages).publish(message, timeoutMs, target);
  };

  return {
    /** Opens its channels on a new connection. */
    async open(model: ChannelModel): Promise<void> {
      await smallMessages.open(model);
      await largeMessages.open(model);
    },
    /** Answers what has not been written yet. */
    dropWaiting(reason: string): void {
      smallMessages.dropWaiting(reason);
      largeMessages.dropWaiting(reason);
    },
    publish,
  };
}

/** One message on its way to the server. */
type PendingPublish = {
  readonly target: Target;
  readonly body: Buffer;
  readonly options: Options.Publish;
  /** The server returned it: no queue takes it. Its confirm still follows. */
  isReturned: boolean;
  /** When it was written, by `performance.now()`. */
  writtenAt: number;
  /** Only the first answer counts. */
  readonly answer: (result: PublishResult) => void;
};

/** By `performance.now()`, of both channels: a large message may take long on a connection that is well. */
type Confirms = { lastAt: number };

/** After a shorter wait a server may only be slow. */
const silentMs = 2000;

type ChannelParts = Pick<PublisherParts, 'state' | 'reconnect'> & { readonly confirms: Confirms };

/** A confirm channel: what waits to be written to it, and what was written and is not answered yet. */
function createConfirmChannel(maxUnconfirmed: number, { confirms, state, reconnect }: ChannelParts) {
  let channel: ConfirmChannel | null = null;
  /** False while amqplib's buffer is full: writing on would only grow it. */
  let isWritable = false;
  /** It is being closed after a nack, and another one opened. */
  let isReplaced = false;
  /** It was opened after a nack, and has confirmed nothing yet. */
  let isDoubted = false;
  /** The limit that the server of this connection reported; another server may take more. */
  let maxBytes = Infinity;
  /** Each with the async context that it was published in: the trace that it is written into. */
  const waiting = new Map<PendingPublish, ReturnType<typeof AsyncLocalStorage.snapshot>>();
  const unconfirmed = new Set<PendingPublish>();

  const isOpen = () => isWritable && unconfirmed.size < maxUnconfirmed;
  const tooLarge = (): PublishResult => ({ outcome: 'refused', reason: `larger than the ${maxBytes} bytes that the server takes` });

  function write(to: ConfirmChannel, pending: PendingPublish): void {
    const { target, body, options } = pending;
    if (body.length > maxBytes) return pending.answer(tooLarge());
    try {
      isWritable = to.publish(target.exchange, target.routingKey, body, options, (error: Error | null) => {
        // amqplib tells of a lost channel here first, and one that nacks is replaced: what waits is for the next one.
        if (error !== null) channel = null;
        else isDoubted = false;
        if (error !== null && isNack(error)) replace(to);
        unconfirmed.delete(pending);
        confirms.lastAt = performance.now();
        pending.answer(resultOf(pending, error));
        flush();
      });
      pending.writtenAt = performance.now();
      unconfirmed.add(pending);
    } catch (error) {
      // amqplib encodes before it writes, so nothing has left: a property that AMQP cannot hold.
      pending.answer({ outcome: 'refused', reason: describeError(error) });
    }
  }

  /** The result of a written message; `failure` is the argument of amqplib's confirm callback. */
  function resultOf(pending: PendingPublish, failure: Error | null): PublishResult {
    if (failure === null && !pending.isReturned) return { outcome: 'confirmed' };
    if (failure === null) return { outcome: 'unpublished', reason: 'returned: no queue is bound to take it' };
    if (isNack(failure)) return { outcome: 'unpublished', reason: 'the server would not take it (nack)' };
    if (pending.body.length > maxBytes) return tooLarge();
    return { outcome: 'unknown', reason: 'the channel was lost before the server answered' };
  }

  /**
   * RabbitMQ 3 finds the leader of a quorum queue once per channel: one that was opened before a lost leader had a successor nacks for good. A node that
   * takes the others for lost, though they are there, nacks on every channel: its address may lead to another one.
   */
  function replace(nacked: ConfirmChannel): void {
    if (isReplaced) return;
    if (isDoubted) return reconnect('it takes nothing (nack)');
    isReplaced = true;
    nacked.close().catch(() => undefined); // it is closed already, with its connection
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

  async function openAgain(model: ChannelModel): Promise<void> {
    const opened = await model.createConfirmChannel();
    let reason = 'the channel was closed';
    opened.on('error', (error) => {
      reason = describeError(error);
      maxBytes = sizeLimitIn(reason) ?? maxBytes;
    });
    opened.on('return', returned);
    opened.on('drain', () => {
      isWritable = true;
      flush();
    });
    // amqplib has by now answered everything that was written, with an error.
    opened.on('close', () => {
      channel = null;
      // The topology may be lost too, unless a message was too large or was nacked.
      if (!isReplaced && sizeLimitIn(reason) === undefined) return reconnect(reason);
      openAgain(model).catch((error: unknown) => reconnect(describeError(error)));
    });
    channel = opened;
    isDoubted = isReplaced;
    isReplaced = false;
    isWritable = true;
    flush();
  }

  return {
    async open(model: ChannelModel): Promise<void> {
      maxBytes = Infinity;
      isReplaced = false;
      await openAgain(model);
    },
    publish(message: Message, timeoutMs: number, target: Target): Promise<PublishResult> {
      const { promise, resolve } = Promise.withResolvers<PublishResult>();
      const options = toPublishOptions(message, target.attempt);
      const pending: PendingPublish = { target, body: message.body, options, isReturned: false, writtenAt: 0, answer: resolve };
      if (channel && isOpen() && waiting.size === 0) write(channel, pending);
      else waiting.set(pending, AsyncLocalStorage.snapshot());
      return withTimeout(promise, timeoutMs, () => {
        if (waiting.delete(pending)) return { outcome: 'unpublished', reason: 'timed out before it could be written' };
        unconfirmed.delete(pending);
        // A node that is parted from the others of its cluster lives and confirms nothing. Its address may lead to another one.
        // A server that blocks says when it goes on; a new connection would learn of the alarm from the next message only, at its cost.
        const { writtenAt } = pending;
        if (!state.refusal && confirms.lastAt < writtenAt && performance.now() - writtenAt > silentMs) reconnect('it confirms nothing');
        return { outcome: 'unknown', reason: 'the server did not confirm in time' };
      });
    },
    /** Answers what has never been written. */
    dropWaiting(reason: string): void {
      for (const pending of waiting.keys()) pending.answer({ outcome: 'unpublished', reason });
      waiting.clear();
    },
  };
}

/** The only error that amqplib gives a confirm callback while the channel lives. */
const isNack = (failure: Error) => failure.message === 'message nacked';

/** The limit that the server tells when it closes a channel over a message's size: it has no error code of its own for that. */
function sizeLimitIn(reason: string): number | undefined {
  const limit = /message size \d+ is larger than configured max size (\d+)/.exec(reason)?.[1];
  return limit === undefined ? undefined : Number(limit);
}

/** Publishing options: persistent, and handed back by the server when no queue takes it. */
export function toPublishOptions(message: Message, attempt: number): Options.Publish {
  const options: Options.Publish = {
    mandatory: true,
    persistent: true,
    messageId: message.id,
    type: message.type,
    contentType: message.contentType,
    priority: message.priority,
    timestamp: Math.floor(message.timestamp.getTime() / 1000),
    headers: attempt > 1 ? { ...message.headers, [attemptHeader]: attempt } : message.headers,
  };
  if (message.contentEncoding) options.contentEncoding = message.contentEncoding;
  return options;
}
