import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Message } from '../../../../services/platform/broker/broker.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool, type Pool, statement } from '../../../../services/platform/postgres.ts';
import { createFailedPayloads, start } from '../../../../services/webhook-relay/spool/failed-payloads.ts';
import type { ReplayOutcome } from '../../../../services/webhook-relay/spool/replayer.ts';
import { eventually, freePort } from '../../../support/wait.ts';
import { createMessage, fill, newDirectory, openDatabase, openSpool, startReplica, valueOf } from './ground.ts';

type Row = { id: string; bytes: number | null; tries: number; replayed: boolean; refused: boolean; claimed: boolean };
const allRows = statement<Row>(
  'test.rows',
  `
  select id, octet_length(payload) as bytes, tries, replayed_at is not null as replayed, refused_at is not null as refused, claimed_by is not null as claimed
  from failed_payloads order by spooled_at, id`,
);
const endLeases = statement('test.endLeases', `update failed_payloads set claimed_until = now() - interval '1 second' where claimed_until is not null`);
const clear = statement('test.clear', 'delete from failed_payloads');

const unavailable = () => Promise.resolve<ReplayOutcome>('unavailable');
const ids = (messages: readonly { id: string }[]) => messages.map(({ id }) => id);

describe('a relay whose directory ends with it', () => {
  let database: Pool;
  let drop: () => Promise<void>;
  before(async () => {
    ({ database, drop } = await openDatabase());
  });
  after(() => drop());

  let stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const stop of stops) await stop();
    stops = [];
    await database.run(clear);
  });
  /** Somewhere else, with an empty directory of its own. */
  function startElsewhere(publish: (message: Message) => Promise<ReplayOutcome>) {
    const replica = startReplica({ directory: newDirectory(), database, publish });
    stops.push(replica.stop);
    return replica;
  }
  async function handOver(count: number): Promise<Message[]> {
    const directory = newDirectory();
    const replica = startReplica({ directory, database, publish: unavailable, handOverOnStop: true });
    const messages = await fill(replica.spool, count);
    await replica.stop();
    expect(await readdir(directory)).to.deep.equal([]);
    return messages;
  }

  it('hands pending files to the database when it stops', async () => {
    const messages = await handOver(50);
    const rows = await database.all(allRows);
    expect(ids(rows)).to.deep.equal(ids(messages));
    expect(rows[0]).to.deep.include({ bytes: messages[0]?.body.length, tries: 0, replayed: false, refused: false });
  });

  it('has them replayed by another replica, as they were, without the payload after it', async () => {
    const messages = await handOver(80);
    const published: Message[] = [];
    const { metrics } = startElsewhere(async (message) => {
      published.push(message);
      return 'published';
    });
    await eventually(async () => (await database.all(allRows)).every(({ replayed, bytes }) => replayed && bytes === null));
    expect(published[0]).to.deep.equal(messages[0]);
    expect(ids(published).toSorted()).to.deep.equal(ids(messages).toSorted());
    expect(await valueOf(metrics, 'signalbox_replays_total{source="row",outcome="published"}')).to.equal(80);
  });

  it('keeps a payload of 25 MiB byte for byte', async () => {
    const body = Buffer.alloc(25 * 1024 * 1024, 'é\0');
    const replica = startReplica({ directory: newDirectory(), database, publish: unavailable, handOverOnStop: true });
    await replica.spool.write({ message: createMessage(body), reason: '' });
    await replica.stop();
    const published: Message[] = [];
    startElsewhere(async (message) => {
      published.push(message);
      return 'published';
    });
    await eventually(() => published.length === 1);
    expect(published[0]?.body.equals(body)).to.equal(true);
  });

  it('has each row replayed by one of several replicas', async () => {
    const messages = await handOver(200);
    const published: string[] = [];
    const publish = async ({ id }: Message): Promise<ReplayOutcome> => {
      await new Promise(setImmediate);
      published.push(id);
      return 'published';
    };
    for (let replica = 0; replica < 3; replica += 1) startElsewhere(publish);
    await eventually(async () => (await database.all(allRows)).every(({ replayed }) => replayed));
    expect(published.toSorted()).to.deep.equal(ids(messages).toSorted());
  });

  it('leaves rows free for others while nothing takes messages', async () => {
    await handOver(40);
    let asked = 0;
    startElsewhere(() => {
      asked += 1;
      return unavailable();
    });
    await eventually(async () => asked === 1 && (await database.all(allRows)).every(({ claimed }) => !claimed));
    expect(asked).to.equal(1);
  });

  it('has rows replayed that a replica had claimed when it died, after their lease', async () => {
    await handOver(3);
    const failedPayloads = createFailedPayloads(database);
    const claimed = await failedPayloads.claimDue(start, { limit: 10, owner: 'dead', leaseMs: 60_000 });
    expect(claimed).to.have.length(3);
    let published = 0;
    const { nudge } = startElsewhere(async () => {
      published += 1;
      return 'published';
    });
    await database.run(endLeases);
    nudge();
    await eventually(() => published === 3);
    const [first] = claimed;
    expect(first && (await failedPayloads.markReplayed(first.id, 'dead')), 'recorded without the lease').to.equal(0);
  });

  it('gives no lease twice', async () => {
    await handOver(3);
    const failedPayloads = createFailedPayloads(database);
    const claim = (owner: string) => failedPayloads.claimDue(start, { limit: 2, owner, leaseMs: 60_000 });
    const [one, other] = await Promise.all([claim('one'), claim('other')]);
    expect(new Set([...ids(one), ...ids(other)])).to.have.property('size', 3);
    const [first] = one;
    expect(first && (await failedPayloads.message(first, 'other', 60_000))).to.equal(undefined);
  });

  it('gives a row up that is refused three times', async () => {
    const [message] = await handOver(2);
    const tried: string[] = [];
    const { nudge } = startElsewhere(async ({ id }) => {
      tried.push(id);
      return id === message?.id ? 'refused' : 'published';
    });
    for (let tries = 1; tries <= 3; tries += 1) {
      await eventually(async () => (await database.all(allRows))[0]?.tries === tries);
      nudge();
    }
    await eventually(async () => (await database.all(allRows))[0]?.refused === true);
    expect(await database.all(allRows)).to.have.nested.property('[0].bytes', message?.body.length);
    expect(tried.filter((id) => id === message?.id)).to.have.length(3);
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
