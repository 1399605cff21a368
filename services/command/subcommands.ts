// `signalbox <deployable> <subcommand>`: adds those of a deployable to the command, and runs them.
import { Argument, type Command, Option } from 'commander';
import type { Environment } from '../platform/config/config.ts';
import type { Subcommand, SubcommandLoaders } from '../platform/process/subcommand.ts';

type CommandLine = {
  readonly environment: Environment;
  /** What stands after the deployable's name; its first word may be a subcommand. */
  readonly words: readonly string[];
  readonly print: (text: string) => void;
  readonly writeError: (text: string) => void;
};

export const dataFolderOption = () =>
  new Option('--data <folder>', 'of `signalbox up`, used when the environment names no database and no broker').default('.signalbox');

const withDataFolder = async (environment: Environment, data: string | undefined): Promise<Environment> =>
  data === undefined ? environment : (await import('../laptop/data-folder.ts')).withLaptopSettings(data, environment);

/** Loads the one that is asked for, or all to tell of them. */
export async function addSubcommands(parent: Command, loaders: SubcommandLoaders, parts: CommandLine): Promise<void> {
  const asked = parts.words[0] ?? '';
  const names = Object.hasOwn(loaders, asked) ? [asked] : Object.keys(loaders);
  for (const name of names) {
    const subcommand = await loaders[name]?.();
    if (subcommand) addSubcommand(parent.command(name).addHelpText('after', helpOf(parent.name(), subcommand)), subcommand, parts);
  }
}

/** What the folder of `signalbox up` has of them. */
const ofFolder = ['DATABASE_URL', 'Ingest__BrokerUrl', 'Encryption__MasterKeys'];

/** What it reads, and how it is called. */
function helpOf(word: string, { settings, settingFamilies = [], isForDataFolder, examples }: Subcommand): string {
  const required = (name: string) => (isForDataFolder && ofFolder.includes(name) ? ' (required, or --data)' : ' (required)');
  const all = [
    ...Object.values(settings).map((setting) => ({ ...setting, isOptional: setting.fallback !== undefined })),
    ...settingFamilies.map((family) => ({ ...family, isOptional: true })),
  ];
  const width = Math.max(0, ...all.map(({ name }) => name.length)) + 2;
  const rows = all.map(({ name, summary, isOptional }) => `  ${name.padEnd(width)}${summary}${isOptional ? '' : required(name)}`);
  const environment = rows.length === 0 ? ['Environment: nothing'] : ['Environment (each also as NAME_FILE):', ...rows];
  return ['', ...environment, '', ...examples.map((example) => `  signalbox ${word} ${example}`)].join('\n');
}

/** Of `[list|show]` the words are offered by completion. */
function argumentOf(operands: string): Argument {
  const argument = new Argument(operands);
  if (operands.includes('|')) argument.argChoices = argument.name().split('|');
  return argument;
}

function addSubcommand(
  command: Command,
  { summary, operands, options, isForDataFolder, usageExitCode, run }: Subcommand,
  { environment, print, writeError }: CommandLine,
): void {
  command.description(summary);
  if (operands !== undefined) command.addArgument(argumentOf(operands));
  for (const { flags, summary: about, required, values } of options) {
    const option = new Option(flags, required ? `${about} (required)` : about).makeOptionMandatory(required ?? false);
    // Not its `choices()`: the subcommand itself refuses, all options at fault together.
    if (values) option.argChoices = [...values];
    command.addOption(option);
  }
  if (isForDataFolder) command.addOption(dataFolderOption());
  // It has been told what is wrong, or `--help` was asked for.
  if (usageExitCode !== undefined) command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : usageExitCode));
  command.action(async () => {
    const stop = new AbortController();
    // What does not stop by the first signal, as a statement on a database that hangs, is ended by the second.
    const onSignal = () => {
      unhear();
      stop.abort();
    };
    const unhear = () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    const { data, ...given } = command.opts<{ data?: string }>();
    const call = { options: given, rest: command.args, print, writeError, stopping: stop.signal };
    process.exitCode = await withDataFolder(environment, data)
      .then((settings) => run({ ...call, environment: settings }))
      .finally(unhear);
  });
}
