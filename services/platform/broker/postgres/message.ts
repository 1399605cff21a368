// Messages as pg-boss keeps them: JSON, the body in base64 so that every byte survives.
import type { JobInsert, JobWithMetadata } from 'pg-boss';
import { z } from 'zod';
import type { Delivery, Message, QueueTopology } from '../broker.ts';

const Headers = z.record(z.string(), z.string());

export type StoredMessage = Omit<Message, 'body' | 'timestamp' | 'headers'> & {
  readonly body: string;
  readonly timestamp: string;
  /** JSON in base64: a header may hold what jsonb refuses, a NUL or half a surrogate pair. */
  readonly headers: string;
  readonly attempt: number;
};

export function toStored(message: Message, attempt: number): StoredMessage {
  return {
    id: message.id,
    type: message.type,
    body: message.body.toString('base64'),
    contentType: message.contentType,
    ...(message.contentEncoding ? { contentEncoding: message.contentEncoding } : {}),
    priority: message.priority,
    timestamp: message.timestamp.toISOString(),
    headers: Buffer.from(JSON.stringify(message.headers)).toString('base64'),
    attempt,
  };
}

/** The job has an id of its own: a message that is published twice is two messages, as on any broker. */
export function toJob(data: StoredMessage, queue: Pick<QueueTopology, 'prioritised'>, delayMs = 0): JobInsert<StoredMessage> {
  // A number is seconds from the server's now, so that the clocks need not agree.
  const startAfter = delayMs > 0 ? { startAfter: delayMs / 1000 } : {};
  return { data, priority: queue.prioritised ? data.priority : 0, ...startAfter };
}

export function toDelivery({ data, retryCount }: Pick<JobWithMetadata<StoredMessage>, 'data' | 'retryCount'>): Delivery {
  return {
    ...data,
    body: Buffer.from(data.body, 'base64'),
    timestamp: new Date(data.timestamp),
    headers: Headers.parse(JSON.parse(Buffer.from(data.headers, 'base64').toString())),
    // pg-boss counts claims, and only a claim that was not settled is followed by another: a retry is a new job.
    redelivered: retryCount > 0,
  };
}
