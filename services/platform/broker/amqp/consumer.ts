// Consumes a queue on every connection that comes, one batch in work at a time, and carries out the outcomes:
// acknowledges, or publishes to a retry queue or the dead letters and then acknowledges.
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { describeError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { handOver } from '../batch.ts';
import type { BatchHandler, ConsumeOptions, Delivery, Message, Outcome, Topology } from '../broker.ts';
import { deadLetter, decide, pauseAfterFailure, queueRules } from '../retry-policy.ts';
import { toDelivery } from './message.ts';
import { createPrefetchWindow } from './prefetch-window.ts';
import type { Publish, Target } from './publisher.ts';
import { retryQueue } from './topology.ts';

const moveTimeoutMs = 10_000;

type AmqpConsumerParts = {
  readonly queue: string;
  readonly options: ConsumeOptions;
  readonly handle: BatchHandler;
  readonly topology: Topology;
  readonly publish: Publish;
  /** Drops the connection, so that a deleted queue is declared again. */
  readonly reconnect: (reason: string) => void;
  readonly log: Log;
};

export type AmqpConsumer = ReturnType<typeof createAmqpConsumer>;

/** A consumer's time on one channel. */
type Attachment = {
  readonly channel: Channel;
  /** Delivered and not yet handed over, in order. */
  readonly held: ConsumeMessage[];
  /** The channel is gone, and every delivery of it void. */
  isLost: boolean;
  /** Ends pauses: when lost, and when the consumer stops. */
  readonly ending: AbortController;
  /** What was held is in memory no more. */
  released(messages: readonly ConsumeMessage[]): void;
};

export function createAmqpConsumer({ queue, options, handle, topology, publish, reconnect, log }: AmqpConsumerParts) {
  const acknowledge = createAcknowledge({ publish, topology, queue, log });
  let current: Attachment | null = null;
  let working: Promise<void> | null = null;
  const stopping = new AbortController();

  // One delivery at a time comes from amqplib; those of one read from the socket belong to one batch.
  function wake(): void {
    working ??= new Promise((resolve) => setImmediate(resolve))
      .then(work)
      .catch((error: unknown) => {
        log.error({ error, queue }, 'consumer failed, attaching again');
        return current?.channel.close().catch(() => undefined);
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
      const deliveries = batch.map(({ delivery }) => delivery);
      const outcomes = await handOver(deliveries, handle, { queue, signal: attachment.ending.signal, stopping: stopping.signal, log });
      if (outcomes) await acknowledge(attachment, batch, outcomes);
      attachment.released(batch.map(({ source }) => source));
    }
  }

  async function open(model: ChannelModel): Promise<string> {
    const channel = await model.createChannel();
    const window = createPrefetchWindow({
      channel,
      queue,
      options,
      take(message) {
        attachment.held.push(message);
        wake();
      },
      ended: () => reconnect(`queue "${queue}" was deleted`),
    });
    const attachment: Attachment = { channel, held: [], isLost: false, ending: new AbortController(), released: window.released };
    const ended = new Promise<string>((resolve) => {
      let reason = 'its channel was closed';
      channel.on('error', (error) => (reason = describeError(error)));
      channel.on('close', () => {
        attachment.isLost = true;
        attachment.held.length = 0;
        attachment.ending.abort();
        resolve(reason);
      });
    });
    current = attachment;
    await window.open();
    if (stopping.signal.aborted) await channel.close();
    return ended;
  }

  // A channel can be lost alone, as when a batch took longer than the server waits for it (consumer_timeout).
  async function keepOpen(model: ChannelModel, connectionLost: AbortSignal): Promise<void> {
    const over = AbortSignal.any([connectionLost, stopping.signal]);
    for (let failures = 1; !over.aborted; failures += 1) {
      const reason = await open(model).catch(describeError);
      if (over.aborted || !(await pauseAfterFailure(failures, over))) return;
      log.warn({ queue, reason }, 'consumer lost its channel, attaching again');
    }
  }

  return {
    attach(model: ChannelModel): void {
      const connectionLost = new AbortController();
      const lose = () => connectionLost.abort();
      model.once('close', lose);
      void keepOpen(model, connectionLost.signal).finally(() => model.off('close', lose));
    },
    async stop(): Promise<void> {
      stopping.abort();
      current?.ending.abort();
      await working;
      // Closing the channel gives back what is unacknowledged.
      if (current && !current.isLost) await current.channel.close().catch(() => undefined);
    },
  };
}

type Item = { readonly source: ConsumeMessage; readonly delivery: Delivery };
type Move = { readonly item: Item; readonly to: Target; readonly message: Message };

function createAcknowledge({ publish, topology, queue, log }: Pick<AmqpConsumerParts, 'publish' | 'topology' | 'queue' | 'log'>) {
  const rules = queueRules(topology, queue);

  /** Null for what only needs its acknowledgement. */
  function moveOf(item: Item, outcome: Outcome): Move | null {
    if (outcome === 'ack') return null;
    const { delivery } = item;
    const { id, type, attempt } = delivery;
    const decision = decide(outcome, attempt, rules);
    if (decision.kind === 'ack') return null;
    if (decision.kind === 'retry') return { item, to: { exchange: '', routingKey: retryQueue(queue, decision.step), attempt: attempt + 1 }, message: delivery };
    log.error({ queue, id, type, attempt, reason: decision.reason }, 'dead-lettered');
    return { item, to: { exchange: topology.deadLetters.exchange, routingKey: '', attempt: 1 }, message: deadLetter(delivery, decision.reason, rules) };
  }

  // Until the copy is confirmed the original stays unacknowledged: a message may come twice, but never be lost.
  async function move(attachment: Attachment, { item, to, message }: Move): Promise<void> {
    let failures = 0;
    do {
      const result = await publish(to, message, moveTimeoutMs);
      if (attachment.isLost) return;
      if (result.outcome === 'confirmed') return attachment.channel.ack(item.source);
      // The server itself can still dead-letter what it takes from nobody, though without our headers.
      if (result.outcome === 'refused' && !rules.isDeadLetterQueue) return attachment.channel.nack(item.source, false, false);
      log.warn({ id: message.id, to: to.routingKey || to.exchange, reason: result.reason }, 'moving a message failed, retrying');
      failures += 1;
    } while (await pauseAfterFailure(failures, attachment.ending.signal));
  }

  return async (attachment: Attachment, batch: readonly Item[], outcomes: readonly Outcome[]): Promise<void> => {
    const last = batch.at(-1);
    if (attachment.isLost || !last) return;
    const moves = batch.map((item, index) => moveOf(item, outcomes[index] ?? { retry: 'no outcome' }));
    // All before this batch is acknowledged, so one frame acknowledges the whole of it.
    if (moves.every((one) => one === null)) return attachment.channel.ack(last.source, true);

    for (const [index, item] of batch.entries()) if (moves[index] === null) attachment.channel.ack(item.source);
    await Promise.all(moves.flatMap((one) => (one ? [move(attachment, one)] : [])));
  };
}
