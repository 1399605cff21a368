import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import type { Spool } from '../../../../services/webhook-relay/spool/spool.ts';
import { captureLog } from '../../../platform/captured-log.ts';
import { eventually, freePort } from '../../../support/wait.ts';
import { createTarget, fill, ids, newDirectory, openSpool, startReplica, valueOf } from './fixtures.ts';

async function rewrite(path: string, change: (content: Buffer) => Buffer): Promise<void> {
  await writeFile(path, change(await readFile(path)));
}

async function replaceBy(path: string, make: () => Promise<unknown>): Promise<void> {
  await rm(path);
  await make();
}

type Damage = { readonly what: string; readonly reason: RegExp; readonly damage: (path: string) => Promise<void> };

const damages: readonly Damage[] = [
  {
    what: 'has a garbled header',
    reason: /^corrupt: the first line is not a header$/,
    damage: (path) => rewrite(path, (content) => Buffer.concat([Buffer.from('x'), content])),
  },
  { what: 'is cut short in its header', reason: /^corrupt: the first line does not end$/, damage: (path) => truncate(path, 30) },
  {
    what: 'is cut short in its payload',
    reason: /^corrupt: the payload has 0 bytes, the header says 7$/,
    damage: (path) => rewrite(path, (content) => content.subarray(0, -7)),
  },
  {
    what: 'has a bit turned',
    reason: /^corrupt: the payload is not what/,
    damage: (path) => rewrite(path, (content) => Buffer.concat([content.subarray(0, -1), Buffer.from('~')])),
  },
  { what: 'is empty', reason: /^corrupt: the first line does not end$/, damage: (path) => truncate(path, 0) },
  {
    what: 'is of another version',
    reason: /^corrupt: this release reads version 1, not 2$/,
    damage: (path) => rewrite(path, (content) => Buffer.from(content.toString().replace('"version":1', '"version":2'))),
  },
  {
    what: 'is larger than any delivery',
    reason: /^corrupt: it has 9000000000 bytes, more than any delivery$/,
    damage: (path) => truncate(path, 9_000_000_000),
  },
  { what: 'is a folder', reason: /^corrupt: it is not a file$/, damage: (path) => replaceBy(path, () => mkdir(path)) },
  { what: 'is a link to nowhere', reason: /^corrupt: it is not a file$/, damage: (path) => replaceBy(path, () => symlink('/nowhere', path)) },
  { what: 'is a pipe', reason: /^corrupt: it is not a file$/, damage: (path) => replaceBy(path, async () => execFileSync('mkfifo', [path])) },
];

