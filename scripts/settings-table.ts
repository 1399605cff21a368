// docs/settings.md: one table a deployable, from the declarations that read the settings.
import { deployables } from '../services/deployables.ts';
import { processSettings } from '../services/platform/common-settings.ts';
import type { Setting, SettingFamily, Settings } from '../services/platform/config.ts';

const preface = `# Settings

Settings are environment variables. Each also works as \`<NAME>_FILE\`: the path of a file that holds the value. An empty variable counts as absent.
A process whose settings are not usable says so, all faults together, and ends. This page is generated from the code (\`npm run generate\`).
`;

function fallbackOf({ fallback, generate }: Setting<unknown>): string {
  if (!fallback) return generate ? 'required; `npm start` generates it' : 'required';
  const { value } = fallback;
  if (value === undefined) return 'none';
  return Array.isArray(value) ? (value.length === 0 ? 'empty' : `\`${value.join(',')}\``) : `\`${JSON.stringify(value).replaceAll('"', '')}\``;
}

type Section = { readonly title: string; readonly summary: string; readonly settings: Settings; readonly families?: readonly SettingFamily[] | undefined };

function section({ title, summary, settings, families = [] }: Section): string {
  const rows = Object.values(settings).map((setting) => `| \`${setting.name}\` | ${setting.shape} | ${fallbackOf(setting)} | ${setting.summary} |`);
  const familyRows = families.map(({ name, shape, summary: about }) => `| \`${name}\` | ${shape} | none | ${about} |`);
  return [`## ${title}`, '', summary, '', '| setting | value | default | what it is |', '|---|---|---|---|', ...rows, ...familyRows, ''].join('\n');
}

/** @returns path in the repository → content */
export async function settingsFile(): Promise<Record<string, string>> {
  const sections = (await deployables.loadAll()).map(({ name, summary, settings, settingFamilies }) =>
    section({ title: name, summary: `${summary}.`, settings, families: settingFamilies }),
  );
  return {
    'docs/settings.md': [
      preface,
      section({ title: 'Every process', summary: 'What each process reads, whatever runs in it.', settings: processSettings }),
      ...sections,
    ].join('\n'),
  };
}
