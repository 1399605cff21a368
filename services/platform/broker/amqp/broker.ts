// The broker on RabbitMQ (3.10 and newer): publishing and consuming on connections of their own.
import type { ChannelModel } from 'amqplib';
import type { Log } from '../../log.ts';
import { type AmqpConsumer, createAmqpConsumer } from './consumer.ts';
import { type AmqpLink, createAmqpLink } from './connection.ts';
import { returnDeadLetters } from './dead-letters.ts';
import { createAmqpPublisher } from './publisher.ts';
import { createSettlement } from './settlement.ts';
import { declareTopology, type QueueType } from './topology.ts';
import { watchQueues } from './watch.ts';
import type { Broker, Topology } from '../broker.ts';
import { createConnectionState } from '../connection-state.ts';
import { queueRules } from '../retry-policy.ts';

export type AmqpBrokerOptions = { readonly log: Log; readonly name: string; readonly queueType: QueueType; readonly up?: (() => void) | undefined };

const closingReason = 'the broker connection is closing';
const settleTimeoutMs = 5000;

export function createAmqpBroker(url: string, topology: Topology, { log, name, queueType, up }: AmqpBrokerOptions): Broker {
  const state = createConnectionState(up);
  const consumers = new Set<AmqpConsumer>();
  let model: ChannelModel | null = null;
  let blockedReason: string | null = null;

  const publisher = createAmqpPublisher((reason) => publishing.restart(reason));

  function showPublishing(): void {
    if (blockedReason === null && model) {
      state.up();
      publisher.admit();
    } else if (blockedReason !== null) {
      state.down(blockedReason);
      publisher.refuse(blockedReason);
    }
  }

  const publishing = createAmqpLink({
    url,
    connectionName: name,
    log,
    async prepare(opened) {
      blockedReason = null;
      await declareTopology(opened, topology, queueType);
      await publisher.open(opened);
    },
    up(opened) {
      model = opened;
      showPublishing();
    },
    down(reason) {
      model = null;
      state.down(reason);
      publisher.lose(reason);
    },
    blocked(reason) {
      blockedReason = reason === null ? null : `blocked by the server: ${reason}`;
      showPublishing();
    },
  });

  const declare = (opened: ChannelModel) => declareTopology(opened, topology, queueType);
  const watch = watchQueues({ topology, model: () => model, declare, failed: (reason) => publishing.restart(reason), log });

  // On a connection of its own: a memory alarm stops the server from reading a connection that publishes, and with
  // it the acknowledgements that would let the queues, and so the alarm, go down.
  let consuming: AmqpLink | null = null;
  let consumingModel: ChannelModel | null = null;
  const openConsuming = () =>
    createAmqpLink({
      url,
      connectionName: `${name} (consumers)`,
      log: log.child({ side: 'consumers' }),
      prepare: declare,
      up(opened) {
        consumingModel = opened;
        for (const consumer of consumers) consumer.attach(opened);
      },
      down: () => (consumingModel = null),
      blocked: () => undefined,
    });

  return {
    get isConnected() {
      return state.isConnected;
    },
    get lastError() {
      return state.lastError;
    },
    ready: (timeoutMs) => state.ready(timeoutMs),
    publish: (message, timeoutMs) => publisher.send({ exchange: topology.exchange, routingKey: '', attempt: 1 }, message, timeoutMs),
    consume(queue, options, handle) {
      const settle = createSettlement({ publisher, topology, queue, log });
      const restart = (reason: string) => consuming?.restart(reason);
      const consumer = createAmqpConsumer({ queue, options, handle, settle, restart, log });
      consumers.add(consumer);
      consuming ??= openConsuming();
      if (consumingModel) consumer.attach(consumingModel);
      return { stop: () => (consumers.delete(consumer), consumer.stop()) };
    },
    async depth(queue) {
      queueRules(topology, queue);
      if (!model) throw new Error(`cannot ask for the depth of "${queue}": not connected`, { cause: state.lastError });
      const channel = await model.createChannel();
      channel.on('error', () => undefined);
      const { messageCount } = await channel.checkQueue(queue);
      await channel.close();
      return messageCount;
    },
    async returnDeadLetters({ queue, limit }) {
      if (!model) throw new Error('cannot return dead letters: not connected', { cause: state.lastError });
      const result = await returnDeadLetters({ model, publisher, topology, queue, limit });
      log.info({ queue, ...result }, 'dead letters returned to their queues');
      return result;
    },
    async close() {
      watch.stop();
      await Promise.all([...consumers].map((consumer) => consumer.stop()));
      await consuming?.close();
      publisher.refuse(closingReason);
      await Promise.race([publisher.settled(), new Promise((resolve) => setTimeout(resolve, settleTimeoutMs).unref())]);
      await publishing.close();
      publisher.lose(closingReason);
      state.down();
    },
  };
}
