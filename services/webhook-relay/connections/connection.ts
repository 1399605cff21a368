// One configured broker connection: its limit, its breaker, and what has become of what was published to it.
import type { Broker, Message, PublishResult } from '../../platform/broker/broker.ts';
import type { BrokerConnection } from '../../platform/broker/environment.ts';
import type { Log } from '../../platform/log.ts';
import { forgeTopology } from '../contract.ts';
import type { Quota } from '../usage/store.ts';
import { createAnswerCheck } from './answer-check.ts';
import { createBreaker } from './breaker.ts';

export type Connection = {
  /** Where it leads; its URL does not print. */
  readonly target: BrokerConnection;
  readonly quota: Quota;
  /** It stands, and has answered since the last delivery that it failed: one that hangs does not count. */
  readonly isConnected: boolean;
  /** It stands, and is not left alone after a failure. */
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
  /** @param up to be called whenever the connection stands */
  readonly connect: (up: () => void) => Broker;
  /** Called when it can be published to again. */
  readonly usable: () => void;
  readonly clock: () => Date;
  readonly steadyMs: () => number;
  readonly log: Log;
};

const leftAlone: PublishResult = { outcome: 'unpublished', reason: 'left alone after a failure' };

/** Asked for its depth only to hear the broker answer. */
const [anyQueue] = forgeTopology.queues;

export function openConnection({ target, quota, connect, usable, clock, steadyMs, log }: ConnectionParts): Connection {
  const breaker = createBreaker(steadyMs);
  const broker = connect(() => {
    breaker.retry();
    check.answered();
    usable();
  });
  const check = createAnswerCheck({ ask: () => broker.depth(anyQueue.name), onAnswer: usable });
  const past: { publishedAt: Date | null; error: string | null } = { publishedAt: null, error: null };

  function fail({ outcome, reason }: Exclude<PublishResult, { outcome: 'confirmed' }>): void {
    // Many deliveries fail together; the first one is told.
    if (breaker.isPassable)
      log.warn({ broker: target.name, outcome, reason }, 'a delivery could not be published here: the connection is left alone for a moment');
    breaker.failed();
    check.failed();
  }

  async function publish(message: Message, timeoutMs: number): Promise<PublishResult> {
    const entered = breaker.enter();
    if (!(entered === true || (await entered))) return leftAlone;
    const result = await broker.publish(message, timeoutMs);
    if (result.outcome === 'confirmed') past.publishedAt = clock();
    else past.error = result.reason;
    // A message that is refused for its own sake says that the connection works.
    if (result.outcome === 'confirmed' || result.outcome === 'refused') succeed();
    else fail(result);
    return result;
  }

  function succeed(): void {
    breaker.succeeded();
    check.answered();
  }

  const at = (place: BrokerConnection, share: Quota): Connection => ({
    target: place,
    quota: share,
    get isConnected() {
      return broker.isConnected && (breaker.isClosed || check.hasAnswered);
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
    close() {
      check.close();
      return broker.close();
    },
  });
  return at(target, quota);
}
