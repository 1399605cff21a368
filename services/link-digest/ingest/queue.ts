// The queue of mails: its topology, and the message of a mail.
import { createHash } from 'node:crypto';
import type { Delivery, Message, Topology } from '../../platform/broker/broker.ts';
import type { RawMail } from '../mails/reader.ts';

export const ingestQueue = 'newsletter.ingest';

const longestWaitMs = 3_600_000;

/** Waits of 1 s, 6 s, 36 s … before each retry. */
export const ingestTopology = (maxRetries: number): Topology => ({
  exchange: 'newsletter-exchange',
  queues: [
    { name: ingestQueue, prioritised: false, retryDelaysMs: Array.from({ length: maxRetries }, (_, index) => Math.min(1000 * 6 ** index, longestWaitMs)) },
  ],
  deadLetters: { exchange: 'newsletter-dead-exchange', queue: 'newsletter.ingest.dlq' },
});

/** ISO 8601 with milliseconds: AMQP's own timestamp has seconds. */
const receivedAtHeader = 'x-received-at';

export const toMail = (raw: Buffer, receivedAt: Date): RawMail => ({ raw, sha256: createHash('sha256').update(raw).digest(), receivedAt });

export const toMessage = ({ sha256, raw, receivedAt }: RawMail): Message => ({
  id: sha256.toString('hex'),
  type: 'newsletter',
  body: raw,
  contentType: 'message/rfc822',
  priority: 0,
  timestamp: receivedAt,
  headers: { [receivedAtHeader]: receivedAt.toISOString() },
});

export function mailOf({ body, timestamp, headers }: Delivery): RawMail {
  const receivedAt = new Date(headers[receivedAtHeader] ?? NaN);
  return toMail(body, Number.isNaN(receivedAt.getTime()) ? timestamp : receivedAt);
}
