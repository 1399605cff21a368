// `signalbox <deployable> <subcommand>`: adds the subcommands of a deployable to the command, with their help, and runs them.
import { statSync } from 'node:fs';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { Environment, Setting, SettingFamily, Settings } from '../platform/config/config.ts';
import type { Subcommand, SubcommandLoaders } from '../platform/process/subcommand.ts';

type CommandLine = {
  readonly environment: Environment;
  /** The words after the deployable's name; the first may be a subcommand. */
  readonly words: readonly string[];
  readonly print: (text: string) => void;
  readonly writeError: (text: string) => void;
};

/** A folder that is missing may be made. */
function folder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false) throw new InvalidArgumentError('must be a folder');
  return path;
}

export const dataOption = (summary = 'the data folder') => new Option('--data <folder>', summary).argParser(folder).default('.signalbox');
export const dataFolderOption = () => dataOption('of `signalbox up`, used when the environment names no database, broker or service');

export const withDataFolder = async (environment: Environment, data: string | undefined, settings: Settings = {}): Promise<Environment> =>
  data === undefined
    ? environment
    : (await import('../laptop/data-folder.ts')).withLaptopSettings(
        data,
        environment,
        Object.values(settings).map(({ name }) => name),
      );

/** Loads the subcommand that was typed, or all of them to list them. */
export async function addSubcommands(parent: Command, loaders: SubcommandLoaders, parts: CommandLine): Promise<void> {
  const asked = parts.words[0] ?? '';
  const names = Object.hasOwn(loaders, asked) ? [asked] : Object.keys(loaders);
  for (const name of names) {
    const subcommand = await loaders[name]?.();
    if (subcommand) addSubcommand(parent.command(name).addHelpText('after', helpOf(`signalbox ${parent.name()}`, subcommand)), subcommand, parts);
  }
}

/** The required settings that the folder of `signalbox up` has. */
const inDataFolder = [
  'DATABASE_URL',
  'Ingest__BrokerUrl',
  'Encryption__MasterKeys',
  'Jwt__Key',
  'Management__AdminApiKey',
  'Bookmarks__ApiKeys',
  'Listings__AccessTokens',
  'SIGNALBOX_SECRETS_URL',
  'SIGNALBOX_BOOKMARKS_URL',
  'SIGNALBOX_LISTINGS_URL',
];

type Help = {
  readonly settings: Settings;
  readonly families?: readonly SettingFamily[];
  /** The line above the list of settings. */
  readonly heading?: string;
  /** Settings that the folder of `signalbox up` gives as well. */
  readonly inDataFolder?: readonly string[];
  /** Paragraphs between the settings and the examples. */
  readonly notes?: readonly string[];
  /** As they are typed. */
  readonly examples: readonly string[];
};

export function helpText({ settings, families = [], heading, inDataFolder = [], notes = [], examples }: Help): string {
  const rows = [
    ...Object.values(settings).map((setting) => [setting.name, aboutOf(setting, inDataFolder)]),
    ...families.map(({ name, summary }) => [name, summary]),
  ];
  const width = Math.max(0, ...rows.map(([name = '']) => name.length)) + 2;
  const begin = heading ?? (rows.length === 0 ? 'Environment: nothing' : 'Environment (each also as NAME_FILE):');
  const list = rows.map(([name = '', about = '']) => `  ${name.padEnd(width)}${about}`);
  return ['', begin, ...list, '', ...notes.flatMap((note) => [note, '']), ...examples.map((example) => `  ${example}`)].join('\n');
}

function aboutOf({ name, summary, fallback, isSecret }: Setting<unknown>, inDataFolder: readonly string[]): string {
  if (!fallback) return `${summary} (required${inDataFolder.includes(name) ? ', or --data' : ''})`;
  const { value } = fallback;
  const isShown = !isSecret && ((typeof value === 'string' && value !== '') || typeof value === 'number');
  return isShown ? `${summary}; default: ${value}` : summary;
}

const helpOf = (words: string, { settings, settingFamilies = [], isForDataFolder, examples }: Subcommand) =>
  helpText({
    settings,
    families: settingFamilies,
    inDataFolder: isForDataFolder ? inDataFolder : [],
    examples: examples.map((example) => `${words} ${example}`),
  });

/** Completion offers the words of `[list|show]`. */
function argumentOf(operands: string): Argument {
  const argument = new Argument(operands);
  if (operands.includes('|')) argument.argChoices = argument.name().split('|');
  return argument;
}

function addSubcommand(
  command: Command,
  { summary, operands, options, settings, isForDataFolder, usageExitCode, run }: Subcommand,
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
  // commander has printed the fault, or the help.
  if (usageExitCode !== undefined) command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : usageExitCode));
  command.action(async () => {
    const stop = new AbortController();
    // A second signal ends what the first could not, such as a statement on a database that hangs.
    const onSignal = () => {
      unhear();
      stop.abort();
    };
    const unhear = () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    const { data, ...typed } = command.opts<{ data?: string }>();
    const call = { options: typed, rest: command.args, print, writeError, stopping: stop.signal };
    process.exitCode = await withDataFolder(environment, data, settings)
      .then((given) => run({ ...call, environment: given }))
      .finally(unhear);
  });
}
