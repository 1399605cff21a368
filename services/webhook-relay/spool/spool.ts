// The spool: deliveries that could not be published, one file each, until they are replayed. One process owns its folder.
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createBatcher } from '../../platform/batches.ts';
import { codeOf } from '../../platform/errors.ts';
import { bytesIn, ifThere } from '../../platform/files.ts';
import type { CheckResult } from '../../platform/health.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { createFolderLock } from '../../platform/process/folder-lock.ts';
import { createSemaphore } from '../../platform/semaphore.ts';
import { measureSpool } from '../metrics.ts';
import { corruptText, encodeSpooled, isUnreadable, nameFile, type SpooledDelivery, type SpoolFile, withTries } from './file-format.ts';
import { listFiles, readCorruption, readHeader, readSpooled, syncFolder, writeDurably } from './folder.ts';

/** Why a spooled delivery is given up, and what a person can do about it: the words of the log. */
export type Refusal = { readonly reason: string; readonly toDo: string };

/** A fault that every later read would find again. */
export const corrupt = (what: string): Refusal => ({ reason: corruptText(what), toDo: 'redeliver it from the forge, then signalbox spool drop' });

/** Bounds open descriptors, not throughput: more writes at once do not make a disk faster. */
const writesAtOnce = 16;
const forEver = 2 ** 31 - 1;
/** An answer about readiness holds that long, so that probes of a load balancer do not become load on the disk. */
const probeHoldsMs = 2000;
const blockBytes = 4096;
/** A full folder may have many files, and each refused delivery would count them. */
const measurementHoldsMs = 5000;
/** The name of a file that is half written: `<uuid of the process>-<n>.tmp`. */
const temporaryName = /^[\da-f-]{36}-\d+\.tmp$/;

export type Spool = ReturnType<typeof createSpool>;

type Options = {
  readonly directory: string;
  /** Undefined: as much as the disk takes. */
  readonly maxBytes?: number | undefined;
  readonly log: Log;
  readonly clock: () => Date;
  readonly metrics: Metrics;
};

