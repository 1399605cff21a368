// One configured broker connection: its limit, its circuit breaker, and what has become of what was published to it.
import type { Broker, Message, PublishResult } from '../../platform/broker/broker.ts';
import type { BrokerConnection } from '../../platform/broker/environment.ts';
import type { Log } from '../../platform/log.ts';
import { createCircuitBreaker } from '../circuit-breaker.ts';
import { forgeTopology } from '../contract.ts';
import type { Quota } from '../usage/store.ts';

export type Connection = {
  /** Where it leads; its URL does not print. */
  readonly target: BrokerConnection;
  readonly quota: Quota;
  /** It stands, and has answered since the last delivery that it failed: one that hangs does not count. Others are not published to. */
  readonly isConnected: boolean;
  readonly lastPublishedAt: Date | null;
  readonly lastError: string | null;
  /** Resolves when connected, rejects when it is not in time. */
  ready(timeoutMs: number): Promise<void>;
  /** Never rejects. `unpublished` also while its circuit breaker is open. */
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
  /** @param up to be called whenever the connection stands */
  readonly connect: (up: () => void) => Broker;
  /** Called when it can be published to again. */
  readonly usable: () => void;
  readonly clock: () => Date;
  readonly log: Log;
};

const circuitOpen: PublishResult = { outcome: 'unpublished', reason: 'circuit breaker open after a failure' };
const openMs = { firstMs: 500, longestMs: 30_000 };

/** Asked for its depth only to hear the broker answer. */
const [anyQueue] = forgeTopology.queues;

export function openConnection({ target, quota, connect, usable, clock, log }: ConnectionParts): Connection {
  const closing = new AbortController();
  const { name } = target;
  const breaker = createCircuitBreaker({
    probe: () => broker.depth(anyQueue.name),
    probeTimeoutMs: 3000,
    probeEveryMs: 1000,
    openMs,
    onOpen: (failure) => log.warn({ broker: name, failure }, 'publish failed, circuit breaker opened'),
    onClose() {
      log.info({ broker: name }, 'broker answers, circuit breaker closed');
      usable();
    },
    stopping: closing.signal,
  });
  const broker = connect(() => {
    breaker.succeeded();
    usable();
  });
  const past: { publishedAt: Date | null; error: string | null } = { publishedAt: null, error: null };
  const isConnected = () => broker.isConnected && breaker.isClosed;

  async function publish(message: Message, timeoutMs: number): Promise<PublishResult> {
    if (!breaker.isClosed) return circuitOpen;
    const result = await broker.publish(message, timeoutMs);
    if (result.outcome === 'confirmed') past.publishedAt = clock();
    else past.error = result.reason;
    // A message that is refused for its own sake says that the connection works.
    if (result.outcome !== 'confirmed' && result.outcome !== 'refused') breaker.failed(result);
    else if (breaker.openings > 0) breaker.succeeded();
    return result;
  }

  const at = (place: BrokerConnection, share: Quota): Connection => ({
    target: place,
    quota: share,
    get isConnected() {
      return isConnected();
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
    close() {
      closing.abort();
      return broker.close();
    },
  });
  return at(target, quota);
}
