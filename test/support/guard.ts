// Cleans up after a test run, however it ends: a second process, the guard, ends the run's processes and removes its folder.
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { hasCode } from '../../services/platform/errors.ts';

/** The folder for all files of the run. */
const runFolder = join(tmpdir(), `signalbox-test-${process.pid}`);

if (import.meta.main) await guard(process.argv[2] ?? '');

/** The guard's own program: reads lines `+pid` and `-pid` until the test run has ended. */
async function guard(folder: string): Promise<void> {
  const pids = new Set<number>();
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.startsWith('+')) pids.add(Number(line));
    else pids.delete(-Number(line));
  }
  for (const pid of pids) {
    signal(-pid, 'SIGKILL');
    // Some, such as Postgres, lead no group.
    signal(pid, 'SIGKILL');
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

let tell: ((order: string) => void) | undefined;

function startGuard(): (order: string) => void {
  // Detached, since Ctrl-C must not reach it. Its standard input ends when the test run ends.
  const child = spawn(process.execPath, [import.meta.filename, runFolder], { detached: true, stdio: ['pipe', 'ignore', 'inherit'] });
  child.unref();
  const { stdin } = child;
  if (stdin instanceof Socket) stdin.unref();
  return (order) => stdin.write(`${order}\n`);
}

/** Ends the process and its children with the test run. */
export function guardProcess(pid: number): { ended(): void } {
  tell ??= startGuard();
  tell(`+${pid}`);
  return { ended: () => tell?.(`-${pid}`) };
}

/** Children share Node's cache of compiled code: with it a command starts in half the time. */
const compileCache = Object.fromEntries(Object.entries(process.env).filter(([name]) => name === 'NODE_COMPILE_CACHE'));

/** A child that leads a process group of its own, and never outlives the test run. */
export function spawnGuarded(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, { ...options, env: { ...(options.env ?? process.env), ...compileCache }, detached: true });
  if (child.pid !== undefined) child.once('exit', guardProcess(child.pid).ended);
  return child;
}

/** Sends a signal to a child of `spawnGuarded` and its children; does nothing when they have ended. */
export const signalGroup = (pid: number, name: NodeJS.Signals): void => signal(-pid, name);

function signal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

/** A new empty folder, removed at the end of the test run at the latest. */
export function temporaryDirectory(name: string): string {
  tell ??= startGuard();
  mkdirSync(runFolder, { recursive: true });
  const path = mkdtempSync(join(runFolder, `${name}-`));
  // A server that root starts may run as another user.
  for (const folder of [runFolder, path]) chmodSync(folder, 0o755);
  return path;
}

/** Whether a process of this or another user runs; a negative id means a process group. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid < 0 || !isZombie(pid);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

// In a container without an init, ended processes stay listed.
function isZombie(pid: number): boolean {
  const stat = existsSync('/proc/self/stat') ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}
