// The broker on RabbitMQ (3.10 and newer): publishing, and each consumer, on a connection of its own.
import type { Channel, ChannelModel } from 'amqplib';
import type { Adapter, AdapterParts, WaitingDeadLetter } from '../adapter.ts';
import { withoutDeath } from '../outcomes.ts';
import { closeChannel } from './closing.ts';
import { createAmqpConnection } from './connection.ts';
import { createAmqpConsumer, toDelivery } from './consumer.ts';
import { createAmqpPublisher, type Publish } from './publisher.ts';
import { declareTopology, type QueueType } from './topology.ts';

const returnTimeoutMs = 10_000;

type AmqpParts = AdapterParts & { readonly queueType?: QueueType };

export function createAmqpAdapter(url: string, { topology, log, name, state, queueType = 'classic' }: AmqpParts): Adapter {
  const declare = (model: ChannelModel) => declareTopology(model, topology, queueType);
  const publisher = createAmqpPublisher({ exchange: topology.exchange, state, reconnect: (reason) => connection.reconnect(reason) });
  const { publish } = publisher;

  const connection = createAmqpConnection({
    url,
    connectionName: name,
    log,
    async prepare(model) {
      await declare(model);
      await publisher.open(model);
    },
    onConnected: state.connected,
    onDisconnected(reason) {
      state.disconnected(reason);
      publisher.dropWaiting(reason);
    },
  });

  async function openChannel() {
    if (!connection.model) throw new Error('not connected', { cause: state.lastError });
    const channel = await connection.model.createChannel();
    channel.on('error', () => undefined); // whatever is asked of the channel rejects with it
    // Closing puts what is not acknowledged back in its place.
    return Object.assign(channel, { [Symbol.asyncDispose]: async () => void (await closeChannel(channel)) });
  }

  return {
    publish,
    consume(source, options, handling) {
      // On a connection of its own: a memory alarm stops the server from reading a connection that publishes, and with
      // it the acknowledgements that would let the queues, and so the alarm, go down.
      const connect = (attach: (model: ChannelModel) => Promise<void>) =>
        createAmqpConnection({
          url,
          connectionName: `${name} (consumer of ${source.from})`,
          log: log.child({ side: 'consumers' }),
          async prepare(model) {
            await declare(model);
            await attach(model);
          },
        });
      return createAmqpConsumer({ ...handling, source, options, topology, publish, connect, log });
    },
    async depth(queue) {
      await using channel = await openChannel();
      return (await channel.checkQueue(queue)).messageCount;
    },
    // AMQP tells these two numbers and no more; to take the first message and give it back would mark it as redelivered.
    async stateOf(queue) {
      await using channel = await openChannel();
      const { messageCount, consumerCount } = await channel.checkQueue(queue);
      return { waiting: messageCount, inWork: null, consumers: consumerCount, oldestAt: null };
    },
    async *deadLetters() {
      await using channel = await openChannel();
      yield* deadLettersOn(channel, topology.deadLetters.queue, publish);
    },
    close: connection.close,
  };
}

async function* deadLettersOn(channel: Channel, queue: string, publish: Publish): AsyncGenerator<WaitingDeadLetter> {
  const { messageCount } = await channel.checkQueue(queue);
  for (let looked = 0; looked < messageCount; looked += 1) {
    const source = await channel.get(queue);
    if (!source) return;
    const delivery = toDelivery(source);
    yield {
      ...delivery,
      read: () => Promise.resolve(delivery),
      async drop() {
        channel.ack(source);
        await channel.checkQueue(queue); // answered after the acknowledgement, which has no answer of its own
        return true;
      },
      async returnTo({ name }) {
        const result = await publish(withoutDeath(delivery), returnTimeoutMs, { exchange: '', routingKey: name, attempt: 1 });
        if (result.outcome === 'refused') return 'kept';
        if (result.outcome !== 'confirmed') throw new Error(`cannot send a dead letter back to "${name}": ${result.reason}`);
        channel.ack(source);
        return 'returned';
      },
    };
  }
}
