// Generates docs/settings.md, a table for each deployable, and setting-names.json, for the warning about unknown settings.
import { deployables } from '../services/command/deployables.ts';
import { postgresPassword } from '../services/laptop/data-folder.ts';
import { migrateSettings, roleFamilies } from '../services/install/settings.ts';
import { processSettings } from '../services/platform/config/settings.ts';
import type { Setting, SettingFamily, Settings } from '../services/platform/config/config.ts';
import type { SubcommandLoaders } from '../services/platform/process/subcommand.ts';

const preface = `# Settings

[Documentation](README.md) › Settings

Settings are environment variables. Each also works as \`<NAME>_FILE\`: the path of a file that holds the value. An empty variable counts as absent.
A process with invalid settings lists all faults and exits. It warns about a variable that looks like a misspelt setting, and suggests the right name. This page is generated from the code (\`npm run generate\`).
`;

function fallbackOf({ fallback, generate, isSecret }: Setting<unknown>): string {
  if (!fallback) return generate ? 'required; `npm start` generates it' : 'required';
  const { value } = fallback;
  if (value === undefined || isSecret) return 'none';
  if (value === '') return 'empty';
  if (value instanceof RegExp) return `\`${value.source}\``;
  return Array.isArray(value) ? (value.length === 0 ? 'empty' : `\`${value.join(',')}\``) : `\`${JSON.stringify(value).replaceAll('"', '')}\``;
}

type Section = { readonly title: string; readonly summary: string; readonly settings: Settings; readonly families?: readonly SettingFamily[] | undefined };

function section({ title, summary, settings, families = [] }: Section): string {
  const rows = Object.values(settings).map((setting) => `| \`${setting.name}\` | ${setting.shape} | ${fallbackOf(setting)} | ${setting.summary} |`);
  const familyRows = families.map(({ name, shape, summary: about }) => `| \`${name}\` | ${shape} | none | ${about} |`);
  return [`## ${title}`, '', summary, '', '| setting | value | default | what it is |', '|---|---|---|---|', ...rows, ...familyRows, ''].join('\n');
}

/** The settings of a deployable's commands: each once, with the commands that read it. */
async function commandsSection(word: string, loaders: SubcommandLoaders): Promise<string> {
  const subcommands = await Promise.all(
    Object.entries(loaders).map(async ([subcommand, load]) => ({ subcommand, settings: Object.values((await load()).settings) })),
  );
  const all = Map.groupBy(
    subcommands.flatMap(({ subcommand, settings }) => settings.map((setting) => ({ subcommand, setting }))),
    ({ setting }) => setting.name,
  );
  const described = [...all].flatMap(([name, uses]) => {
    const [first] = uses;
    if (!first) return [];
    // A setting that the first command requires may be optional in another.
    const readers = uses.map(({ subcommand, setting }) => `\`${subcommand}\`${setting.fallback && !first.setting.fallback ? ' if it is set' : ''}`);
    return [[name, { ...first.setting, summary: `${first.setting.summary} (${readers.join(', ')})` }] as const];
  });
  return section({ title: `${word} commands`, summary: `Read by \`signalbox ${word} <command>\`.`, settings: Object.fromEntries(described) });
}

const commandLoaders = () =>
  Promise.all(Object.entries(deployables.withSubcommands).map(async ([word, { load }]) => ({ word, loaders: (await load()).subcommands })));

/** Only names with a lower-case letter: others, such as `PORT`, may be meant for another program. */
function namesOf(settings: readonly Settings[]): string[] {
  const names = settings.flatMap((some) => Object.values(some).map(({ name }) => name)).filter((name) => /[a-z]/.test(name));
  return [...new Set([...names, postgresPassword])].sort();
}

/** @returns path in the repository → content */
export async function settingsFile(): Promise<Record<string, string>> {
  const services = await deployables.loadAll();
  const commands = await commandLoaders();
  const { settings: operatorSettings } = (await deployables.loadOperator()).operator;
  const mailbox = await deployables.loadMailbox();
  const page = [
    preface,
    section({ title: 'Every process', summary: 'Read by each process, whatever runs in it.', settings: processSettings }),
    ...services.map(({ name, summary, settings, settingFamilies }) => section({ title: name, summary: `${summary}.`, settings, families: settingFamilies })),
    section({ title: 'signalbox operator', summary: 'Read by the operator, in addition to METRICS_PORT and LOG_LEVEL.', settings: operatorSettings }),
    section({ title: 'signalbox worker mailbox', summary: `${mailbox.summary}.`, settings: mailbox.settings }),
    section({
      title: 'signalbox migrate',
      summary: 'Either `DATABASE_URL`, one user for everything; or `POSTGRES_URL`, a role for each schema.',
      settings: migrateSettings,
      families: roleFamilies,
    }),
    ...(await Promise.all(commands.map(({ word, loaders }) => commandsSection(word, loaders)))),
  ].join('\n');
  const commandSettings = await Promise.all(commands.flatMap(({ loaders }) => Object.values(loaders).map(async (load) => (await load()).settings)));
  const names = namesOf([
    processSettings,
    ...services.map(({ settings }) => settings),
    operatorSettings,
    mailbox.settings,
    migrateSettings,
    ...commandSettings,
  ]);
  return { 'docs/settings.md': page, 'services/command/setting-names.json': `${JSON.stringify(names, null, 2)}\n` };
}
