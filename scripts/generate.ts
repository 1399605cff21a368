// Writes what is generated from the code: API descriptions, CustomResourceDefinitions and the settings table. With --check it only lists the files that are out of date.
import { readFile, writeFile } from 'node:fs/promises';
import { definitionFiles } from './definitions.ts';
import { openapiFiles } from './openapi.ts';
import { settingsFile } from './settings-table.ts';

const isCheck = process.argv.includes('--check');
const root = new URL('../', import.meta.url);
const files = { ...(await openapiFiles()), ...(await settingsFile()), ...definitionFiles() };

const stale: string[] = [];
for (const [path, text] of Object.entries(files)) {
  const url = new URL(path, root);
  if ((await readFile(url, 'utf8').catch(() => '')) === text) continue;
  stale.push(path);
  if (!isCheck) await writeFile(url, text);
}

if (stale.length > 0) process.stdout.write(`${isCheck ? 'out of date, run npm run generate' : 'written'}: ${stale.join(', ')}\n`);
if (isCheck && stale.length > 0) process.exitCode = 1;
