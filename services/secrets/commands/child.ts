// Runs a program in place of this one: the program takes the place of this process, or where it cannot, runs as its child with its terminal and signals.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { accessSync, constants as modes, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { constants } from 'node:os';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { codeOf } from '../../platform/errors.ts';

export type Program = {
  readonly command: string;
  readonly parameters: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Aborted by a signal that ends this process. */
  readonly stopping: AbortSignal;
  readonly writeError: (text: string) => void;
};

/** The codes of `env`, `timeout` and `docker run`: the program was not started, cannot be executed, was not found. */
export const exitCodes = { refused: 125, notExecutable: 126, notFound: 127 } as const;

const forwarded: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'];
/** A terminal sends these to every process in its foreground: forwarded, they would arrive twice, and a second signal means to stop at once. */
const fromTerminal = new Set<NodeJS.Signals>(['SIGINT', 'SIGQUIT', 'SIGWINCH']);

/**
 * Where the program takes the place of this process this never returns.
 * @returns the program's exit code; 128 and the signal's number when a signal ended it
 * @throws the reason of `stopping`, when it was aborted before the program began
 */
export async function runProgram(program: Program): Promise<number> {
  const { command, parameters, variables, stopping, writeError } = program;
  let stopForwarding: () => void = () => undefined;
  try {
    if (isRunnable(program) && canTakePlace(program)) await takePlace(program);
    // Some failures are thrown here, others come as an event.
    const child = spawn(command, parameters, { stdio: 'inherit', env: variables });
    stopForwarding = forwardSignals(child);
    return await endOf(child);
  } catch (error) {
    if (stopping.aborted) throw error;
    const code = codeOf(error) ?? '';
    writeError(`${command} was not started: ${reasons[code] ?? `it cannot be executed (${code})`}`);
    return code === 'ENOENT' ? exitCodes.notFound : exitCodes.notExecutable;
  } finally {
    stopForwarding();
  }
}

// process.execve ends this process with an abort when the system refuses, and hands on that Node ignores SIGPIPE. So it starts `env` of the GNU
// coreutils, which sets signals back, finds the program as a shell does, and is replaced by it. Every other system gets a child.
const envProgram = '/usr/bin/env';

/** Whether there is such a program at all; the sentence that there is none is that of `spawn`. */
function isRunnable({ command, variables }: Program): boolean {
  const places = command.includes('/') ? [command] : (variables['PATH'] ?? '').split(delimiter).map((folder) => join(folder, command));
  return places.some((place) => isExecutable(place));
}

function isExecutable(place: string): boolean {
  try {
    accessSync(place, modes.X_OK);
    return statSync(place).isFile();
  } catch {
    return false;
  }
}

/** Asks by starting `true` the same way, with the same arguments and environment: they may be larger than the system takes. */
function canTakePlace({ command, parameters, variables }: Program): boolean {
  // env would take the one for an assignment, the other for an option.
  if (command.includes('=') || command.startsWith('-') || typeof process.execve !== 'function' || !isExecutable(envProgram)) return false;
  const tried = spawnSync(envProgram, ['--default-signal', 'true', command, ...parameters], { stdio: 'ignore', env: variables });
  return tried.status === 0;
}

async function takePlace({ command, parameters, variables, stopping }: Program): Promise<void> {
  // A signal that came while a child was tried is heard in the next poll of the event loop, between these two turns.
  await endOfTurn();
  await endOfTurn();
  stopping.throwIfAborted();
  // Nothing hears one from here on: without a listener the system itself ends this process, and no signal is lost with it.
  for (const signal of ['SIGTERM', 'SIGINT']) process.removeAllListeners(signal);
  // Node makes inherited pipes non-blocking, for every process that has them. A child begins by making them blocking again.
  spawnSync(envProgram, ['true'], { stdio: 'inherit' });
  process.execve?.(envProgram, ['env', '--default-signal', command, ...parameters], Object.fromEntries(definedOf(variables)));
}

const definedOf = (variables: Program['variables']) =>
  Object.entries(variables).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]]));

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such program',
  EACCES: 'it is no program, or not one that this user may execute',
  ENOEXEC: 'it is not a program of this system',
  E2BIG:
    'its environment and arguments are larger than the system takes (on Linux 128 KiB each, some 2 MiB in all); let it read large values from the service itself',
};

const endOf = (child: ChildProcess) =>
  new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ? 128 + constants.signals[signal] : (code ?? exitCodes.refused)));
  });

function forwardSignals(child: ChildProcess): () => void {
  const forward = (signal: NodeJS.Signals) => {
    if (!(process.stdin.isTTY && fromTerminal.has(signal))) child.kill(signal);
  };
  for (const signal of forwarded) process.on(signal, forward);
  return () => forwarded.forEach((signal) => process.off(signal, forward));
}
