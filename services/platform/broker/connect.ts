// Picks the adapter by the URL's scheme.
import type { Log } from '../log.ts';
import { createAmqpBroker } from './amqp/broker.ts';
import type { QueueType } from './amqp/topology.ts';
import type { Broker, Topology } from './broker.ts';
import { createEmbeddedBroker } from './postgres/broker.ts';

export type ConnectOptions = {
  readonly log: Log;
  /** How the server's own tools show this connection. */
  readonly name: string;
  /** RabbitMQ only; classic unless given. Quorum needs RabbitMQ 4.3 for priorities. */
  readonly queueType?: QueueType;
  /** Called whenever it is connected, the first time and again. */
  readonly onConnected?: () => void;
};

/** Returns at once and connects in the background, again and again until closed. */
export function connectBroker(url: string, topology: Topology, { log, name, queueType = 'classic', onConnected }: ConnectOptions): Broker {
  // The URL holds a password, so no message may repeat it.
  const scheme = URL.parse(url)?.protocol ?? 'something that is not a URL';
  if (scheme === 'amqp:' || scheme === 'amqps:') return createAmqpBroker(url, topology, { log, name, queueType, onConnected });
  if (scheme === 'postgres:' || scheme === 'postgresql:') return createEmbeddedBroker(url, topology, { log, name, onConnected });
  throw new TypeError(`url must begin with amqp:, amqps:, postgres: or postgresql:, got ${scheme}`);
}
