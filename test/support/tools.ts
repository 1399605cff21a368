// Finds and runs Helm, kubectl, kube-score and other programs for tests.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { Need } from './need.ts';
import { findProgram, toolsCache } from './programs.ts';

const built = join(toolsCache, 'bin');

/** The program's path, or its bare name where it is missing: running that fails and names the program. */
export const toolPath = (name: string): string => findProgram(name) ?? findProgram(name, [built]) ?? name;

/** For `describeWith`: tests that need these programs, on PATH or built by `scripts/tools/build`. */
export function tools(...names: readonly string[]): Need {
  const missing = names.filter((name) => toolPath(name) === name);
  return { name: 'chart', missing: missing.length > 0 ? `no ${missing.join(', no ')} on PATH: scripts/tools/build ${missing.join(' ')}` : undefined };
}

export type Answer = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type Running = { readonly input?: string; readonly env?: Readonly<Record<string, string>>; readonly withinMs?: number };

/** Runs a program to its end, whatever its exit code. */
export function runTool(name: string, args: readonly string[], { input = '', env = {}, withinMs = 120_000 }: Running = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // These programs end within seconds and mostly stay below 100 MiB: Go's garbage collector would only cost time.
    const options = { env: { ...process.env, GOGC: 'off', GOMEMLIMIT: '256MiB', ...env }, maxBuffer: 64 * 1024 * 1024, timeout: withinMs };
    const child = execFile(toolPath(name), args, options, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(new Error(`${name} ${args.join(' ')}: ${error.message}`));
      else resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
    // The program may end before it has read all of its input, for example when it refuses its arguments.
    child.stdin?.on('error', () => undefined).end(input);
  });
}
