// Messages as AMQP 0-9-1 carries them.
import type { Message as AmqpMessage, Options } from 'amqplib';
import type { Delivery, Message } from '../broker.ts';

const attemptHeader = 'x-attempt';
/** What RabbitMQ itself adds when a message has waited in a retry queue. */
const serverHeader = /^x-(death|first-death-|last-death-|delivery-count$|acquired-count$)/;

/** Publishing options: persistent, and handed back by the server when no queue takes it. */
export function toPublishOptions(message: Message, attempt: number): Options.Publish {
  const options: Options.Publish = {
    mandatory: true,
    persistent: true,
    messageId: message.id,
    type: message.type,
    contentType: message.contentType,
    priority: message.priority,
    timestamp: Math.floor(message.timestamp.getTime() / 1000),
    headers: attempt > 1 ? { ...message.headers, [attemptHeader]: attempt } : message.headers,
  };
  if (message.contentEncoding) options.contentEncoding = message.contentEncoding;
  return options;
}

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
