// One message on its way to the server, and what the server's answer, or the lack of one, means.
import type { Options } from 'amqplib';
import type { PublishResult } from '../broker.ts';

export type Outgoing = {
  readonly exchange: string;
  readonly routingKey: string;
  readonly body: Buffer;
  readonly options: Options.Publish;
  /** By the clock of `performance.now()`. */
  readonly deadline: number;
  readonly resolve: (result: PublishResult) => void;
  /** Its publisher has its answer, perhaps because time ran out; what the server says later changes nothing. */
  settled: boolean;
  /** The server handed it back: no queue takes it. Its confirm still follows. */
  returned: boolean;
};

export function settle(outgoing: Outgoing, result: PublishResult): void {
  if (outgoing.settled) return;
  outgoing.settled = true;
  outgoing.resolve(result);
}

const confirmed: PublishResult = { outcome: 'confirmed' };
/** The only error that amqplib gives a confirm callback while the channel lives. */
export const isNack = (failure: Error) => failure.message === 'message nacked';

/** Of what was written: `failure` is what amqplib's confirm callback was given, `maxBytes` what the server is known to take. */
export function resultOf(outgoing: Outgoing, failure: Error | null, maxBytes: number): PublishResult {
  if (failure === null && !outgoing.returned) return confirmed;
  if (failure === null) return { outcome: 'unpublished', reason: 'returned: no queue is bound to take it' };
  if (isNack(failure)) return { outcome: 'unpublished', reason: 'the server would not take it (nack)' };
  if (outgoing.body.length > maxBytes) return tooLarge(maxBytes);
  return { outcome: 'unknown', reason: 'the channel was lost before the server answered' };
}

export const tooLarge = (maxBytes: number): PublishResult => ({
  outcome: 'refused',
  reason: `larger than the ${maxBytes} bytes that the server takes`,
});

/** The limit that the server tells when it closes a channel over a message's size: it has no error code of its own for that. */
export function sizeLimitIn(reason: string): number | null {
  const limit = /message size \d+ is larger than configured max size (\d+)/.exec(reason)?.[1];
  return limit === undefined ? null : Number(limit);
}
