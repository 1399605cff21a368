// Deliveries as AMQP 0-9-1 carries them.
import type { Message as AmqpMessage } from 'amqplib';
import type { Delivery } from '../broker.ts';

/** Which attempt the consumer of a message makes; the first has no header. */
export const attemptHeader = 'x-attempt';
/** The headers that RabbitMQ adds when a message has waited in a retry queue. */
const serverHeader = /^x-(death|first-death-|last-death-|delivery-count$|acquired-count$)/;

export function toDelivery({ content, properties, fields }: AmqpMessage): Delivery {
  const { headers, attempt } = readHeaders(properties.headers ?? {});
  return {
    id: text(properties.messageId),
    type: text(properties.type),
    body: content,
    contentType: text(properties.contentType),
    ...(properties.contentEncoding === 'gzip' ? { contentEncoding: 'gzip' as const } : {}),
    priority: typeof properties.priority === 'number' ? properties.priority : 0,
    timestamp: new Date(typeof properties.timestamp === 'number' ? properties.timestamp * 1000 : 0),
    headers,
    attempt,
    redelivered: fields.redelivered,
  };
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');

function readHeaders(raw: Readonly<Record<string, unknown>>) {
  const headers: Record<string, string> = {};
  let attempt = 1;
  for (const [name, value] of Object.entries(raw)) {
    if (name === attemptHeader) attempt = Number.isInteger(value) && Number(value) > 0 ? Number(value) : 1;
    else if (serverHeader.test(name)) continue;
    else if (typeof value === 'string') headers[name] = value;
    else if (typeof value === 'number' || typeof value === 'boolean') headers[name] = String(value);
  }
  return { headers, attempt };
}
