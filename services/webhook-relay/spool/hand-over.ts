// Hands pending spool files to the database, for a directory that ends with its process.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ByteBudget } from '../../platform/byte-budget.ts';
import type { Log } from '../../platform/log.ts';
import type { FailedPayloads } from './failed-payloads.ts';
import { inOrder } from './in-order.ts';
import { claimFiles } from './replayable-files.ts';
import type { ClaimedFile, Spool } from './spool.ts';

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
  let handedOver = 0;
  let inHand = 0;
  let late = false;

  async function toRow(file: ClaimedFile): Promise<boolean> {
    const lease = await memory.acquire(file.bytes, deadlineMs);
    inHand += 1;
    try {
      if (!lease || late) throw new Error('the time for handing over ended');
      const delivery = await spool.read(file);
      if (!delivery) return true; // corrupt: put aside when it was read
      await failedPayloads.insert(delivery, file.tries);
      handedOver += 1;
      await spool.remove(file);
      return !late;
    } catch (error) {
      log.warn({ file: file.name, error }, 'a spooled delivery cannot be handed to the database');
      await spool.release(file);
      return false;
    } finally {
      inHand -= 1;
      lease?.release();
    }
  }

  const stop = new AbortController();
  const deadline = sleep(deadlineMs, undefined, { signal: stop.signal }).then(
    () => void (late = true),
    () => undefined, // all done in time
  );
  const work = async () => {
    // This directory is one process's, and gone soon: what one before it left is not waited for.
    await spool.takeOver(0);
    // Given up here, it is tried once more from there, and then kept as long as it would have been here.
    await spool.giveRefusedBack();
    await inOrder(claimFiles(spool, log), atOnce, toRow);
  };
  const working = work().catch((error: unknown) => log.error({ error }, 'handing spooled deliveries over failed'));
  await Promise.race([working, deadline]);
  stop.abort();

  const left = (await spool.pending()).length + inHand;
  if (left > 0) log.error({ handedOver, left }, 'spooled deliveries stay on the disk of a relay that stops');
  else if (handedOver > 0) log.info({ handedOver }, 'spooled deliveries were handed to the database');
  return { handedOver, left };
}
