// How many deliveries a consumer lets the server send: so many messages, and so many bytes, which only their arrival tells.
import { randomUUID } from 'node:crypto';
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
  let tag = '';
  let arrivals = 0;
  const held = { count: 0, bytes: 0 };
  let isFull = false;
  let state: 'open' | 'closing' | 'closed' = 'open';

  async function open(): Promise<void> {
    tag = randomUUID();
    arrivals = 0;
    state = 'open';
    isFull = false;
    await channel.prefetch(width);
    await channel.consume(queue, arrived, { consumerTag: tag });
  }

  function arrived(message: ConsumeMessage | null): void {
    if (!message) return ended();
    // One is always taken, whatever its size.
    isFull ||= held.count > 0 && held.bytes + weightOf(message) > maxBytes;
    if (isFull) {
      width = Math.max(1, Math.min(held.count, width));
      channel.nack(message, false, true);
      return void reopen();
    }
    held.count += 1;
    held.bytes += weightOf(message);
    arrivals += 1;
    take(message);
    if (width === prefetch || arrivals < width * calmWindows) return;
    width = Math.min(width * 2, prefetch);
    void reopen();
  }

  async function reopen(): Promise<void> {
    if (state !== 'open') return;
    state = 'closing';
    // What was on its way has arrived when the server confirms the cancellation. The loss of a channel is its owner's matter.
    await channel.cancel(tag).then(
      () => (state = 'closed'),
      () => undefined,
    );
    openAgain();
  }

  function openAgain(): void {
    if (state === 'closed' && !(isFull && held.count > 0)) open().catch(() => undefined); // as above
  }

  return {
    open,
    /** What was taken is in memory no more. */
    released(messages: readonly ConsumeMessage[]): void {
      held.count -= messages.length;
      held.bytes -= messages.reduce((sum, message) => sum + weightOf(message), 0);
      openAgain();
    },
  };
}
