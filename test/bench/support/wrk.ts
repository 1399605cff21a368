// Load from wrk: each connection sends the next request when the last is answered. It costs little beside what it measures.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { findProgram } from '../../support/programs.ts';

export type Request = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent by POST; without it the request is a GET. */
  readonly bodyFile?: string;
};
export type Load = { readonly port: number; readonly request: Request; readonly connections: number; readonly seconds: number };
export type LoadResult = { readonly perSecond: number; /** ms */ readonly p95: number; readonly p99: number };

const Report = z.object({ requests: z.number(), microseconds: z.number(), p95: z.number(), p99: z.number(), failed: z.number() });

/** @throws when wrk is missing */
export function needWrk(): void {
  if (!findProgram('wrk')) throw new Error('wrk is not on PATH: the load of the benchmarks comes from it (Debian and Ubuntu: apt-get install wrk)');
}

/** @throws when a request was refused or failed */
export async function runWrk({ port, request: { path, headers, bodyFile }, connections, seconds }: Load): Promise<LoadResult> {
  const script = join(import.meta.dirname, 'wrk.lua');
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const url = `http://127.0.0.1:${port}${path}`;
  const body = bodyFile === undefined ? [] : ['--', bodyFile];
  const args = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '10s', '-s', script, ...given, url, ...body];
  const { stdout } = await promisify(execFile)('wrk', args);
  const { requests, microseconds, p95, p99, failed } = Report.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  if (failed > 0) throw new Error(`${failed} of ${requests} requests of ${path} failed`);
  return { perSecond: requests / (microseconds / 1e6), p95: p95 / 1000, p99: p99 / 1000 };
}
