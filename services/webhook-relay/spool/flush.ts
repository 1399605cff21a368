// On stop, pending files go to the database: the disk of a relay that stops may end with it.
import type { Log } from '../../platform/log.ts';
import { isUnavailable } from '../../platform/postgres/errors.ts';
import { withTimeout } from '../../platform/time.ts';
import type { FailedPayloads } from './failed-payloads.ts';
import type { SpoolFile } from './file-format.ts';
import { createPass, forEachConcurrent } from './pass.ts';
import type { Spool } from './spool.ts';

type Flush = { readonly spool: Spool; readonly failedPayloads: FailedPayloads; readonly log: Log; readonly deadlineMs: number };

/** Fewer than the pool has connections: a stop needs some for its last counts too. */
const concurrency = 8;

/** A database that hangs is not waited for until the deadline: a process has 20 s to stop, and the relay's last counts wait for it, too. */
const answerMs = 3000;

/** Ends at the deadline at the latest. A file is removed after its row is committed, never before. */
export async function flushToDatabase({ spool, failedPayloads, log, deadlineMs }: Flush): Promise<void> {
  const pass = createPass(log, 'flushing spooled deliveries to the database failed');
  const deadline = AbortSignal.timeout(deadlineMs);
  let flushed = 0;
  let isOwner = false;

  async function toRow(file: SpoolFile): Promise<void> {
    const read = deadline.aborted ? undefined : await spool.read(file);
    if (typeof read !== 'object') return;
    await failedPayloads.insert(read, file.tries);
    flushed += 1;
    await spool.remove(file);
  }

  async function step(file: SpoolFile): Promise<boolean> {
    try {
      await pass.withMemory(await spool.bytesOf(file), () => toRow(file));
      return !deadline.aborted;
    } catch (error) {
      pass.failed(file.name, error);
      return !deadline.aborted && !isUnavailable(error); // one that fails by itself does not keep the others from the database
    }
  }

  async function work(): Promise<void> {
    isOwner = await spool.own();
    if (!isOwner) return;
    // Given up here, it is tried once more from there, and then kept as long as it would have been here.
    await spool.restoreRefused().catch((error: unknown) => pass.failed('the folder refused', error));
    const files = await spool.pending();
    if (files.length > 0) await withTimeout(failedPayloads.ask(), answerMs, noAnswer);
    await forEachConcurrent(files, concurrency, step);
  }

  await withTimeout(work(), deadlineMs, () => undefined).catch((error: unknown) => pass.failed('the spool folder', error));
  pass.logFailures();
  const left = isOwner ? (await spool.pending()).length : 0;
  if (left > 0) log.error({ flushed, left }, 'spooled deliveries stay on the disk after shutdown');
  else if (flushed > 0) log.info({ flushed }, 'spooled deliveries flushed to the database');
}

function noAnswer(): never {
  throw new Error('the database does not answer');
}
