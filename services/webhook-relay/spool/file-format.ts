// The format of a spool file: one line of JSON, then the payload's raw bytes; length and digest show a file cut short. Its name tells
// its age and its refused tries.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Message } from '../../platform/broker/broker.ts';
import { jsonIn, memberAt } from '../../platform/json.ts';

const Time = z.iso.datetime().transform((text) => new Date(text));

/** Everything of a message but its body, as JSON: in a spool file's first line and in a row of failed_payloads. */
export const MessageHeader = z.object({
  id: z.string().min(1),
  type: z.string(),
  contentType: z.string(),
  contentEncoding: z.literal('gzip').exactOptional(),
  priority: z.number().int().min(0).max(10),
  timestamp: Time,
  headers: z.record(z.string(), z.string()),
});

/** The source of a MessageHeader: id, priority and times are kept, so that a replay is the same delivery to every consumer. */
export const headerOf = ({ body: _, ...header }: Message): z.output<typeof MessageHeader> => header;

/** A delivery that could not be published when it came. */
export type SpooledDelivery = {
  readonly message: Message;
  /** Why it was not published. */
  readonly reason: string;
  readonly spooledAt: Date;
};

const version = 1;

const FirstLine = z.object({
  version: z.literal(version),
  message: MessageHeader,
  reason: z.string(),
  spooledAt: Time,
  payload: z.object({ length: z.number().int().nonnegative(), sha256: z.string() }),
});

const digest = (payload: Buffer): string => createHash('sha256').update(payload).digest('hex');

/** The bytes to write, in order; the payload is not copied. */
export function encodeSpooled({ message, reason, spooledAt }: SpooledDelivery): readonly [firstLine: Buffer, payload: Buffer] {
  const { body } = message;
  const payload = { length: body.length, sha256: digest(body) };
  const firstLine: z.output<typeof FirstLine> = { version, message: headerOf(message), reason, spooledAt, payload };
  return [Buffer.from(`${JSON.stringify(firstLine)}\n`), body];
}

/** A fault that every later read would find again. */
export type Corrupt = { readonly corrupt: string };

export const corruptText = (what: string) => `corrupt: ${what}`;

/** A delivery is given up when every connection refused it that often. */
export const maxTries = 3;
/** Why it is given up. The reason for which it was spooled may be over by then: a connection was there to refuse it. */
export const refusedText = `refused by every connection in ${maxTries} tries, mostly for its size`;
export const refusedSince = (spooledFor: string) => `${refusedText}; when it came: ${spooledFor}`;

/** The header of a file; undefined when it is damaged or no spool file. */
export const decodeFirstLine = (line: string) => FirstLine.safeParse(jsonIn(line)).data;

/** The payload of the delivery is a view of `content`. */
export function decodeSpooled(content: Buffer): SpooledDelivery | Corrupt {
  const end = content.indexOf('\n');
  if (end < 0) return { corrupt: 'the first line does not end' };
  const header = jsonIn(content.toString('utf8', 0, end));
  const parsed = FirstLine.safeParse(header);
  if (!parsed.success) return { corrupt: faultOf(header) };
  const { message, reason, spooledAt, payload } = parsed.data;
  const body = content.subarray(end + 1);
  if (body.length !== payload.length) return { corrupt: `the payload has ${body.length} bytes, the header says ${payload.length}` };
  if (digest(body) !== payload.sha256) return { corrupt: 'the payload is not what the header says' };
  return { message: { ...message, body }, reason, spooledAt };
}

function faultOf(header: unknown): string {
  const found = memberAt(header, 'version');
  return typeof found === 'number' && found !== version ? `this release reads version ${version}, not ${found}` : 'the first line is not a header';
}

export type SpoolFile = {
  readonly name: string;
  readonly spooledAt: Date;
  /** How often every connection refused it. In the name, because a rename counts a try without writing the payload again. */
  readonly tries: number;
};

const pattern = /^(\d{4}-\d\d-\d\dT)(\d\d)(\d\d)(\d\d\.\d{3}Z)_([\w-]{1,64})\.(\d{1,6})\.payload$/;

/** The time first, so that names sort by age; the message's id; the tries that were refused. */
export function nameFile(spooledAt: Date, messageId: string): string {
  const id = /^[\w-]{1,64}$/.test(messageId) ? messageId : createHash('sha256').update(messageId).digest('hex');
  return `${spooledAt.toISOString().replaceAll(':', '')}_${id}.0.payload`;
}

/** Undefined for a name that is none of ours. */
export function parseFileName(name: string): SpoolFile | undefined {
  const [, date, hours, minutes, seconds, , tries] = pattern.exec(name) ?? [];
  const spooledAt = new Date(`${date}${hours}:${minutes}:${seconds}`);
  return Number.isNaN(spooledAt.getTime()) ? undefined : { name, spooledAt, tries: Number(tries) };
}

/** The id of the delivery, or its digest, without a look into the file. */
export const idInName = ({ name }: SpoolFile): string => /_([\w-]+)\.\d+\.payload$/.exec(name)?.[1] ?? name;

/** @param refused a file of the folder `refused`; no connection was ever asked to take one that is corrupt */
export const isUnreadable = (refused: SpoolFile): boolean => refused.tries === 0;

export const withTries = (name: string, tries: number): string => name.replace(/\.\d+\.payload$/, `.${tries}.payload`);
