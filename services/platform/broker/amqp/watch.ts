// Looks whether the queues are still there: a fanout exchange confirms a message also when one of its queues was deleted
// under it, and that queue's copy is lost without anyone being told.
import type { ChannelModel } from 'amqplib';
import type { Log } from '../../log.ts';
import type { Topology } from '../broker.ts';
import { describeError } from '../../errors.ts';

const lookEveryMs = 2000;
const notFound = 404;

export type QueueWatchParts = {
  readonly topology: Topology;
  /** The connection to look through; null while there is none. */
  readonly model: () => ChannelModel | null;
  declare(model: ChannelModel): Promise<void>;
  /** The server does not let it be declared again. */
  failed(reason: string): void;
  readonly log: Log;
};

export type QueueWatch = { stop(): void };

export function watchQueues({ topology, model, declare, failed, log }: QueueWatchParts): QueueWatch {
  let isLooking = false;

  async function look(through: ChannelModel): Promise<void> {
    const missing = await firstMissing(through, topology);
    if (missing === undefined || through !== model()) return;
    log.error({ queue: missing }, 'the queue is gone from the server; it is declared again, what was published meanwhile is not in it');
    await declare(through).catch((error: unknown) => {
      if (through === model()) failed(describeError(error));
    });
  }

  const timer = setInterval(() => {
    const through = model();
    if (isLooking || !through) return;
    isLooking = true;
    look(through)
      // The connection was lost meanwhile, which says so itself; a new one declares everything.
      .catch(() => undefined)
      .finally(() => (isLooking = false));
  }, lookEveryMs);
  timer.unref();

  return { stop: () => clearInterval(timer) };
}

async function firstMissing(model: ChannelModel, { queues }: Topology): Promise<string | undefined> {
  const channel = await model.createChannel();
  // The server closes the channel over a missing queue, with an error event and a rejection of the check.
  channel.on('error', () => undefined);
  for (const { name } of queues) {
    try {
      await channel.checkQueue(name);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === notFound) return name;
      throw error;
    }
  }
  await channel.close();
  return undefined;
}
