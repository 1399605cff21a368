// Hands pending spool files to the database, for a directory that ends with its process.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ByteBudget } from '../../platform/http/byte-budget.ts';
import type { Log } from '../../platform/log.ts';
import { isUnavailable } from '../../platform/postgres/errors.ts';
import type { ClaimedFile } from './claims.ts';
import type { FailedPayloads } from './failed-payloads.ts';
import { inOrder } from './in-order.ts';
import { corrupt } from './refusal.ts';
import { claimFiles } from './replayable-files.ts';
import { createSetbacks } from './setbacks.ts';
import type { Spool } from './spool.ts';

export type HandOver = { readonly handedOver: number; readonly left: number };

type Parts = {
  readonly spool: Spool;
  readonly failedPayloads: FailedPayloads;
  readonly memory: ByteBudget;
  readonly log: Log;
};

/** Fewer than the pool has connections: a stop needs some for its last counts too. */
const atOnce = 8;

/** Ends at the deadline at the latest. A file is removed after its row is committed, never before. */
export async function handOver({ spool, failedPayloads, memory, log }: Parts, deadlineMs: number): Promise<HandOver> {
  const setbacks = createSetbacks(log);
  let handedOver = 0;
  let inHand = 0;
  let late = false;

  async function toRow(file: ClaimedFile): Promise<void> {
    const read = await spool.read(file);
    if ('corrupt' in read) return spool.refuse(file, corrupt(read.corrupt));
    await failedPayloads.insert(read.delivery, file.tries);
    handedOver += 1;
    await spool.remove(file);
  }

  async function step(file: ClaimedFile): Promise<boolean> {
    const lease = await memory.acquire(file.bytes, deadlineMs);
    inHand += 1;
    try {
      if (!lease || late) throw new Error('the time for handing over ended');
      await toRow(file);
      return !late;
    } catch (error) {
      setbacks.failed(file.name, error);
      await spool.release(file).catch((failure: unknown) => setbacks.failed(file.name, failure));
      return !late && !isUnavailable(error); // one that fails by itself does not keep the others from the database
    } finally {
      inHand -= 1;
      lease?.release();
    }
  }

  const guarded = (what: string, work: () => Promise<unknown>) => work().catch((error: unknown) => setbacks.failed(what, error));
  async function work(): Promise<void> {
    // This directory is one process's, and gone soon: what one before it left is not waited for.
    await guarded('files of processes that ended', () => spool.takeOver(0));
    // Given up here, it is tried once more from there, and then kept as long as it would have been here.
    await guarded('the folder refused', () => spool.refused.giveBack());
    await guarded('the spool folder', () => inOrder(claimFiles(spool, setbacks), atOnce, step));
  }

  const stop = new AbortController();
  const deadline = sleep(deadlineMs, undefined, { signal: stop.signal }).then(
    () => void (late = true),
    () => undefined, // all done in time
  );
  await Promise.race([work(), deadline]);
  stop.abort();

  setbacks.tell();
  const left = (await spool.pending()).length + inHand;
  if (left > 0) log.error({ handedOver, left }, 'spooled deliveries stay on the disk of a relay that stops');
  else if (handedOver > 0) log.info({ handedOver }, 'spooled deliveries were handed to the database');
  return { handedOver, left };
}
