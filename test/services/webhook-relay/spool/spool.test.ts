import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool } from '../../../../services/platform/postgres/pool.ts';
import { captureLog } from '../../../platform/captured-log.ts';
import { signalGroup, spawnGuarded } from '../../../support/guard.ts';
import { eventually } from '../../../support/wait.ts';
import { createMessage, createTarget, fill, newDirectory, openSpool, startReplica, valueOf } from './fixtures.ts';
import { bytesIn } from '../../../../services/platform/files.ts';
import type { SpooledDelivery } from '../../../../services/webhook-relay/spool/file-format.ts';
import type { Spool } from '../../../../services/webhook-relay/spool/spool.ts';

async function readAll(spool: Spool): Promise<(SpooledDelivery | undefined)[]> {
  const read = await Promise.all((await spool.pending()).map((file) => spool.read(file)));
  return read.map((found) => (typeof found === 'object' ? found : undefined));
}

describe('createSpool', () => {
  it('makes one file a delivery, whole, for its owner only, oldest first', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    const messages = await fill(spool, 5);
    const files = await spool.pending();
    expect(files).to.have.length(5);
    expect((await stat(join(directory, files[0]?.name ?? ''))).mode & 0o077).to.equal(0);
    const deliveries = await readAll(spool);
    for (const [index, message] of messages.entries()) expect(deliveries[index]).to.deep.include({ message, reason: 'unreachable' });
    for (const file of files) await spool.remove(file);
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

  it('takes what its limit has room for, also at once and after a restart, and again once room was made', async () => {
    const directory = newDirectory();
    let now = Date.now();
    const open = () => openSpool(directory, silentLog, { maxBytes: 256 * 1024, clock: () => new Date(now) }).spool;
    const write = (spool: Spool) => spool.write({ message: createMessage(Buffer.alloc(40_000)), reason: '' });
    const spool = open();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => write(spool)));
    expect(outcomes.filter(Boolean)).to.have.length(5);
    expect(await spool.pending()).to.have.length(5);
    const restarted = open();
    expect(await Promise.all(Array.from({ length: 20 }, () => write(restarted)))).to.include(false);
    expect(await bytesIn(directory)).to.be.lessThanOrEqual(256 * 1024);
    for (const file of await spool.pending()) await spool.remove(file);
    now += 60_000;
    expect(await write(spool)).to.equal(true);
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

  it('counts what waits and tells the age of the oldest', async () => {
    const { spool, metrics } = openSpool(newDirectory());
    expect(await valueOf(metrics, 'signalbox_spool_files')).to.equal(0);
    expect(await valueOf(metrics, 'signalbox_spool_oldest_age_seconds')).to.equal(0);
    await fill(spool, 3);
    expect(await valueOf(metrics, 'signalbox_spool_files')).to.equal(3);
    expect(await valueOf(metrics, 'signalbox_spool_oldest_age_seconds')).to.be.within(0.0001, 60);
    expect(await valueOf(metrics, 'signalbox_spool_writes_total{outcome="written"}')).to.equal(3);
  });

  it('overlooks what is not its own in the directory', async () => {
    const directory = newDirectory();
    await mkdir(join(directory, 'lost+found'), { recursive: true });
    await writeFile(join(directory, 'README'), '');
    const { spool } = openSpool(directory);
    expect(await spool.own()).to.equal(true);
    expect(await spool.pending()).to.deep.equal([]);
    await spool.close();
    expect((await readdir(directory)).toSorted()).to.deep.equal(['README', 'lost+found']);
  });
});

describe('the owner of a spool folder', () => {
  it('is one process: another is not ready and replays nothing, yet loses no delivery, and follows when the first died', async () => {
    const directory = newDirectory();
    const { log, lines } = captureLog();
    const first = spawnGuarded(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'owner.lock'), `first ${first.pid} ${hostname()}\n`);
    const nowhere = createPool('postgres://nobody:x@127.0.0.1:1/none', { schema: 'relay', log: silentLog });
    const target = createTarget();
    const { spool, stop } = startReplica({ directory, database: nowhere, publish: (message) => target.publish(message), intervalMs: 20, log });
    expect(await spool.isWritable()).to.deep.equal({ ok: false, detail: 'another process uses the spool folder' });
    await fill(spool, 3);
    await eventually(() => lines().some(({ level, owner }) => level === 'error' && owner === `process ${first.pid} on ${hostname()}`));
    await new Promise((resolve) => setTimeout(resolve, 200)); // ten passes
    expect(target.asked).to.deep.equal([]);
    signalGroup(first.pid ?? 0, 'SIGKILL');
    await once(first, 'close');
    await eventually(() => target.published.length === 3);
    expect(lines().filter(({ level }) => level === 'error')).to.have.length(1);
    await stop();
    await nowhere.close();
    expect(await readdir(directory)).to.deep.equal([]);
  });

  it('removes what a process that died had half written', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    await fill(spool, 1);
    for (const name of ['0d1f3c9a-30c5-4a77-9c2e-9b0d8a1f6a10-7.tmp', 'mine.tmp']) await writeFile(join(directory, name), '{"half');
    await spool.own();
    expect((await readdir(directory)).filter((name) => name.endsWith('.tmp'))).to.deep.equal(['mine.tmp']);
    expect(await spool.pending()).to.have.length(1);
  });
});
