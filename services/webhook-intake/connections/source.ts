// One broker connection that a queue is consumed from, until that queue is seen to be empty.
import type { BatchHandler, Broker, Consumer } from '../../platform/broker/broker.ts';

export type Source = {
  readonly broker: Broker;
  /** True, and nothing is consumed any more, when the queue is empty and nothing came for `quietMs`; else it goes on. */
  drained(quietMs: number): Promise<boolean>;
  /** Gives back what is not in work. */
  close(): Promise<void>;
};

/**
 * One batch, and as much again at hand: more would blunt the priorities, and half of it costs a tenth of the throughput.
 * Of the largest deliveries 200 would be 5 GB, hence the bound in bytes.
 */
export const consumeOptions = { batchSize: 100, prefetch: 200, maxBytes: 64 * 1024 * 1024 };

export function createSource(broker: Broker, queue: string, handle: BatchHandler): Source {
  let lastBusyMs = Date.now();
  let isWorking = false;
  const consume = (): Consumer =>
    broker.consume(queue, consumeOptions, async (batch) => {
      isWorking = true;
      try {
        return await handle(batch);
      } finally {
        isWorking = false;
        lastBusyMs = Date.now();
      }
    });
  let consumer = consume();

  async function isEmpty(): Promise<boolean> {
    try {
      if ((await broker.depth(queue)) === 0) return true;
    } catch {
      // Not connected: then nobody knows.
    }
    lastBusyMs = Date.now();
    return false;
  }

  return {
    broker,
    async drained(quietMs) {
      // What is in work no depth shows, and stopping would wait for it, however long it takes.
      if (!broker.isConnected || !(await isEmpty()) || isWorking || Date.now() - lastBusyMs < quietMs) return false;
      // What the consumer held without having begun it goes back to the queue, and is seen there.
      await consumer.stop();
      if (await isEmpty()) return true;
      consumer = consume();
      return false;
    },
    close: () => broker.close(),
  };
}
