// A command of a deployable, as `signalbox <deployable> <verb>` runs it.
import type { Environment, Settings } from './config.ts';

export type VerbOption = {
  /** As commander has them: `--environment <slug>`; `--secret <name...>` may come several times. */
  readonly flags: string;
  readonly summary: string;
  readonly required?: boolean;
};

export type VerbCall = {
  readonly environment: Environment;
  /** Values by the camelCase name of their flag. */
  readonly options: Readonly<Record<string, unknown>>;
  /** What stands after the options, or after `--`. */
  readonly rest: readonly string[];
  /** To standard output and standard error, as they are. */
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
  /** Aborted by SIGINT and SIGTERM. */
  readonly stopping: AbortSignal;
};

export type Verb = {
  readonly summary: string;
  /** What stands after the options, for `--help`: `[file]`, `<command...>`. */
  readonly operands?: string;
  readonly options: readonly VerbOption[];
  /** What it reads of the environment, for the settings table. */
  readonly settings: Settings;
  /** When its options or operands are wrong; 1 unless given. */
  readonly usageExitCode?: number;
  /** @returns the exit code; a throw is printed as its message and exits with 1 */
  run(call: VerbCall): Promise<number>;
};

/** By name; each is loaded when it is asked for. */
export type VerbLoaders = Readonly<Record<string, () => Promise<Verb>>>;
