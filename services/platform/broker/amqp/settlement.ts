// Carries out outcomes on RabbitMQ: acknowledges, or moves to a retry or dead-letter queue and then acknowledges.
import type { Channel, ConsumeMessage } from 'amqplib';
import type { Log } from '../../log.ts';
import type { AmqpPublisher, Target } from './publisher.ts';
import { retryQueue } from './topology.ts';
import { createBackOff } from '../back-off.ts';
import type { Delivery, Message, Topology, Outcome } from '../broker.ts';
import { deadLetter, decide, queueRules } from '../retry-policy.ts';

/** A consumer's time on one channel. */
export type Attachment = {
  readonly channel: Channel;
  /** Delivered and not yet handed over, in order. */
  readonly held: ConsumeMessage[];
  /** The channel is gone, and every delivery of it void. */
  lost: boolean;
  /** Ends pauses: when lost, and when the consumer stops. */
  readonly ending: AbortController;
};

export type Item = { readonly source: ConsumeMessage; readonly delivery: Delivery };

type Move = { readonly item: Item; readonly to: Target; readonly message: Message };

const moveTimeoutMs = 10_000;

export function createSettlement(parts: { readonly publisher: AmqpPublisher; readonly topology: Topology; readonly queue: string; readonly log: Log }) {
  const { publisher, topology, log } = parts;
  const rules = queueRules(topology, parts.queue);

  /** Null for what is done and only needs its acknowledgement. */
  function moveOf(item: Item, outcome: Outcome): Move | null {
    const { delivery } = item;
    const decision = decide(outcome, delivery.attempt, rules);
    if (decision.kind === 'ack') return null;
    if (decision.kind === 'retry') {
      return { item, to: { exchange: '', routingKey: retryQueue(rules.name, decision.step), attempt: delivery.attempt + 1 }, message: delivery };
    }
    log.error({ queue: rules.name, id: delivery.id, type: delivery.type, attempt: delivery.attempt, reason: decision.reason }, 'dead-lettered');
    const message = deadLetter(delivery, decision.reason, rules);
    return { item, to: { exchange: topology.deadLetters.exchange, routingKey: '', attempt: 1 }, message };
  }

  // Until the copy is confirmed the original stays unacknowledged: a message may come twice, but never be lost.
  async function move(attachment: Attachment, { item, to, message }: Move): Promise<void> {
    const backOff = createBackOff();
    do {
      const result = await publisher.send(to, message, moveTimeoutMs);
      if (attachment.lost) return;
      if (result.outcome === 'confirmed') return attachment.channel.ack(item.source);
      // The server itself can still dead-letter what it takes from nobody, though without our headers.
      if (result.outcome === 'refused' && !rules.isDeadLetterQueue) return attachment.channel.nack(item.source, false, false);
      log.warn({ id: message.id, to: to.routingKey || to.exchange, reason: result.reason }, 'cannot move a message; trying on');
    } while (await backOff.pause(attachment.ending.signal));
  }

  return async (attachment: Attachment, batch: readonly Item[], outcomes: readonly Outcome[]): Promise<void> => {
    const last = batch.at(-1);
    if (attachment.lost || !last) return;
    const moves = batch.map((item, index) => moveOf(item, outcomes[index] ?? { retry: 'no outcome' }));
    // All before this batch is settled, so one frame acknowledges the whole of it.
    if (moves.every((one) => one === null)) return attachment.channel.ack(last.source, true);

    for (const [index, item] of batch.entries()) if (moves[index] === null) attachment.channel.ack(item.source);
    await Promise.all(moves.flatMap((one) => (one ? [move(attachment, one)] : [])));
  };
}
