// Runs a program in place of this one: the same terminal, its signals, its exit code.
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { codeOf } from '../../platform/errors.ts';

export type Program = {
  readonly command: string;
  readonly parameters: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly writeError: (text: string) => void;
};

/** The codes of `env`, `timeout` and `docker run`: the program was not started, cannot be executed, was not found. */
export const exitCodes = { refused: 125, notExecutable: 126, notFound: 127 } as const;

const forwarded: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'];
/** A terminal sends these to every process in its foreground: forwarded, they would arrive twice, and a second signal means to stop at once. */
const fromTerminal = new Set<NodeJS.Signals>(['SIGINT', 'SIGQUIT', 'SIGWINCH']);

/** @returns the program's exit code; 128 and the signal's number when a signal ended it */
export async function runProgram({ command, parameters, variables, writeError }: Program): Promise<number> {
  let stopForwarding: () => void = () => undefined;
  try {
    // Some failures are thrown here, others come as an event.
    const child = spawn(command, parameters, { stdio: 'inherit', env: variables });
    stopForwarding = forwardSignals(child);
    return await endOf(child);
  } catch (error) {
    const code = codeOf(error) ?? '';
    writeError(`${command} was not started: ${reasons[code] ?? `it cannot be executed (${code})`}`);
    return code === 'ENOENT' ? exitCodes.notFound : exitCodes.notExecutable;
  } finally {
    stopForwarding();
  }
}

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
