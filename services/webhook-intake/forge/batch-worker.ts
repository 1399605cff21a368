// The work of both queue workers on a batch: read each delivery, store them together, give every one its outcome.
import type { BatchHandler, Delivery, Outcome } from '../../platform/broker/broker.ts';
import { describeError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { isOutage } from '../../platform/postgres/errors.ts';
import { usualMaxPayloadValues } from '../../webhook-relay/contract.ts';
import { receptionTime, Unreadable } from '../delivery.ts';

type BatchWork<Item> = {
  readonly worker: string;
  readonly queue: string;
  /** @throws Unreadable */
  readonly read: (delivery: Delivery, maxValues: number) => Promise<Item>;
  /** All or none. @returns for each whether it was new: false is a duplicate */
  readonly store: (items: readonly Item[]) => Promise<readonly boolean[]>;
};

export type BatchWorkerParts = { readonly metrics: Metrics; readonly log: Log; readonly maxPayloadValues?: number; readonly clock?: () => number };

/** @returns a handler that throws only what fails for every delivery alike: then the broker keeps the batch */
export function createBatchWorker<Item>(work: BatchWork<Item>, parts: BatchWorkerParts): BatchHandler {
  const { metrics, log, maxPayloadValues = usualMaxPayloadValues, clock = Date.now } = parts;
  const { worker, queue } = work;
  const inHand = createInHand(clock);
  const { runs, batches, deliveries, delay } = createWorkerMetrics(metrics, work, inHand.oldestSeconds);

  function count(delivery: Delivery, outcome: DeliveryOutcome): void {
    deliveries.inc({ queue, outcome });
    if (outcome === 'stored') delay.observe({ queue }, Math.max(0, clock() - receptionTime(delivery).getTime()) / 1000);
  }

  async function handle(part: readonly Delivery[]): Promise<Outcome[]> {
    const failed = new Map<Delivery, Failure>();
    const readable: { readonly delivery: Delivery; readonly item: Item }[] = [];
    for (const delivery of part) {
      try {
        readable.push({ delivery, item: await work.read(delivery, maxPayloadValues) });
      } catch (error) {
        failed.set(delivery, failureOf(error));
      }
    }
    const stored = await isolate(readable, (some) => work.store(some.map(({ item }) => item)));
    readable.forEach(({ delivery }, index) => {
      const outcome = stored[index];
      if (typeof outcome === 'object') failed.set(delivery, outcome);
      else count(delivery, outcome === true ? 'stored' : 'duplicate');
    });
    for (const [delivery, outcome] of failed) {
      count(delivery, 'deadLetter' in outcome ? 'unreadable' : 'refused');
      // The consumer logs a dead letter.
      if ('retry' in outcome) log.warn({ queue, messageId: delivery.id, attempt: delivery.attempt, outcome }, 'storing a delivery failed, retrying');
    }
    return part.map((delivery) => failed.get(delivery) ?? 'ack');
  }

  return async (batch) => {
    inHand.hold(batch);
    batches.observe({ queue }, batch.length);
    try {
      const outcomes: Outcome[] = [];
      for (const part of bounded(batch)) outcomes.push(...(await handle(part)));
      runs.inc({ worker, outcome: 'succeeded' });
      inHand.release(batch);
      return outcomes;
    } catch (error) {
      runs.inc({ worker, outcome: 'failed' });
      inHand.hold(batch, clock() + redeliveryGraceMs);
      throw error;
    }
  };
}

type Failure = Exclude<Outcome, string>;

/** @throws what fails for every delivery alike: the database is away */
function failureOf(error: unknown): Failure {
  if (isOutage(error)) throw error;
  return error instanceof Unreadable ? { deadLetter: error.message } : { retry: describeError(error) };
}

/**
 * Works on all items at once; when that fails because of one of them, on each half by itself, and so on.
 * @returns an outcome for each item, in order
 * @throws what fails for every item alike
 */
async function isolate<Item, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<readonly (Result | Failure)[]> {
  if (items.length === 0) return [];
  try {
    return await work(items);
  } catch (error) {
    const failure = failureOf(error);
    if (items.length === 1) return [failure];
  }
  const middle = Math.ceil(items.length / 2);
  const first = await isolate(items.slice(0, middle), work);
  return [...first, ...(await isolate(items.slice(middle), work))];
}

/** Payloads in work at once, unpacked: each is copied a few times on its way into the database. */
const maxPartBytes = 16 * 1024 * 1024;
/** The unpacked size, which gzip writes at the end (RFC 1952, ISIZE); a body of one letter repeated packs to a thousandth. */
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

/** A failed batch is retried within 5 s; if it is not back by now the broker has given it to another worker. */
export const redeliveryGraceMs = 15_000;

/** The batches that a worker is at, or whose next try it waits for. */
function createInHand(clock: () => number) {
  const batches = new Map<readonly Delivery[], { readonly oldestMs: number; readonly untilMs: number }>();
  const dropOverdue = () => batches.forEach(({ untilMs }, batch) => clock() > untilMs && batches.delete(batch));
  return {
    hold(batch: readonly Delivery[], untilMs = Infinity): void {
      dropOverdue();
      batches.set(batch, { oldestMs: Math.min(...batch.map((delivery) => receptionTime(delivery).getTime())), untilMs });
    },
    release: (batch: readonly Delivery[]) => void batches.delete(batch),
    oldestSeconds(): number {
      dropOverdue();
      return Math.max(0, ...[...batches.values()].map(({ oldestMs }) => clock() - oldestMs)) / 1000;
    },
  };
}

const outcomes = ['stored', 'duplicate', 'refused', 'unreadable'] as const;
type DeliveryOutcome = (typeof outcomes)[number];

/** @param oldestSeconds age of the oldest delivery that the worker has in hand */
function createWorkerMetrics(metrics: Metrics, { worker, queue }: { readonly worker: string; readonly queue: string }, oldestSeconds: () => number) {
  const runs = metrics.counter({
    name: 'signalbox_worker_runs_total',
    help: 'Batches that a worker has worked on, by outcome: a failed one is tried again as a whole.',
    labels: ['worker', 'outcome'],
    series: ['succeeded', 'failed'].map((outcome) => ({ worker, outcome })),
  });
  metrics.gauge({
    name: 'signalbox_worker_oldest_message_seconds',
    help: 'Age, since the relay received it, of the oldest delivery that the worker is at, or that it could not store yet; 0 when there is none.',
    labels: ['worker'],
    collect: (gauge) => gauge.set({ worker }, oldestSeconds()),
  });
  const batches = metrics.histogram({
    name: 'signalbox_intake_batch_deliveries',
    help: 'Deliveries that the worker was given at once, by queue; a batch that is tried again counts again.',
    labels: ['queue'],
    buckets: [1, 2, 5, 10, 20, 50, 100],
  });
  const deliveries = metrics.counter({
    name: 'signalbox_intake_deliveries_total',
    help: 'Deliveries by queue and by what became of them: stored, duplicate, refused (tried again), unreadable (dead)',
    labels: ['queue', 'outcome'],
    series: outcomes.map((outcome) => ({ queue, outcome })),
  });
  const delay = metrics.histogram({
    name: 'signalbox_intake_delay_seconds',
    help: 'From reception by the relay to the end of work on it, by queue',
    labels: ['queue'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 3600],
  });
  return { runs, batches, deliveries, delay };
}
