import { readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createMessage, age, fill, newDirectory, openSpool, valueOf } from './ground.ts';
import type { ClaimedFile } from '../../../../services/webhook-relay/spool/claims.ts';
import type { SpooledDelivery } from '../../../../services/webhook-relay/spool/spool-file.ts';
import type { Spool } from '../../../../services/webhook-relay/spool/spool.ts';

async function claimFirst(spool: Spool): Promise<ClaimedFile> {
  const [file] = await spool.pending();
  const claimed = file && (await spool.claim(file));
  if (!claimed) throw new Error('there is no file to claim');
  return claimed;
}

async function read(spool: Spool, file: ClaimedFile): Promise<SpooledDelivery | undefined> {
  const found = await spool.read(file);
  return 'delivery' in found ? found.delivery : undefined;
}

describe('createSpool', () => {
  it('makes one file a delivery, whole, for its owner only, oldest first', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    const messages = await fill(spool, 5);
    const files = await spool.pending();
    expect(files).to.have.length(5);
    expect((await stat(join(directory, files[0]?.name ?? ''))).mode & 0o077).to.equal(0);
    for (const message of messages) {
      const claimed = await claimFirst(spool);
      expect(await read(spool, claimed)).to.deep.include({ message, reason: 'unreachable' });
      await spool.remove(claimed);
    }
    await spool.close();
    expect(await readdir(directory)).to.deep.equal([]);
  });

  it('writes a burst with few files open at once, and loses none', async function () {
    if (process.platform !== 'linux') this.skip(); // only there are open descriptors listed
    const { spool } = openSpool(newDirectory());
    const countOpen = () => readdirSync('/proc/self/fd').length;
    const openBefore = countOpen();
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, countOpen() - openBefore)), 1);
    const writes = Array.from({ length: 1000 }, () => spool.write({ message: createMessage(), reason: '' }));
    const outcomes = await Promise.all(writes).finally(() => clearInterval(watching));
    expect(new Set(outcomes)).to.deep.equal(new Set([true]));
    expect(await spool.pending()).to.have.length(1000);
    expect(most).to.be.lessThan(100);
  });

  it('begins no write that had to wait for others for too long', async () => {
    const { spool, metrics } = openSpool(newDirectory());
    const writes = Array.from({ length: 16 }, () => spool.write({ message: createMessage(Buffer.alloc(1024 * 1024)), reason: '' }));
    expect(await spool.write({ message: createMessage(), reason: '' }, 0)).to.equal(false);
    expect(await Promise.all(writes)).to.not.include(false);
    expect(await spool.pending()).to.have.length(16);
    expect(await valueOf(metrics, 'signalbox_spool_writes_total{outcome="failed"}')).to.equal(1);
  });

  it('answers false where no directory can be, and counts it', async () => {
    const directory = newDirectory();
    await writeFile(directory, 'a file');
    const { spool, metrics } = openSpool(join(directory, 'below'));
    expect(await spool.write({ message: createMessage(), reason: '' })).to.equal(false);
    expect(await spool.isWritable()).to.deep.equal({ ok: false, detail: 'the spool cannot be written: ENOTDIR' });
    expect(await valueOf(metrics, 'signalbox_spool_writes_total{outcome="failed"}')).to.equal(1);
  });

  it('makes a directory that is missing, also again', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    expect(await spool.isWritable()).to.deep.equal({ ok: true });
    await spool.close();
    await rm(directory, { recursive: true });
    expect(await spool.write({ message: createMessage(), reason: '' })).to.equal(true);
    expect(await spool.pending()).to.have.length(1);
  });

  it('leaves nothing behind after asking whether it is writable', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    await spool.isWritable();
    await spool.close();
    expect(await readdir(directory)).to.deep.equal([]);
  });

  it('counts what waits and tells the age of the oldest, in hand or not', async () => {
    const { spool, metrics } = openSpool(newDirectory());
    expect(await valueOf(metrics, 'signalbox_spool_files')).to.equal(0);
    expect(await valueOf(metrics, 'signalbox_spool_oldest_age_seconds')).to.equal(0);
    await fill(spool, 3);
    await claimFirst(spool);
    expect(await valueOf(metrics, 'signalbox_spool_files')).to.equal(3);
    expect(await valueOf(metrics, 'signalbox_spool_oldest_age_seconds')).to.be.within(0.0001, 60);
    expect(await valueOf(metrics, 'signalbox_spool_writes_total{outcome="written"}')).to.equal(3);
  });

  it('overlooks what is not its own in the directory', async () => {
    const directory = newDirectory();
    await mkdir(join(directory, 'lost+found'), { recursive: true });
    await writeFile(join(directory, 'README'), '');
    const { spool } = openSpool(directory);
    await age(directory);
    await spool.takeOver();
    expect(await spool.pending()).to.deep.equal([]);
    expect((await readdir(directory)).toSorted()).to.deep.equal(['README', 'lost+found']);
  });
});

