// The spool: deliveries that could not be published, one file each, until they are replayed.
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createByteBudget } from '../../platform/byte-budget.ts';
import type { CheckResult } from '../../platform/health.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { createDirectorySync, writeDurably } from './durable-write.ts';
import { nameFile, parseFileName, type SpoolFile, withTries } from './file-name.ts';
import { createProbe } from './probe.ts';
import { createProcessFolder, hasCode, namesIn, silentAfterMs } from './process-folder.ts';
import { createRefusedFolder } from './refused-folder.ts';
import { decodeSpooled, encodeSpooled, type FailedDelivery, type SpooledDelivery } from './spool-file.ts';
import { measureSpool } from './spool-metrics.ts';

/** A file that this process has in hand: no other process sees it while this one lives. */
export type ClaimedFile = SpoolFile & { readonly path: string; readonly bytes: number; readonly letGo: () => void };

export type Spool = {
  /** True when the delivery is on the disk; false, logged and counted, when it could not be put there. Never rejects.
   *  The caller keeps the body's share of the memory until then. */
  write(delivery: FailedDelivery): Promise<boolean>;
  /** For readiness: writes a file to find out. */
  isWritable(): Promise<CheckResult>;
  /** Oldest first; names only. */
  pending(): Promise<SpoolFile[]>;
  /** Undefined when somebody else has it or had it. */
  claim(file: SpoolFile): Promise<ClaimedFile | undefined>;
  /** Undefined when the file is corrupt; it is refused then. */
  read(file: ClaimedFile): Promise<SpooledDelivery | undefined>;
  /** Back among the pending, with as many refused tries as given. */
  release(file: ClaimedFile, tries?: number): Promise<void>;
  remove(file: ClaimedFile): Promise<void>;
  /** To the folder `refused`, for a person to look at. Moved back from there, it is tried once more. */
  refuse(file: ClaimedFile, reason: string): Promise<void>;
  /** Makes those in the folder `refused` pending again. */
  giveRefusedBack(): Promise<void>;
  /** @param limit by the time at which they were spooled @returns how many */
  deleteRefusedBefore(limit: Date): Promise<number>;
  /** Makes pending again what processes that died, that is, have been silent for so long, had in hand. */
  takeOver(silentMs?: number): Promise<void>;
  close(): Promise<void>;
};

export type SpoolParts = { readonly directory: string; readonly log: Log; readonly clock: () => Date; readonly metrics: Metrics };

/** Bounds open descriptors, not throughput: more writes at once do not make a disk faster. */
const writesAtOnce = 16;
const forEver = 2 ** 31 - 1;

export function createSpool({ directory, log, clock, metrics }: SpoolParts): Spool {
  const folder = createProcessFolder(directory, clock);
  const syncDirectory = createDirectorySync(directory);
  const slots = createByteBudget(writesAtOnce);
  const isWritable = createProbe(folder, clock);
  const pending = async () => toFiles(await namesIn(directory));
  const outstanding = async () => toFiles([...(await namesIn(directory)), ...(await folder.inHand())]);
  const refusedFolder = createRefusedFolder(directory);
  const count = measureSpool(metrics, { outstanding, refused: refusedFolder.count }, clock);
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

  async function settle(file: ClaimedFile, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // this process was silent for so long that another took the file over: it is that one's now
      if (!hasCode(error, 'ENOENT')) throw error;
    } finally {
      file.letGo();
    }
  }

  const refuse: Spool['refuse'] = async (file, reason) => {
    await settle(file, () => refusedFolder.take(file.path, file.name));
    count.refused();
    log.error({ file: file.name, reason }, 'a spooled delivery was refused and is kept aside');
  };

  return {
    isWritable,
    pending,
    refuse,
    giveRefusedBack: () => refusedFolder.giveBack(),
    deleteRefusedBefore: (limit) => refusedFolder.deleteBefore(limit),

    async write({ message, reason }) {
      const slot = await slots.acquire(1, forEver);
      const letGo = folder.hold();
      try {
        const spooledAt = clock();
        await folder.within(() => put(nameFile(spooledAt, message.id), encodeSpooled({ message, reason, spooledAt })));
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

    async claim(file) {
      const letGo = folder.hold();
      const path = folder.path(file.name);
      try {
        await folder.within(() => rename(join(directory, file.name), path));
        return { ...file, path, bytes: (await stat(path)).size, letGo };
      } catch (error) {
        letGo();
        if (hasCode(error, 'ENOENT')) return undefined;
        throw error;
      }
    },

    async read(file) {
      const decoded = decodeSpooled(await readFile(file.path));
      if ('delivery' in decoded) return decoded.delivery;
      await refuse(file, `corrupt: ${decoded.corrupt}`);
      return undefined;
    },

    release: (file, tries = file.tries) => settle(file, () => rename(file.path, join(directory, withTries(file.name, tries)))),
    remove: (file) => settle(file, () => rm(file.path)),

    async takeOver(silentMs = silentAfterMs) {
      const files = await folder.takeOver(silentMs);
      if (files > 0) log.warn({ files }, 'spool files of a process that ended are taken over');
    },
    close: () => folder.close(),
  };
}

function toFiles(names: readonly string[]): SpoolFile[] {
  return names
    .toSorted()
    .map(parseFileName)
    .filter((file) => file !== undefined);
}
