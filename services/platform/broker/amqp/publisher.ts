// Publishes with confirms: thousands a second on one channel, one timer for all their deadlines.
import { setTimeout as wait } from 'node:timers/promises';
import type { ChannelModel } from 'amqplib';
import { createLane } from './confirm-channel.ts';
import { toPublishOptions } from './message.ts';
import { type Outgoing, tooLarge } from './outgoing.ts';
import type { Message, PublishResult } from '../broker.ts';

export type Target = {
  readonly exchange: string;
  readonly routingKey: string;
  /** Which try the consumer of it makes. */
  readonly attempt: number;
};

export type AmqpPublisher = {
  /** Opens its channels on a new connection. */
  open(model: ChannelModel): Promise<void>;
  /** Takes messages, or with a reason answers them at once, and with them what has not been written yet. */
  admit(): void;
  refuse(reason: string): void;
  /** The connection is gone. */
  lose(reason: string): void;
  send(target: Target, message: Message, timeoutMs: number): Promise<PublishResult>;
  /** Resolves when nothing is waiting for an answer. */
  settled(): Promise<void>;
};

// A message this large has a channel to itself and goes alone on it, so that a server that refuses it, which
// closes the channel, leaves every other publish unharmed; nor does it hold up the small ones.
const largeBytes = 1024 * 1024;

// Only when closing: a message on its way pays nothing for it.
const lookEveryMs = 10;

export function createAmqpPublisher(restart: (reason: string) => void): AmqpPublisher {
  let model: ChannelModel | null = null;
  let closedReason: string | null = 'not connected yet';
  let maxBytes = Infinity;
  const hooks = { tooLarge: (limit: number) => (maxBytes = limit), broken: startAfresh };
  const swift = createLane(Infinity, hooks);
  const large = createLane(1, hooks);

  let sweepAt = Infinity;
  let timer: NodeJS.Timeout | undefined;

  // Not at once: when the connection is what was lost, amqplib closes its channels first and says so next.
  function startAfresh(reason: string): void {
    const lost = model;
    setImmediate(() => {
      if (lost && lost === model) restart(reason);
    });
  }

  function sweep(): void {
    const now = performance.now();
    sweepAt = Infinity;
    arm(Math.min(swift.expire(now), large.expire(now)));
  }

  function arm(deadline: number): void {
    if (deadline >= sweepAt) return;
    clearTimeout(timer);
    sweepAt = deadline;
    timer = setTimeout(sweep, Math.max(1, deadline - performance.now()));
    timer.unref();
  }

  function refuse(reason: string): void {
    closedReason = reason;
    for (const lane of [swift, large]) lane.dropWaiting(reason);
  }

  return {
    async open(opened) {
      model = opened;
      maxBytes = Infinity;
      await swift.open(opened);
      await large.open(opened);
    },
    refuse,
    lose(reason) {
      model = null;
      refuse(reason);
    },
    admit() {
      closedReason = null;
    },
    send({ exchange, routingKey, attempt }, message, timeoutMs) {
      const { body } = message;
      if (closedReason !== null) return Promise.resolve({ outcome: 'unpublished', reason: closedReason });
      if (body.length > maxBytes) return Promise.resolve(tooLarge(maxBytes));
      return new Promise((resolve) => {
        const deadline = performance.now() + timeoutMs;
        const options = toPublishOptions(message, attempt);
        const outgoing: Outgoing = { exchange, routingKey, body, options, deadline, resolve, settled: false, returned: false };
        (body.length < largeBytes ? swift : large).push(outgoing);
        arm(deadline);
      });
    },
    async settled() {
      while (swift.isBusy() || large.isBusy()) await wait(lookEveryMs);
    },
  };
}
