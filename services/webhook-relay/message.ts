// From a delivery's headers and payload to the message that is published.
import type { IncomingHttpHeaders } from 'node:http';
import type { Message } from '../platform/broker/broker.ts';
import { Common } from '../platform/problem.ts';
import { activeTraceparent } from '../platform/trace-context.ts';
import { version } from '../platform/version.ts';
import { memberAt } from '../platform/json.ts';
import { messageHeaders } from './contract.ts';
import { nameOf, type Score } from './scoring/scoring.ts';

/** What the forge says of a delivery beside its payload. */
export type Identity = {
  readonly event: string;
  readonly deliveryId: string;
  readonly hookId: string;
  readonly targetId: string;
  readonly targetType: string;
};

const eventNames = ['x-github-event', 'x-forge-event', 'x-gitea-event', 'x-forgejo-event'];
const deliveryNames = ['x-github-delivery', 'x-forge-delivery', 'x-gitea-delivery', 'x-forgejo-delivery'];
const hookNames = ['x-github-hook-id', 'x-forge-hook-id'];
const targetIdNames = ['x-github-hook-installation-target-id', 'x-forge-hook-installation-target-id'];
const targetTypeNames = ['x-github-hook-installation-target-type', 'x-forge-hook-installation-target-type'];

/** AMQP's `type` holds 255 bytes; the forge's longest event name has 40. */
const maxEventLength = 100;
const maxIdLength = 255;

const readOnce = [...eventNames, ...deliveryNames, ...hookNames, ...targetIdNames, ...targetTypeNames];

/** Node joins lines of one name by a comma, which nothing that a forge says here holds: neither would be what was meant.
 *  @throws Problem 400 */
export function refuseRepeated(headers: IncomingHttpHeaders): void {
  const repeated = readOnce.filter((name) => String(headers[name] ?? '').includes(','));
  if (repeated.length > 0) throw Common.malformed({ detail: `Given more than once: ${repeated.join(', ')}.` });
}

/** @param ownId stands in for a delivery id that is missing */
export function readIdentity(headers: IncomingHttpHeaders, ownId: string): Identity {
  return {
    event: firstOf(headers, eventNames).slice(0, maxEventLength),
    deliveryId: firstOf(headers, deliveryNames).slice(0, maxIdLength) || ownId,
    hookId: firstOf(headers, hookNames).slice(0, maxIdLength) || '0',
    targetId: firstOf(headers, targetIdNames).slice(0, maxIdLength) || '0',
    targetType: firstOf(headers, targetTypeNames).slice(0, maxIdLength),
  };
}

function firstOf(headers: IncomingHttpHeaders, names: readonly string[]): string {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return '';
}

/** Empty when the payload names none. */
export function senderLogin(payload: unknown): string {
  return nameOf(memberAt(payload, 'sender', 'login'));
}

function installationId(payload: unknown): string {
  const id = memberAt(payload, 'installation', 'id');
  return typeof id === 'number' ? String(id) : nameOf(id);
}

export type MessageParts = {
  readonly id: string;
  readonly identity: Identity;
  readonly payload: unknown;
  readonly body: Buffer;
  readonly score: Score;
  readonly receivedAt: Date;
  /** As the request had it. */
  readonly traceparent: string | readonly string[] | undefined;
};

export function toMessage({ id, identity, payload, body, score, receivedAt, traceparent }: MessageParts): Message {
  return {
    id,
    type: identity.event,
    body,
    contentType: 'application/json',
    priority: score.finalScore,
    timestamp: receivedAt,
    headers: {
      [messageHeaders.deliveryId]: identity.deliveryId,
      [messageHeaders.hookId]: identity.hookId,
      [messageHeaders.targetId]: identity.targetId,
      [messageHeaders.targetType]: identity.targetType,
      [messageHeaders.event]: identity.event,
      [messageHeaders.action]: score.action,
      [messageHeaders.sender]: score.senderLogin,
      [messageHeaders.senderClass]: score.senderClass,
      [messageHeaders.isCoreFunction]: String(score.isCoreFunction),
      [messageHeaders.installationId]: installationId(payload),
      [messageHeaders.receivedAt]: receivedAt.toISOString(),
      [messageHeaders.relayVersion]: version,
      [messageHeaders.scoreDescription]: score.description,
      traceparent: activeTraceparent() ?? childOf(traceparent, id),
    },
  };
}

const traceForm = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(?:-|$)/;

/** The sender's trace goes on, else one begins that has the delivery's id; this span has its random half. W3C Trace Context, section 3.2. */
function childOf(traceparent: MessageParts['traceparent'], id: string): string {
  const [, traceId, flags] = traceForm.exec(String(traceparent)) ?? [];
  const digits = id.replaceAll('-', '');
  return `00-${traceId ?? digits}-${digits.slice(16)}-${flags ?? '01'}`;
}
