// Declares a topology on RabbitMQ: exchanges, queues, retry queues, bindings. Repeating it changes nothing.
import type { Channel, ChannelModel } from 'amqplib';
import { describeError, hasCode } from '../../errors.ts';
import type { QueueTopology, Topology } from '../broker.ts';
import { redeliveredQueue } from '../outcomes.ts';
import { closeChannel } from './closing.ts';

export type QueueType = 'classic' | 'quorum';

export const retryQueue = (queue: string, step: number) => `${queue}.retry.${step}`;

const highestPriority = 10;
const preconditionFailed = '406';

// From RabbitMQ 4.0 a quorum queue dead-letters what was delivered 20 times, and a consumer that is killed counts
// as a delivery. Only the handler's outcomes may give a message up.
const quorum = { 'x-queue-type': 'quorum', 'x-delivery-limit': 1_000_000 };
// The default strategy may lose a message between retry queue and queue when a node fails; this one may not.
const quorumRetry = { ...quorum, 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' };

export async function declareTopology(model: ChannelModel, topology: Topology, type: QueueType): Promise<void> {
  const { exchange, queues, deadLetters } = topology;
  const channel = await model.createChannel();
  // A refused declaration closes the channel with an error event, and rejects the declaration with the same.
  channel.on('error', () => undefined);

  await declareExchange(channel, deadLetters.exchange);
  await declareQueue(channel, deadLetters.queue, type === 'quorum' ? quorum : {});
  await channel.bindQueue(deadLetters.queue, deadLetters.exchange, '');
  await declareExchange(channel, exchange);
  for (const queue of queues) {
    await declareQueue(channel, queue.name, queueArguments(queue, deadLetters.exchange, type));
    await channel.bindQueue(queue.name, exchange, '');
    await declareQueue(channel, redeliveredQueue(queue.name), queueArguments({ prioritised: false }, deadLetters.exchange, type));
    for (const [index, delayMs] of queue.retryDelaysMs.entries()) {
      await declareQueue(channel, retryQueue(queue.name, index + 1), retryArguments(queue.name, delayMs, type));
    }
  }
  await closeChannel(channel);
}

// Quorum queues hand out by priority from RabbitMQ 4.3 on without an argument, and refuse `x-max-priority`.
function queueArguments(queue: Pick<QueueTopology, 'prioritised'>, deadLetterExchange: string, type: QueueType) {
  const common = { 'x-dead-letter-exchange': deadLetterExchange };
  if (type === 'quorum') return { ...common, ...quorum };
  return queue.prioritised ? { ...common, 'x-max-priority': highestPriority } : common;
}

// A message waits here out of sight, then the server moves it back to its queue through the default exchange.
function retryArguments(queue: string, delayMs: number, type: QueueType) {
  const wait = { 'x-message-ttl': delayMs, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': queue };
  return type === 'quorum' ? { ...wait, ...quorumRetry } : wait;
}

const declareExchange = (channel: Channel, name: string) => channel.assertExchange(name, 'fanout', { durable: true }).catch(explained(`exchange "${name}"`));

const declareQueue = (channel: Channel, name: string, args: Record<string, unknown>) =>
  channel.assertQueue(name, { durable: true, arguments: args }).catch(explained(`queue "${name}"`));

const explained = (what: string) => (error: unknown) => {
  if (!hasCode(error, preconditionFailed)) throw error;
  const advice = 'empty and delete it on the server, or configure the queue type that it has';
  throw new Error(`${what} exists with another type or other arguments: ${advice} (${describeError(error)})`, { cause: error });
};
