// What the spool does with a folder: files that are there after a power cut, lists of them, and the folder `refused` within.
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../platform/errors.ts';
import { parseFileName, type SpoolFile } from './file-format.ts';

/** A new file, whole and on the disk when this resolves; what a failure leaves behind is the caller's to remove. */
export async function writeDurably(path: string, chunks: Iterable<Buffer>): Promise<void> {
  await using file = await open(path, 'wx', 0o600); // payloads may hold what nobody else on the machine should read
  await file.writeFile(chunks);
  await file.sync();
}

/** Puts the renames made so far on the disk. */
export async function syncFolder(folder: string): Promise<void> {
  await using entry = await open(folder, 'r');
  await entry.sync();
}

/** @returns undefined where nothing is there */
async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

export const statOf = (path: string) => ifThere(lstat(path));

/** The spool files of a folder, oldest first; none of one that is not there. */
export const listFiles = async (folder: string): Promise<SpoolFile[]> =>
  ((await ifThere(readdir(folder))) ?? []).toSorted().flatMap((name) => parseFileName(name) ?? []);

/** The folder `refused`: deliveries that were given up, for a person to look at while they are kept. */
export function createRefusedFolder(directory: string) {
  const own = join(directory, 'refused');

  /** @returns false for what is gone already: a person was faster */
  async function move(name: string, from: string, to: string): Promise<boolean> {
    return (await ifThere(rename(join(from, name), join(to, name)).then(() => true))) ?? false;
  }

  return {
    /** @returns false when it is gone */
    async take({ name }: SpoolFile): Promise<boolean> {
      await mkdir(own, { recursive: true, mode: 0o700 });
      return move(name, directory, own);
    },
    /** How many spool files it holds. */
    count: async (): Promise<number> => (await listFiles(own)).length,
    /** Back among the pending, each with the tries it had. What is corrupt stays: no connection was ever asked to take it. */
    async restore(): Promise<void> {
      for (const { name, tries } of await listFiles(own)) if (tries > 0) await move(name, own, directory);
    },
    /** Folders that have the name of a spool file stay. @param limit by the time at which they were spooled @returns how many were deleted */
    async deleteBefore(limit: Date): Promise<number> {
      let deleted = 0;
      for (const { name, spooledAt } of await listFiles(own)) {
        const path = join(own, name);
        if (spooledAt >= limit || (await statOf(path))?.isDirectory() !== false) continue;
        await rm(path, { force: true });
        deleted += 1;
      }
      return deleted;
    },
  };
}
