import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { signalGroup, spawnGuarded } from '../../../support/guard.ts';
import { eventually } from '../../../support/wait.ts';
import { newDirectory, openSpool } from './fixtures.ts';

const writer = join(import.meta.dirname, 'writer-process.ts');

function startWriter(directory: string): { child: ChildProcess; safe: string[] } {
  const child = spawnGuarded(process.execPath, [writer, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const safe: string[] = [];
  if (child.stdout) createInterface({ input: child.stdout }).on('line', (id) => safe.push(id));
  return { child, safe };
}

describe('a process that is killed while it spools', () => {
  it('leaves every delivery that it called safe whole, and no half of another among them', async () => {
    const directory = newDirectory();
    const safe: string[] = [];
    let halves = 0;
    for (let round = 1; round <= 5; round += 1) {
      const running = startWriter(directory);
      await eventually(() => running.safe.length >= 20 * round);
      signalGroup(running.child.pid ?? 0, 'SIGKILL');
      await once(running.child, 'close'); // all that it said has been read then
      safe.push(...running.safe);
      halves += (await readdir(directory)).filter((name) => name.endsWith('.tmp')).length;
    }
    expect(halves, 'the kills hit no write, so they showed nothing').to.be.greaterThan(0);

    const { spool } = openSpool(directory);
    expect(await spool.own()).to.equal(true);
    expect((await readdir(directory)).filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
    const whole = new Set<string>();
    for (const file of await spool.pending()) {
      const read = await spool.read(file);
      expect(read, file.name).to.have.property('message');
      if (typeof read === 'object') whole.add(read.message.id);
    }
    await spool.close();
    expect(safe.filter((id) => !whole.has(id))).to.deep.equal([]);
  });
});
