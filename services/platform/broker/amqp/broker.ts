// The broker on RabbitMQ (3.10 and newer): publishing and consuming on connections of their own.
import type { ChannelModel } from 'amqplib';
import { withTimeout } from '../../time.ts';
import type { Broker, BrokerOptions, DeadLetter, DeadLetterReturn, DeadLetterSelection, Topology } from '../broker.ts';
import { closedReason, createConnectionState } from '../connection-state.ts';
import { queueRules, returnPolicy, withoutDeath } from '../retry-policy.ts';
import { type AmqpConnection, createAmqpConnection } from './connection.ts';
import { type AmqpConsumer, createAmqpConsumer } from './consumer.ts';
import { toDelivery } from './message.ts';
import { createAmqpPublisher, type Publish } from './publisher.ts';
import { declareTopology, type QueueType } from './topology.ts';

export type AmqpBrokerOptions = BrokerOptions & { readonly queueType: QueueType };

const pendingTimeoutMs = 5000;
const returnTimeoutMs = 10_000;

export function createAmqpBroker(url: string, topology: Topology, { log, name, queueType, onConnected }: AmqpBrokerOptions): Broker {
  const state = createConnectionState(onConnected);
  const consumers = new Set<AmqpConsumer>();
  let model: ChannelModel | null = null;

  const declare = (opened: ChannelModel) => declareTopology(opened, topology, queueType);
  const publisher = createAmqpPublisher((reason) => publishing.reconnect(reason));
  const publish: Publish = async (target, message, timeoutMs) => state.refusal ?? publisher.publish(target, message, timeoutMs);

  function disconnected(reason: string): void {
    state.disconnected(reason);
    publisher.dropWaiting(reason);
  }

  const publishing = createAmqpConnection({
    url,
    connectionName: name,
    log,
    async prepare(opened) {
      await declare(opened);
      await publisher.open(opened);
    },
    onConnected(opened) {
      model = opened;
      state.connected();
    },
    onDisconnected(reason) {
      model = null;
      disconnected(reason);
    },
    // Only a connection that publishes is blocked, so never before it is connected.
    onBlocked: (reason) => (reason === null ? state.connected() : disconnected(`blocked by the server: ${reason}`)),
  });

  // On a connection of its own: a memory alarm stops the server from reading a connection that publishes, and with
  // it the acknowledgements that would let the queues, and so the alarm, go down.
  let consuming: AmqpConnection | null = null;
  let consumingModel: ChannelModel | null = null;
  const openConsuming = () =>
    createAmqpConnection({
      url,
      connectionName: `${name} (consumers)`,
      log: log.child({ side: 'consumers' }),
      prepare: declare,
      onConnected(opened) {
        consumingModel = opened;
        for (const consumer of consumers) consumer.attach(opened);
      },
      onDisconnected: () => (consumingModel = null),
    });

  function connected(purpose: string): ChannelModel {
    if (!model) throw new Error(`cannot ${purpose}: not connected`, { cause: state.lastError });
    return model;
  }

  return {
    get isConnected() {
      return state.isConnected;
    },
    get lastError() {
      return state.lastError;
    },
    ready: state.ready,
    publish: (message, timeoutMs) => publish({ exchange: topology.exchange, routingKey: '', attempt: 1 }, message, timeoutMs),
    consume(queue, options, handle) {
      const reconnect = (reason: string) => consuming?.reconnect(reason);
      const consumer = createAmqpConsumer({ queue, options, handle, topology, publish, reconnect, log });
      consumers.add(consumer);
      consuming ??= openConsuming();
      if (consumingModel) consumer.attach(consumingModel);
      return { stop: () => (consumers.delete(consumer), consumer.stop()) };
    },
    async depth(queue) {
      queueRules(topology, queue);
      const channel = await connected(`ask for the depth of "${queue}"`).createChannel();
      channel.on('error', () => undefined);
      const { messageCount } = await channel.checkQueue(queue);
      await channel.close();
      return messageCount;
    },
    listDeadLetters: (selection) => listDeadLetters(connected('list dead letters'), topology, selection),
    async returnDeadLetters(selection) {
      const result = await returnDeadLetters({ model: connected('return dead letters'), publish, topology }, selection);
      log.info({ queue: selection.queue, ...result }, 'dead letters returned to their queues');
      return result;
    },
    async close() {
      await Promise.all([...consumers].map((consumer) => consumer.stop()));
      await consuming?.close();
      state.closed();
      publisher.dropWaiting(closedReason);
      await withTimeout(publisher.idle(), pendingTimeoutMs, () => undefined);
      await publishing.close();
    },
  };
}

async function listDeadLetters(model: ChannelModel, topology: Topology, { queue, limit }: DeadLetterSelection): Promise<DeadLetter[]> {
  const targetOf = returnPolicy(topology, queue);
  const deadQueue = topology.deadLetters.queue;
  const found: DeadLetter[] = [];
  const channel = await model.createChannel();
  channel.on('error', () => undefined); // whatever is asked of the channel rejects with it
  try {
    const { messageCount } = await channel.checkQueue(deadQueue);
    for (let looked = 0; looked < messageCount && found.length < limit; looked += 1) {
      const source = await channel.get(deadQueue);
      if (!source) break;
      const { id, type, headers } = toDelivery(source);
      if (queue === undefined || targetOf({ headers })) found.push({ id, type, headers });
    }
  } finally {
    await channel.close().catch(() => undefined); // puts all of them back in their place
  }
  return found;
}

async function returnDeadLetters(
  { model, publish, topology }: { readonly model: ChannelModel; readonly publish: Publish; readonly topology: Topology },
  { queue, limit }: DeadLetterSelection,
): Promise<DeadLetterReturn> {
  const targetOf = returnPolicy(topology, queue);
  const deadQueue = topology.deadLetters.queue;
  let returned = 0;
  let kept = 0;
  const channel = await model.createChannel();
  channel.on('error', () => undefined); // whatever is asked of the channel rejects with it
  try {
    // What dies again meanwhile joins the end of the queue, and is not looked at twice.
    const { messageCount } = await channel.checkQueue(deadQueue);
    while (returned < limit && returned + kept < messageCount) {
      const source = await channel.get(deadQueue);
      if (!source) break;
      const delivery = toDelivery(source);
      const target = targetOf(delivery);
      const result = target && (await publish({ exchange: '', routingKey: target.name, attempt: 1 }, withoutDeath(delivery), returnTimeoutMs));
      if (result?.outcome === 'confirmed') {
        channel.ack(source);
        returned += 1;
      } else if (result === undefined || result.outcome === 'refused') kept += 1;
      else throw new Error(`cannot send a dead letter back to "${target?.name}" after ${returned} others: ${result.reason}`);
    }
  } finally {
    await channel.close().catch(() => undefined); // puts what is kept back in its place
  }
  return { returned, kept };
}
