// `npm test [-- file or folder…]`: runs mocha on all tests or on those named, with --fast without `*.slow.test.ts`;
// its last line counts, even when mocha could not begin.
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const outside = ['test/bench/**', 'test/cluster/**'];
const slow = 'test/**/*.slow.test.ts';

const isFast = process.argv.includes('--fast');
const given = process.argv.slice(2).filter((argument) => argument !== '--fast');
const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
const wanted = given.map((argument) => (isFolder(argument) ? join(argument, '**/*.test.ts') : argument));
const files = wanted.some((argument) => argument.endsWith('.ts')) ? [] : ['test/**/*.test.ts'];
const ignored = [...(files.length > 0 ? outside : []), ...(isFast ? [slow] : [])].flatMap((pattern) => ['--ignore', pattern]);
const mocha = join(dirname(createRequire(import.meta.url).resolve('mocha/package.json')), 'bin/mocha.js');
const child = spawn(process.execPath, [mocha, process.stdout.isTTY ? '--color' : '--no-color', ...wanted, ...files, ...ignored], {
  stdio: ['ignore', 'pipe', 'inherit'],
});

let lastLine = '';
createInterface({ input: child.stdout }).on('line', (line) => {
  lastLine = line;
  process.stdout.write(`${line}\n`);
});
// Ctrl-C reaches mocha by itself; a supervisor's SIGTERM does not.
process.on('SIGINT', () => undefined).on('SIGTERM', () => child.kill('SIGTERM'));

child.once('close', (code, signal) => {
  const counted = /^\d+ passed, \d+ failed/.test(lastLine);
  const agrees = counted && (code === 0) === lastLine.includes(' 0 failed');
  process.exitCode = agrees ? (code ?? 1) : 1;
  if (agrees) return;
  process.stdout.write(`the run itself failed (${signal ?? `exit code ${code}`})\n`);
  process.stdout.write(counted ? `${lastLine.replace(' 0 failed', ' 1 failed')}\n` : '0 passed, 1 failed\n');
});
