// One confirm channel: what waits to be written to it, and what was written and is not answered yet.
import type { ChannelModel, ConfirmChannel, Message as AmqpMessage } from 'amqplib';
import { isNack, type Outgoing, resultOf, settle, sizeLimitIn, tooLarge } from './outgoing.ts';
import { describeError } from '../../errors.ts';

export type LaneHooks = {
  /** The server closed the channel over a message larger than this, which it told. */
  tooLarge(maxBytes: number): void;
  /** The channel is gone for another reason: what was declared may be gone too. */
  broken(reason: string): void;
};

export function createLane(mostInFlight: number, hooks: LaneHooks) {
  let channel: ConfirmChannel | null = null;
  /** False while amqplib's buffer is full: writing on would only grow it. */
  let isWritable = false;
  /** What this connection's server has told; another connection's may take more. */
  let maxBytes = Infinity;
  const waiting = new Set<Outgoing>();
  const written = new Set<Outgoing>();

  const isOpen = () => isWritable && written.size < mostInFlight;

  function write(to: ConfirmChannel, outgoing: Outgoing): void {
    const { exchange, routingKey, body, options } = outgoing;
    if (body.length > maxBytes) return settle(outgoing, tooLarge(maxBytes));
    try {
      isWritable = to.publish(exchange, routingKey, body, options, (error: Error | null) => {
        // amqplib tells of a lost channel here first; what waits may fit the next one.
        if (error !== null && !isNack(error)) channel = null;
        written.delete(outgoing);
        settle(outgoing, resultOf(outgoing, error, maxBytes));
        if (waiting.size > 0) flush();
      });
      written.add(outgoing);
    } catch (error) {
      // amqplib encodes before it writes, so nothing has left: a property that AMQP cannot hold.
      settle(outgoing, { outcome: 'refused', reason: describeError(error) });
    }
  }

  function flush(): void {
    for (const outgoing of waiting) {
      if (!channel || !isOpen()) return;
      waiting.delete(outgoing);
      write(channel, outgoing);
    }
  }

  function handedBack({ properties: { messageId } }: AmqpMessage): void {
    const outgoing = [...written].find((one) => one.options.messageId === messageId && !one.returned);
    if (outgoing) outgoing.returned = true;
  }

  async function open(model: ChannelModel): Promise<void> {
    const opened = await model.createConfirmChannel();
    let reason = 'the channel was closed';
    let refusedAbove: number | null = null;
    opened.on('error', (error) => {
      reason = describeError(error);
      refusedAbove = sizeLimitIn(reason);
      maxBytes = refusedAbove ?? maxBytes;
    });
    opened.on('return', handedBack);
    opened.on('drain', () => {
      isWritable = true;
      flush();
    });
    // amqplib has by now answered everything that was written, with an error.
    opened.on('close', () => {
      channel = null;
      if (refusedAbove === null) return hooks.broken(reason);
      hooks.tooLarge(refusedAbove);
      open(model).catch((error: unknown) => hooks.broken(describeError(error)));
    });
    channel = opened;
    isWritable = true;
    flush();
  }

  return {
    /** On a new connection. */
    async open(model: ChannelModel): Promise<void> {
      maxBytes = Infinity;
      await open(model);
    },

    push(outgoing: Outgoing): void {
      if (channel && isOpen() && waiting.size === 0) write(channel, outgoing);
      else waiting.add(outgoing);
    },

    /** Answers what has never been written. */
    dropWaiting(reason: string): void {
      for (const outgoing of waiting) settle(outgoing, { outcome: 'unpublished', reason });
      waiting.clear();
    },

    isBusy: () => waiting.size > 0 || [...written].some((outgoing) => !outgoing.settled),

    /** Answers what has run out of time; gives the earliest deadline left. */
    expire(now: number): number {
      let earliest = Infinity;
      for (const outgoing of waiting) {
        if (outgoing.deadline > now) earliest = Math.min(earliest, outgoing.deadline);
        else if (waiting.delete(outgoing)) settle(outgoing, { outcome: 'unpublished', reason: 'timed out before it could be written' });
      }
      for (const outgoing of written) {
        if (outgoing.settled) continue;
        if (outgoing.deadline > now) earliest = Math.min(earliest, outgoing.deadline);
        else settle(outgoing, { outcome: 'unknown', reason: 'the server did not confirm in time' });
      }
      return earliest;
    },
  };
}
