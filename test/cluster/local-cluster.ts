// The cluster of this machine, if it runs, and the script that drives it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { toolsCache } from '../support/programs.ts';
import { runTool } from '../support/tools.ts';

export const root = join(import.meta.dirname, '../..');
const script = join(root, 'scripts/tools/cluster');

/** False where `TEST_IMAGE_LOADER` says that the tests run on another cluster. */
export const isLocal = process.env['TEST_IMAGE_LOADER'] === undefined && existsSync(join(toolsCache, 'run/cluster'));

/** `scripts/tools/cluster` with these words. */
export const cluster = (...args: readonly string[]): Promise<void> => must(script, args);

/** Throws with what the program said when it fails. */
export async function must(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
  const { code, stdout, stderr } = await runTool(program, args, { env, withinMs: 900_000 });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}:\n${(stdout + stderr).slice(-3000)}`);
}
