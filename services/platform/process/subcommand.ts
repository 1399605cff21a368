// A command of a deployable, as `signalbox <deployable> <subcommand>` runs it.
import type { z } from 'zod';
import type { Environment, SettingFamily, Settings } from '../config/config.ts';

type SubcommandCall = {
  readonly environment: Environment;
  /** Values by the camelCase name of their flag. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The words after the options, or after `--`. */
  readonly rest: readonly string[];
  /** To standard output and standard error, as they are. */
  readonly print: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Aborted by SIGINT and SIGTERM. */
  readonly stopping: AbortSignal;
};

export type Subcommand = {
  /** One line. Help lists the settings below it. */
  readonly summary: string;
  /** Two, as they are typed, without `signalbox` and the deployable's word. */
  readonly examples: readonly [string, string];
  /** The words after the options, for `--help`: `[file]`, `<command...>`. */
  readonly operands?: string;
  /** Flags as commander has them: `--environment <slug>`; `--secret <name...>` may come several times. `values`: those that there are, for `--help` and completion. */
  readonly options: readonly { readonly flags: string; readonly summary: string; readonly required?: boolean; readonly values?: readonly string[] }[];
  /** Its settings, for `--help` and the settings table. */
  readonly settings: Settings;
  readonly settingFamilies?: readonly SettingFamily[];
  /** Works on what `signalbox up` keeps or runs, where the environment names neither a database nor a broker nor a service: it takes `--data`. */
  readonly isForDataFolder?: true;
  /** When its options or operands are wrong; 1 unless given. */
  readonly usageExitCode?: number;
  /** @returns the exit code; a throw is printed as its message and exits with 1 */
  run(call: SubcommandCall): Promise<number>;
};

/** By name; each is loaded when it is asked for. */
export type SubcommandLoaders = Readonly<Record<string, () => Promise<Subcommand>>>;

/** @throws Error that names each option at fault */
export function readOptions<S extends z.ZodType>(schema: S, options: unknown): z.output<S> {
  const read = schema.safeParse(options);
  if (read.success) return read.data;
  throw new Error(read.error.issues.map(({ path, message }) => `--${path.join('.')} ${message}`).join('\n'));
}
