// Sends dead letters on RabbitMQ back to the queues that they came from.
import type { ChannelModel } from 'amqplib';
import type { DeadLetterReturn, Topology } from '../broker.ts';
import { returnPolicy, withoutDeath } from '../retry-policy.ts';
import { toDelivery } from './message.ts';
import type { AmqpPublisher } from './publisher.ts';

const publishTimeoutMs = 10_000;

export type ReturnParts = {
  readonly model: ChannelModel;
  readonly publisher: AmqpPublisher;
  readonly topology: Topology;
  readonly queue: string | undefined;
  readonly limit: number;
};

export async function returnDeadLetters({ model, publisher, topology, queue, limit }: ReturnParts): Promise<DeadLetterReturn> {
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
      const result = target && (await publisher.publish({ exchange: '', routingKey: target.name, attempt: 1 }, withoutDeath(delivery), publishTimeoutMs));
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
