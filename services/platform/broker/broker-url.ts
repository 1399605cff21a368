// What a broker URL says, without its user and password.
import { InvalidSetting } from '../config/config.ts';

const defaultPorts: Readonly<Record<string, number>> = { amqp: 5672, amqps: 5671, postgres: 5432, postgresql: 5432 };

export type BrokerUrlParts = {
  /** Not enumerable in a BrokerConnection, so that neither a log line nor JSON shows it; a spread copy has none. */
  readonly url: string;
  readonly scheme: string;
  readonly host: string;
  readonly port: number;
  /** RabbitMQ's virtual host; for the embedded broker its database. */
  readonly virtualHost: string;
};

/** @throws InvalidSetting in words that repeat nothing of it */
export function parseBrokerUrl(text: string): BrokerUrlParts {
  const url = URL.parse(text.trim());
  if (!url) throw new InvalidSetting('must be a URL');
  const scheme = url.protocol.slice(0, -1);
  const defaultPort = defaultPorts[scheme];
  if (defaultPort === undefined) throw new InvalidSetting(`must begin with ${Object.keys(defaultPorts).join(', ')}`);
  if (!url.hostname) throw new InvalidSetting('must name a host');
  try {
    const path = decodeURIComponent(url.pathname.slice(1));
    const host = url.hostname.replace(/^\[|\]$/g, '');
    return { url: text.trim(), scheme, host, port: Number(url.port) || defaultPort, virtualHost: path || '/' };
  } catch {
    throw new InvalidSetting('has a malformed percent escape in its path');
  }
}