describe('a spool entry that can never be read', () => {
  let nowhere: Pool;
  before(async () => {
    nowhere = createPool(`postgres://nobody:x@127.0.0.1:${await freePort()}/none`, { schema: 'relay', log: silentLog });
  });
  after(() => nowhere.close());

  let stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const stop of stops) await stop();
    stops = [];
  });

  /** The oldest of three is damaged, and replayed by one that looks again and again. */
  async function replayDamaged(damage: Damage['damage']) {
    const directory = newDirectory();
    const messages = await fill(openSpool(directory).spool, 3);
    const [name = ''] = (await readdir(directory)).filter((file) => file.endsWith('.payload')).toSorted();
    await damage(join(directory, name));
    const { log, lines } = captureLog();
    const target = createTarget();
    const replica = startReplica({ directory, database: nowhere, publish: (message) => target.publish(message), intervalMs: 5, log });
    stops.push(replica.stop);
    return { ...replica, directory, name, target, lines, sound: messages.slice(1) };
  }

  for (const { what, reason, damage } of damages) {
    it(`is put aside when it ${what}: told and counted once, and those behind it are published`, async () => {
      const { directory, name, target, lines, sound, metrics, stop } = await replayDamaged(damage);
      await eventually(async () => target.published.length === 2 && (await readdir(join(directory, 'refused'))).includes(name));
      expect(new Set(ids(target.published))).to.deep.equal(new Set(ids(sound)));
      await eventually(async () => (await valueOf(metrics, 'signalbox_spool_refused_total')) === 1);
      await stop();
      const told = lines().filter((line) => JSON.stringify(line).includes(name));
      expect(told.map(({ level, file }) => [level, file])).to.deep.equal([['error', name]]);
      expect(told[0]?.['reason']).to.match(reason);
      expect(told[0]?.['toDo']).to.equal('redeliver it from the forge, then signalbox spool drop');
      expect(await valueOf(metrics, 'signalbox_replays_total{source="file",outcome="corrupt"}')).to.equal(1);
      expect(await valueOf(metrics, 'signalbox_spool_refused_files')).to.equal(1);
      expect(await valueOf(metrics, 'signalbox_spool_files')).to.equal(0);
    });
  }

  it('stays where it is, and is not logged again, when the relay stops and flushes the rest', async () => {
    const { directory, name, stop } = await replayDamaged((path) => truncate(path, 30));
    await eventually(async () => (await readdir(join(directory, 'refused'))).includes(name));
    await stop();
    const { log, lines } = captureLog();
    await startReplica({ directory, database: nowhere, publish: async () => 'unavailable', flushMs: 8000, log }).stop();
    expect(lines().filter(({ level }) => level === 'error')).to.deep.equal([]);
    expect(await readdir(join(directory, 'refused'))).to.deep.equal([name]);
  });

  it('is tried on, and told once, while it cannot be put aside', async () => {
    const { directory, name, target, lines } = await replayDamaged(async (path) => {
      await truncate(path, 30);
      await writeFile(join(path, '..', 'refused'), 'a file where the folder should be');
    });
    const told = () => lines().filter(({ ids: named }) => JSON.stringify(named)?.includes(name));
    await eventually(() => target.published.length === 2 && told().length === 1);
    await rm(join(directory, 'refused'));
    await eventually(async () => (await readdir(join(directory, 'refused'))).includes(name));
    expect(told()).to.have.length(1);
  });
});

describe('a spool entry that cannot be read now', () => {
  const notNow = (code: string) => Object.assign(new Error(`${code}: not now`), { code });
  /** Fails to read the file that is read first, once; tells when that file is read. */
  function failing(code: string, triedAt: number[]): (whole: Spool) => Spool {
    let name: string | undefined;
    return (whole) => ({
      ...whole,
      async read(file) {
        name ??= file.name;
        if (file.name === name && triedAt.push(performance.now()) === 1) throw notNow(code);
        return whole.read(file);
      },
    });
  }

  for (const code of ['EIO', 'EMFILE', 'EACCES']) {
    it(`is left alone for a second after ${code}, told once, and published then; those behind it do not wait`, async () => {
      const directory = newDirectory();
      const messages = await fill(openSpool(directory).spool, 4);
      const nowhere = createPool(`postgres://nobody:x@127.0.0.1:${await freePort()}/none`, { schema: 'relay', log: silentLog });
      const { log, lines } = captureLog();
      const target = createTarget();
      const triedAt: number[] = [];
      const faults = { spool: failing(code, triedAt) };
      const replica = startReplica({ directory, database: nowhere, publish: (message) => target.publish(message), intervalMs: 1000, log, faults });
      await eventually(() => target.published.length === 4);
      await replica.stop();
      await nowhere.close();
      const [firstTry = 0, secondTry = 0] = triedAt;
      expect(secondTry - firstTry).to.be.greaterThan(600);
      expect(ids(target.published).at(-1), 'tried again at last').to.equal(messages[0]?.id);
      expect(await valueOf(replica.metrics, 'signalbox_replays_total{source="file",outcome="failed"}')).to.equal(1);
      const told = lines().filter(({ reason }) => reason === code);
      expect(told).to.have.length(1);
      expect(told[0]).to.deep.include({ level: 'warn', count: 1 });
      expect(JSON.stringify(told[0]?.['ids'])).to.include(messages[0]?.id);
    });
  }
});
