// `npm test [-- file or folder…] [-g 'part of a title']`: runs all tests or those named, with --fast without `*.slow.test.ts`.
// Several processes take file after file, since most tests mostly wait. Failures are printed last, then one line with the counts, even if nothing could start.
// With CI set, files with a failure run once more, alone, after all others.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { closeAll } from './end-of-run.ts';
import { countLine, type Counts, summaryLine } from './reporter.ts';
import { createSharedServers } from './shared-servers.ts';
import { processorMsBelow, procfs } from './usage.ts';

const processes = 4;

type Result = { readonly file: string; readonly counts: Counts; readonly failures: readonly string[] };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { fast: { type: 'boolean', default: false }, grep: { type: 'string', short: 'g' } },
});
const compiled = (process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../../node_modules/.cache/compiled'));
if (!existsSync(compiled)) await once(fork(join(import.meta.dirname, 'compile.ts'), { stdio: 'inherit' }), 'exit');
let running: ChildProcess[] = [];
// Ctrl-C reaches the child processes by itself; a supervisor's SIGTERM does not.
process.on('SIGINT', () => undefined).on('SIGTERM', () => running.forEach((child) => child.kill('SIGTERM')));

const servers = createSharedServers({
  postgres: async () => (await import('./postgres.ts')).startUnsafe(),
  rabbitmq: async () => (await import('./rabbitmq.ts')).startManaged(),
  chromium: async () => (await import('./chromium.ts')).startChromium(),
});
const total = { passed: 0, failed: 0, skipped: 0 };
const summary: string[] = [];
const notRun = new Set<string>();
const all = inOrder(filesOf(positionals));
const results = await runAll(all, processes);
if (all.length === 0) total.failed = 1;
// A file that fails a second time, alone, has failed; one that then passes is named.
const again = process.env['CI'] ? results.filter(({ counts }) => counts.failed > 0) : [];
const groupsAgain = again.map(({ file }) => [file]);
for (const result of [...results.filter((each) => !again.includes(each)), ...(await runAll(groupsAgain, 1))]) count(result);
for (const { file, failures } of again) summary.push(`failed once, ran again: ${file}`, ...failures);
// A server that has ended is left out, and so are all where there is no /proc.
const measurable = (await servers.running()).filter(({ pid }) => existsSync(`/proc/${pid}/stat`));
const usedByServers = measurable.map(({ name, pid }) => `${name} ${seconds(processorMsBelow(pid))}`);
if (usedByServers.length > 0) process.stdout.write(`\nseconds of the processor: ${usedByServers.join(', ')}\n`);
await closeAll().catch((error: unknown) => fail(String(error)));
if (summary.length > 0) summary.unshift(summaryLine);
for (const line of [...summary, ...notRun, countLine(total)]) process.stdout.write(`${line}\n`);
process.exitCode = total.failed > 0 ? 1 : 0;

function count({ counts, failures }: Result): void {
  for (const key of ['passed', 'failed', 'skipped'] as const) total[key] += counts[key];
  summary.push(...failures);
}

function fail(why: string): void {
  total.failed += 1;
  summary.push(why);
}

function filesOf(paths: readonly string[]): string[] {
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const exclude = ['test/bench/**', 'test/cluster/**', ...(values.fast ? ['test/**/*.slow.test.ts'] : [])];
  return (paths.length > 0 ? paths : ['test']).flatMap((path) => (isFolder(path) ? globSync(join(path, '**/*.test.ts'), { exclude }).sort() : path));
}

/**
 * The charts' files that render every set of values together, for one process, which keeps its renderings; then two quick files after each slow one,
 * so that slow ones are neither alone nor last: the longest first, those of the dashboard's costs and of the values, then those of `system`.
 */
function inOrder(files: readonly string[]): string[][] {
  const isOfSets = (file: string) => file.startsWith('test/charts/') && (!file.endsWith('.slow.test.ts') || /\/(every-set|server)\./.test(file));
  const { sets = [], slow = [], quick = [] } = Object.groupBy(files, (file) => (isOfSets(file) ? 'sets' : file.endsWith('.slow.test.ts') ? 'slow' : 'quick'));
  const longest = [
    'test/services/webhook-intake/dashboard/costs.',
    'test/charts/values.',
    'test/platform/broker/contract.',
    'test/system/',
    'test/charts/',
    'test/',
  ];
  const turnOf = (file: string) => longest.findIndex((beginning) => file.startsWith(beginning));
  const inTurn = slow.toSorted((one, other) => turnOf(one) - turnOf(other)).flatMap((file, index) => [file, ...quick.slice(2 * index, 2 * index + 2)]);
  return [sets, ...[...inTurn, ...quick.slice(2 * slow.length)].map((file) => [file])].filter(({ length }) => length > 0);
}

/** Runs the files of each group one by one in one of so many processes. Output is printed file by file, and at once where there is one process. */
async function runAll(groups: readonly (readonly string[])[], most: number): Promise<Result[]> {
  const queue = [...groups];
  const results: Result[] = [];
  const workers = queue.slice(0, most).map((_, turn, { length }) => startWorker(queue, results, `${turn}/${length}`));
  running = workers.map(({ child }) => child);
  await Promise.all(workers.map(({ work }) => work(workers.length > 1)));
  if (queue.length > 0) fail(`not begun: ${queue.flat().join(', ')}`);
  return results;
}

function startWorker(queue: (readonly string[])[], results: Result[], turn: string) {
  const args = [process.stdout.isTTY ? '--color' : '--no-color', ...(values.grep === undefined ? [] : [values.grep])];
  const child = fork(join(import.meta.dirname, 'run-files.ts'), args, {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, TEST_PROCESS: turn },
  });
  servers.answerTo(child);
  const ended = once(child, 'close');
  let failures: string[] | undefined;
  let print: (line: string) => void = () => undefined;
  let counted: (counts: Counts) => void = () => undefined;
  if (child.stdout) createInterface({ input: child.stdout }).on('line', hear);

  function hear(line: string): void {
    const counts = parseCounts(line);
    if (counts) counted(counts);
    else if (line === summaryLine) failures = [];
    else if (failures) failures.push(line);
    else if (line.startsWith('not run: ')) notRun.add(line);
    else print(`${line}\n`);
  }

  async function work(isBesideOthers: boolean): Promise<void> {
    let left = queue.shift() ?? [];
    while (left[0] !== undefined) {
      await runFile(left[0], isBesideOthers);
      if (!child.connected) break;
      left = left.length > 1 ? left.slice(1) : (queue.shift() ?? []);
    }
    if (child.connected) child.send('');
    const [code, signal] = (await ended) as [number | null, string | null];
    summary.push(...(failures ?? []));
    if (code !== 0) fail(`a test process ended with ${signal ?? `exit code ${code}`}${left.length > 0 ? `, in ${left.join(', ')}` : ''}`);
  }

  async function runFile(file: string, isBesideOthers: boolean): Promise<void> {
    const kept: string[] = [];
    print = isBesideOthers ? (line) => kept.push(line) : (line) => process.stdout.write(line);
    const whole = new Promise<Counts>((resolve) => (counted = resolve));
    const used = usage(child);
    child.send(file);
    const counts = await Promise.race([whole, ended.then(() => undefined)]);
    if (isBesideOthers) process.stdout.write(`\n${file} (${used()})${kept.join('')}`);
    if (counts) results.push({ file, counts, failures: failures ?? [] });
    failures = undefined;
  }
  return { child, work };
}

/** @returns the seconds since the call, with those of the processor that the process and its children used; shared servers are not among them */
function usage(child: ChildProcess): () => string {
  const hasEnded = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  const processorMs = () => (procfs.missing || hasEnded() ? undefined : processorMsBelow(Number(child.pid)));
  const begun = Date.now();
  const before = processorMs();
  return () => {
    const after = processorMs();
    const processor = before === undefined || after === undefined ? '' : `, ${seconds(after - before)} s of the processor`;
    return `${seconds(Date.now() - begun)} s${processor}`;
  };
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

/** The reverse of `countLine`. */
function parseCounts(line: string): Counts | undefined {
  const [, passed, failed, skipped = 0] = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/.exec(line) ?? [];
  return passed === undefined ? undefined : { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}
