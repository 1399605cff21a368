// Publishes a message on one connection, and on failure on the next, with what is reserved and counted for it.
import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Message, PublishResult } from '../../platform/broker/broker.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { withTimeout } from '../../platform/time.ts';
import type { Reservations, ReserveResult } from '../usage/reservations.ts';
import type { Count, Reservation } from '../usage/store.ts';
import type { Connection } from './connection.ts';
import type { PublishedConnections } from './published.ts';

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

/** The recorded time of a connection is at most so much older than its last message. */
const recordEveryMs = 60_000;
const recordTimeoutMs = 1000;

/** By the name of the connection. */
type Failures = Map<string, Exclude<PublishResult, { outcome: 'confirmed' }>>;

type PublisherParts = {
  readonly connections: Connections;
  readonly reservations: Reservations;
  readonly published: PublishedConnections;
  readonly metrics: Metrics;
};

export function createPublisher({ connections, reservations, published, metrics }: PublisherParts) {
  const counters = createCounters(metrics, connections);
  /** When each was last recorded as published to. */
  const recordedAt = new WeakMap<Connection, number>();
  /** Confirmed messages that were not taken yet, by connection. */
  let confirmed = new Map<string, number>();

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

  /** At a start, when no connection stands yet, a delivery waits for the first one. */
  async function awaitConnection(deadline: number): Promise<void> {
    const connecting = connections.all.filter(({ isConnecting }) => isConnecting).map((connection) => connection.connecting);
    const restMs = Math.max(0, deadline - performance.now() - spoolTimeMs);
    if (connecting.length > 0) await withTimeout(Promise.race(connecting), restMs, () => undefined);
  }

  /** A first message waits until the connection is recorded, since workers may have to look for it there. */
  async function record(connection: Connection): Promise<void> {
    const isFirst = !recordedAt.has(connection);
    recordedAt.set(connection, performance.now());
    const recording = published.record(connection.target).then((isRecorded) => void (isRecorded || recordedAt.delete(connection)));
    if (isFirst) await withTimeout(recording, recordTimeoutMs, () => undefined);
  }

  async function tryOn(reservation: Reservation, message: Message, timeoutMs: number): Promise<PublishResult> {
    const { broker } = reservation;
    const connection = connections.all.find(({ target }) => target.name === broker);
    if (connection && performance.now() - (recordedAt.get(connection) ?? -Infinity) > recordEveryMs) await record(connection);
    const result = connection ? await connection.publish(message, timeoutMs) : removed;
    // Unknown: it may be there, so its reservation is kept. A count may err high, never low.
    if (result.outcome === 'unpublished' || result.outcome === 'refused') reservations.refund(reservation);
    if (result.outcome === 'confirmed') {
      counters.confirmed.inc({ broker });
      confirmed.set(broker, (confirmed.get(broker) ?? 0) + 1);
    } else counters.failed.inc({ broker, outcome: result.outcome });
    return result;
  }

  return {
    /** Confirmed messages since the last call, by connection. */
    takeConfirmed(): ReadonlyMap<string, number> {
      const taken = confirmed;
      confirmed = new Map();
      return taken;
    },
    /** Never rejects. @param deadline by `performance.now()`; nothing new is begun shortly before it */
    async publish(message: Message, deadline: number): Promise<Published> {
      const failures: Failures = new Map();
      if (!connections.all.some(({ isUsable }) => isUsable)) await awaitConnection(deadline);
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
