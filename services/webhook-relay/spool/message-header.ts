// Everything of a broker message but its body, as JSON: in a spool file's first line and in a failed_payloads row.
import { z } from 'zod';
import type { Message } from '../../platform/broker/broker.ts';

export const MessageHeader = z.object({
  id: z.string().min(1),
  type: z.string(),
  contentType: z.string(),
  contentEncoding: z.literal('gzip').optional(),
  priority: z.number().int().min(0).max(10),
  timestamp: z.iso.datetime(),
  headers: z.record(z.string(), z.string()),
});
export type MessageHeader = z.output<typeof MessageHeader>;

export function headerOf({ body: _, timestamp, ...rest }: Message): MessageHeader {
  return { ...rest, timestamp: timestamp.toISOString() };
}

/** The message as it was: id, priority and times are kept, so that a replay is the same delivery to every consumer. */
export function messageOf({ contentEncoding, timestamp, ...rest }: MessageHeader, body: Buffer): Message {
  return { ...rest, ...(contentEncoding && { contentEncoding }), timestamp: new Date(timestamp), body };
}
