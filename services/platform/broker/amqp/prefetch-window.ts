// How many deliveries a consumer lets the server send: so many messages, and so many bytes, which only their arrival tells.
import type { Channel, ConsumeMessage } from 'amqplib';
import type { ConsumeOptions } from '../broker.ts';

type PrefetchWindowParts = {
  readonly channel: Channel;
  readonly queue: string;
  readonly options: ConsumeOptions;
  readonly take: (message: ConsumeMessage) => void;
  /** The server ended the consumer: its queue was deleted. */
  readonly ended: () => void;
};

/** Properties and headers, generously. */
const overheadBytes = 2048;
const weightOf = ({ content }: ConsumeMessage) => content.length + overheadBytes;

/** After this many times its messages without overflow a window becomes twice as wide. */
const calmWindows = 8;

/**
 * RabbitMQ counts messages, not bytes. When those that it was allowed to send turn out to be too large together, the rest
 * goes back to the queue, the consumer is cancelled, and it consumes again with a window of as many as did fit.
 */
export function createPrefetchWindow({ channel, queue, options, take, ended }: PrefetchWindowParts) {
  const { prefetch, maxBytes = Infinity } = options;
  let width = prefetch;
  const held = { count: 0, bytes: 0 };
  let onEmpty: (() => void) | undefined;
  let tag = '';

  async function open(): Promise<void> {
    let arrivals = 0;
    let isFull = false;
    const over = Promise.withResolvers<void>();
    await channel.prefetch(width);
    const consuming = await channel.consume(queue, (message) => {
      if (!message) return ended();
      // One is always taken, whatever its size.
      isFull ||= held.count > 0 && held.bytes + weightOf(message) > maxBytes;
      if (isFull) {
        width = Math.max(1, Math.min(held.count, width));
        channel.nack(message, false, true);
      } else {
        held.count += 1;
        held.bytes += weightOf(message);
        arrivals += 1;
        take(message);
      }
      if (isFull || (width < prefetch && arrivals >= width * calmWindows)) over.resolve();
    });
    tag = consuming.consumerTag;

    const replace = async () => {
      await over.promise;
      // Deliveries in transit have arrived when the server confirms the cancellation.
      await channel.cancel(tag);
      if (!isFull) width = Math.min(width * 2, prefetch);
      else if (held.count > 0) await new Promise<void>((resolve) => (onEmpty = resolve));
      await open();
    };
    replace().catch(() => undefined); // the channel is lost, which is its owner's matter
  }

  return {
    /** Consumes from now on, with another window whenever it has to be. */
    open,
    /** Nothing comes after what is acknowledged from now on. */
    cancel: async () => channel.cancel(tag),
    /** Call when the deliveries taken are no longer in memory. */
    released(messages: readonly ConsumeMessage[]): void {
      held.count -= messages.length;
      held.bytes -= messages.reduce((sum, message) => sum + weightOf(message), 0);
      if (held.count === 0) onEmpty?.();
    },
  };
}
