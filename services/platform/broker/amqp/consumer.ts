// Consumes a queue on every connection that comes, one batch in work at a time.
import type { ChannelModel, ConsumeMessage } from 'amqplib';
import type { Log } from '../../log.ts';
import { toDelivery } from './message.ts';
import type { Attachment, createSettlement } from './settlement.ts';
import { createInflow, type Inflow } from './inflow.ts';
import { createBackOff } from '../back-off.ts';
import { workThrough } from '../batch.ts';
import type { BatchHandler, ConsumeOptions, Consumer } from '../broker.ts';
import { describeError } from '../../errors.ts';

export type AmqpConsumerParts = {
  readonly queue: string;
  readonly options: ConsumeOptions;
  readonly handle: BatchHandler;
  readonly settle: ReturnType<typeof createSettlement>;
  /** Starts the connection afresh, so that a deleted queue is declared again. */
  readonly restart: (reason: string) => void;
  readonly log: Log;
};

export type AmqpConsumer = Consumer & {
  attach(model: ChannelModel): void;
};

export function createAmqpConsumer({ queue, options, handle, settle, restart, log }: AmqpConsumerParts): AmqpConsumer {
  let current: (Attachment & Pick<Inflow, 'settled'>) | null = null;
  let working: Promise<void> | null = null;
  const stopping = new AbortController();

  // One delivery at a time comes from amqplib; those of one read from the socket belong to one batch.
  function wake(): void {
    working ??= new Promise((resolve) => setImmediate(resolve))
      .then(work)
      .catch((error: unknown) => {
        log.error({ error, queue }, 'a consumer failed and attaches again');
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
      const { signal } = attachment.ending;
      const outcomes = await workThrough(
        batch.map((item) => item.delivery),
        handle,
        { queue, signal, stopping: stopping.signal, log },
      );
      if (outcomes) await settle(attachment, batch, outcomes);
      attachment.settled(batch.map((item) => item.source));
    }
  }

  async function open(model: ChannelModel): Promise<string> {
    const channel = await model.createChannel();
    const inflow = createInflow({
      channel,
      queue,
      prefetch: options.prefetch,
      maxBytes: options.maxBytes ?? Infinity,
      take(message) {
        attachment.held.push(message);
        wake();
      },
      ended: () => restart(`queue "${queue}" was deleted`),
    });
    const attachment = { channel, held: [] as ConsumeMessage[], lost: false, ending: new AbortController(), settled: inflow.settled };
    const ended = new Promise<string>((resolve) => {
      let reason = 'its channel was closed';
      channel.on('error', (error) => (reason = describeError(error)));
      channel.on('close', () => {
        attachment.lost = true;
        attachment.held.length = 0;
        attachment.ending.abort();
        resolve(reason);
      });
    });
    current = attachment;
    await inflow.open();
    if (stopping.signal.aborted) await channel.close();
    return ended;
  }

  // A channel can be lost alone, as when a batch took longer than the server's patience (consumer_timeout).
  async function keepOpen(model: ChannelModel, connectionLost: AbortSignal): Promise<void> {
    const backOff = createBackOff();
    const over = AbortSignal.any([connectionLost, stopping.signal]);
    while (!over.aborted) {
      const reason = await open(model).catch(describeError);
      if (over.aborted || !(await backOff.pause(over))) return;
      log.warn({ queue, reason }, 'a consumer lost its channel and attaches again');
    }
  }

  return {
    attach(model) {
      const connectionLost = new AbortController();
      const lose = () => connectionLost.abort();
      model.once('close', lose);
      void keepOpen(model, connectionLost.signal).finally(() => model.off('close', lose));
    },
    async stop() {
      stopping.abort();
      current?.ending.abort();
      await working;
      // Closing the channel gives back what is unacknowledged.
      if (current && !current.lost) await current.channel.close().catch(() => undefined);
    },
  };
}
