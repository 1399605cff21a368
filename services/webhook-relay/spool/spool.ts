// The spool: deliveries that could not be published, one file each, until they are replayed. One process owns its folder.
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createBatcher } from '../../platform/batches.ts';
import { codeOf } from '../../platform/errors.ts';
import type { CheckResult } from '../../platform/http/health.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { createFolderLock } from '../../platform/process/folder-lock.ts';
import { createSemaphore } from '../../platform/semaphore.ts';
import { measureSpool } from '../metrics.ts';
import {
  type Corrupt,
  decodeSpooled,
  encodeSpooled,
  type FailedDelivery,
  nameFile,
  parseFileName,
  type SpooledDelivery,
  type SpoolFile,
  withTries,
} from './file-format.ts';
import { createRefusedFolder, listFiles, statOf, syncFolder, writeDurably } from './folder.ts';

/** Why a spooled delivery is given up, and what a person can do about it: the words of the log. */
export type Refusal = { readonly reason: string; readonly toDo: string };

/** Bounds open descriptors, not throughput: more writes at once do not make a disk faster. */
const writesAtOnce = 16;
const forEver = 2 ** 31 - 1;
/** An answer about readiness holds that long, so that probes of a load balancer do not become load on the disk. */
const probeHoldsMs = 2000;
/** More than any setting lets a delivery be; read all the same, it would end the process, this one and the next. */
const largestBytes = 400 * 1024 * 1024;
/** Half written, so nobody was told that it is safe: `<uuid of the process>-<n>.tmp`, and names of an earlier release. */
const temporaryName = /^([\da-f-]{36}-\d+|\d+|probe)\.tmp$/;

export type Spool = ReturnType<typeof createSpool>;

type Options = { readonly directory: string; readonly log: Log; readonly clock: () => Date; readonly metrics: Metrics };

