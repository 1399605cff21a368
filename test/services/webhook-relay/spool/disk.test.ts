import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { chmod, chown, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { temporaryDirectory } from '../../../support/guard.ts';
import { createMessage, newDirectory, openSpool, valueOf } from './fixtures.ts';

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

function mountable(): string | undefined {
  if (!isRoot || process.platform !== 'linux') return 'only root on Linux can mount a small disk';
  const directory = temporaryDirectory('mount');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory], { stdio: 'pipe' });
    execFileSync('umount', [directory]);
    return undefined;
  } catch {
    return 'mounting a small disk is not allowed here';
  }
}

// Not a server that a machine ought to have: without the right to mount, also with CI=true, the suites are skipped by name.
const missing = mountable();
const describeOnDisk = missing === undefined ? describe : describe.skip;
const because = missing === undefined ? '' : ` (not run: ${missing})`;

describeOnDisk(`a spool on a disk that is full${because}`, () => {
  let directory: string;
  before(() => {
    directory = temporaryDirectory('small');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]);
  });
  after(() => execFileSync('umount', ['-l', directory]));

  it('answers false to what does not fit, keeps nothing of it, and takes what fits', async () => {
    const { spool, metrics } = openSpool(directory);
    expect(await spool.write({ message: createMessage(Buffer.alloc(2_000_000)), reason: '' })).to.equal(false);
    expect(await valueOf(metrics, 'signalbox_spool_writes_total{outcome="failed"}')).to.equal(1);
    expect(await spool.write({ message: createMessage(Buffer.alloc(700_000)), reason: '' })).to.equal(true);
    expect(await spool.pending()).to.have.length(1);
  });

  it('is emptied by its owner all the same', async () => {
    const { spool } = openSpool(directory);
    await writeFile(join(directory, 'others'), Buffer.alloc(2_000_000)).catch(() => undefined);
    expect(await spool.own()).to.equal(true);
    expect(await spool.own()).to.equal(true);
    for (const file of await spool.pending()) await spool.remove(file);
    expect(await spool.pending()).to.deep.equal([]);
    await spool.close();
  });

  it('says that it is not writable when not even little fits', async () => {
    await writeFile(join(directory, 'others'), Buffer.alloc(2_000_000)).catch(() => undefined);
    const { spool } = openSpool(directory);
    expect(await spool.isWritable()).to.deep.equal({ ok: false, detail: 'the spool cannot be written: ENOSPC' });
  });
});

describeOnDisk(`a spool whose disk became read-only${because}`, () => {
  let directory: string;
  before(() => {
    directory = temporaryDirectory('read-only');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]);
  });
  after(() => execFileSync('umount', ['-l', directory]));

  it('answers false and is not writable', async () => {
    const { spool } = openSpool(directory);
    await spool.write({ message: createMessage(), reason: '' });
    execFileSync('mount', ['-o', 'remount,ro', directory]);
    expect(await spool.write({ message: createMessage(), reason: '' })).to.equal(false);
    expect(await spool.isWritable()).to.deep.equal({ ok: false, detail: 'the spool cannot be written: EROFS' });
  });
});

describe('a spool in a directory without write permission', () => {
  let directory: string;
  beforeEach(async () => {
    directory = newDirectory();
    mkdirSync(directory);
    if (!isRoot) return;
    // Root may write everywhere, so this process runs as another user meanwhile.
    for (const path of [dirname(directory), directory]) await chown(path, nobody, nobody);
    process.seteuid?.(nobody);
  });
  afterEach(async () => {
    if (isRoot) process.seteuid?.(0);
    await chmod(directory, 0o700);
  });

  it('answers false and is not writable', async () => {
    await chmod(directory, 0o500);
    const { spool } = openSpool(directory);
    expect(await spool.write({ message: createMessage(), reason: '' })).to.equal(false);
    expect(await spool.isWritable()).to.deep.equal({ ok: false, detail: 'the spool cannot be written: EACCES' });
    expect(readdirSync(directory)).to.deep.equal([]);
  });

  it('is not writable either when the permission went after its first file', async () => {
    const { spool } = openSpool(directory);
    expect(await spool.write({ message: createMessage(), reason: '' })).to.equal(true);
    await chmod(directory, 0o500);
    expect(await spool.write({ message: createMessage(), reason: '' })).to.equal(false);
    expect(await spool.isWritable()).to.deep.equal({ ok: false, detail: 'the spool cannot be written: EACCES' });
  });
});
