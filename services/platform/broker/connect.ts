// Picks the adapter by the URL's scheme.
import { type AmqpBrokerOptions, createAmqpBroker } from './amqp/broker.ts';
import type { Broker, BrokerOptions, Topology } from './broker.ts';
import { createEmbeddedBroker } from './postgres/broker.ts';

/** `queueType` is of RabbitMQ only; classic unless given. Quorum needs RabbitMQ 4.3 for priorities. */
type ConnectOptions = BrokerOptions & Partial<Pick<AmqpBrokerOptions, 'queueType'>>;

/** Returns at once and connects in the background, again and again until closed. */
export function connectBroker(url: string, topology: Topology, options: ConnectOptions): Broker {
  // The URL holds a password, so no message may repeat it.
  const scheme = URL.parse(url)?.protocol ?? 'something that is not a URL';
  if (scheme === 'amqp:' || scheme === 'amqps:') return createAmqpBroker(url, topology, { queueType: 'classic', ...options });
  if (scheme === 'postgres:' || scheme === 'postgresql:') return createEmbeddedBroker(url, topology, options);
  throw new TypeError(`url must begin with amqp:, amqps:, postgres: or postgresql:, got ${scheme}`);
}