export function createSpool({ directory, log, clock, metrics }: Options) {
  const ownPrefix = randomUUID();
  let temporaries = 0;
  const lock = createFolderLock(join(directory, 'owner.lock'));
  // those that ask while one sync runs share the next one: a burst costs a few syncs of the directory, not one a file
  const syncDirectory = createBatcher<string, undefined>(
    async (names) => {
      await syncFolder(directory);
      return names.map(() => undefined);
    },
    { concurrency: 1, maxBatch: writesAtOnce, maxWaiting: writesAtOnce },
  );
  const writing = createSemaphore(writesAtOnce);
  const refused = createRefusedFolder(directory);
  const pathOf = ({ name }: SpoolFile) => join(directory, name);
  const pending = () => listFiles(directory);
  const count = measureSpool(metrics, { outstanding: pending, refused: refused.count }, clock);
  let knownOwner = '';
  let probed: { readonly at: number; readonly answer: Promise<CheckResult> } | undefined;

  /** Somebody may have removed it. */
  const makeDirectory = () => mkdir(directory, { recursive: true, mode: 0o700 });

  async function put(chunks: Iterable<Buffer>, finish: (temporary: string) => Promise<void>): Promise<void> {
    const temporary = join(directory, `${ownPrefix}-${temporaries++}.tmp`);
    await makeDirectory();
    try {
      await writeDurably(temporary, chunks);
      await finish(temporary);
    } catch (error) {
      // on a full disk the part that was written takes room that the next, smaller delivery needs
      await rm(temporary, { force: true }).catch((failure: unknown) => log.warn({ error: failure }, 'deleting a half written spool file failed'));
      throw error;
    }
  }

  async function write({ message, reason }: FailedDelivery, waitMs = forEver): Promise<boolean> {
    const hasSlot = await writing.acquire(1, waitMs);
    try {
      if (!hasSlot) throw new Error('timed out waiting for other writes to the disk');
      const spooledAt = clock();
      const path = join(directory, nameFile(spooledAt, message.id));
      await put(encodeSpooled({ message, reason, spooledAt }), (temporary) => rename(temporary, path));
      await syncDirectory(message.id);
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

  async function own(): Promise<boolean> {
    await makeDirectory();
    const other = await lock.hold();
    const owner = other ? `process ${other.pid} on ${other.host}` : 'this process';
    if (owner !== knownOwner) {
      knownOwner = owner; // before the folder is taken up: who asks meanwhile need not do it again
      if (other) log.error({ owner }, 'the spool folder is in use by another process; not replaying its files');
      else await adopt();
    }
    return !other;
  }

  /** Once it is the owner's: what processes that died left half written goes, and files from folders of an earlier release come up. */
  async function adopt(): Promise<void> {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      const { name } = entry;
      try {
        if (temporaryName.test(name) && !name.startsWith(ownPrefix)) await rm(join(directory, name));
        if (name.startsWith('process-') && entry.isDirectory()) await adoptFolder(join(directory, name)); // a link's folder is not the spool's
      } catch (error) {
        log.warn({ name, error }, 'cleaning up the spool folder failed, the rest of it is in use');
      }
    }
  }

  async function adoptFolder(folder: string): Promise<void> {
    for (const name of await readdir(folder)) {
      if (parseFileName(name)) await rename(join(folder, name), join(directory, name));
      else if (temporaryName.test(name)) await rm(join(folder, name));
    }
    await rmdir(folder);
  }

  async function probe(): Promise<CheckResult> {
    try {
      if (!(await own())) return { ok: false, detail: 'another process uses the spool folder' };
      await put([Buffer.alloc(4096)], (temporary) => rm(temporary)); // a block: an empty file fits on a full disk
      return { ok: true };
    } catch (error) {
      return { ok: false, detail: `the spool cannot be written: ${codeOf(error) ?? 'failed'}` }; // the message would tell the path
    }
  }

  async function refuse(file: SpoolFile, refusal: Refusal): Promise<void> {
    if (!(await refused.take(file))) return;
    count.refused();
    log.error({ file: file.name, ...refusal }, 'spooled delivery refused, its file is kept in the folder refused');
  }

  return {
    /**
     * True when the delivery is on the disk; false, logged and counted, when it could not be put there, or when others held the disk
     * for all of `waitMs`: where it hangs, bodies that nobody waits for any more must not pile up. Never rejects. Needs no ownership:
     * no delivery is lost for that, and the owner replays it.
     */
    write,
    /** For readiness: writes a file to find out. */
    isWritable(): Promise<CheckResult> {
      const now = clock().getTime();
      if (!probed || now - probed.at >= probeHoldsMs) probed = { at: now, answer: probe() };
      return probed.answer;
    },
    /** Takes the folder, or sees that it is still this process's. False, logged once, while another has it. Rejects when it cannot be written. */
    own,
    /** Oldest first; names only. */
    pending,
    /** What was given up. */
    refused,
    /** 0 for what is not read. */
    async bytesOf(file: SpoolFile): Promise<number> {
      const found = await statOf(pathOf(file));
      return found?.isFile() === true && found.size <= largestBytes ? found.size : 0;
    },
    /** Undefined when it is gone. Rejects when it cannot be read now; what is corrupt is the caller's to refuse. */
    async read(file: SpoolFile): Promise<SpooledDelivery | Corrupt | undefined> {
      const found = await statOf(pathOf(file));
      if (!found) return undefined;
      if (!found.isFile()) return { corrupt: 'it is not a file' }; // a folder, a link or a pipe that has the name of a spool file
      if (found.size > largestBytes) return { corrupt: `it has ${found.size} bytes, more than any delivery` };
      return decodeSpooled(await readFile(pathOf(file)));
    },
    /** Counts a refused try. */
    setTries: (file: SpoolFile, tries: number): Promise<void> => rename(pathOf(file), join(directory, withTries(file.name, tries))),
    remove: (file: SpoolFile): Promise<void> => rm(pathOf(file), { force: true }),
    /** To the folder `refused`, for a person to look at. Moved back from there, it is tried once more. */
    refuse,
    close: () => lock.close(),
  };
}
