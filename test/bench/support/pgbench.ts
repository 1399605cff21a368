// Load from pgbench: each client runs the script again when it is done, its statements prepared.
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../../support/guard.ts';
import { findProgram } from '../../support/programs.ts';

export type PgbenchLoad = { readonly url: string; readonly schema: string; readonly script: string; readonly connections: number; readonly seconds: number };

/** @throws when pgbench is missing */
export function needPgbench(): void {
  if (!findProgram('pgbench')) throw new Error('pgbench is not on PATH: it runs the SQL that this is measured against (Debian and Ubuntu: postgresql-contrib)');
}

/** @returns the 95th percentile of a run of the script, in ms */
export async function runPgbench({ url, schema, script, connections, seconds }: PgbenchLoad): Promise<{ readonly p95: number }> {
  const directory = temporaryDirectory('pgbench');
  const file = join(directory, 'script.sql');
  await writeFile(file, script);
  const load = ['-c', String(connections), '-j', '1', '-T', String(seconds), '-M', 'prepared', '-n', '-f', file];
  await promisify(execFile)('pgbench', [...load, '--log', '--log-prefix', join(directory, 'log'), url], {
    env: { ...process.env, PGOPTIONS: `-c search_path=${schema}` },
    maxBuffer: 2 ** 26,
  });
  const logs = (await readdir(directory)).filter((name) => name.startsWith('log.'));
  const lines = (await Promise.all(logs.map((name) => readFile(join(directory, name), 'utf8')))).flatMap((text) => text.trim().split('\n'));
  // client, transaction, microseconds, …
  const times = lines.map((line) => Number(line.split(' ')[2])).sort((a, b) => a - b);
  return { p95: (times[Math.floor(times.length * 0.95)] ?? NaN) / 1000 };
}
