// Reads and dates CHANGELOG.md for scripts/release.sh.
//
//   node scripts/changelog.ts date VERSION YYYY-MM-DD   "Unreleased" gets version and date
//   node scripts/changelog.ts notes VERSION             prints the section of a version
//   node scripts/changelog.ts changes VERSION           prints it as Artifact Hub's list of changes, in YAML
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

/** The headings of a section, from keepachangelog.com and Artifact Hub. */
const kinds = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

const headings = (text: string) => [...text.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
const isOf = (heading: string, version: string) => heading === version || heading.startsWith(`${version} (`);

/** @returns the section of a version, or of `Unreleased`, without its heading */
export function notesOf(text: string, version: string): string {
  const section = text.split(/^## /m).find((part) => isOf(part.split('\n')[0] ?? '', version));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section ${version}`);
  return section.slice(section.indexOf('\n') + 1).trim();
}

/** Compares dotted numbers and ignores everything after a `-`. */
function isNewer(version: string, than: string): boolean {
  const [left = [], right = []] = [version, than].map((each) => (each.split('-')[0] ?? '').split('.').map(Number));
  const index = left.findIndex((part, place) => part !== right[place]);
  return index >= 0 && (left[index] ?? 0) > (right[index] ?? 0);
}

/** The text with version and date in place of `Unreleased`; refuses an empty section, and a version that is not newer than the last one. */
export function dated(text: string, version: string, date: string): string {
  const [first = '', ...released] = headings(text);
  if (isOf(first, version) || released.some((heading) => isOf(heading, version))) throw new Error(`CHANGELOG.md has ${version} already: raise the version`);
  if (first !== 'Unreleased') throw new Error('CHANGELOG.md does not begin with a section Unreleased');
  if (!notesOf(text, 'Unreleased').includes('\n- ')) throw new Error('CHANGELOG.md has nothing under Unreleased');
  const last = released[0]?.split(' ')[0];
  if (last !== undefined && !isNewer(version, last)) throw new Error(`${version} is not newer than ${last}, the last one in CHANGELOG.md`);
  return text.replace(/^## Unreleased$/m, `## ${version} (${date})`);
}

export type Change = { readonly kind: string; readonly description: string };

/** @returns a change for each item: its first clause, without Markdown marks */
export function changesOf(text: string, version: string): Change[] {
  return notesOf(text, version)
    .split(/^### /m)
    .slice(1)
    .flatMap((part) => {
      const [heading = '', ...lines] = part.split('\n');
      if (!kinds.includes(heading)) throw new Error(`CHANGELOG.md: "${heading}" is none of ${kinds.join(', ')}`);
      const items = lines.join('\n').split(/^- /m).slice(1);
      return items.map((item) => ({ kind: heading.toLowerCase(), description: firstClause(item) }));
    });
}

const firstClause = (item: string): string =>
  (
    item
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[*`]/g, '')
      .replaceAll(/\s+/g, ' ')
      .split(/[:.;](?: |$)/)[0] ?? ''
  ).trim();

async function main([task = '', version = '', date = '']: readonly string[]): Promise<void> {
  const file = new URL('../CHANGELOG.md', import.meta.url);
  const text = await readFile(file, 'utf8');
  if (task === 'date') await writeFile(file, dated(text, version, date));
  else if (task === 'notes') process.stdout.write(`${notesOf(text, version)}\n`);
  else if (task === 'changes')
    process.stdout.write(
      changesOf(text, version)
        .map((change) => `- ${JSON.stringify(change)}\n`)
        .join(''),
    );
  else throw new Error(`date, notes or changes, not "${task}"`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
