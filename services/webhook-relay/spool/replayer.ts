// Publishes spooled deliveries when a connection is back: rows and files, oldest first, several at once.
import { randomUUID } from 'node:crypto';
import { createByteBudget } from '../../platform/http/byte-budget.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { isUnavailable } from '../../platform/postgres/errors.ts';
import type { FailedPayloads } from './failed-payloads.ts';
import { type HandOver, handOver } from './hand-over.ts';
import { inOrder } from './in-order.ts';
import { createReplay, type ReplayParts } from './replay.ts';
import { replayableFiles } from './replayable-files.ts';
import { replayableRows } from './replayable-rows.ts';
import { createSetbacks } from './setbacks.ts';
import type { Spool } from './spool.ts';
import { createWakeUp } from './wake-up.ts';

export type ReplayerParts = {
  readonly spool: Spool;
  readonly failedPayloads: FailedPayloads;
  readonly publish: ReplayParts['publish'];
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

/** Begins at once and goes on until the lifecycle stops; then finishes what is in flight. */
export function createReplayer(parts: ReplayerParts): Replayer {
  const { spool, failedPayloads, publish, lifecycle, log, metrics, intervalMs, handOverOnStop, handOverMs = 8000 } = parts;
  const { stopping } = lifecycle;
  const owner = randomUUID();
  const memory = createByteBudget(memoryBytes);
  const wakeUp = createWakeUp(stopping);
  const setbacks = createSetbacks(log);
  const replay = createReplay({ publish, memory, setbacks, metrics, stopping });

  /** What fails here is told and keeps nothing else. */
  async function guarded(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      setbacks.over(what);
    } catch (error) {
      // an outage of the database is told by those who watch it
      if (!isUnavailable(error)) setbacks.failed(what, error);
    }
  }

  async function pass(): Promise<void> {
    let goOn = true;
    await guarded('files of processes that ended', () => spool.takeOver());
    await guarded('the table failed_payloads', async () => (goOn = await inOrder(replayableRows({ failedPayloads, owner, log }), atOnce, replay)));
    if (goOn) await guarded('the spool folder', () => inOrder(replayableFiles(spool, setbacks), atOnce, replay));
    setbacks.tell();
  }

  async function loop(): Promise<void> {
    while (!stopping.aborted) {
      await pass();
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
