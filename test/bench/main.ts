// `npm run bench [-- name…]`: runs benchmarks, each against its bound in the same run, and prints tables with ratios.
import { readdir } from 'node:fs/promises';
import { closeAll } from '../support/end-of-run.ts';
import type { Bench } from './support/bench.ts';
import { toTable } from './support/table.ts';

const names = (await readdir(import.meta.dirname)).filter((file) => file.endsWith('.ts') && file !== 'main.ts').map((file) => file.slice(0, -3));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`there is no benchmark ${unknown.join(', ')}; there are: ${names.join(', ')}`);

try {
  for (const name of wanted.length > 0 ? wanted : names) {
    const { bench } = (await import(`./${name}.ts`)) as { readonly bench: Bench }; // every file in this folder exports one
    process.stdout.write(`\n${name}: ${bench.summary}\n`);
    const rows = await bench.run();
    process.stdout.write(toTable(rows));
    if (rows.some(({ isMet }) => !isMet)) process.exitCode = 1;
  }
} finally {
  await closeAll();
}
