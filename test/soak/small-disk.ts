// A small disk of its own for a process: a tmpfs in a mount namespace, which ends with the run. Nothing is mounted on the machine itself.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../services/platform/errors.ts';
import { spawnGuarded, temporaryDirectory } from '../support/guard.ts';

export type SmallDisk = {
  /** Its path, in the namespace. */
  readonly directory: string;
  /** Stands before the command of a process that is to see it. */
  readonly prefix: readonly string[];
  /** Takes all that is free. */
  fill(): void;
  /** Gives it back. */
  free(): void;
};

/** @returns undefined where this user may not make one */
export async function createSmallDisk(megabytes: number): Promise<SmallDisk | undefined> {
  if (spawnSync('unshare', ['--mount', 'true']).status !== 0) return undefined;
  const directory = temporaryDirectory('small-disk');
  const script = 'mount -t tmpfs -o size="$1"m,mode=700 tmpfs "$0" && echo mounted && exec sleep infinity';
  const holder = spawnGuarded('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script, directory, String(megabytes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (holder.stdout) await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit')]);
  if (holder.exitCode !== null || holder.pid === undefined) return undefined;
  // It holds the disk for as long as the run lasts, and must not make it last.
  holder.stdout?.destroy();
  holder.unref();
  const filler = join(`/proc/${holder.pid}/root`, directory, 'filler');
  return {
    directory,
    prefix: ['nsenter', '--target', String(holder.pid), '--mount', `--wdns=${process.cwd()}`],
    fill() {
      try {
        for (;;) writeFileSync(filler, Buffer.alloc(4096), { flag: 'a' });
      } catch (error) {
        if (!hasCode(error, 'ENOSPC')) throw error;
      }
    },
    free: () => rmSync(filler, { force: true }),
  };
}
