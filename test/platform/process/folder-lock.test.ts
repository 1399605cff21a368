import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { z } from 'zod';
import { createFolderLock } from '../../../services/platform/process/folder-lock.ts';
import { signalGroup, spawnGuarded, temporaryDirectory } from '../../support/guard.ts';

const newFile = () => join(temporaryDirectory('lock'), 'owner.lock');

/** A process that lives until the test ends it. */
function startOther() {
  const child = spawnGuarded(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  const pid = child.pid ?? 0;
  const end = async () => {
    signalGroup(pid, 'SIGKILL');
    await once(child, 'close');
  };
  return { pid, end };
}

async function age(file: string, seconds: number): Promise<void> {
  const then = new Date(Date.now() - seconds * 1000);
  await utimes(file, then, then);
}

describe('createFolderLock', () => {
  it('holds a folder until it is closed', async () => {
    const file = newFile();
    const lock = createFolderLock(file);
    expect(await Promise.all([lock.hold(), lock.hold()])).to.deep.equal([undefined, undefined]);
    expect(await readFile(file, 'utf8')).to.include(` ${process.pid} ${hostname()}`);
    await lock.close();
    expect(await readFile(file, 'utf8').catch(() => 'gone')).to.equal('gone');
  });

  it('names the living process that has it, and takes it over as soon as that one died', async () => {
    const file = newFile();
    const other = startOther();
    await writeFile(file, `other ${other.pid} ${hostname()}\n`);
    const lock = createFolderLock(file);
    expect(await lock.hold()).to.include({ pid: other.pid, host: hostname() });
    await other.end();
    expect(await lock.hold()).to.equal(undefined);
    await lock.close();
  });

  it('takes over from a process of this very number before it, as in a container that is started again', async () => {
    const file = newFile();
    await writeFile(file, `earlier ${process.pid} ${hostname()}\n`);
    const lock = createFolderLock(file);
    expect(await lock.hold()).to.equal(undefined);
    await lock.close();
  });

  it('takes over from another host, and from what cannot be read, after 15 s without a sign of life', async () => {
    for (const content of ['other 1 another-host\n', '']) {
      const file = newFile();
      await writeFile(file, content);
      const lock = createFolderLock(file);
      await age(file, 10);
      expect(await lock.hold()).to.not.equal(undefined);
      await age(file, 16);
      expect(await lock.hold()).to.equal(undefined);
      await lock.close();
    }
  });

  it('shows signs of life while it is held', async () => {
    const file = newFile();
    const lock = createFolderLock(file);
    await lock.hold();
    await age(file, 16);
    await lock.hold();
    expect(Date.now() - (await stat(file)).mtimeMs).to.be.lessThan(10_000);
    await lock.close();
  });

  it('finds out that another has taken it, and leaves that lock alone', async () => {
    const file = newFile();
    const lock = createFolderLock(file);
    await lock.hold();
    await writeFile(file, 'other 1 another-host\n');
    expect(await lock.hold()).to.include({ host: 'another-host' });
    await lock.close();
    expect(await readFile(file, 'utf8')).to.include('another-host');
  });

  it('is taken by one of two processes that find the same stale lock at once', async function () {
    this.timeout(60_000);
    const rounds = 40;
    const folder = temporaryDirectory('lock-race');
    const { pid } = spawnSync('true');
    for (let round = 0; round < rounds; round++) await writeFile(join(folder, String(round)), `dead ${pid} ${hostname()}\n`);
    const beginAt = Date.now() + 3000;
    const source = `
      import { createFolderLock } from ${JSON.stringify(import.meta.resolve('../../../services/platform/process/folder-lock.ts'))};
      const taken = [];
      for (let round = 0; round < ${rounds}; round++) {
        while (Date.now() < ${beginAt} + round * 50) await new Promise((resolve) => setTimeout(resolve, 1));
        if ((await createFolderLock(${JSON.stringify(folder)} + '/' + round).hold()) === undefined) taken.push(round);
      }
      console.log(JSON.stringify(taken));
      setTimeout(() => undefined, 3000);`;
    const race = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', source]);
    const taken = (await Promise.all([race(), race()])).flatMap(({ stdout }) => z.array(z.number()).parse(JSON.parse(stdout)));
    expect(taken.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: rounds }, (_, round) => round));
  });

  it('rejects where no file can be written', async () => {
    const lock = createFolderLock('/dev/null/owner.lock');
    expect(await lock.hold().catch((error: unknown) => error)).to.have.property('code', 'ENOTDIR');
  });
});
