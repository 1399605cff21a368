// What both queue workers do with a batch: read each delivery, store them together, give every one its outcome.
import type { BatchHandler, Delivery, Outcome } from '../platform/broker/broker.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { receptionTime } from './envelope.ts';
import { isolating } from './isolation.ts';
import type { Unreadable } from './payload.ts';

export type BatchWork<Item> = {
  readonly queue: string;
  readonly read: (delivery: Delivery) => Promise<Item | Unreadable>;
  /** All or none. @returns for each whether it was new: false is a duplicate */
  readonly store: (items: readonly Item[]) => Promise<readonly boolean[]>;
};

type Parts = { readonly metrics: Metrics; readonly log: Log };

export function createBatchWorker<Item extends object>(work: BatchWork<Item>, { metrics, log }: Parts): BatchHandler {
  const note = createNotes(work.queue, metrics);

  async function handle(part: readonly Delivery[]): Promise<Outcome[]> {
    const outcomes = new Map<Delivery, Outcome>();
    const readable: { readonly delivery: Delivery; readonly item: Item }[] = [];
    for (const delivery of part) {
      const item = await work.read(delivery);
      if (!('unreadable' in item)) readable.push({ delivery, item });
      else outcomes.set(delivery, { deadLetter: item.unreadable });
    }
    const stored = await isolating(readable, (some) => work.store(some.map(({ item }) => item)));
    readable.forEach(({ delivery }, index) => {
      const outcome = stored[index];
      if (typeof outcome === 'object') outcomes.set(delivery, { retry: outcome.refused });
      else note(delivery, outcome === true ? 'stored' : 'duplicate');
    });
    for (const [delivery, outcome] of outcomes) {
      note(delivery, typeof outcome === 'object' && 'deadLetter' in outcome ? 'unreadable' : 'refused');
      log.warn({ queue: work.queue, messageId: delivery.id, attempt: delivery.attempt, outcome }, 'a delivery could not be stored');
    }
    return part.map((delivery) => outcomes.get(delivery) ?? 'ack');
  }

  return async (batch) => {
    const outcomes: Outcome[] = [];
    for (const part of bounded(batch)) outcomes.push(...(await handle(part)));
    return outcomes;
  };
}

/** Payloads in work at once, unpacked: each is copied a few times on its way into the database. */
const maxPartBytes = 16 * 1024 * 1024;
/** What gzip writes at the end (RFC 1952, ISIZE); a body of one letter repeated packs to a thousandth. */
const weightOf = ({ body, contentEncoding }: Delivery) =>
  contentEncoding === 'gzip' && body.length >= 4 ? Math.max(body.length, body.readUInt32LE(body.length - 4)) : body.length;

/** In order; each part within the bound, or a single delivery. */
function bounded(batch: readonly Delivery[]): Delivery[][] {
  const parts: Delivery[][] = [];
  let room = 0;
  for (const delivery of batch) {
    const weight = weightOf(delivery);
    const last = parts.at(-1);
    if (last && weight <= room) {
      last.push(delivery);
      room -= weight;
    } else {
      parts.push([delivery]);
      room = maxPartBytes - weight;
    }
  }
  return parts;
}

const becomes = ['stored', 'duplicate', 'refused', 'unreadable'] as const;

function createNotes(queue: string, metrics: Metrics) {
  const outcomes = metrics.counter({
    name: 'signalbox_intake_deliveries_total',
    help: 'Deliveries by queue and by what became of them: stored, duplicate, refused (tried again), unreadable (dead)',
    labels: ['queue', 'outcome'],
  });
  for (const outcome of becomes) outcomes.inc({ queue, outcome }, 0);
  const delay = metrics.histogram({
    name: 'signalbox_intake_delay_seconds',
    help: 'From reception by the relay to the end of work on it, by queue',
    labels: ['queue'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 3600],
  });
  return (delivery: Delivery, outcome: (typeof becomes)[number]) => {
    outcomes.inc({ queue, outcome });
    if (outcome === 'stored') delay.observe({ queue }, Math.max(0, Date.now() - receptionTime(delivery).getTime()) / 1000);
  };
}
