// `npm test [-- file or folder…] [-g 'part of a title']`: runs all tests or those named, with --fast without `*.slow.test.ts`.
// Several processes take file after file, since most tests mostly wait. What failed comes last, then one line that counts, even when nothing could begin.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { countLine, type Counts, summaryLine } from './reporter.ts';

const processes = 4;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { fast: { type: 'boolean', default: false }, grep: { type: 'string', short: 'g' } },
});
const queue = inOrder(filesOf(positionals));
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../../node_modules/.cache/compiled');
const workers = queue.slice(0, processes).map(() => startWorker());
// Ctrl-C reaches them by itself; a supervisor's SIGTERM does not.
process.on('SIGINT', () => undefined).on('SIGTERM', () => workers.forEach(({ child }) => child.kill('SIGTERM')));

const total = { passed: 0, failed: queue.length > 0 ? 0 : 1, skipped: 0 };
const summary: string[] = [];
const notRun = new Set<string>();
await Promise.all(workers.map(({ work }) => work()));
if (queue.length > 0) fail(`not begun: ${queue.flat().join(', ')}`);
if (summary.length > 0) summary.unshift(summaryLine);
for (const line of [...summary, ...notRun, countLine(total)]) process.stdout.write(`${line}\n`);
process.exitCode = total.failed > 0 ? 1 : 0;

function fail(why: string): void {
  total.failed += 1;
  summary.push(why);
}

function filesOf(paths: readonly string[]): string[] {
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const exclude = ['test/bench/**', 'test/cluster/**', ...(values.fast ? ['test/**/*.slow.test.ts'] : [])];
  return (paths.length > 0 ? paths : ['test']).flatMap((path) => (isFolder(path) ? globSync(join(path, '**/*.test.ts'), { exclude }).sort() : path));
}

/** The charts' together, for one process, which keeps its renderings; then two quick files after each slow one, so that slow ones are neither alone nor last. */
function inOrder(files: readonly string[]): string[][] {
  const {
    charts = [],
    slow = [],
    quick = [],
  } = Object.groupBy(files, (file) => (file.startsWith('test/charts/') ? 'charts' : file.endsWith('.slow.test.ts') ? 'slow' : 'quick'));
  const inTurn = slow.flatMap((file, index) => [file, ...quick.slice(2 * index, 2 * index + 2)]);
  return [charts, ...[...inTurn, ...quick.slice(2 * slow.length)].map((file) => [file])].filter(({ length }) => length > 0);
}

/** A process that runs files. Its output is printed file by file, and at once where it is the only one. */
function startWorker() {
  const args = [process.stdout.isTTY ? '--color' : '--no-color', ...(values.grep === undefined ? [] : [values.grep])];
  const child = fork(join(import.meta.dirname, 'run-files.ts'), args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const ended = once(child, 'close');
  let kept: string[] = [];
  let isSummary = false;
  let counted: (() => void) | undefined;
  if (child.stdout) createInterface({ input: child.stdout }).on('line', hear);

  function hear(line: string): void {
    const counts = parseCounts(line);
    if (counts) {
      for (const key of ['passed', 'failed', 'skipped'] as const) total[key] += counts[key];
      isSummary = false;
      counted?.();
    } else if (line === summaryLine) isSummary = true;
    else if (isSummary) summary.push(line);
    else if (line.startsWith('not run: ')) notRun.add(line);
    else if (workers.length === 1) process.stdout.write(`${line}\n`);
    else kept.push(`${line}\n`);
  }

  async function work(): Promise<void> {
    let files = queue.shift();
    while (files) {
      const whole = new Promise<void>((resolve) => (counted = resolve));
      const begun = Date.now();
      child.send(files);
      await Promise.race([whole, ended]);
      if (workers.length > 1)
        process.stdout.write(`\n${files[0]}${files.length > 1 ? ' …' : ''} (${Math.round((Date.now() - begun) / 1000)} s)${kept.join('')}`);
      kept = [];
      if (!child.connected) break;
      files = queue.shift();
    }
    if (child.connected) child.send([]);
    const [code, signal] = (await ended) as [number | null, string | null];
    if (code !== 0) fail(`a test process ended with ${signal ?? `exit code ${code}`}${files ? `, in ${files.join(', ')}` : ''}`);
  }
  return { child, work };
}

/** The reverse of `countLine`. */
function parseCounts(line: string): Counts | undefined {
  const [, passed, failed, skipped = 0] = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/.exec(line) ?? [];
  return passed === undefined ? undefined : { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}
