// One process a folder: a lock file names the process that holds it, which touches the file while it lives.
import { randomUUID } from 'node:crypto';
import { constants, copyFile, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { hasCode } from '../errors.ts';

export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM'); // another user's
  }
}

type Holder = { readonly id: string; readonly pid: number; readonly host: string; readonly touchedAtMs: number };

/** A holder that did not touch its lock for so long is gone, or hangs. */
const silentMs = 15_000;
const touchEveryMs = 2500;

/**
 * A process that died holds nothing: on this host its number shows that at once. For another host, such as another container on the
 * same volume, only the file's age shows it, so a holder asks again and again.
 */
export function createFolderLock(file: string) {
  const own = { id: randomUUID(), pid: process.pid, host: hostname() };
  let running: Promise<Holder | undefined> | undefined;

  async function readHolder(path = file): Promise<Holder | undefined> {
    try {
      const [id = '', pid, host = ''] = (await readFile(path, 'utf8')).trim().split(' ');
      return { id, pid: Number(pid), host, touchedAtMs: (await stat(path)).mtimeMs };
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  // Two containers may both be number 1: a lock of this host with this very number was left by a process before it.
  const isAlive = ({ pid, host, touchedAtMs }: Holder): boolean =>
    Date.now() - touchedAtMs < silentMs && !(host === own.host && (pid === own.pid || !isProcessAlive(pid)));

  async function take(): Promise<Holder | undefined> {
    const holder = await readHolder();
    if (holder?.id === own.id) {
      const now = new Date();
      if (now.getTime() - holder.touchedAtMs >= touchEveryMs) await utimes(file, now, now);
      return undefined;
    }
    if (holder && isAlive(holder)) return holder;
    if (holder) await putAside(holder);
    try {
      await writeFile(file, `${own.id} ${own.pid} ${own.host}\n`, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return readHolder(); // another process was faster
      if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error;
      await rm(file, { force: true }); // held without a file: a full disk must not keep its owner from emptying it
    }
    return undefined;
  }

  /** Removes a stale lock. Another process may have taken the folder since it was read: then its lock goes back. */
  async function putAside(stale: Holder): Promise<void> {
    const aside = `${file}.${own.id}`;
    const isMoved = await rename(file, aside).then(
      () => true,
      (error: unknown) => {
        if (hasCode(error, 'ENOENT')) return false;
        throw error;
      },
    );
    if (!isMoved) return;
    const moved = await readHolder(aside);
    if (moved?.id !== stale.id) await copyFile(aside, file, constants.COPYFILE_EXCL).catch(() => undefined); // a third process has it otherwise
    await rm(aside, { force: true });
  }

  return {
    /** The living process that has the folder, be it this one. */
    async holder(): Promise<Pick<Holder, 'pid' | 'host'> | undefined> {
      const holder = await readHolder();
      return holder && (holder.id === own.id || isAlive(holder)) ? holder : undefined;
    },
    /** Also by a process of this host that was too busy to touch its lock; by now its number may be another's, so take no decision by this. */
    async seemsHeld(): Promise<boolean> {
      const holder = await readHolder();
      return holder !== undefined && (isAlive(holder) || (holder.host === own.host && isProcessAlive(holder.pid)));
    },
    /**
     * Takes the folder, or sees that it is still held: to be asked every few seconds, and before each step that one process alone may take.
     * @returns the living process that has it instead. Rejects when the file cannot be written, unless the disk is full.
     */
    hold: (): Promise<{ readonly pid: number; readonly host: string } | undefined> => (running ??= take().finally(() => (running = undefined))),
    async close(): Promise<void> {
      await running?.catch(() => undefined); // the caller of `hold` has the error
      if ((await readHolder())?.id === own.id) await rm(file, { force: true });
    },
  };
}
