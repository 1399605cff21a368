import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool, type Pool, statement } from '../../../../services/platform/postgres/pool.ts';
import { refusedByAll } from '../../../../services/webhook-relay/spool/refusal.ts';
import type { Spool } from '../../../../services/webhook-relay/spool/spool.ts';
import { captureLog } from '../../../platform/captured-log.ts';
import { eventually, freePort } from '../../../support/wait.ts';
import { createMessage, fill, ids, newDirectory, openDatabase, openSpool, startReplica } from './ground.ts';
import { allRows, clear, handOverTo, unavailable } from './rows.ts';

describe('a relay whose directory ends with it', () => {
  let database: Pool;
  let drop: () => Promise<void>;
  before(async () => {
    ({ database, drop } = await openDatabase());
  });
  after(() => drop());

  afterEach(() => database.run(clear));
  it('hands pending files to the database when it stops', async () => {
    const messages = await handOverTo(database, 50);
    const rows = await database.all(allRows);
    expect(ids(rows)).to.deep.equal(ids(messages));
    expect(rows[0]).to.deep.include({ bytes: messages[0]?.body.length, tries: 0, replayed: false, refused: false });
  });

  it('makes one row of a delivery that is handed over twice', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    const [message] = await fill(spool, 1);
    if (message) await spool.write({ message, reason: 'again' });
    expect(await spool.pending()).to.have.length(2);
    await startReplica({ directory, database, publish: unavailable, handOverOnStop: true }).stop();
    expect(ids(await database.all(allRows))).to.deep.equal([message?.id]);
    expect(await readdir(directory)).to.deep.equal([]);
  });

  it('hands over what a process before it had in hand when it was killed a moment ago', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    const messages = await fill(spool, 2);
    for (const file of await spool.pending()) await spool.claim(file);
    await startReplica({ directory, database, publish: unavailable, handOverOnStop: true }).stop();
    expect(ids(await database.all(allRows)).toSorted()).to.deep.equal(ids(messages).toSorted());
  });

  it('puts corrupt files aside and hands the others over', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    const messages = await fill(spool, 3);
    await truncate(join(directory, (await spool.pending())[0]?.name ?? ''), 20);
    await startReplica({ directory, database, publish: unavailable, handOverOnStop: true }).stop();
    expect(ids(await database.all(allRows))).to.deep.equal(ids(messages.slice(1)));
    expect(await readdir(join(directory, 'refused'))).to.have.length(1);
  });

  it('hands over the others when one cannot be read, or is not what the database takes', async () => {
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
    await startReplica({ directory, database, publish: unavailable, handOverOnStop: true, log, faults: { spool: failFirst } }).stop();
    expect(ids(await database.all(allRows))).to.deep.equal(ids(sound));
    expect(await spool.pending()).to.have.length(2);
    expect(lines().find(({ msg }) => msg === 'spooled deliveries stay on the disk of a relay that stops')).to.deep.include({ handedOver: 9, left: 2 });
    const reasons = lines().flatMap(({ level, reason }) => (level === 'warn' ? [reason] : []));
    expect(reasons).to.have.members(['EIO', '22P05']);
  });

  it('hands over what it had given up, too, with its tries', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    const [message] = await fill(spool, 1);
    for (let tries = 1; tries <= 3; tries += 1) {
      const [file] = await spool.pending();
      const claimed = file && (await spool.claim(file));
      if (!claimed) throw new Error('the file is pending');
      await (tries < 3 ? spool.release(claimed, tries) : spool.refuse(claimed, refusedByAll(3, 'try again')));
    }
    expect(await readdir(join(directory, 'refused'))).to.have.length(1);
    await startReplica({ directory, database, publish: unavailable, handOverOnStop: true }).stop();
    expect(await readdir(join(directory, 'refused'))).to.deep.equal([]);
    const [row] = await database.all(allRows);
    expect(row).to.deep.include({ id: message?.id, tries: 2, replayed: false, refused: false });
  });

  it('keeps its files when Postgres is down, and when the directory survives', async () => {
    const nowhere = createPool(`postgres://nobody:x@127.0.0.1:${await freePort()}/none`, { schema: 'relay', log: silentLog });
    for (const options of [
      { database: nowhere, handOverOnStop: true },
      { database, handOverOnStop: false },
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
    const { spool, stop } = startReplica({ directory, database, publish: unavailable, handOverOnStop: true, handOverMs: 100 });
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
