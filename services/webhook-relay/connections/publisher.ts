// Publishes one message: reserve, publish with confirm, on failure the next connection.
import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Message, PublishResult } from '../../platform/broker/broker.ts';
import { withTimeout } from '../../platform/time.ts';
import type { PublishCounters } from '../metrics.ts';
import type { Count, Reservation, Reservations, ReserveResult } from '../usage/reservations.ts';
import type { Connections } from './connections.ts';

export type Published =
  /** Confirmed by this broker. */
  | { readonly outcome: 'published'; readonly broker: string }
  | { readonly outcome: 'exhausted'; readonly period: string; readonly counts: readonly Count[] }
  /** It can be tried again later as it is. */
  | { readonly outcome: 'unavailable'; readonly reason: string }
  /** Every connection that could have taken it refuses this message for its own sake. */
  | { readonly outcome: 'refused'; readonly reason: string };

export type Publisher = ReturnType<typeof createPublisher>;
type PublisherParts = { readonly connections: Connections; readonly reservations: Reservations; readonly counters: PublishCounters };

const gzipAboveBytes = 256 * 1024;
/** A server that works confirms in milliseconds; what it confirms later than this is published elsewhere, too. */
const confirmMs = 3000;
/** Left of the budget for putting the delivery on the disk. */
const reserveMs = 700;

type Failures = ReadonlyMap<string, Exclude<PublishResult, { outcome: 'confirmed' }>>;

export function createPublisher({ connections, reservations, counters }: PublisherParts) {
  function unusable(failures: Failures): string[] {
    const names: string[] = [];
    for (const { target, isConnected } of connections.all) if (!isConnected || failures.has(target.name)) names.push(target.name);
    return names;
  }

  /** Undefined when there would be no time left to publish; what is granted later is given back. */
  function reserve(names: readonly string[], deadline: number): Promise<ReserveResult | undefined> | ReserveResult {
    const reserving = reservations.reserve(names);
    if (!(reserving instanceof Promise)) return reserving; // no timer for it
    return withTimeout<ReserveResult | undefined>(reserving, Math.max(0, deadline - performance.now() - reserveMs), () => {
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
      const failures = new Map<string, Exclude<PublishResult, { outcome: 'confirmed' }>>();
      const packing = message.body.length > gzipAboveBytes ? pack(message) : message;
      for (;;) {
        const reserved = await reserve(unusable(failures), deadline);
        if (!reserved) return outOfTime;
        if (reserved.outcome !== 'reserved') return conclude(reserved, failures);
        const packed = packing instanceof Promise ? await packing : packing;
        const timeoutMs = Math.min(confirmMs, deadline - performance.now() - reserveMs);
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

const outOfTime = { outcome: 'unavailable', reason: 'no time was left to publish it' } as const;
const removed: PublishResult = { outcome: 'unpublished', reason: 'the connection was removed' };

function conclude(reserved: Exclude<ReserveResult, { outcome: 'reserved' }>, failures: Failures): Published {
  const reasons = [...failures].map(([broker, { reason }]) => `${broker}: ${reason}`);
  if (reserved.outcome === 'databaseDown')
    return { outcome: 'unavailable', reason: ['the database that counts messages does not answer', ...reasons].join('; ') };
  // What was tried and failed has room, so this is so before the first try only, or when the rest filled up meanwhile.
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
