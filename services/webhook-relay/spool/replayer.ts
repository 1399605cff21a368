// Publishes spooled deliveries when a connection is back: rows and files, oldest first, several at once. On stop, files go to the database.
import type { Message } from '../../platform/broker/broker.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { isUnavailable } from '../../platform/postgres/errors.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import { createWakeUp } from '../../platform/time.ts';
import type { FailedPayload, FailedPayloads } from './failed-payloads.ts';
import type { SpoolFile } from './file-format.ts';
import { flushToDatabase } from './flush.ts';
import { createPass, forEachConcurrent } from './pass.ts';
import { corrupt, type Refusal, type Spool } from './spool.ts';

/**
 * What became of a try: published; unavailable: no connection takes messages now; refused: every connection that could be asked refuses
 * this very message; corrupt: it is unreadable for good; skipped: it is gone, or another's by now; failed: it may go well later.
 */
const outcomes = ['published', 'unavailable', 'refused', 'corrupt', 'skipped', 'failed'] as const;
type Outcome = (typeof outcomes)[number];
export type ReplayOutcome = Extract<Outcome, 'published' | 'unavailable' | 'refused'>;

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

/** A spooled delivery, whether it lies in a file or in a row of failed_payloads. */
type Entry = {
  readonly source: 'file' | 'row';
  /** For the log. */
  readonly id: string;
  /** About what it takes in memory while it is loaded. */
  bytes(): Promise<number>;
  /** Undefined when it is gone or somebody else's. Rejects for what may pass. */
  load(): Promise<{ readonly message: Message } | 'corrupt' | undefined>;
  record(outcome: Outcome): Promise<void>;
};

/** Deliveries tried at once, rows claimed at once. */
const concurrency = 32;
/** A delivery is given up when every connection refused it that often. */
const maxTries = 3;
/** A row arrives as hexadecimal text, twice its size, beside the bytes made from it. */
const rowExpansion = 3;

const refusedByAll = (toTryAgain: string): Refusal => ({
  reason: `refused by every connection in ${maxTries} tries`,
  toDo: `mostly it is too large: let the broker take larger messages, then ${toTryAgain}`,
});

/** Begins at once and goes on until the lifecycle stops; then finishes what is in flight. */
export function createReplayer({ spool, failedPayloads, publish, lifecycle, log, metrics, intervalMs, flushMs = 8000 }: ReplayerParts) {
  const { stopping } = lifecycle;
  const wakeUp = createWakeUp(stopping);
  const pass = createPass(log, 'replay of spooled deliveries failed; retrying');
  // On a disk that became read-only no file can be removed: none of them is published again and again.
  const published = new Set<string>();
  const replays = metrics.counter({
    name: 'signalbox_replays_total',
    help: 'Tries to publish a spooled delivery, from a file or a row, by outcome',
    labels: ['source', 'outcome'],
    series: ['file', 'row'].flatMap((source) => outcomes.map((outcome) => ({ source, outcome }))),
  });

  const fileEntry = (file: SpoolFile): Entry => ({
    source: 'file',
    id: file.name,
    bytes: () => spool.bytesOf(file),
    load: async () => (published.has(file.name) || !(await spool.own()) ? undefined : spool.read(file)),
    async record(outcome) {
      if (outcome === 'published') published.add(file.name);
      if (published.has(file.name)) {
        await spool.remove(file);
        published.delete(file.name);
      }
      if (outcome !== 'refused') return;
      if (file.tries + 1 < maxTries) await spool.setTries(file, file.tries + 1);
      else await spool.refuse(file, refusedByAll('move the file from the folder refused one up'));
    },
  });

  async function refuseRow(id: string, mostTries: number, refusal: Refusal): Promise<void> {
    if (await failedPayloads.countRefusal(id, mostTries)) log.error({ id, ...refusal }, 'spooled delivery refused, its row is kept');
  }

  const rowEntry = (row: FailedPayload): Entry => ({
    source: 'row',
    id: row.id,
    bytes: () => Promise.resolve(row.bytes * rowExpansion),
    load: () => failedPayloads.load(row),
    async record(outcome) {
      if (outcome === 'published' && (await failedPayloads.markReplayed(row.id)) === 0)
        log.warn({ id: row.id }, 'lease of a spooled delivery expired while it was published, it is published again');
      if (outcome === 'corrupt') await refuseRow(row.id, 1, corrupt('the header is not one of a message'));
      if (outcome === 'refused') await refuseRow(row.id, maxTries, refusedByAll('set refused_at = null and tries = 0 in its row of failed_payloads'));
    },
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
      const goOn = await forEachConcurrent(rows, concurrency, (row) => replay(rowEntry(row)));
      if (goOn && rows.length === concurrency) continue;
      // Not before the end of the pass: those that failed would come again in it.
      if (claimed > 0) await failedPayloads.release();
      return goOn;
    }
  }

  async function replayFiles(): Promise<boolean> {
    return !(await spool.own()) || forEachConcurrent(await spool.pending(), concurrency, (file) => replay(fileEntry(file)));
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