export function createSpool({ directory, maxBytes = Infinity, log, clock, metrics }: Options) {
  const files = createFiles(directory, log);
  const room = createRoom(directory, maxBytes, clock);
  const ownership = createOwnership(directory, files, log);
  const writing = createSemaphore(writesAtOnce);
  const refusedDirectory = join(directory, 'refused');
  const pathOf = ({ name }: SpoolFile) => join(directory, name);
  const refusedPathOf = ({ name }: SpoolFile) => join(refusedDirectory, name);
  const pending = () => listFiles(directory);
  const refused = () => listFiles(refusedDirectory);
  const count = measureSpool(metrics, { outstanding: pending, refused: async () => (await refused()).length }, clock);
  let probed: { readonly at: number; readonly answer: Promise<CheckResult> } | undefined;

  async function write({ message, reason }: Omit<SpooledDelivery, 'spooledAt'>, waitMs = forEver): Promise<boolean> {
    const hasSlot = await writing.acquire(1, waitMs);
    try {
      if (!hasSlot) throw new Error('timed out waiting for other writes to the disk');
      const spooledAt = clock();
      const path = join(directory, nameFile(spooledAt, message.id));
      const chunks = encodeSpooled({ message, reason, spooledAt });
      await room.use(chunks, () => files.put(chunks, (temporary) => rename(temporary, path)));
      await files.sync(message.id);
      count.written();
      log.warn({ id: message.id, bytes: message.body.length, reason }, 'delivery spooled');
      return true;
    } catch (error) {
      count.failed();
      log.error({ id: message.id, error }, 'spooling a delivery failed');
      return false;
    } finally {
      if (hasSlot) writing.release(1);
    }
  }

  async function refuse(file: SpoolFile, refusal: Refusal): Promise<void> {
    await mkdir(refusedDirectory, { recursive: true, mode: 0o700 });
    const isThere = await ifThere(rename(pathOf(file), refusedPathOf(file)).then(() => true));
    if (!isThere) return; // a person was faster
    count.refused();
    log.error({ file: file.name, ...refusal }, 'spooled delivery refused, its file is kept in the folder refused');
  }

  return {
    /**
     * True when the delivery is on the disk; false, logged and counted, when it could not be put there, or when others held the disk
     * for all of `waitMs`: where it hangs, bodies of requests that were given up must not pile up. Never rejects. Needs no ownership:
     * no delivery is lost for that, and the owner replays it.
     */
    write,
    /** For readiness: writes a file to find out. */
    isWritable(): Promise<CheckResult> {
      const now = clock().getTime();
      if (!probed || now - probed.at >= probeHoldsMs) probed = { at: now, answer: ownership.probe() };
      return probed.answer;
    },
    /** Takes the folder, or sees that it is still this process's. False, logged once, while another has it. Rejects when it cannot be written. */
    own: ownership.own,
    /** Oldest first; names only. */
    pending,
    /** The files of the folder `refused`, likewise. */
    refused,
    /** Everything of a file but its payload; undefined when it is gone or damaged. */
    headerOf: (file: SpoolFile, state: 'waiting' | 'givenUp') => readHeader(state === 'waiting' ? pathOf(file) : refusedPathOf(file)),
    /** Reads all of it to say why it is corrupt, as the log says it, wherever it lies; undefined when it is whole or gone. */
    corruptionOf: async (file: SpoolFile) => (await readCorruption(pathOf(file))) ?? (await readCorruption(refusedPathOf(file))),
    /** Back among the pending, without the tries that it had. @returns false when it is gone */
    async retry(file: SpoolFile): Promise<boolean> {
      return (await ifThere(rename(refusedPathOf(file), join(directory, withTries(file.name, 0))).then(() => true))) ?? false;
    },
    /** Deletes a delivery for good, wherever it lies. @returns false when it is gone */
    async drop(file: SpoolFile): Promise<boolean> {
      const removed = await Promise.all([pathOf(file), refusedPathOf(file)].map((path) => ifThere(rm(path).then(() => true))));
      return removed.includes(true);
    },
    bytesOf: async (file: SpoolFile): Promise<number> => (await ifThere(lstat(pathOf(file))))?.size ?? 0,
    /** Undefined when it is gone; what is corrupt is refused. Rejects when it cannot be read now. */
    async read(file: SpoolFile): Promise<SpooledDelivery | 'corrupt' | undefined> {
      const found = await readSpooled(pathOf(file));
      if (!found || !('corrupt' in found)) return found;
      await refuse(file, corrupt(found.corrupt));
      return 'corrupt';
    },
    /** Counts a refused try. */
    setTries: (file: SpoolFile, tries: number): Promise<void> => rename(pathOf(file), join(directory, withTries(file.name, tries))),
    remove: (file: SpoolFile): Promise<void> => rm(pathOf(file), { force: true }),
    /** To the folder `refused`, for a person to look at. Moved back from there, it is tried once more. */
    refuse,
    /** Back among the pending, each with the tries it had. Corrupt files stay: no connection was ever asked to take them. */
    async restoreRefused(): Promise<void> {
      for (const file of await refused()) if (!isUnreadable(file)) await ifThere(rename(refusedPathOf(file), pathOf(file)));
    },
    /** @param limit by the time at which they were spooled @returns how many were deleted */
    async deleteRefusedBefore(limit: Date): Promise<number> {
      const old = (await refused()).filter(({ spooledAt }) => spooledAt < limit);
      for (const file of old) await rm(refusedPathOf(file), { recursive: true, force: true }); // a folder may have the name of a spool file
      return old.length;
    },
    close: ownership.close,
  };
}

