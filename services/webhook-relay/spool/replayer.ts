// Publishes spooled deliveries when a connection is back: rows and files, oldest first, several at once. On stop, files go to the database.
import { randomUUID } from 'node:crypto';
import type { Message } from '../../platform/broker/broker.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { isUnavailable } from '../../platform/postgres/errors.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import { createSemaphore, type Semaphore } from '../../platform/semaphore.ts';
import { createWakeUp, withTimeout } from '../../platform/time.ts';
import { type Attempt, corrupt, createFileEntries, createRowEntries, type SpoolEntry } from './entries.ts';
import { type FailedPayloads, leaseMs, type Position, start } from './failed-payloads.ts';
import type { SpoolFile } from './file-format.ts';
import { createRetries, forEachConcurrent } from './retries.ts';
import type { Spool } from './spool.ts';

/** - unavailable: nothing is wrong with it, but no connection takes messages now.
 *  - refused: every connection that could be asked refuses this very message. */
export type ReplayOutcome = 'published' | 'unavailable' | 'refused';

export type ReplayerParts = {
  readonly spool: Spool;
  readonly failedPayloads: FailedPayloads;
  /** Reserves and publishes like any other delivery. */
  readonly publish: (message: Message) => Promise<ReplayOutcome>;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How long spooled deliveries wait for the next try, where nobody wakes the replayer before. */
  readonly intervalMs: number;
  /** How long a stop may take to put pending files into the database; 0 leaves them on the disk. */
  readonly flushMs?: number;
};

const outcomes = ['published', 'unavailable', 'refused', 'corrupt', 'skipped', 'failed'] as const;
const concurrency = 32;
/** Fewer than the pool has connections: a stop needs some for its last counts too. */
const flushedAtOnce = 8;
/** Rows claimed at once. */
const batchSize = 32;
/** Payloads in memory at once; the largest allowed fits. */
const memoryBytes = 32 * 1024 * 1024;
const forEver = 2 ** 31 - 1;

/** Begins at once and goes on until the lifecycle stops; then finishes what is in flight. */
export function createReplayer({ spool, failedPayloads, publish, lifecycle, log, metrics, intervalMs, flushMs = 8000 }: ReplayerParts) {
  const { stopping } = lifecycle;
  const owner = randomUUID();
  const wakeUp = createWakeUp(stopping);
  const memory = createSemaphore(memoryBytes);
  const retries = createRetries(log, 'replay of spooled deliveries failed; retrying with back-off');
  const rowEntry = createRowEntries({ failedPayloads, owner, log });
  const fileEntry = createFileEntries(spool);
  const replays = metrics.counter({
    name: 'signalbox_replays_total',
    help: 'Tries to publish a spooled delivery, from a file or a row, by outcome',
    labels: ['source', 'outcome'],
    series: ['file', 'row'].flatMap((source) => outcomes.map((outcome) => ({ source, outcome }))),
  });

  async function loadAndPublish(entry: SpoolEntry): Promise<Attempt> {
    const loaded = await entry.load();
    if (!loaded) return { outcome: 'skipped' };
    return 'message' in loaded ? { outcome: await publish(loaded.message) } : { outcome: 'corrupt', what: loaded.corrupt };
  }

  async function tryToPublish(entry: SpoolEntry): Promise<Attempt> {
    try {
      const bytes = await entry.bytes();
      return await withMemory(memory, bytes, async () => (stopping.aborted ? { outcome: 'unavailable' } : loadAndPublish(entry)));
    } catch (error) {
      // one that fails by itself must not keep those behind it; a database that is down fails them all
      return isUnavailable(error) ? { outcome: 'unavailable' } : { outcome: 'failed', pauseMs: retries.failed(entry.id, error) };
    }
  }

  /** Never rejects. @returns false when there is no use in trying the next one now */
  async function replay(entry: SpoolEntry): Promise<boolean> {
    const attempt = await tryToPublish(entry);
    replays.inc({ source: entry.source, outcome: attempt.outcome });
    try {
      await entry.record(attempt);
      if (attempt.outcome !== 'failed') retries.succeeded(entry.id);
    } catch (error) {
      retries.failed(entry.id, error); // a row comes back when its lease ends
    }
    return attempt.outcome !== 'unavailable' && !stopping.aborted;
  }

  async function replayRows(): Promise<boolean> {
    for (let position: Position = start; ;) {
      const rows = await failedPayloads.claimDue(position, { limit: batchSize, owner, leaseMs });
      const { goOn, rest } = await forEachConcurrent(rows, concurrency, (row) => replay(rowEntry(row)));
      const unbegun = rest.map(({ id }) => id);
      if (unbegun.length > 0) await failedPayloads.release(unbegun, owner);
      const last = rows.at(-1);
      if (!goOn || !last || rows.length < batchSize) return goOn;
      position = last;
    }
  }

  async function replayFiles(): Promise<boolean> {
    if (!(await spool.own())) return true;
    const due = (await spool.pending()).filter(({ name }) => retries.isDue(name));
    const { goOn } = await forEachConcurrent(due, concurrency, async (file) => spool.isOwner() && replay(fileEntry(file)));
    return goOn;
  }

  /** What fails here is logged and keeps nothing else. */
  async function guarded(what: string, work: () => Promise<boolean>): Promise<boolean> {
    try {
      const goOn = await work();
      retries.succeeded(what);
      return goOn;
    } catch (error) {
      if (!isUnavailable(error)) retries.failed(what, error); // an outage of the database is logged by those who watch it
      return true;
    }
  }

  async function loop(): Promise<void> {
    while (!stopping.aborted) {
      if (await guarded('the table failed_payloads', replayRows)) await guarded('the spool folder', replayFiles);
      retries.logFailures();
      await wakeUp.pause(intervalMs);
    }
  }

  const running = loop();
  lifecycle.onStop('replayer', async () => {
    await running;
    if (flushMs > 0) await flushToDatabase({ spool, failedPayloads, log, deadlineMs: flushMs });
    await spool.close();
  });
  return {
    /** A connection came back: tries at once. */
    nudge: wakeUp.wake,
  };
}

