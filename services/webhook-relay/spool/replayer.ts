// Publishes spooled deliveries when a connection is back: rows and files, oldest first, several at once. On stop, files go to the database.
import { randomUUID } from 'node:crypto';
import type { Message } from '../../platform/broker/broker.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { isUnavailable } from '../../platform/postgres/errors.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import { createWakeUp } from '../../platform/time.ts';
import { type Attempt, createFileEntries, createRowEntries, outcomes, type SpoolEntry } from './entries.ts';
import { type FailedPayloads, type Position, start } from './failed-payloads.ts';
import { flushToDatabase } from './flush.ts';
import { createPass, forEachConcurrent } from './pass.ts';
import type { Spool } from './spool.ts';

/** - unavailable: nothing is wrong with it, but no connection takes messages now.
 *  - refused: every connection that could be asked refuses this very message. */
export type ReplayOutcome = 'published' | 'unavailable' | 'refused';

type ReplayerParts = {
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

/** Deliveries tried at once, rows claimed at once. */
const concurrency = 32;

/** Begins at once and goes on until the lifecycle stops; then finishes what is in flight. */
export function createReplayer({ spool, failedPayloads, publish, lifecycle, log, metrics, intervalMs, flushMs = 8000 }: ReplayerParts) {
  const { stopping } = lifecycle;
  const owner = randomUUID();
  const wakeUp = createWakeUp(stopping);
  const pass = createPass(log, 'replay of spooled deliveries failed; retrying');
  const rowEntry = createRowEntries(failedPayloads, owner, log);
  const fileEntry = createFileEntries(spool);
  const replays = metrics.counter({
    name: 'signalbox_replays_total',
    help: 'Tries to publish a spooled delivery, from a file or a row, by outcome',
    labels: ['source', 'outcome'],
    series: ['file', 'row'].flatMap((source) => outcomes.map((outcome) => ({ source, outcome }))),
  });

  async function loadAndPublish(entry: SpoolEntry): Promise<Attempt> {
    if (stopping.aborted) return { outcome: 'unavailable' };
    const loaded = await entry.load();
    if (!loaded) return { outcome: 'skipped' };
    return 'message' in loaded ? { outcome: await publish(loaded.message) } : { outcome: 'corrupt', what: loaded.corrupt };
  }

  async function tryToPublish(entry: SpoolEntry): Promise<Attempt> {
    try {
      return await pass.withMemory(await entry.bytes(), () => loadAndPublish(entry));
    } catch (error) {
      if (isUnavailable(error)) return { outcome: 'unavailable' }; // a database that is down fails them all
      pass.failed(entry.id, error); // one that fails by itself must not keep those behind it
      return { outcome: 'failed' };
    }
  }

  /** Never rejects. @returns false when there is no use in trying the next one now */
  async function replay(entry: SpoolEntry): Promise<boolean> {
    const attempt = await tryToPublish(entry);
    replays.inc({ source: entry.source, outcome: attempt.outcome });
    // what was not recorded is tried again: a row when its lease ends
    await entry.record(attempt).catch((error: unknown) => pass.failed(entry.id, error));
    return attempt.outcome !== 'unavailable' && !stopping.aborted;
  }

  async function replayRows(): Promise<boolean> {
    for (let position: Position = start; ;) {
      const rows = await failedPayloads.claimDue(position, concurrency, owner);
      const { goOn, rest } = await forEachConcurrent(rows, concurrency, (row) => replay(rowEntry(row)));
      const unbegun = rest.map(({ id }) => id);
      if (unbegun.length > 0) await failedPayloads.release(unbegun, owner);
      const last = rows.at(-1);
      if (!goOn || !last || rows.length < concurrency) return goOn;
      position = last;
    }
  }

  async function replayFiles(): Promise<boolean> {
    if (!(await spool.own())) return true;
    const { goOn } = await forEachConcurrent(await spool.pending(), concurrency, (file) => replay(fileEntry(file)));
    return goOn;
  }

  /** What fails here is logged and keeps nothing else. */
  async function guarded(what: string, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) pass.failed(what, error); // an outage of the database is logged by those who watch it
      return true;
    }
  }

  async function loop(): Promise<void> {
    while (!stopping.aborted) {
      if (await guarded('the table failed_payloads', replayRows)) await guarded('the spool folder', replayFiles);
      pass.logFailures();
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
