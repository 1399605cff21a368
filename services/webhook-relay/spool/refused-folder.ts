// The folder `refused` of a spool: deliveries that were given up, for a person to look at while they are kept.
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseFileName } from './file-name.ts';
import { hasCode, namesIn } from './process-folder.ts';

export type RefusedFolder = {
  take(path: string, name: string): Promise<void>;
  /** How many spool files it holds. */
  count(): Promise<number>;
  /** Back among the pending, each with the tries it had. What is corrupt stays: no connection was ever asked to take it. */
  giveBack(): Promise<void>;
  /** @param limit by the time at which they were spooled @returns how many were deleted */
  deleteBefore(limit: Date): Promise<number>;
};

export function createRefusedFolder(directory: string): RefusedFolder {
  const own = join(directory, 'refused');
  const files = async () => (await namesIn(own)).flatMap((name) => parseFileName(name) ?? []);

  return {
    async take(path, name) {
      await mkdir(own, { recursive: true, mode: 0o700 });
      await rename(path, join(own, name));
    },
    count: async () => (await files()).length,
    async giveBack() {
      const tried = (await files()).filter(({ tries }) => tries > 0);
      for (const { name } of tried) {
        await rename(join(own, name), join(directory, name)).catch((error: unknown) => {
          if (!hasCode(error, 'ENOENT')) throw error; // a person, or another process that shares the folder, was faster
        });
      }
    },
    async deleteBefore(limit) {
      const old = (await files()).filter(({ spooledAt }) => spooledAt < limit);
      for (const { name } of old) await rm(join(own, name), { force: true, recursive: true });
      return old.length;
    },
  };
}
