// One configured broker connection: its limit, its breaker, and what has become of what was published to it.
import type { Broker, Message, PublishResult } from '../../platform/broker/broker.ts';
import type { BrokerConnection } from '../../platform/broker/environment.ts';
import type { Log } from '../../platform/log.ts';
import type { Quota } from '../usage/store.ts';
import { createBreaker } from './breaker.ts';

export type Connection = {
  /** Where it leads; its URL does not print. */
  readonly target: BrokerConnection;
  readonly quota: Quota;
  readonly isConnected: boolean;
  /** Connected, and not left alone after a failure. */
  readonly isUsable: boolean;
  readonly lastPublishedAt: Date | null;
  readonly lastError: string | null;
  /** Resolves when connected, rejects when it is not in time. */
  ready(timeoutMs: number): Promise<void>;
  /** Never rejects. `unpublished` also when it is left alone. */
  publish(message: Message, timeoutMs: number): Promise<PublishResult>;
  /** Messages waiting in a queue of the topology. Rejects when it is not connected. */
  depth(queue: string): Promise<number>;
  /** The same connection at another place of the list or with another limit. */
  moved(target: BrokerConnection, quota: Quota): Connection;
  close(): Promise<void>;
};

export type ConnectionParts = {
  readonly target: BrokerConnection;
  readonly quota: Quota;
  readonly broker: Broker;
  readonly clock: () => Date;
  readonly log: Log;
};

const leftAlone: PublishResult = { outcome: 'unpublished', reason: 'left alone after a failure' };

export function createConnection({ target, quota, broker, clock, log }: ConnectionParts): Connection {
  const breaker = createBreaker();
  const past: { publishedAt: Date | null; error: string | null } = { publishedAt: null, error: null };

  function fail({ outcome, reason }: Exclude<PublishResult, { outcome: 'confirmed' }>): void {
    // Many deliveries fail together; the first one is told.
    if (breaker.isPassable)
      log.warn({ broker: target.name, outcome, reason }, 'a delivery could not be published here: the connection is left alone for a moment');
    breaker.failed();
  }

  async function publish(message: Message, timeoutMs: number): Promise<PublishResult> {
    const entered = breaker.enter();
    if (!(entered === true || (await entered))) return leftAlone;
    const result = await broker.publish(message, timeoutMs);
    if (result.outcome === 'confirmed') past.publishedAt = clock();
    else past.error = result.reason;
    // A message that is refused for its own sake says that the connection works.
    if (result.outcome === 'confirmed' || result.outcome === 'refused') breaker.succeeded();
    else fail(result);
    return result;
  }

  const at = (place: BrokerConnection, share: Quota): Connection => ({
    target: place,
    quota: share,
    get isConnected() {
      return broker.isConnected;
    },
    get isUsable() {
      return broker.isConnected && breaker.isPassable;
    },
    get lastPublishedAt() {
      return past.publishedAt;
    },
    get lastError() {
      return broker.isConnected ? past.error : (broker.lastError ?? past.error);
    },
    ready: (timeoutMs) => broker.ready(timeoutMs),
    publish,
    depth: (queue) => broker.depth(queue),
    moved: at,
    close: () => broker.close(),
  });
  return at(target, quota);
}
