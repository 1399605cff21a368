import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool, type Pool, statement } from '../../../../services/platform/postgres/pool.ts';
import type { Spool } from '../../../../services/webhook-relay/spool/spool.ts';
import { captureLog } from '../../../platform/captured-log.ts';
import { startMuteable } from '../../../support/muteable.ts';
import { eventually, freePort } from '../../../support/wait.ts';
import { allRows, clear, createMessage, fill, flushTo, ids, newDirectory, openDatabase, openSpool, startReplica, unavailable } from './fixtures.ts';

describe('a relay that stops', () => {
  let url: string;
  let database: Pool;
  let drop: () => Promise<void>;
  before(async () => {
    ({ url, database, drop } = await openDatabase());
  });
  after(() => drop());

  afterEach(() => database.run(clear));
  it('flushes pending files to the database', async () => {
    const messages = await flushTo(database, 50);
    const rows = await database.all(allRows);
    expect(ids(rows)).to.deep.equal(ids(messages));
    expect(rows[0]).to.deep.include({ bytes: messages[0]?.body.length, tries: 0, replayed: false, refused: false });
  });

  it('makes one row of a delivery that is flushed twice', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    const [message] = await fill(spool, 1);
    if (message) await spool.write({ message, reason: 'again' });
    expect(await spool.pending()).to.have.length(2);
    await startReplica({ directory, database, publish: unavailable, flushMs: 8000 }).stop();
    expect(ids(await database.all(allRows))).to.deep.equal([message?.id]);
    expect(await readdir(directory)).to.deep.equal([]);
  });

  it('puts corrupt files aside and flushes the others', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    const messages = await fill(spool, 3);
    await truncate(join(directory, (await spool.pending())[0]?.name ?? ''), 20);
    await startReplica({ directory, database, publish: unavailable, flushMs: 8000 }).stop();
    expect(ids(await database.all(allRows))).to.deep.equal(ids(messages.slice(1)));
    expect(await readdir(join(directory, 'refused'))).to.have.length(1);
  });

  it('flushes the others when one cannot be read, or is not what the database takes', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    const [unreadable, ...sound] = await fill(spool, 10);
    const untakable = { ...createMessage(), type: 'no text of Postgres holds a \0' };
    await spool.write({ message: untakable, reason: 'unreachable' });
    const failFirst = (whole: Spool): Spool => ({
      ...whole,
      async read(file) {
        if (file.name.includes(unreadable?.id ?? '')) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
        return whole.read(file);
      },
    });
    const { log, lines } = captureLog();
    await startReplica({ directory, database, publish: unavailable, flushMs: 8000, log, faults: { spool: failFirst } }).stop();
    expect(ids(await database.all(allRows))).to.deep.equal(ids(sound));
    expect(await spool.pending()).to.have.length(2);
    expect(lines().find(({ left }) => left !== undefined)).to.deep.include({ level: 'error', flushed: 9, left: 2 });
    const reasons = lines().flatMap(({ level, reason }) => (level === 'warn' ? [reason] : []));
    expect(reasons).to.have.members(['EIO', '22P05']);
  });

  it('flushes what it had given up, too, with its tries', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    const [message] = await fill(spool, 1);
    const [file] = await spool.pending();
    if (!file) throw new Error('the file is pending');
    await spool.setTries(file, 2);
    for (const tried of await spool.pending()) await spool.refuse(tried, { reason: 'refused', toDo: 'try again' });
    expect(await readdir(join(directory, 'refused'))).to.have.length(1);
    await startReplica({ directory, database, publish: unavailable, flushMs: 8000 }).stop();
    expect(await readdir(join(directory, 'refused'))).to.deep.equal([]);
    const [row] = await database.all(allRows);
    expect(row).to.deep.include({ id: message?.id, tries: 2, replayed: false, refused: false });
  });

  it('keeps its files when Postgres is down, and when it has no time for the database', async () => {
    const nowhere = createPool(`postgres://nobody:x@127.0.0.1:${await freePort()}/none`, { schema: 'relay', log: silentLog });
    for (const options of [
      { database: nowhere, flushMs: 8000 },
      { database, flushMs: 0 },
    ]) {
      const directory = newDirectory();
      const { spool, stop } = startReplica({ directory, publish: unavailable, ...options });
      await fill(spool, 5);
      await stop();
      expect(await spool.pending()).to.have.length(5);
    }
    await nowhere.close();
    expect(await database.all(allRows)).to.deep.equal([]);
  });

  it('ends at its deadline when the database does not answer, with every file still there or in a row', async () => {
    const directory = newDirectory();
    const { spool, stop } = startReplica({ directory, database, publish: unavailable, flushMs: 100 });
    await fill(spool, 5);
    const locked = Promise.withResolvers<undefined>();
    const release = Promise.withResolvers<undefined>();
    const lock = database.transaction(async (inTransaction) => {
      await inTransaction.run(statement('test.lock', 'lock table failed_payloads in access exclusive mode'));
      locked.resolve(undefined);
      await release.promise;
    });
    await locked.promise;
    await stop(); // would wait for the lock for ever
    const inHand = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.payload'));
    expect(inHand).to.have.length(5);
    release.resolve(undefined);
    await lock;
    await eventually(async () => (await database.all(allRows)).length + (await spool.pending()).length === 5);
  });

  it('does not wait for its deadline where the database hangs', async () => {
    const hanging = await startMuteable(new URL(url));
    const pool = createPool(hanging.url, { schema: 'relay', log: silentLog });
    const { spool, stop } = startReplica({ directory: newDirectory(), database: pool, publish: unavailable, flushMs: 600_000 });
    await fill(spool, 5);
    await pool.all(allRows);
    hanging.mute();
    await stop();
    expect(await spool.pending()).to.have.length(5);
    await pool.close();
    hanging.close();
  });

  it('replays files while the table cannot be asked', async () => {
    const nowhere = createPool(`postgres://nobody:x@127.0.0.1:${await freePort()}/none`, { schema: 'relay', log: silentLog });
    const directory = newDirectory();
    await fill(openSpool(directory).spool, 3);
    let published = 0;
    const { stop } = startReplica({
      directory,
      database: nowhere,
      publish: async () => {
        published += 1;
        return 'published';
      },
    });
    await eventually(() => published === 3);
    await stop();
    await nowhere.close();
  });
});
