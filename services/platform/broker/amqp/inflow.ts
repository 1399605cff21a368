// What a consumer lets the server deliver: so many messages, and so many bytes, which only their arrival tells.
import { randomUUID } from 'node:crypto';
import type { Channel, ConsumeMessage } from 'amqplib';

export type InflowParts = {
  readonly channel: Channel;
  readonly queue: string;
  readonly prefetch: number;
  readonly maxBytes: number;
  readonly take: (message: ConsumeMessage) => void;
  /** The server ended the consumer: its queue was deleted. */
  readonly ended: () => void;
};

export type Inflow = {
  open(): Promise<void>;
  /** What was taken is in memory no more. */
  settled(messages: readonly ConsumeMessage[]): void;
};

/** Properties and headers, generously. */
const overheadBytes = 2048;
const weightOf = ({ content }: ConsumeMessage) => content.length + overheadBytes;

/** This many windows without a message too many, and the next is twice as wide. */
const calmWindows = 8;

/**
 * RabbitMQ counts messages, not bytes. When those that it was allowed to send turn out to be too large together, the rest
 * goes back to the queue, and the next window is as wide as what did fit.
 */
export function createInflow({ channel, queue, prefetch, maxBytes, take, ended }: InflowParts): Inflow {
  let window = prefetch;
  let tag = '';
  let arrivals = 0;
  const held = { count: 0, bytes: 0 };
  let isFull = false;
  let state: 'flowing' | 'closing' | 'closed' = 'flowing';

  async function open(): Promise<void> {
    tag = randomUUID();
    arrivals = 0;
    state = 'flowing';
    isFull = false;
    await channel.prefetch(window);
    await channel.consume(queue, arrived, { consumerTag: tag });
  }

  function arrived(message: ConsumeMessage | null): void {
    if (!message) return ended();
    // One is always taken, whatever its size.
    isFull ||= held.count > 0 && held.bytes + weightOf(message) > maxBytes;
    if (isFull) return giveBack(message);
    held.count += 1;
    held.bytes += weightOf(message);
    arrivals += 1;
    take(message);
    if (window < prefetch && arrivals >= window * calmWindows) void reopen(Math.min(window * 2, prefetch));
  }

  function giveBack(message: ConsumeMessage): void {
    void reopen(Math.max(1, Math.min(held.count, window)));
    channel.nack(message, false, true);
  }

  async function reopen(nextWindow: number): Promise<void> {
    if (isFull) window = Math.min(window, nextWindow);
    else window = nextWindow;
    if (state !== 'flowing') return;
    state = 'closing';
    // What was on its way has arrived when the server says that it has cancelled. A channel that is lost meanwhile tells so itself.
    await channel.cancel(tag).then(
      () => (state = 'closed'),
      () => undefined,
    );
    goOn();
  }

  function goOn(): void {
    if (state === 'closed' && !(isFull && held.count > 0)) open().catch(() => undefined); // as above
  }

  return {
    open,
    settled(messages) {
      held.count -= messages.length;
      held.bytes -= messages.reduce((sum, message) => sum + weightOf(message), 0);
      goOn();
    },
  };
}