/** Runs `work` once so many bytes are free; more than there are waits for all. */
async function withMemory<T>(memory: Semaphore, bytes: number, work: () => Promise<T>): Promise<T> {
  const units = Math.min(bytes, memory.capacity);
  await memory.acquire(units, forEver);
  try {
    return await work();
  } finally {
    memory.release(units);
  }
}

type FlushParts = Pick<ReplayerParts, 'spool' | 'failedPayloads' | 'log'> & { readonly deadlineMs: number };

/**
 * Moves pending files to the database: the disk of a relay that stops may end with it. Ends at the deadline at the latest.
 * A file is removed after its row is committed, never before.
 */
async function flushToDatabase({ spool, failedPayloads, log, deadlineMs }: FlushParts): Promise<void> {
  const memory = createSemaphore(memoryBytes);
  const retries = createRetries(log, 'flushing spooled deliveries to the database failed');
  let flushed = 0;
  let isLate = false;

  async function toRow(file: SpoolFile): Promise<void> {
    const read = await spool.read(file);
    if (!read) return;
    if ('corrupt' in read) return spool.refuse(file, corrupt(read.corrupt));
    await failedPayloads.insert(read.delivery, file.tries);
    flushed += 1;
    await spool.remove(file);
  }

  async function step(file: SpoolFile): Promise<boolean> {
    try {
      const bytes = await spool.bytesOf(file);
      await withMemory(memory, bytes, async () => (isLate ? undefined : toRow(file)));
      return !isLate;
    } catch (error) {
      retries.failed(file.name, error);
      return !isLate && !isUnavailable(error); // one that fails by itself does not keep the others from the database
    }
  }

  async function work(): Promise<void> {
    if (!(await spool.own())) return;
    // Given up here, it is tried once more from there, and then kept as long as it would have been here.
    await spool.refused.restore().catch((error: unknown) => retries.failed('the folder refused', error));
    await forEachConcurrent(await spool.pending(), flushedAtOnce, step);
  }

  const working = work().catch((error: unknown) => void retries.failed('the spool folder', error));
  await withTimeout(working, deadlineMs, () => undefined);
  isLate = true;
  retries.logFailures();
  const left = spool.isOwner() ? (await spool.pending()).length : 0;
  if (left > 0) log.error({ flushed, left }, 'spooled deliveries stay on the disk after shutdown');
  else if (flushed > 0) log.info({ flushed }, 'spooled deliveries flushed to the database');
}
