// A connection to a broker, behind a circuit breaker.
import type { Broker, Message, PublishResult, QueueState } from '../../platform/broker/broker.ts';
import type { BrokerConnection } from '../../platform/broker/environment.ts';
import type { Log } from '../../platform/log.ts';
import { withTimeout } from '../../platform/time.ts';
import { createCircuitBreaker } from '../circuit-breaker.ts';
import { forgeTopology } from '../contract.ts';

type ConnectionParts = {
  readonly target: BrokerConnection;
  /** @param up to be called whenever the connection stands, the first time and again */
  readonly connect: (target: BrokerConnection, up: () => void) => Broker;
  /** Called when it can be published to again. */
  readonly usable: () => void;
  readonly clock: () => Date;
  readonly log: Log;
};

export type Connection = ReturnType<typeof openConnection>;

const circuitOpen: PublishResult = { outcome: 'unpublished', reason: 'circuit breaker open after a failure' };
const openMs = { firstMs: 500, longestMs: 30_000 };
/** A connection that has not stood yet is waited for so long. */
const connectMs = 3000;
/** A server that hangs must hold up neither a scrape nor a reload. */
const depthTimeoutMs = 1000;

/** Asked for its depth only to hear the broker answer. */
const [anyQueue] = forgeTopology.queues;

export function openConnection({ target, connect, usable, clock, log }: ConnectionParts) {
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
  const stood = Promise.withResolvers<undefined>();
  let isConnecting = true;
  const connecting = withTimeout(stood.promise, connectMs, () => undefined).then(() => void (isConnecting = false));
  const broker = connect(target, () => {
    stood.resolve(undefined);
    breaker.renewed();
    usable();
  });
  const isUsable = () => broker.isConnected && breaker.isClosed;
  let lastPublishedAt: Date | null = null;
  let lastError: string | null = null;

  return {
    /** Replaced by a reload that moved it in the list or changed its limit. Its URL does not print. */
    target,
    /** The connection stands, and has answered since the last delivery that failed on it. Messages are published on usable connections only. */
    get isUsable() {
      return isUsable();
    },
    /** True until it has stood, or its time for that is over; `connecting` resolves then. */
    get isConnecting() {
      return isConnecting;
    },
    connecting,
    get lastPublishedAt() {
      return lastPublishedAt;
    },
    get lastError() {
      return broker.isConnected ? lastError : (broker.lastError ?? lastError);
    },
    /** Resolves when connected, rejects when it is not in time. */
    ready: (timeoutMs: number) => broker.ready(timeoutMs),
    /** Never rejects. `unpublished` also while its circuit breaker is open. */
    async publish(message: Message, timeoutMs: number): Promise<PublishResult> {
      if (!breaker.isClosed) return circuitOpen;
      const result = await broker.publish(message, timeoutMs);
      if (result.outcome === 'confirmed') lastPublishedAt = clock();
      else lastError = result.reason;
      // A message that is refused for its own sake says that the connection works.
      if (result.outcome !== 'confirmed' && result.outcome !== 'refused') breaker.failed(result);
      else if (breaker.openings > 0) breaker.succeeded();
      return result;
    },
    /** Messages waiting in a queue of the topology; undefined while the broker does not answer. */
    async depth(queue: string): Promise<number | undefined> {
      if (!isUsable()) return undefined;
      const asked: Promise<number | undefined> = broker.depth(queue).catch(() => undefined);
      return withTimeout(asked, depthTimeoutMs, () => undefined);
    },
    /** Undefined while the broker does not answer. */
    async stateOf(queue: string): Promise<QueueState | undefined> {
      if (!isUsable()) return undefined;
      const asked: Promise<QueueState | undefined> = broker.stateOf(queue).catch(() => undefined);
      return withTimeout(asked, depthTimeoutMs, () => undefined);
    },
    close(): Promise<void> {
      closing.abort();
      stood.resolve(undefined);
      return broker.close();
    },
  };
}
