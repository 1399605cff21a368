// Leaves nothing behind: a second process ends what a killed test run had started, and removes its folders.
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GuardOrder } from './guard-process.ts';

let watcher: ((order: GuardOrder) => void) | undefined;

// It hears of our end, however we ended, by the end of its standard input.
function tell(order: GuardOrder): void {
  watcher ??= startWatcher();
  watcher(order);
}

function startWatcher(): (order: GuardOrder) => void {
  removeStaleDirectories();
  const program = join(import.meta.dirname, 'guard-process.ts');
  // In a session of its own: Ctrl-C must not reach it.
  const { stdin, unref } = spawnUnreferenced(program);
  unref();
  return (order) => stdin.write(`${JSON.stringify(order)}\n`);
}

function spawnUnreferenced(program: string) {
  const child = spawn(process.execPath, [program], { detached: true, stdio: ['pipe', 'ignore', 'inherit'] });
  const { stdin } = child;
  const unref = () => {
    child.unref();
    if (stdin instanceof Socket) stdin.unref();
  };
  return { stdin, unref };
}

/** The process and all it starts end with the test run. */
export function guardProcess(pid: number): { ended(): void } {
  tell({ do: 'guard', pid });
  return { ended: () => tell({ do: 'forget', pid }) };
}

/** A child that leads a process group of its own, and never outlives the test run. */
export function spawnGuarded(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, { ...options, detached: true });
  if (child.pid !== undefined) {
    const guarded = guardProcess(child.pid);
    child.once('exit', guarded.ended);
  }
  return child;
}

/** Sends a signal to a child of `spawnGuarded` and all that it started; does nothing when they have ended. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

const prefix = 'signalbox-test-';

/** A new empty folder, removed at the end of the test run at the latest. */
export function temporaryDirectory(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-${name}-`));
  // A server that root starts may run as another user.
  chmodSync(path, 0o755);
  tell({ do: 'remove', path });
  return path;
}

// Of runs whose guard was killed, too. A process id that is in use again only makes a folder stay longer.
function removeStaleDirectories(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(/^signalbox-test-(\d+)-/.exec(name)?.[1]);
    if (pid > 0 && !isAlive(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

/** Whether such a process runs, be it ours or another user's; a negative id means a process group. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid < 0 || !isZombie(pid);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

// Where nobody collects them, as in a container without an init, ended processes stay listed.
function isZombie(pid: number): boolean {
  const stat = existsSync('/proc/self/stat') ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}
