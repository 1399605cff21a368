// `npm run bench [-- name…] [--quick | --rounds N]`: runs benchmarks, each against its bound in the same run, and prints tables with ratios.
// Exit code 1: a goal was missed. `--quick` is for the edit loop: too few and too short rounds to believe a small difference. More rounds help where the machine's speed changes.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { closeAll } from '../support/end-of-run.ts';
import { type Bench, toLine, toTable } from './support/bench.ts';

const names = (await readdir(import.meta.dirname)).filter((file) => file.endsWith('.ts') && file !== 'main.ts').map((file) => file.slice(0, -3));
const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, rounds: { type: 'string', default: '5' } },
});
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`there is no benchmark ${unknown.join(', ')}; there are: ${names.join(', ')}`);
// Programs start from compiled code, as they do in the image.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../../node_modules/.cache/compiled');
await once(fork(join(import.meta.dirname, '../support/compile.ts'), { stdio: 'inherit' }), 'exit');
const pace = values.quick ? { rounds: 3, seconds: 1 } : { rounds: Number(values.rounds), seconds: 3 };

try {
  for (const name of wanted.length > 0 ? wanted : names) {
    const { bench } = (await import(`./${name}.ts`)) as { readonly bench: Bench }; // every file in this folder exports one
    process.stdout.write(`\n${name}: ${bench.summary}; median of ${pace.rounds} rounds\n`);
    const rows = await bench.run(pace, (row) => process.stderr.write(toLine(row)));
    process.stdout.write(toTable(rows));
    if (rows.some(({ isMet }) => !isMet)) process.exitCode = 1;
  }
} finally {
  await closeAll();
}
