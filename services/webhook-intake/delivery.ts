// What the workers read of a message of the relay: its headers, and its body as JSON.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Delivery } from '../platform/broker/broker.ts';
import { describeError } from '../platform/errors.ts';
import { isCostly, storable, storableTime, textAt } from '../platform/json.ts';
import { messageHeaders } from '../webhook-relay/contract.ts';

export type Envelope = ReturnType<typeof readEnvelope>;
/** The combination that is unique to a delivery: the delivery id alone is shared by all hooks that an event reaches. */
export type DeliveryKey = Pick<Envelope, 'deliveryId' | 'hookId' | 'targetId'>;

export function readEnvelope(delivery: Delivery) {
  const header = (name: keyof typeof messageHeaders) => storable(delivery.headers[messageHeaders[name]] ?? '') || null;
  const sender = header('sender');
  return {
    deliveryId: header('deliveryId') ?? storable(delivery.id),
    hookId: header('hookId') ?? '0',
    targetId: header('targetId') ?? '0',
    event: header('event') ?? (storable(delivery.type) || 'unknown'),
    action: header('action'),
    sender,
    // The relay scores what nobody sent as if a person had.
    senderClass: sender === null ? null : header('senderClass'),
    isCoreFunction: header('isCoreFunction') === 'true',
    score: delivery.priority,
    receivedAt: receptionTime(delivery),
  };
}

/** When the relay received it. The message's own timestamp has whole seconds; the header has the exact time. */
export const receptionTime = ({ headers, timestamp }: Delivery): Date => storableTime(new Date(headers[messageHeaders.receivedAt] ?? NaN)) ?? timestamp;

/** The payload never can be read: of no use to try again. */
export class Unreadable extends Error {}

const unpack = promisify(gunzip);

/** The relay takes 25 MiB unless told otherwise; a packed body that grows beyond this is an attack on our memory. */
const maxBytes = 128 * 1024 * 1024;

type Packed = { readonly body: Buffer; readonly contentEncoding?: Delivery['contentEncoding'] | undefined };

export const unpacked = async ({ body, contentEncoding }: Packed): Promise<Buffer> =>
  contentEncoding === 'gzip' ? unpack(body, { maxOutputLength: maxBytes }) : body;

/** The JSON value, and how many bytes it has unpacked. @throws Unreadable, for more than `maxValues` before they are parsed, too */
export async function readPayload({ body, contentEncoding }: Packed, maxValues: number): Promise<{ value: unknown; bytes: number }> {
  const unreadable = (what: string) => (cause: unknown) => {
    throw new Unreadable(`the payload ${what}: ${describeError(cause)}`, { cause });
  };
  const bytes = await unpacked({ body, contentEncoding }).catch(unreadable('cannot be unpacked'));
  if (isCostly(bytes, maxValues)) throw new Unreadable(`the payload holds more than ${maxValues} values`);
  try {
    return { value: JSON.parse(bytes.toString('utf8')), bytes: bytes.length };
  } catch (error) {
    throw new Unreadable(`the payload is not JSON: ${describeError(error)}`, { cause: error });
  }
}

/** owner/name */
export const repositoryOf = (payload: unknown): string | null => storable(textAt(payload, 'repository', 'full_name') ?? '') || null;
