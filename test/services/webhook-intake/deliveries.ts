// Deliveries as the relay publishes them, made from the forge's example payloads.
import { randomUUID } from 'node:crypto';
import examplesByEvent from '@octokit/webhooks-examples' with { type: 'json' };
import { z } from 'zod';
import type { Delivery, Message } from '../../../services/platform/broker/broker.ts';
import { messageHeaders } from '../../../services/webhook-relay/contract.ts';

const Examples = z.array(z.object({ name: z.string(), examples: z.array(z.looseObject({})) }));

export type Example = { readonly event: string; readonly payload: Readonly<Record<string, unknown>> };

/** All 329. */
export const examples: readonly Example[] = Examples.parse(examplesByEvent).flatMap(({ name, examples: payloads }) =>
  payloads.map((payload) => ({ event: name, payload })),
);

export type MessageParts = {
  readonly event: string;
  readonly payload: unknown;
  readonly deliveryId?: string;
  readonly hookId?: string;
  readonly targetId?: string;
  readonly receivedAt?: Date;
  readonly priority?: number;
  readonly headers?: Readonly<Record<string, string>>;
};

const loginOf = (payload: unknown) => z.object({ sender: z.object({ login: z.string() }) }).safeParse(payload).data?.sender.login;
const actionOf = (payload: unknown) => z.object({ action: z.string() }).safeParse(payload).data?.action;

export function message({
  event,
  payload,
  deliveryId = randomUUID(),
  hookId = '1',
  targetId = '2',
  receivedAt = new Date(),
  priority = 5,
  headers = {},
}: MessageParts): Message {
  const [action, sender] = [actionOf(payload), loginOf(payload)];
  return {
    id: randomUUID(),
    type: event,
    body: Buffer.from(JSON.stringify(payload)),
    contentType: 'application/json',
    priority,
    timestamp: receivedAt,
    headers: {
      [messageHeaders.deliveryId]: deliveryId,
      [messageHeaders.hookId]: hookId,
      [messageHeaders.targetId]: targetId,
      [messageHeaders.targetType]: 'repository',
      [messageHeaders.event]: event,
      ...(action !== undefined && { [messageHeaders.action]: action }),
      ...(sender !== undefined && { [messageHeaders.sender]: sender }),
      [messageHeaders.senderClass]: 'person',
      [messageHeaders.isCoreFunction]: 'true',
      [messageHeaders.receivedAt]: receivedAt.toISOString(),
      ...headers,
    },
  };
}

/** As a consumer gets it. */
export const delivery = (parts: MessageParts): Delivery => ({ ...message(parts), attempt: 1, redelivered: false });
