// What the relay says about a delivery in the headers of its message.
import type { Delivery } from '../platform/broker/broker.ts';
import { storable } from '../platform/text.ts';
import { messageHeaders } from '../webhook-relay/contract.ts';

/** The combination that is unique to a delivery: the delivery id alone is shared by all hooks that an event reaches. */
export type DeliveryKey = { readonly deliveryId: string; readonly hookId: string; readonly targetId: string };

export type Envelope = DeliveryKey & {
  readonly event: string;
  readonly action: string | null;
  readonly sender: string | null;
  readonly senderClass: string | null;
  readonly isCoreFunction: boolean;
  readonly score: number;
  readonly receivedAt: Date;
};

export function readEnvelope(delivery: Delivery): Envelope {
  const header = (name: keyof typeof messageHeaders) => storable(delivery.headers[messageHeaders[name]] ?? '') || null;
  return {
    deliveryId: header('deliveryId') ?? storable(delivery.id),
    hookId: header('hookId') ?? '0',
    targetId: header('targetId') ?? '0',
    event: header('event') ?? (storable(delivery.type) || 'unknown'),
    action: header('action'),
    sender: header('sender'),
    senderClass: header('senderClass'),
    isCoreFunction: header('isCoreFunction') === 'true',
    score: delivery.priority,
    receivedAt: receptionTime(delivery),
  };
}

/** When the relay received it. The message's own timestamp has whole seconds; the header has the exact time. */
export function receptionTime({ headers, timestamp }: Delivery): Date {
  const exact = new Date(headers[messageHeaders.receivedAt] ?? NaN);
  return Number.isNaN(exact.getTime()) ? timestamp : exact;
}
