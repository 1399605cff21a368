// The pages of the documentation, as tests follow them: their shell blocks, and a clean clone to run them in.
import { execFileSync } from 'node:child_process';
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from '../../scripts/site/pages.ts';
import { signalGroup, spawnGuarded, temporaryDirectory } from '../support/guard.ts';
import { eventually } from '../support/wait.ts';

const root = join(import.meta.dirname, '../..');

/** @param page below the repository's root */
export const shellBlocks = (page: string, mark = 'sh'): readonly string[] => blocksOf(page).flatMap((block) => (block.mark === mark ? [block.text] : []));

/** The JSON that a page shows as an answer. */
export const answers = (page: string): readonly string[] => shellBlocks(page, 'json');

export type Clone = {
  readonly folder: string;
  /** Writes the files that the page shows. */
  writeFilesOf(page: string): void;
  /** @returns what it printed @throws when one of its commands fails, a `curl` that is answered with an error among them */
  run(script: string): string;
  /** `npm start`, until it says that it is ready. */
  start(settings?: Readonly<Record<string, string>>): Promise<void>;
  /** Ctrl-C. @returns the exit code */
  stop(): Promise<number | null>;
};

export const strictCurl = 'curl() { command curl --fail-with-body "$@"; }';

/** A folder like a clean clone: the repository's own files, and no data yet. */
export function cleanClone(): Clone {
  const folder = temporaryDirectory('clone');
  for (const name of ['bin', 'services', 'node_modules']) symlinkSync(join(root, name), join(folder, name));
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  let output = '';
  let pid = 0;
  let exitCode: number | null | undefined;
  return {
    folder,
    writeFilesOf: (page) => {
      for (const { file, text } of blocksOf(page)) if (file !== undefined) writeFileSync(join(folder, file), text);
    },
    run: (script) => execFileSync('bash', ['-euc', `${strictCurl}\n${script}`], { cwd: folder, encoding: 'utf8' }),
    async start(settings = {}) {
      const child = spawnGuarded('npm', ['start'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...settings } });
      pid = child.pid ?? 0;
      child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
      child.once('close', (code) => (exitCode = code));
      await eventually(() => /^ready in [\d.]+ s$/m.test(output) || exitCode !== undefined, { withinMs: 180_000 });
      if (exitCode !== undefined) throw new Error(`npm start ended with ${exitCode}:\n${output}`);
    },
    async stop() {
      signalGroup(pid, 'SIGINT');
      await eventually(() => exitCode !== undefined, { withinMs: 30_000 });
      return exitCode ?? null;
    },
  };
}
