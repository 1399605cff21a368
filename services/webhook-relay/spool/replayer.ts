// Publishes spooled deliveries when a connection is back: rows and files, oldest first, several at once. On stop, files go to the database.
import type { Message } from '../../platform/broker/broker.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { isUnavailable } from '../../platform/postgres/errors.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import { createWakeUp, withTimeout } from '../../platform/time.ts';
import { createEntries, type Entry, type Outcome, outcomes } from './entries.ts';
import type { FailedPayloads } from './failed-payloads.ts';
import { flushToDatabase } from './flush.ts';
import { createPass, forEachConcurrent } from './pass.ts';
import type { Spool } from './spool.ts';

export type ReplayOutcome = Extract<Outcome, 'published' | 'unavailable' | 'refused'>;

type ReplayerParts = {
  readonly spool: Spool;
  readonly failedPayloads: FailedPayloads;
  /** Reserves and publishes like any other delivery. */
  readonly publish: (message: Message) => Promise<ReplayOutcome>;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How long spooled deliveries wait for the next try, unless the replayer is woken before. */
  readonly intervalMs: number;
  /** How long a stop may take to put pending files into the database; 0 leaves them on the disk. */
  readonly flushMs?: number;
};

/** How long a stop waits for the tries that have begun. */
const inFlightMs = 5000;
/** Deliveries tried at once, rows claimed at once. */
const concurrency = 32;
/** Begins at once and goes on until the lifecycle stops; then finishes what is in flight. */
export function createReplayer({ spool, failedPayloads, publish, lifecycle, log, metrics, intervalMs, flushMs = 8000 }: ReplayerParts) {
  const { stopping } = lifecycle;
  const wakeUp = createWakeUp(stopping);
  const pass = createPass(log, 'replay of spooled deliveries failed; retrying');
  const entries = createEntries({ spool, failedPayloads, log });
  const replays = metrics.counter({
    name: 'signalbox_replays_total',
    help: 'Tries to publish a spooled delivery, from a file or a row, by outcome',
    labels: ['source', 'outcome'],
    series: ['file', 'row'].flatMap((source) => outcomes.map((outcome) => ({ source, outcome }))),
  });

  async function loadAndPublish(entry: Entry): Promise<Outcome> {
    if (stopping.aborted) return 'unavailable';
    const loaded = await entry.load();
    return typeof loaded === 'object' ? publish(loaded.message) : (loaded ?? 'skipped');
  }

  async function tryToPublish(entry: Entry): Promise<Outcome> {
    try {
      return await pass.withMemory(await entry.bytes(), () => loadAndPublish(entry));
    } catch (error) {
      if (isUnavailable(error)) return 'unavailable'; // a database that is down fails them all
      pass.failed(entry.id, error); // one that fails by itself must not keep those behind it
      return 'failed';
    }
  }

  /** Never rejects. @returns false when there is no use in trying the next one now */
  async function replay(entry: Entry): Promise<boolean> {
    const outcome = await tryToPublish(entry);
    replays.inc({ source: entry.source, outcome });
    // what was not recorded is tried again
    await entry.record(outcome).catch((error: unknown) => pass.failed(entry.id, error));
    return outcome !== 'unavailable' && !stopping.aborted;
  }

  async function replayRows(): Promise<boolean> {
    let claimed = 0;
    for (;;) {
      const rows = await failedPayloads.claimDue(concurrency);
      claimed += rows.length;
      const goOn = await forEachConcurrent(rows, concurrency, (row) => replay(entries.ofRow(row)));
      if (goOn && rows.length === concurrency) continue;
      // Not before the end of the pass: those that failed would come again in it.
      if (claimed > 0) await failedPayloads.release();
      return goOn;
    }
  }

  async function replayFiles(): Promise<boolean> {
    return !(await spool.own()) || forEachConcurrent(await spool.pending(), concurrency, (file) => replay(entries.ofFile(file)));
  }

  /** A failure is logged and does not keep the rest from its try. */
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
    // A publication ends within its budget; a database that hangs is waited for no longer than that.
    await withTimeout(running, inFlightMs, () => undefined);
    if (flushMs > 0) await flushToDatabase({ spool, failedPayloads, log, deadlineMs: flushMs });
    await spool.close();
  });
  return {
    /** A connection came back: tries at once. */
    nudge: wakeUp.wake,
  };
}
