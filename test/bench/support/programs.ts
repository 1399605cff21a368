// The programs of a benchmark, each a process of its own: the service, its bound, the loads.
import type { ChildProcess } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { signalGroup, spawnGuarded, temporaryDirectory } from '../../support/guard.ts';
import { eventually, freePort } from '../../support/wait.ts';

export type Program = { readonly port: number; readonly pid: number; end(): void };

/** Resolves when the service is ready. */
export const startService = (name: string, settings: Readonly<Record<string, string>>): Promise<Program> => startSignalbox(['serve', name], settings);

/** Resolves when the worker is ready; its port is that of its metrics. */
export const startWorker = (name: string, settings: Readonly<Record<string, string>>): Promise<Program> => startSignalbox(['worker', name, '--loop'], settings);

async function startSignalbox(args: readonly [kind: 'serve' | 'worker', name: string, ...more: string[]], settings: Readonly<Record<string, string>>) {
  const ports = { serve: await freePort(), worker: await freePort() };
  const port = ports[args[0]];
  const log = openSync(join(temporaryDirectory('bench'), `${args[1]}.log`), 'w');
  const main = join(import.meta.dirname, '../../../services/main.ts');
  const program = spawnGuarded(process.execPath, [main, ...args], {
    env: { ...process.env, ...settings, PORT: String(ports.serve), METRICS_PORT: String(ports.worker) },
    stdio: ['ignore', log, log],
  });
  await eventually(async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok, { withinMs: 120_000 });
  return { port, pid: program.pid ?? 0, end: () => end(program) };
}

/** A program of this folder that prints the port that it listens on. */
export async function startBound(file: string, ...args: readonly string[]): Promise<Program> {
  const bound = start(file, args);
  return { port: Number(await lineOf(bound)), pid: bound.pid ?? 0, end: () => end(bound) };
}

/** @returns what a program of this folder prints in one line of JSON */
export async function runProgram(file: string, options: object): Promise<unknown> {
  return JSON.parse(await lineOf(start(file, [JSON.stringify(options)])));
}

const start = (file: string, args: readonly string[]) =>
  spawnGuarded(process.execPath, [join(import.meta.dirname, file), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });

function end({ pid }: ChildProcess): void {
  if (pid !== undefined) signalGroup(pid, 'SIGKILL');
}

const lineOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`a program of the benchmark ended with ${code} before it printed anything`)));
    child.stdout?.setEncoding('utf8').once('data', (text) => resolve(String(text).trim()));
  });
