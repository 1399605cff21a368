// Runs a program in this one's place: the same terminal, its signals, its exit code.
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';

export type Program = {
  readonly command: string;
  readonly parameters: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly complain: (text: string) => void;
};

/** As `env` and `timeout` have them: it was not run, could not be run, was not found. */
export const exitCodes = { refused: 125, notExecutable: 126, notFound: 127 } as const;

const forwarded: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'];
/** What a terminal sends to every process in its foreground: forwarded, it would arrive twice, and twice means at once. */
const fromTerminal = new Set<NodeJS.Signals>(['SIGINT', 'SIGQUIT', 'SIGWINCH']);

/** @returns the program's exit code; 128 and the signal's number when a signal ended it */
export async function runProgram({ command, parameters, variables, complain }: Program): Promise<number> {
  const child = spawn(command, parameters, { stdio: 'inherit', env: variables });
  const stopForwarding = forwardSignals(child);
  try {
    return await endOf(child);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    complain(`${command} could not be started (${String(code)})`);
    if (code === 'ENOENT') return exitCodes.notFound;
    return code === 'EACCES' ? exitCodes.notExecutable : exitCodes.refused;
  } finally {
    stopForwarding();
  }
}

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
