// Files of the spool in this process's hands: claimed, read, and given back, removed or put aside.
import { lstat, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../platform/log.ts';
import { type SpoolFile, withTries } from './file-name.ts';
import { hasCode, type ProcessFolder } from './process-folder.ts';
import type { Refusal } from './refusal.ts';
import type { RefusedFolder } from './refused-folder.ts';
import { type Decoded, decodeSpooled } from './spool-file.ts';
import type { SpoolCounts } from '../metrics.ts';

/** A file that this process has in hand: no other process sees it while this one lives. */
export type ClaimedFile = SpoolFile & {
  readonly path: string;
  readonly bytes: number;
  /** False for a folder, a link or a pipe that has the name of a spool file. */
  readonly isFile: boolean;
  readonly letGo: () => void;
};

export type Claims = {
  /** Undefined when somebody else has it or had it. */
  claim(file: SpoolFile): Promise<ClaimedFile | undefined>;
  /** Rejects when it cannot be read now. What is corrupt is the caller's to refuse. */
  read(file: ClaimedFile): Promise<Decoded>;
  /** Back among the pending, with as many refused tries as given. */
  release(file: ClaimedFile, tries?: number): Promise<void>;
  remove(file: ClaimedFile): Promise<void>;
  /** To the folder `refused`, for a person to look at. Moved back from there, it is tried once more. */
  refuse(file: ClaimedFile, refusal: Refusal): Promise<void>;
};

export type ClaimsParts = {
  readonly directory: string;
  readonly folder: ProcessFolder;
  readonly refused: RefusedFolder;
  readonly count: SpoolCounts;
  readonly log: Log;
};

/** More than any setting lets a delivery be; read all the same, it would end the process, this one and the next. */
const largestBytes = 400 * 1024 * 1024;

export function createClaims({ directory, folder, refused, count, log }: ClaimsParts): Claims {
  /** @returns false when this process was silent for so long that another took the file over: it is that one's now */
  async function settle(file: ClaimedFile, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      return false;
    } finally {
      file.letGo();
    }
  }

  return {
    async claim(file) {
      const letGo = folder.hold();
      const path = folder.path(file.name);
      try {
        await folder.withTimeout(() => rename(join(directory, file.name), path));
        const found = await lstat(path);
        return { ...file, path, bytes: found.size, isFile: found.isFile(), letGo };
      } catch (error) {
        letGo();
        if (hasCode(error, 'ENOENT')) return undefined;
        throw error;
      }
    },

    async read({ path, bytes, isFile }) {
      if (!isFile) return { corrupt: 'it is not a file' };
      if (bytes > largestBytes) return { corrupt: `it has ${bytes} bytes, more than any delivery` };
      return decodeSpooled(await readFile(path));
    },

    async release(file, tries = file.tries) {
      await settle(file, () => rename(file.path, join(directory, withTries(file.name, tries))));
    },

    async remove(file) {
      await settle(file, () => rm(file.path));
    },

    async refuse(file, refusal) {
      if (!(await settle(file, () => refused.take(file.path, file.name)))) return;
      count.refused();
      log.error({ file: file.name, ...refusal }, 'a spooled delivery was refused and is kept aside');
    },
  };
}
