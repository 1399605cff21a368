import { createInterface } from 'node:readline';
import { chmod, chown, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { signalGroup, spawnGuarded } from '../../../support/guard.ts';
import { eventually } from '../../../support/wait.ts';
import { fill, newDirectory, openSpool } from './fixtures.ts';

const reader = join(import.meta.dirname, 'reader-process.ts');
const nobody = 65_534;

type Line = Readonly<Record<string, unknown>>;

/** Root may read everything: a process that replays gives its rights up first. */
function startReader(directory: string): { lines: Line[]; published: () => unknown[]; kill: () => void } {
  const env = { ...process.env, READER_UID: String(nobody) };
  const child = spawnGuarded(process.execPath, [reader, directory], { stdio: ['ignore', 'pipe', 'inherit'], env });
  const lines: Line[] = [];
  if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  const published = () => lines.flatMap((line) => line['published'] ?? []);
  return { lines, published, kill: () => signalGroup(child.pid ?? 0, 'SIGKILL') };
}

describe('a spool file that the relay may not read', () => {
  it('is logged once, holds up nothing, and is published when it may be read', async function () {
    if (process.platform === 'win32') this.skip(); // no permissions of this kind there
    const directory = newDirectory();
    const messages = await fill(openSpool(directory).spool, 3);
    const files = (await readdir(directory)).filter((name) => name.endsWith('.payload')).toSorted();
    const [first = ''] = files;
    if (process.getuid?.() === 0)
      for (const path of [dirname(directory), directory, ...files.map((name) => join(directory, name))]) await chown(path, nobody, nobody);
    await chmod(join(directory, first), 0);
    const { lines, published, kill } = startReader(directory);
    try {
      await eventually(() => published().length === 2, { withinMs: 30_000 });
      const told = () => lines.filter(({ reason }) => reason === 'EACCES');
      await eventually(() => told().length === 1);
      expect(told()[0]).to.deep.include({ level: 'warn', count: 1, ids: [first] });
      await eventually(() => chmod(join(directory, first), 0o600)); // it is elsewhere while it is tried
      await eventually(() => published().length === 3, { withinMs: 30_000 });
      expect(published().at(-1)).to.equal(messages[0]?.id);
      expect(told()).to.have.length(1);
    } finally {
      kill();
    }
  });
});
