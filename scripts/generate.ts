// Writes the generated files: API descriptions, the types of the npm client package, CustomResourceDefinitions, and the tables of settings, routes, metrics and alerts. With --check it only lists those that are out of date.
import { readFile, writeFile } from 'node:fs/promises';
import { clientTypes } from './client-types.ts';
import { definitionFiles } from './definitions.ts';
import { metricsFile } from './metrics-page.ts';
import { openapiFiles } from './openapi.ts';
import { routesFile } from './routes-page.ts';
import { settingsFile } from './settings-table.ts';

const isCheck = process.argv.includes('--check');
const root = new URL('../', import.meta.url);
const descriptions = await openapiFiles();
const types = await clientTypes(descriptions);
const files = { ...descriptions, ...types, ...routesFile(descriptions), ...(await settingsFile()), ...metricsFile(), ...definitionFiles() };

const stale: string[] = [];
for (const [path, text] of Object.entries(files)) {
  const url = new URL(path, root);
  if ((await readFile(url, 'utf8').catch(() => '')) === text) continue;
  stale.push(path);
  if (!isCheck) await writeFile(url, text);
}

if (stale.length > 0) {
  const paths = stale.join(', ');
  process.stdout.write(isCheck ? `out of date: ${paths}; run npm run generate\n` : `written: ${paths}\n`);
  if (isCheck) process.exitCode = 1;
}
