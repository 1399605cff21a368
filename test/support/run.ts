// `npm test [-- file or folder…]`: runs mocha on all tests or on those named, with --fast without `*.slow.test.ts`.
// All run in four processes, since many of them mostly wait: one for the charts, whose renderings it keeps. What failed comes last, then one line that counts, even when mocha could not begin.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { countLine, type Counts, summaryLine } from './reporter.ts';

const outside = ['test/bench/**', 'test/cluster/**'];
const slow = 'test/**/*.slow.test.ts';

const isFast = process.argv.includes('--fast');
const given = process.argv.slice(2).filter((argument) => argument !== '--fast');
const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
const wanted = given.map((argument) => (isFolder(argument) ? join(argument, '**/*.test.ts') : argument));

const isWhole = !wanted.some((argument) => argument.endsWith('.ts'));
const allFiles = globSync('test/**/*.test.ts', { exclude: [...outside, ...(isFast ? [slow] : [])] }).sort();
const isOfCharts = (file: string) => file.startsWith('test/charts/');
const others = allFiles.filter((file) => !isOfCharts(file));
const filesOfRuns = isWhole ? [allFiles.filter(isOfCharts), ...[0, 1, 2].map(shareOf)] : [isFast ? ['--ignore', slow] : []];

process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../../node_modules/.cache/compiled');
const mocha = join(dirname(createRequire(import.meta.url).resolve('mocha/package.json')), 'bin/mocha.js');
const runs = filesOfRuns.map((files) => startMocha([process.stdout.isTTY ? '--color' : '--no-color', ...wanted, ...files]));
// Ctrl-C reaches mocha by itself; a supervisor's SIGTERM does not.
process.on('SIGINT', () => undefined).on('SIGTERM', () => runs.forEach(({ child }) => child.kill('SIGTERM')));

const total = { passed: 0, failed: 0, skipped: 0 };
const notRun = new Set<string>();
// One after the other; what the others say meanwhile is kept.
for (const run of runs) {
  run.print();
  const { passed, failed, skipped } = await run.ended;
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  for (const line of run.notRun) notRun.add(line);
}
const summaries = runs.flatMap(({ summary }) => summary);
process.stdout.write([...summaries, ...notRun, countLine(total)].map((line) => `${line}\n`).join(''));
process.exitCode = total.failed > 0 ? 1 : 0;

/** Every third file. Each process begins in another folder: some need the processor, the broker's wait. */
function shareOf(turn: number): readonly string[] {
  const share = others.filter((_, index) => index % 3 === turn);
  const begin = Math.floor((share.length * turn) / 3);
  return [...share.slice(begin), ...share.slice(0, begin)];
}

/** Its output is kept until it is printed; its summary and its own closing lines are not part of it. */
function startMocha(args: readonly string[]) {
  const child = spawn(process.execPath, [mocha, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const kept: string[] = [];
  let print = (line: string): unknown => kept.push(line);
  let counts: Counts | undefined;
  const summary: string[] = [];
  const notRun: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const counted = parseCounts(line);
    if (counted) counts = counted;
    else if (line === summaryLine || summary.length > 0) summary.push(line);
    else if (line.startsWith('not run: ')) notRun.push(line);
    else print(line);
  });
  return {
    child,
    summary,
    notRun,
    print(): void {
      print = (line) => process.stdout.write(`${line}\n`);
      kept.forEach(print);
    },
    ended: once(child, 'close').then(([code, signal]: (number | string | null)[]): Counts => {
      if (counts && (code === 0) === (counts.failed === 0)) return counts;
      summary.push(`the run itself failed (${signal ?? `exit code ${code}`})`);
      return { passed: 0, skipped: 0, ...counts, failed: (counts?.failed ?? 0) + 1 };
    }),
  };
}

/** The reverse of `countLine`. */
function parseCounts(line: string): Counts | undefined {
  const [, passed, failed, skipped = 0] = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/.exec(line) ?? [];
  return passed === undefined ? undefined : { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}
