// Measures memory and processor time of processes, and limits memory as a container does: by a cgroup, if this machine allows one.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../../services/platform/errors.ts';
import type { Need } from './need.ts';

export const mebibyte = 1_048_576;

/** For `describeWith`: tests that measure what a process uses. */
export const procfs: Need = { name: 'memory', missing: existsSync('/proc/self/status') ? undefined : 'no /proc' };

export const residentBytes = (pid: number): number => bytesOf(pid, 'VmRSS');
/** Without files that are mapped, which the system takes back when it needs memory. */
export const anonymousBytes = (pid: number): number => bytesOf(pid, 'RssAnon');

function bytesOf(pid: number, line: 'VmRSS' | 'RssAnon'): number {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) throw new Error(`process ${pid} has ended`);
  return Number(new RegExp(`^${line}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(file, 'utf8'))?.[1] ?? NaN) * 1024;
}

const msPerTick = 10; // USER_HZ, which is 100 wherever Linux runs

/** The fields of `/proc/<pid>/stat` from the state on: the third, as proc(5) counts them. */
const statOf = (pid: number): readonly string[] => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

/** The processor time of all its threads. */
export function processorMs(pid: number): number {
  const [user = '', system = ''] = statOf(pid).slice(11);
  return (Number(user) + Number(system)) * msPerTick;
}

/** The processor time of a process and of all processes below it, those that have ended among them. */
export function processorMsBelow(root: number): number {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (ifAlive(() => [{ pid: Number(name), stat: statOf(Number(name)) }]) ?? []) : []));
  const children = Map.groupBy(all, ({ stat: [, parent] }) => Number(parent));
  const below = (stat: readonly string[], pid: number): number =>
    stat.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) + (children.get(pid) ?? []).reduce((sum, child) => sum + below(child.stat, child.pid), 0);
  return below(statOf(root), root) * msPerTick;
}

function ifAlive<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

export type MemoryLimit = {
  /** Stands before the command whose process is to be limited. */
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Once the process has ended. */
  remove(): void;
};

let count = 0;

/**
 * A process that exceeds it is killed by the kernel. Without a cgroup V8 alone is limited, as Node does in a container:
 * the old space to half of it, and the halves of the new one, which else are 16 MiB each, to a 128th of the old.
 */
export function limitMemory(bytes: number): MemoryLimit {
  const group = createGroup(bytes);
  if (group === undefined) {
    const old = Math.floor(bytes / 2 / mebibyte);
    const NODE_OPTIONS = `--max-old-space-size=${old} --max-semi-space-size=${Math.max(1, Math.round(old / 128))}`;
    return { prefix: [], env: { NODE_OPTIONS }, remove: () => undefined };
  }
  return {
    prefix: ['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', group],
    env: {},
    remove: () => rmdirSync(group),
  };
}

/** @returns its folder; undefined where none can be made */
function createGroup(bytes: number): string | undefined {
  const parent = groupAbove();
  if (parent === undefined) return undefined;
  const group = join(parent, `signalbox-test-${process.pid}-${++count}`);
  try {
    mkdirSync(group);
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
  const limits = { 'memory.max': String(bytes), 'memory.limit_in_bytes': String(bytes), 'memory.swap.max': '0' };
  for (const [name, limit] of Object.entries(limits)) if (existsSync(join(group, name))) writeFileSync(join(group, name), limit);
  return group;
}

const root = '/sys/fs/cgroup';

/** The nearest group, from our own upwards, below which memory can be limited: version 1 has a tree for it, version 2 says so of each group. */
function groupAbove(): string | undefined {
  const text = existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : '';
  const ofMemory = /^\d+:memory:(.*)$/m.exec(text)?.[1];
  if (ofMemory !== undefined) return [join(root, 'memory', ofMemory), join(root, 'memory')].find((path) => existsSync(path));
  const isDelegated = (path: string) => {
    const control = join(path, 'cgroup.subtree_control');
    return existsSync(control) && readFileSync(control, 'utf8').split(/\s/).includes('memory');
  };
  let path = join(root, /^0::(.*)$/m.exec(text)?.[1] ?? '');
  while (path.startsWith(root) && !isDelegated(path)) path = dirname(path);
  return path.startsWith(root) ? path : undefined;
}
