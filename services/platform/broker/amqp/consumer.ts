// Consumes a queue on a connection of its own, one batch in work at a time, and carries out what follows from the outcomes:
// acknowledges, or publishes to a retry queue or the dead letters and then acknowledges.
import type { Message as AmqpMessage, Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { describeError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Consumer, ConsumeOptions, Delivery, Message, Topology } from '../broker.ts';
import { type Decision, pauseAfterFailure, redeliveredQueue } from '../outcomes.ts';
import type { Handling, Source } from '../adapter.ts';
import { closeChannel } from './closing.ts';
import type { AmqpConnection } from './connection.ts';
import { attemptHeader, type Publish, type Target } from './publisher.ts';
import { retryQueue } from './topology.ts';

const moveTimeoutMs = 10_000;

type AmqpConsumerParts = Handling & {
  readonly source: Source;
  readonly options: ConsumeOptions;
  readonly topology: Topology;
  readonly publish: Publish;
  /** @param attach to be run on every new connection before it counts as one */
  readonly connect: (attach: (model: ChannelModel) => Promise<void>) => AmqpConnection;
  readonly log: Log;
};

/** A consumer's time on one channel. */
type Attachment = {
  readonly channel: Channel;
  /** Delivered and not yet handed over, in order. */
  readonly held: ConsumeMessage[];
  /** The channel is gone, and every delivery of it void. */
  readonly lost: AbortSignal;
  /** Ends pauses: when lost, and when the consumer stops. */
  readonly over: AbortSignal;
  readonly window: ReturnType<typeof createPrefetchWindow>;
};

export function createAmqpConsumer({ source: { queue, from }, options, handOver, holdNext, topology, publish, connect, log }: AmqpConsumerParts): Consumer {
  const settle = createSettle({ queue, topology, publish, log });
  const stopping = new AbortController();
  let current: Attachment | null = null;
  let working: Promise<void> | null = null;

  // One delivery at a time comes from amqplib; those of one read from the socket belong to one batch.
  function wake(): void {
    working ??= new Promise((resolve) => setImmediate(resolve))
      .then(work)
      .catch((error: unknown) => {
        log.error({ error, queue }, 'consumer failed, attaching again');
        connection.reconnect('its consumer failed');
      })
      .finally(() => {
        working = null;
        if (current && current.held.length > 0 && !stopping.signal.aborted) wake();
      });
  }

  async function work(): Promise<void> {
    while (current && current.held.length > 0 && !stopping.signal.aborted) {
      const attachment = current;
      const batch = attachment.held.splice(0, options.batchSize).map((source) => ({ source, delivery: toDelivery(source) }));
      const decided = await handOver(batch, { over: attachment.over, stopping: stopping.signal });
      if (decided && !attachment.lost.aborted) await holdNext(settle(attachment, decided));
      attachment.window.released(batch.map(({ source }) => source));
    }
  }

  async function attach(model: ChannelModel): Promise<void> {
    const channel = await model.createChannel();
    const held: ConsumeMessage[] = [];
    const losing = new AbortController();
    const window = createPrefetchWindow({
      channel,
      queue: from,
      options,
      take(message) {
        held.push(message);
        wake();
      },
      ended: () => connection.reconnect(`queue "${from}" was deleted`),
    });
    // A channel can be lost alone, as when a batch took longer than the server waits for it (consumer_timeout).
    let reason = 'the channel was closed';
    channel.on('error', (error) => (reason = describeError(error)));
    channel.on('close', () => {
      held.length = 0;
      losing.abort();
      if (!stopping.signal.aborted) connection.reconnect(`consumer of "${from}": ${reason}`);
    });
    current = { channel, held, lost: losing.signal, over: AbortSignal.any([losing.signal, stopping.signal]), window };
    await window.open();
  }

  const connection = connect(attach);
  return {
    async stop() {
      stopping.abort();
      // A hanging server does not hold this up: what is sent later on the channel, it reads later.
      current?.window.cancel().catch(() => undefined);
      await working;
      // Gives back what is unacknowledged. The closing of the connection alone could overtake acknowledgements.
      if (current && !current.lost.aborted) await closeChannel(current.channel);
      await connection.close();
    },
  };
}

type Decided = { readonly source: ConsumeMessage; readonly delivery: Delivery; readonly decision: Decision };

type SettleParts = Pick<AmqpConsumerParts, 'topology' | 'publish' | 'log'> & { readonly queue: string };

function createSettle({ queue, topology, publish, log }: SettleParts) {
  const { deadLetters } = topology;

  // Until the copy is confirmed the original stays unacknowledged: a message may come twice, but never be lost.
  async function move({ channel, lost, over }: Attachment, source: ConsumeMessage, { to, message }: { to: Target; message: Message }): Promise<void> {
    let failures = 0;
    do {
      const result = await publish(message, moveTimeoutMs, to);
      if (lost.aborted) return;
      if (result.outcome === 'confirmed') return channel.ack(source);
      // The server itself can still dead-letter messages that no consumer rejected, though without our headers.
      if (result.outcome === 'refused' && queue !== deadLetters.queue) return channel.nack(source, false, false);
      log.warn({ id: message.id, to: to.routingKey || to.exchange, reason: result.reason }, 'moving a message failed, retrying');
      failures += 1;
    } while (await pauseAfterFailure(failures, over));
  }

  async function settleOne(attachment: Attachment, { source, delivery, decision }: Decided): Promise<void> {
    if (decision.kind === 'ack') return attachment.channel.ack(source);
    const { attempt } = delivery;
    if (decision.kind === 'dead')
      return move(attachment, source, { to: { exchange: deadLetters.exchange, routingKey: '', attempt: 1 }, message: decision.message });
    const to =
      decision.kind === 'alone'
        ? { routingKey: redeliveredQueue(queue), attempt: decision.attempt }
        : { routingKey: retryQueue(queue, attempt), attempt: attempt + 1 };
    return move(attachment, source, { to: { exchange: '', ...to }, message: delivery });
  }

  return async (attachment: Attachment, batch: readonly Decided[]): Promise<void> => {
    const last = batch.at(-1);
    // All before this batch is acknowledged, so one frame acknowledges the whole of it.
    if (last && batch.every(({ decision }) => decision.kind === 'ack')) return attachment.channel.ack(last.source, true);
    await Promise.all(batch.map((one) => settleOne(attachment, one)));
  };
}

type PrefetchWindowParts = {
  readonly channel: Channel;
  readonly queue: string;
  readonly options: ConsumeOptions;
  readonly take: (message: ConsumeMessage) => void;
  /** The server ended the consumer: its queue was deleted. */
  readonly ended: () => void;
};

/** Properties and headers, generously. */
const overheadBytes = 2048;
const weightOf = ({ content }: ConsumeMessage) => content.length + overheadBytes;

/** After this many times its messages without overflow a window becomes twice as wide. */
const calmWindows = 8;

/**
 * RabbitMQ counts messages, not bytes. When those that it was allowed to send turn out to be too large together, the rest
 * goes back to the queue, the consumer is cancelled, and it consumes again with a window of as many as did fit.
 */
function createPrefetchWindow({ channel, queue, options, take, ended }: PrefetchWindowParts) {
  const { prefetch, maxBytes = Infinity } = options;
  let width = prefetch;
  const held = { count: 0, bytes: 0 };
  let onEmpty: (() => void) | undefined;
  let tag = '';

  async function open(): Promise<void> {
    let arrivals = 0;
    let isFull = false;
    const over = Promise.withResolvers<void>();
    await channel.prefetch(width);
    const consuming = await channel.consume(queue, (message) => {
      if (!message) return ended();
      // One is always taken, whatever its size.
      isFull ||= held.count > 0 && held.bytes + weightOf(message) > maxBytes;
      if (isFull) {
        width = Math.max(1, Math.min(held.count, width));
        channel.nack(message, false, true);
      } else {
        held.count += 1;
        held.bytes += weightOf(message);
        arrivals += 1;
        take(message);
      }
      if (isFull || (width < prefetch && arrivals >= width * calmWindows)) over.resolve();
    });
    tag = consuming.consumerTag;

    const replace = async () => {
      await over.promise;
      // Deliveries in transit have arrived when the server confirms the cancellation.
      await channel.cancel(tag);
      if (!isFull) width = Math.min(width * 2, prefetch);
      else if (held.count > 0) await new Promise<void>((resolve) => (onEmpty = resolve));
      await open();
    };
    replace().catch(() => undefined); // the channel is lost, which is its owner's matter
  }

  return {
    /** Consumes from now on, with another window whenever it has to be. */
    open,
    /** Nothing comes after what is acknowledged from now on. */
    cancel: async () => channel.cancel(tag),
    /** Call when the deliveries taken are no longer in memory. */
    released(messages: readonly ConsumeMessage[]): void {
      held.count -= messages.length;
      held.bytes -= messages.reduce((sum, message) => sum + weightOf(message), 0);
      if (held.count === 0) onEmpty?.();
    },
  };
}

/** The headers that RabbitMQ adds when a message has waited in a retry queue. */
const serverHeader = /^x-(death|first-death-|last-death-|delivery-count$|acquired-count$)/;

export function toDelivery({ content, properties, fields }: AmqpMessage): Delivery {
  const { headers, attempt } = readHeaders(properties.headers ?? {});
  return {
    id: text(properties.messageId),
    type: text(properties.type),
    body: content,
    contentType: text(properties.contentType),
    ...(properties.contentEncoding === 'gzip' ? { contentEncoding: 'gzip' as const } : {}),
    priority: typeof properties.priority === 'number' ? properties.priority : 0,
    timestamp: new Date(typeof properties.timestamp === 'number' ? properties.timestamp * 1000 : 0),
    headers,
    attempt,
    redelivered: fields.redelivered,
  };
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');

function readHeaders(raw: Readonly<Record<string, unknown>>) {
  const headers: Record<string, string> = {};
  let attempt = 1;
  for (const [name, value] of Object.entries(raw)) {
    if (name === attemptHeader) attempt = Number.isInteger(value) && Number(value) > 0 ? Number(value) : 1;
    else if (serverHeader.test(name)) continue;
    else if (typeof value === 'string') headers[name] = value;
    else if (typeof value === 'number' || typeof value === 'boolean') headers[name] = String(value);
  }
  return { headers, attempt };
}