/** Writes files under temporary names, of which a failure leaves none. */
function createFiles(directory: string, log: Log) {
  const ownPrefix = randomUUID();
  let temporaries = 0;
  // Files that wait while one sync runs share the next one: a burst costs a few syncs of the directory, not one a file.
  const sync = createBatcher<string, undefined>(
    async (names) => {
      await syncFolder(directory);
      return names.map(() => undefined);
    },
    { concurrency: 1, maxBatch: writesAtOnce, maxWaiting: writesAtOnce },
  );

  /** The directory may have been removed. */
  const makeDirectory = () => mkdir(directory, { recursive: true, mode: 0o700 });

  // On a full disk the part that was written takes room that the next, smaller delivery needs.
  const remove = (path: string) => rm(path, { force: true }).catch((error: unknown) => log.warn({ error }, 'deleting a half written spool file failed'));

  return {
    sync,
    makeDirectory,
    async put(chunks: Iterable<Buffer>, finish: (temporary: string) => Promise<void>): Promise<void> {
      const temporary = join(directory, `${ownPrefix}-${temporaries++}.tmp`);
      await makeDirectory();
      try {
        await writeDurably(temporary, chunks);
        await finish(temporary);
      } catch (error) {
        await remove(temporary);
        throw error;
      }
    },
    /** Files of processes that died. */
    async removeHalfWritten(): Promise<void> {
      const names = (await readdir(directory)).filter((name) => temporaryName.test(name) && !name.startsWith(ownPrefix));
      for (const name of names) await remove(join(directory, name));
    },
  };
}

/** Begins no write that could take the folder above `maxBytes`: Kubernetes ends a pod above the limit of an emptyDir, and deletes what is in it. */
function createRoom(directory: string, maxBytes: number, clock: () => Date) {
  // The bytes that the folder held when it was measured, and all written since. Deletions show at the next measurement.
  let used = Infinity;
  let inWork = 0;
  let measuredAt = -Infinity;
  let measuring: Promise<void> | undefined;

  async function measure(): Promise<void> {
    const begun = inWork;
    used = Infinity; // A write that begins meanwhile waits: it could be in neither number.
    const found = await bytesIn(directory);
    used = found + begun;
    measuredAt = clock().getTime();
  }

  async function take(bytes: number): Promise<void> {
    await measuring;
    if (used + bytes > maxBytes && clock().getTime() - measuredAt >= measurementHoldsMs) {
      measuring ??= measure().finally(() => (measuring = undefined));
      await measuring;
    }
    if (used + bytes > maxBytes) throw new Error(`the spool may hold ${maxBytes} bytes (FailedPayloads__MaxBytes)`);
    used += bytes;
    inWork += bytes;
  }

  return {
    async use(chunks: readonly Buffer[], write: () => Promise<void>): Promise<void> {
      if (maxBytes === Infinity) return write();
      const bytes = chunks.reduce((sum, { length }) => sum + length, 2 * blockBytes); // its last block, and the folder's own growth
      await take(bytes);
      try {
        await write();
      } finally {
        inWork -= bytes;
      }
    },
  };
}

/** One process owns the folder: it replays the files. */
function createOwnership(directory: string, files: ReturnType<typeof createFiles>, log: Log) {
  const lock = createFolderLock(join(directory, 'owner.lock'));
  let knownOwner = '';

  async function own(): Promise<boolean> {
    await files.makeDirectory();
    const other = await lock.hold();
    const owner = other ? `process ${other.pid} on ${other.host}` : 'this process';
    if (owner !== knownOwner) {
      knownOwner = owner; // before the folder is taken up: a simultaneous call need not do it again
      if (other) log.error({ owner }, 'the spool folder is in use by another process; not replaying its files');
      else await files.removeHalfWritten();
    }
    return !other;
  }

  return {
    own,
    async probe(): Promise<CheckResult> {
      try {
        if (!(await own())) return { ok: false, detail: 'another process uses the spool folder' };
        await files.put([Buffer.alloc(4096)], (temporary) => rm(temporary)); // a block: an empty file fits on a full disk
        return { ok: true };
      } catch (error) {
        return { ok: false, detail: `the spool cannot be written: ${codeOf(error) ?? 'failed'}` }; // the message would tell the path
      }
    },
    close: () => lock.close(),
  };
}
