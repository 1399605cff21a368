// The format of a spool file: one line of JSON, then the payload's raw bytes; length and digest show a file cut short.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Message } from '../../platform/broker/broker.ts';
import { headerOf, MessageHeader, messageOf } from './message-header.ts';

/** A delivery that could not be published when it came. */
export type FailedDelivery = {
  readonly message: Message;
  /** Why it was not published. */
  readonly reason: string;
};

export type SpooledDelivery = FailedDelivery & { readonly spooledAt: Date };

const version = 1;

const FirstLine = z.object({
  version: z.literal(version),
  message: MessageHeader,
  reason: z.string(),
  spooledAt: z.iso.datetime(),
  payload: z.object({ length: z.number().int().nonnegative(), sha256: z.string() }),
});

/** Of a file of any version. */
const Versioned = z.object({ version: z.number() });

const digest = (payload: Buffer): string => createHash('sha256').update(payload).digest('hex');

/** What to write, in order; the payload is not copied. */
export function encodeSpooled({ message, reason, spooledAt }: SpooledDelivery): readonly [firstLine: Buffer, payload: Buffer] {
  const firstLine: z.input<typeof FirstLine> = {
    version,
    message: headerOf(message),
    reason,
    spooledAt: spooledAt.toISOString(),
    payload: { length: message.body.length, sha256: digest(message.body) },
  };
  return [Buffer.from(`${JSON.stringify(firstLine)}\n`), message.body];
}

export type Decoded = { readonly delivery: SpooledDelivery } | { readonly corrupt: string };

/** The payload of the delivery is a view of `content`. */
export function decodeSpooled(content: Buffer): Decoded {
  const end = content.indexOf('\n');
  if (end < 0) return { corrupt: 'the first line does not end' };
  const header = parseJson(content.toString('utf8', 0, end));
  const parsed = FirstLine.safeParse(header);
  if (!parsed.success) return { corrupt: faultOf(header) };
  const { message, reason, spooledAt, payload } = parsed.data;
  const body = content.subarray(end + 1);
  if (body.length !== payload.length) return { corrupt: `the payload has ${body.length} bytes, the header says ${payload.length}` };
  if (digest(body) !== payload.sha256) return { corrupt: 'the payload is not what the header says' };
  return { delivery: { message: messageOf(message, body), reason, spooledAt: new Date(spooledAt) } };
}

function faultOf(header: unknown): string {
  const { data } = Versioned.safeParse(header);
  return data && data.version !== version ? `this release reads version ${version}, not ${data.version}` : 'the first line is not a header';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // as good as any other value that is not a header
  }
}
