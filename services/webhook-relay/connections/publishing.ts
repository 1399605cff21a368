// How a message is published: on one connection behind its circuit breaker, and on failure on the next; with what is reserved and counted for it.
import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Broker, Message, PublishResult } from '../../platform/broker/broker.ts';
import type { BrokerConnection } from '../../platform/broker/environment.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { withTimeout } from '../../platform/time.ts';
import { createCircuitBreaker } from '../circuit-breaker.ts';
import { forgeTopology } from '../contract.ts';
import type { Reservations, ReserveResult } from '../usage/reservations.ts';
import type { Count, Reservation } from '../usage/store.ts';

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
  const broker = connect(target, () => {
    breaker.succeeded();
    usable();
  });
  const isUsable = () => broker.isConnected && breaker.isClosed;
  let lastPublishedAt: Date | null = null;
  let lastError: string | null = null;

  return {
    /** Another one after a reload that moved it in the list or changed its limit. Its URL does not print. */
    target,
    /** It stands, and has answered since the last delivery that it failed: one that hangs does not count. Others are not published to. */
    get isUsable() {
      return isUsable();
    },
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
    /** Messages waiting in a queue of the topology; undefined when it cannot be told now. */
    async depth(queue: string): Promise<number | undefined> {
      if (!isUsable()) return undefined;
      const asked: Promise<number | undefined> = broker.depth(queue).catch(() => undefined);
      return withTimeout(asked, depthTimeoutMs, () => undefined);
    },
    close(): Promise<void> {
      closing.abort();
      return broker.close();
    },
  };
}

export type Published =
  /** Confirmed by this broker. */
  | { readonly outcome: 'published'; readonly broker: string }
  | { readonly outcome: 'exhausted'; readonly period: string; readonly counts: readonly Count[] }
  /** It can be tried again later as it is. */
  | { readonly outcome: 'unavailable'; readonly reason: string }
  /** Every connection that could have taken it refuses this message for its own sake. */
  | { readonly outcome: 'refused'; readonly reason: string };

export type Publisher = ReturnType<typeof createPublisher>;
type Connections = { readonly all: readonly Connection[]; onUsable(listener: () => void): void };

const gzipAboveBytes = 256 * 1024;
/** A server that works confirms in milliseconds; what it confirms later than this is published elsewhere, too. */
const confirmMs = 3000;
/** Left of the budget for putting the delivery on the disk. */
const spoolTimeMs = 700;

/** By the name of the connection. */
type Failures = Map<string, Exclude<PublishResult, { outcome: 'confirmed' }>>;

export function createPublisher(connections: Connections, reservations: Reservations, metrics: Metrics) {
  const counters = createCounters(metrics, connections);

  const unusable = (failures: Failures) =>
    connections.all.filter(({ target, isUsable }) => !isUsable || failures.has(target.name)).map(({ target }) => target.name);

  /** Undefined when there would be no time left to publish; what is granted later is given back. */
  function reserve(names: readonly string[], deadline: number): Promise<ReserveResult | undefined> | ReserveResult {
    const reserving = reservations.reserve(names);
    if (!(reserving instanceof Promise)) return reserving; // no timer for it
    return withTimeout<ReserveResult | undefined>(reserving, Math.max(0, deadline - performance.now() - spoolTimeMs), () => {
      void reserving.then((late) => late.outcome === 'reserved' && reservations.refund(late.reservation));
      return undefined;
    });
  }

  async function tryOn(reservation: Reservation, message: Message, timeoutMs: number): Promise<PublishResult> {
    const { broker } = reservation;
    const connection = connections.all.find(({ target }) => target.name === broker);
    const result = connection ? await connection.publish(message, timeoutMs) : removed;
    // Unknown: it may be there, so its reservation is kept. A count may err high, never low.
    if (result.outcome === 'unpublished' || result.outcome === 'refused') reservations.refund(reservation);
    if (result.outcome === 'confirmed') counters.confirmed.inc({ broker });
    else counters.failed.inc({ broker, outcome: result.outcome });
    return result;
  }

  return {
    /** Never rejects. @param deadline by `performance.now()`; nothing new is begun shortly before it */
    async publish(message: Message, deadline: number): Promise<Published> {
      const failures: Failures = new Map();
      const packing = message.body.length > gzipAboveBytes ? pack(message) : message;
      for (;;) {
        const reserved = await reserve(unusable(failures), deadline);
        if (!reserved) return outOfTime;
        if (reserved.outcome !== 'reserved') return conclude(reserved, failures);
        const packed = await packing;
        const timeoutMs = Math.min(confirmMs, deadline - performance.now() - spoolTimeMs);
        if (timeoutMs <= 0) {
          reservations.refund(reserved.reservation);
          return outOfTime;
        }
        const result = await tryOn(reserved.reservation, packed, timeoutMs);
        if (result.outcome === 'confirmed') return { outcome: 'published', broker: reserved.reservation.broker };
        failures.set(reserved.reservation.broker, result);
      }
    },
  };
}

function createCounters(metrics: Metrics, connections: Connections) {
  const confirmed = metrics.counter({
    name: 'signalbox_broker_publishes_total',
    help: 'Messages that a broker connection confirmed.',
    labels: ['broker'],
  });
  const failed = metrics.counter({
    name: 'signalbox_broker_publish_failures_total',
    help: 'Tries to publish that were not confirmed: unpublished, refused for the message itself, or unknown.',
    labels: ['broker', 'outcome'],
  });
  const initialise = () => {
    for (const { target } of connections.all) {
      confirmed.inc({ broker: target.name }, 0);
      for (const outcome of ['unpublished', 'refused', 'unknown']) failed.inc({ broker: target.name, outcome }, 0);
    }
  };
  initialise();
  connections.onUsable(initialise); // after a reload there may be others
  return { confirmed, failed };
}

const outOfTime = { outcome: 'unavailable', reason: 'no time was left to publish it' } as const;
const removed: PublishResult = { outcome: 'unpublished', reason: 'the connection was removed' };

function conclude(reserved: Exclude<ReserveResult, { outcome: 'reserved' }>, failures: Failures): Published {
  const reasons = [...failures].map(([broker, { reason }]) => `${broker}: ${reason}`);
  if (reserved.outcome === 'databaseDown')
    return { outcome: 'unavailable', reason: ['the database that counts messages does not answer', ...reasons].join('; ') };
  // A connection that failed still had room: nothing was tried, or the others filled up meanwhile.
  if (reserved.outcome === 'exhausted') return failures.size === 0 ? reserved : { outcome: 'unavailable', reason: reasons.join('; ') };
  const isRefused = failures.size > 0 && reserved.withRoom.every((broker) => failures.get(broker)?.outcome === 'refused');
  const unreached = reserved.withRoom.filter((broker) => !failures.has(broker)).map((broker) => `${broker}: not connected`);
  return { outcome: isRefused ? 'refused' : 'unavailable', reason: [...reasons, ...unreached].join('; ') || 'no connection is configured' };
}

const gzipped = promisify(gzip);

// Level 1: a payload of 25 MB must not take seconds of the budget.
async function pack(message: Message): Promise<Message> {
  return { ...message, body: await gzipped(message.body, { level: 1 }), contentEncoding: 'gzip' };
}
