// Puts deliveries on the disk, a few at once: half written in the process's folder, whole in the spool.
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createByteBudget } from '../../platform/http/byte-budget.ts';
import type { Log } from '../../platform/log.ts';
import { createDirectorySync, writeDurably } from './durable-write.ts';
import { nameFile } from './file-name.ts';
import type { ProcessFolder } from './process-folder.ts';
import { encodeSpooled, type FailedDelivery } from './spool-file.ts';
import type { SpoolCounts } from '../metrics.ts';

export type SpoolWriter = {
  /** True when the delivery is on the disk; false, logged and counted, when it could not be put there, or when others held the
   *  disk for all of `waitMs`: where it hangs, bodies that nobody waits for any more must not pile up. Never rejects. */
  write(delivery: FailedDelivery, waitMs?: number): Promise<boolean>;
};

export type SpoolWriterParts = {
  readonly directory: string;
  readonly folder: ProcessFolder;
  readonly count: SpoolCounts;
  readonly log: Log;
  readonly clock: () => Date;
};

/** Bounds open descriptors, not throughput: more writes at once do not make a disk faster. */
const writesAtOnce = 16;
const forEver = 2 ** 31 - 1;

export function createSpoolWriter({ directory, folder, count, log, clock }: SpoolWriterParts): SpoolWriter {
  const syncDirectory = createDirectorySync(directory);
  const slots = createByteBudget(writesAtOnce);
  let temporaries = 0;

  async function put(name: string, chunks: Iterable<Buffer>): Promise<void> {
    const temporary = folder.path(`${temporaries++}.tmp`);
    try {
      await writeDurably(temporary, chunks);
      await rename(temporary, join(directory, name));
    } catch (error) {
      // on a full disk the part that was written takes room that the next, smaller delivery needs
      await rm(temporary, { force: true }).catch((failure: unknown) => log.warn({ error: failure }, 'a half written spool file stays'));
      throw error;
    }
    await syncDirectory();
  }

  return {
    async write({ message, reason }, waitMs = forEver) {
      const slot = await slots.acquire(1, waitMs);
      const letGo = folder.hold();
      try {
        if (!slot) throw new Error('the disk was busy with others for too long');
        const spooledAt = clock();
        await folder.withTimeout(() => put(nameFile(spooledAt, message.id), encodeSpooled({ message, reason, spooledAt })));
        count.written();
        log.warn({ id: message.id, bytes: message.body.length, reason }, 'a delivery was spooled');
        return true;
      } catch (error) {
        count.failed();
        log.error({ id: message.id, error }, 'a delivery could not be spooled');
        return false;
      } finally {
        letGo();
        slot?.release();
      }
    },
  };
}