describe('a directory that two processes share', () => {
  it('gives a file to one of them', async () => {
    const directory = newDirectory();
    const [one, other] = [openSpool(directory).spool, openSpool(directory).spool];
    await fill(one, 50);
    const files = await one.pending();
    const claims = await Promise.all(files.flatMap((file) => [one.claim(file), other.claim(file)]));
    expect(claims.filter((claim) => claim !== undefined)).to.have.length(50);
  });

  it('does not touch what the other, alive, has in hand', async () => {
    const directory = newDirectory();
    const [one, other] = [openSpool(directory).spool, openSpool(directory).spool];
    await fill(one, 1);
    const claimed = await claimFirst(one);
    await other.takeOver();
    expect(await other.pending()).to.deep.equal([]);
    expect(await read(one, claimed)).to.not.equal(undefined);
  });

  it('takes over what the other had in hand, and removes what it had half written, once it is silent', async () => {
    const directory = newDirectory();
    const [one, other] = [openSpool(directory).spool, openSpool(directory).spool];
    const [message] = await fill(one, 1);
    const { path } = await claimFirst(one);
    await writeFile(join(dirname(path), '7.tmp'), '{"half');
    await age(directory);
    await other.takeOver();
    expect((await read(other, await claimFirst(other)))?.message.id).to.equal(message?.id);
    expect(await readdir(dirname(path)).catch(() => 'gone')).to.equal('gone');
  });

  it('takes over from those that it can when one folder cannot be read', async () => {
    const directory = newDirectory();
    const [one, other] = [openSpool(directory).spool, openSpool(directory).spool];
    await fill(one, 1);
    await claimFirst(one);
    for (const name of ['process-0', 'process-z']) await writeFile(join(directory, name), 'no folder');
    await mkdir(join(directory, 'process-1', 'a folder'), { recursive: true });
    await age(directory);
    const error: unknown = await other.takeOver().catch((failure: unknown) => failure);
    expect(error).to.have.property('code', 'ENOTDIR');
    expect(await other.pending()).to.have.length(1);
    expect(await readdir(directory)).to.not.include('process-1');
  });

  it('lets the other, come back, go on with what it had in hand and write again', async () => {
    const directory = newDirectory();
    const [one, other] = [openSpool(directory).spool, openSpool(directory).spool];
    await fill(one, 1);
    const claimed = await claimFirst(one);
    await age(directory);
    await other.takeOver();
    await one.remove(claimed);
    expect(await other.pending(), 'removed by the one that does not have it').to.have.length(1);
    expect(await one.write({ message: createMessage(), reason: '' })).to.equal(true);
    expect(await other.pending()).to.have.length(2);
  });

  it('returns a file whose last step failed, once nothing is in hand', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    await fill(spool, 1);
    const claimed = await claimFirst(spool);
    claimed.letGo(); // as after a release that the disk refused
    await age(directory);
    await spool.takeOver();
    expect(await spool.pending()).to.have.length(1);
    expect(await readFile(claimed.path).catch(() => 'gone')).to.equal('gone');
  });
});
