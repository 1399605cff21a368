// A delivery as the workers read it from a message of the relay: its headers, and its payload in GitHub's form.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { forgeIdOf, forgeOfKind, inGithubForm, repositoryOf } from '../forges/forges.ts';
import type { Delivery } from '../platform/broker/broker.ts';
import { describeError } from '../platform/errors.ts';
import { idOf, isCostly, objectAt, storable, storableTime } from '../platform/json.ts';
import { messageHeaders } from '../webhook-relay/contract.ts';

/** The combination that is unique to a delivery: the delivery id alone is shared by all hooks that an event reaches. */
export type DeliveryKey = {
  readonly deliveryId: string;
  readonly hookId: string;
  readonly targetId: string;
  /** Digest of event and payload where the forge names no hook: the same bytes under another delivery id are the same delivery. */
  readonly digest: string | null;
};

/** Indexed columns take no longer text: an index row above 2.7 KB is refused. No forge has a name as long. */
const maxNameLength = 255;

/** An id that is too long ends in a digest of the whole, so that two that begin alike stay two. */
function withinLength(id: string): string {
  if (id.length <= maxNameLength) return id;
  const digest = createHash('sha256').update(id).digest('hex');
  return id.slice(0, maxNameLength - digest.length) + digest;
}

export function readEnvelope(delivery: Delivery) {
  const header = (name: keyof typeof messageHeaders) => storable((delivery.headers[messageHeaders[name]] ?? '').slice(0, maxNameLength)) || null;
  const id = (name: 'deliveryId' | 'hookId' | 'targetId') => storable(withinLength(delivery.headers[messageHeaders[name]] ?? ''));
  const event = header('event') ?? (storable(delivery.type) || 'unknown');
  const action = header('action');
  const sender = header('sender');
  return {
    relayId: storable(delivery.id),
    deliveryId: id('deliveryId') || storable(delivery.id),
    hookId: id('hookId') || '0',
    targetId: id('targetId') || '0',
    forgeKind: forgeOfKind(header('forge') ?? undefined).kind,
    event,
    originalEvent: header('originalEvent') ?? event,
    action,
    originalAction: header('originalAction') ?? action,
    sender,
    // The relay scores a delivery without a sender as a person's.
    senderClass: sender === null ? null : header('senderClass'),
    isCoreFunction: header('isCoreFunction') === 'true',
    score: delivery.priority,
    receivedAt: receptionTime(delivery),
  };
}

/** A delivery of a forge, read whole. */
export type ForgeDelivery = Awaited<ReturnType<typeof readDelivery>>;

/** @throws Unreadable for a payload that is not JSON, or holds more than `maxValues` values */
export async function readDelivery(delivery: Delivery, maxValues: number) {
  const envelope = readEnvelope(delivery);
  const { bytes, value } = await readPayload(delivery, maxValues);
  const forge = forgeOfKind(envelope.forgeKind);
  const payload = inGithubForm(forge, envelope.event, value);
  const host = delivery.headers[messageHeaders.forgeId];
  return {
    ...envelope,
    /** Host of the forge, within which its ids count. */
    forge: storable(host ?? forgeIdOf(forge, value)),
    digest: envelope.hookId === '0' ? digestOf(envelope.originalEvent, bytes) : null,
    /** owner/name */
    repository: repositoryOf(payload) ?? null,
    /** The forge's id of it, which a rename leaves as it is. */
    repositoryId: storable(idOf(objectAt(payload, 'repository'))?.slice(0, maxNameLength) ?? '') || null,
    payload,
    bytes: bytes.length,
  };
}

const digestOf = (event: string, payload: Buffer) => createHash('sha256').update(`${event}\n`).update(payload).digest('base64');

/** When the relay received it. The message's own timestamp has whole seconds; the header has the exact time. */
export const receptionTime = ({ headers, timestamp }: Delivery): Date => storableTime(new Date(headers[messageHeaders.receivedAt] ?? NaN)) ?? timestamp;

/** The payload can never be read: there is no use in another try. */
export class Unreadable extends Error {}

const unpack = promisify(gunzip);

/** The relay takes 25 MiB unless set otherwise; a compressed body that grows beyond this is an attack on our memory. */
const maxBytes = 128 * 1024 * 1024;

type Packed = { readonly body: Buffer; readonly contentEncoding?: Delivery['contentEncoding'] | undefined };

export const unpacked = async ({ body, contentEncoding }: Packed): Promise<Buffer> =>
  contentEncoding === 'gzip' ? unpack(body, { maxOutputLength: maxBytes }) : body;

async function readPayload({ body, contentEncoding }: Packed, maxValues: number): Promise<{ readonly value: unknown; readonly bytes: Buffer }> {
  const unreadable = (fault: string) => (cause: unknown) => {
    throw new Unreadable(`the payload ${fault}: ${describeError(cause)}`, { cause });
  };
  const bytes = await unpacked({ body, contentEncoding }).catch(unreadable('cannot be unpacked'));
  if (isCostly(bytes, maxValues)) throw new Unreadable(`the payload holds more than ${maxValues} values`);
  try {
    return { value: JSON.parse(bytes.toString('utf8')), bytes };
  } catch (error) {
    throw new Unreadable(`the payload is not JSON: ${describeError(error)}`, { cause: error });
  }
}
