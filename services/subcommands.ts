// `signalbox <deployable> <verb>`: adds the verbs of a deployable to the command, and runs them.
import { type Command, Option } from 'commander';
import type { Environment } from './platform/config/config.ts';
import type { Subcommand, SubcommandLoaders } from './platform/process/subcommand.ts';

type VerbsParts = {
  readonly environment: Environment;
  /** What stands after the deployable's name; its first word may be a verb. */
  readonly words: readonly string[];
  readonly print: (text: string) => void;
  readonly writeError: (text: string) => void;
};

/** Loads the one that is asked for, or all to tell of them. */
export async function addVerbs(parent: Command, loaders: SubcommandLoaders, parts: VerbsParts): Promise<void> {
  const asked = parts.words[0] ?? '';
  const names = Object.hasOwn(loaders, asked) ? [asked] : Object.keys(loaders);
  for (const name of names) {
    const verb = await loaders[name]?.();
    if (verb) addVerb(parent.command(name), verb, parts);
  }
}

function addVerb(verb: Command, { summary, operands, options, usageExitCode, run }: Subcommand, { environment, print, writeError }: VerbsParts): void {
  verb.description(summary);
  if (operands !== undefined) verb.argument(operands);
  for (const { flags, summary: about, required } of options) verb.addOption(new Option(flags, about).makeOptionMandatory(required ?? false));
  // It has been told what is wrong, or `--help` was asked for.
  if (usageExitCode !== undefined) verb.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : usageExitCode));
  verb.action(async () => {
    const stop = new AbortController();
    // What does not stop by the first signal, as a statement on a database that hangs, is ended by the second.
    const onSignal = () => {
      unhear();
      stop.abort();
    };
    const unhear = () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    const call = { environment, options: verb.opts(), rest: verb.args, print, writeError, stopping: stop.signal };
    process.exitCode = await run(call).finally(unhear);
  });
}
