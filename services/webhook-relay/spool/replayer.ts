// Publishes spooled deliveries when a connection is back: rows and files, oldest first, several at once.
import { randomUUID } from 'node:crypto';
import { createByteBudget } from '../../platform/byte-budget.ts';
import type { Message } from '../../platform/broker/broker.ts';
import type { Lifecycle } from '../../platform/lifecycle.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { isUnavailable } from '../../platform/postgres-error.ts';
import type { FailedPayloads } from './failed-payloads.ts';
import { type HandOver, handOver } from './hand-over.ts';
import { inOrder } from './in-order.ts';
import type { Replayable } from './replayable.ts';
import { replayableFiles } from './replayable-files.ts';
import { replayableRows } from './replayable-rows.ts';
import type { Spool } from './spool.ts';
import { createWakeUp } from './wake-up.ts';

/** - unavailable: nothing is wrong with it, but no connection takes messages now.
 *  - refused: every connection that could be asked refuses this very message. */
export type ReplayOutcome = 'published' | 'unavailable' | 'refused';

/** Besides: skipped is corrupt or taken by another, failed is none of these. */
const outcomes = ['published', 'unavailable', 'refused', 'skipped', 'failed'] as const;
type Outcome = (typeof outcomes)[number];

export type ReplayerParts = {
  readonly spool: Spool;
  readonly failedPayloads: FailedPayloads;
  /** Reserves and publishes like any other delivery. */
  readonly publish: (message: Message) => Promise<ReplayOutcome>;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly intervalMs: number;
  /** For a directory that ends with the process: what is pending at the stop goes to the database. */
  readonly handOverOnStop: boolean;
  readonly handOverMs?: number;
};

export type Replayer = {
  /** A connection came back: tries at once. */
  nudge(): void;
  /** Puts what is pending into the database, until the deadline. */
  handOver(deadlineMs: number): Promise<HandOver>;
};

const atOnce = 32;
/** Payloads in memory at once; the largest allowed fits. */
const memoryBytes = 32 * 1024 * 1024;
const forEver = 2 ** 31 - 1;

/** Begins at once and goes on until the lifecycle stops; then finishes what is in flight. */
export function createReplayer(parts: ReplayerParts): Replayer {
  const { spool, failedPayloads, publish, lifecycle, log, metrics, intervalMs, handOverOnStop, handOverMs = 8000 } = parts;
  const { stopping } = lifecycle;
  const owner = randomUUID();
  const memory = createByteBudget(memoryBytes);
  const wakeUp = createWakeUp(stopping);
  const replays = metrics.counter({
    name: 'signalbox_replays_total',
    help: 'Tries to publish a spooled delivery, from a file or a row, by outcome',
    labels: ['source', 'outcome'],
  });
  for (const source of ['file', 'row'] as const) for (const outcome of outcomes) replays.inc({ source, outcome }, 0);

  async function tryToPublish(delivery: Replayable): Promise<Outcome> {
    const lease = await memory.acquire(delivery.bytes, forEver);
    try {
      if (stopping.aborted) return 'unavailable';
      const message = await delivery.load();
      return message ? await publish(message) : 'skipped';
    } catch (error) {
      log.warn({ source: delivery.source, id: delivery.id, error }, 'a spooled delivery could not be replayed');
      // one that fails by itself must not keep those behind it; a database that is down fails them all
      return isUnavailable(error) ? 'unavailable' : 'failed';
    } finally {
      lease?.release();
    }
  }

  async function step(delivery: Replayable): Promise<boolean> {
    const { source, id } = delivery;
    const outcome = await tryToPublish(delivery);
    replays.inc({ source, outcome });
    try {
      if (outcome === 'published') await delivery.published();
      else if (outcome === 'refused') await delivery.refused();
      else if (outcome !== 'skipped') await delivery.giveBack();
    } catch (error) {
      log.warn({ source, id, outcome, error }, 'what became of a spooled delivery cannot be recorded, it comes back when its claim ends');
    }
    return outcome !== 'unavailable' && !stopping.aborted;
  }

  async function pass(): Promise<void> {
    await spool.takeOver();
    const goOn = await inOrder(replayableRows({ failedPayloads, owner, log }), atOnce, step).catch((error: unknown) => {
      const level = isUnavailable(error) ? 'debug' : 'warn'; // an outage is told by those who watch the database
      log[level]({ error }, 'failed payloads in the database cannot be replayed now');
      return true; // the files do not wait for them
    });
    if (goOn) await inOrder(replayableFiles(spool, log), atOnce, step);
  }

  async function loop(): Promise<void> {
    while (!stopping.aborted) {
      await pass().catch((error: unknown) => log.error({ error }, 'the replay of spooled deliveries failed, it will be tried again'));
      await wakeUp.pause(intervalMs);
    }
  }

  const toDatabase = (deadlineMs: number) => handOver({ spool, failedPayloads, memory, log }, deadlineMs);
  const running = loop();
  lifecycle.onStop('replayer', async () => {
    await running;
    if (handOverOnStop) await toDatabase(handOverMs);
    await spool.close();
  });
  return { nudge: wakeUp.wake, handOver: toDatabase };
}
