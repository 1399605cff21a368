// A folder of this process in the spool, for files half written or in its hands; when it falls silent, another takes them over.
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, rmdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { parseFileName } from './file-name.ts';

/** A process that has something in hand shows itself three times as often. Process ids would say less:
 *  two containers that share a volume may both be number 1. */
export const silentAfterMs = 15_000;

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);

const prefix = 'process-';

export type ProcessFolder = {
  path(name: string): string;
  /** Runs `work`, which may be run twice: the folder is made when it turns out to be missing. */
  withTimeout<T>(work: () => Promise<T>): Promise<T>;
  /** Keeps others from taking the folder over, until the function that it answers is called. */
  hold(): () => void;
  /** Moves files of processes silent for `silentMs` back into the spool and drops what they had half written.
   *  @returns how many came back */
  takeOver(silentMs: number): Promise<number>;
  /** Names of spool files that any process has in hand. */
  inHand(): Promise<string[]>;
  close(): Promise<void>;
};

export function createProcessFolder(directory: string, clock: () => Date): ProcessFolder {
  const own = `${prefix}${randomUUID()}`;
  const ownPath = join(directory, own);
  let holders = 0;
  let showing: NodeJS.Timeout | undefined;

  // A folder that is missing or cannot be touched is found by the write or rename that needs it.
  const show = () => void utimes(ownPath, clock(), clock()).catch(() => undefined);

  const folders = async () => (await namesIn(directory)).filter((name) => name.startsWith(prefix));

  async function takeOverFrom(folder: string, silentMs: number): Promise<number> {
    const path = join(directory, folder);
    if (clock().getTime() - (await stat(path)).mtimeMs < silentMs) return 0;
    let returned = 0;
    for (const name of await readdir(path)) {
      const isWhole = parseFileName(name) !== undefined;
      if (isWhole) await rename(join(path, name), join(directory, name));
      else await rm(join(path, name), { force: true, recursive: true }); // half written, so nobody was told that it is safe
      if (isWhole) returned += 1;
    }
    await rmdir(path);
    return returned;
  }

  return {
    path: (name) => join(ownPath, name),
    async withTimeout(work) {
      try {
        return await work();
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw error;
        await mkdir(ownPath, { recursive: true, mode: 0o700 });
        return work();
      }
    },
    hold() {
      holders += 1;
      showing ??= setInterval(show, silentAfterMs / 3).unref();
      let held = true;
      return () => {
        if (held) holders -= 1;
        held = false;
        if (holders > 0) return;
        clearInterval(showing);
        showing = undefined;
      };
    },
    async takeOver(silentMs) {
      let returned = 0;
      const failures: unknown[] = [];
      for (const folder of await folders()) {
        if (folder === own && holders > 0) continue; // with nothing in hand, a file in it is one whose last step failed
        try {
          returned += await takeOverFrom(folder, silentMs);
        } catch (error) {
          // its process came back, or another one takes it over at the same moment
          if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) failures.push(error);
        }
      }
      // one that cannot be read, as when it is another user's, must not keep the others
      if (failures.length > 0) throw failures[0];
      return returned;
    },
    async inHand() {
      const names = await Promise.all((await folders()).map((folder) => namesIn(join(directory, folder))));
      return names.flat();
    },
    async close() {
      try {
        await rmdir(ownPath);
      } catch (error) {
        if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error; // what is still in hand is taken over later
      }
    },
  };
}

/** Nothing in a directory that is not there. */
export async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
