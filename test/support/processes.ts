// Real Signalbox processes for tests, started as in production, watched by their output, ended with the run.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { signalGroup, spawnGuarded } from './guard.ts';
import { limitMemory } from './usage.ts';
import { eventually } from './wait.ts';

export type ProcessEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type RunningProcess = {
  readonly pid: number;
  /** The lines printed so far, on standard output and error. */
  readonly lines: readonly string[];
  readonly exited: Promise<ProcessEnd>;
  /** @returns the match in the first line that has one, printed already or yet to come */
  waitForLine(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  /** SIGKILL, and waits for its end. */
  kill(): Promise<ProcessEnd>;
};

export type ProcessOptions = {
  /** All its settings. From the test run's environment it gets PATH, HOME and TMPDIR only, from the Dockerfile the settings of malloc. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The memory limit, as of a container. */
  readonly memoryBytes?: number | undefined;
  /** Stands before the command, such as the words that lead into a namespace. */
  readonly prefix?: readonly string[];
};

const program = join(import.meta.dirname, '../../services/main.ts');

type Watcher = (process: RunningProcess, args: readonly string[]) => void;
const watchers: Watcher[] = [];

/** Calls the watcher with every process that is started from now on. */
export const watchProcesses = (watcher: Watcher): void => void watchers.push(watcher);

/** Starts `signalbox <args>`. */
export function startProcess(args: readonly string[], { env = {}, cwd, memoryBytes, prefix = [] }: ProcessOptions = {}): RunningProcess {
  const limit = memoryBytes === undefined ? undefined : limitMemory(memoryBytes);
  const [command, ...parameters] = [...prefix, ...(limit?.prefix ?? []), process.execPath, program, ...args] as [string, ...string[]]; // it has two words at least
  const child = spawnGuarded(command, parameters, {
    env: { ...basics(), ...limit?.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  const { pid, stdout, stderr } = child;
  if (pid === undefined || !stdout || !stderr) throw new Error(`'signalbox ${args.join(' ')}' could not be started`);
  const lines: string[] = [];
  for (const input of [stdout, stderr]) createInterface({ input }).on('line', (line) => lines.push(line));
  const end = Promise.withResolvers<ProcessEnd>();
  // On 'close', not 'exit', all of its output has been read.
  child.once('close', (code, signal) => end.resolve({ code, signal }));
  let ended = false;
  void end.promise.then(() => (ended = true)).then(limit?.remove);

  const running: RunningProcess = {
    pid,
    lines,
    exited: end.promise,
    waitForLine: (pattern, withinMs = 120_000) => waitForLine({ lines, pattern, withinMs, hasEnded: () => ended }),
    signal: (name) => signalGroup(pid, name),
    kill: () => {
      signalGroup(pid, 'SIGKILL');
      return end.promise;
    },
  };
  for (const watcher of watchers) watcher(running, args);
  return running;
}

/** The image's settings of malloc, which bound the memory of a process. */
const ofImage = Object.fromEntries(
  [...readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8').matchAll(/^ENV (MALLOC_\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
);
const basics = () => ({
  ...ofImage,
  ...Object.fromEntries(['PATH', 'HOME', 'TMPDIR'].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
});

type Search = { readonly lines: readonly string[]; readonly pattern: RegExp; readonly withinMs: number; hasEnded(): boolean };

async function waitForLine({ lines, pattern, withinMs, hasEnded }: Search): Promise<RegExpExecArray> {
  const find = () => lines.map((line) => pattern.exec(line)).find((match) => match !== null);
  const found = await eventually(() => find() ?? (hasEnded() ? 'ended' : false), { withinMs }).catch(() => 'late' as const);
  if (typeof found === 'object') return found;
  const reason = found === 'ended' ? 'the process ended without a' : `within ${withinMs} ms the process printed no`;
  throw new Error(`${reason} line like ${pattern}; it printed:\n${lines.slice(-40).join('\n')}`);
}
