// `signalbox secrets <subcommand>` for tests: a real process, with its two outputs apart.
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { signalGroup, spawnGuarded } from '../../../support/guard.ts';
import { hideSettings } from '../hidden-settings.ts';
import { leakWatch } from '../leak-watch.ts';

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly out: string; readonly err: string };

export type RunningCommand = {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** The output so far. */
  readonly out: () => string;
  readonly err: () => string;
  /** To the command alone, as a supervisor sends it. */
  signal(name: NodeJS.Signals): void;
  /** SIGKILL. */
  kill(): Promise<Ended>;
};

export type CommandOptions = {
  /** All its environment, but for PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
};

const program = join(import.meta.dirname, '../../../../services/main.ts');

export function startCommand(args: readonly string[], { env = {}, input }: CommandOptions = {}): RunningCommand {
  hideSettings(env, leakWatch);
  const { PATH = '', HOME = '' } = process.env;
  const child = spawnGuarded(process.execPath, [program, 'secrets', ...args], { env: { PATH, HOME, ...env }, stdio: 'pipe' });
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || !stdin || !stdout || !stderr) throw new Error(`'signalbox secrets ${args.join(' ')}' could not be started`);
  stdin.on('error', () => undefined); // it may have ended without reading
  stdin.end(input);
  const printed = { out: '', err: '' };
  stdout.on('data', (chunk) => (printed.out += String(chunk)));
  stderr.on('data', (chunk) => (printed.err += String(chunk)));
  // A program that `run` starts may print its values.
  leakWatch.listen(`what 'secrets ${args[0]}' printed`, () => (args[0] === 'run' ? printed.err : printed.out + printed.err));
  const ended = Promise.all([once(child, 'close'), text(stdout), text(stderr)]).then(([[code, signal], out, err]): Ended => ({ code, signal, out, err }));
  return {
    pid,
    ended,
    out: () => printed.out,
    err: () => printed.err,
    signal: (name) => void child.kill(name),
    kill: () => {
      signalGroup(pid, 'SIGKILL');
      return ended;
    },
  };
}

export const secretsCommand = (args: readonly string[], options?: CommandOptions): Promise<Ended> => startCommand(args, options).ended;
