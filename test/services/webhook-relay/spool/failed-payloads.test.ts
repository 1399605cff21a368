import { expect } from 'chai';
import type { Message } from '../../../../services/platform/broker/broker.ts';
import { type Pool, statement } from '../../../../services/platform/postgres/pool.ts';
import { createFailedPayloads, type FailedPayloads } from '../../../../services/webhook-relay/spool/failed-payloads.ts';
import type { ReplayOutcome } from '../../../../services/webhook-relay/spool/replayer.ts';
import { captureLog } from '../../../platform/captured-log.ts';
import { eventually } from '../../../support/wait.ts';
import { allRows, clear, createMessage, createTarget, flushTo, ids, newDirectory, openDatabase, startReplica, unavailable, valueOf } from './fixtures.ts';

const endLeases = statement('test.endLeases', `update failed_payloads set claimed_until = now() - interval '1 second' where claimed_until is not null`);
const damage = statement<unknown, [id: string]>('test.damage', `update failed_payloads set header = '{"id":7}' where id = $1`);

describe('the rows of failed_payloads', () => {
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

  it('are replayed by another replica, as they were, and are without the payload after it', async () => {
    const messages = await flushTo(database, 80);
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

  it('keep a payload of 25 MiB byte for byte', async () => {
    const body = Buffer.alloc(25 * 1024 * 1024, 'é\0');
    const replica = startReplica({ directory: newDirectory(), database, publish: unavailable, flushMs: 8000 });
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

  it('are replayed by one of several replicas', async () => {
    const messages = await flushTo(database, 200);
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

  it('are left free for others while nothing takes messages', async () => {
    await flushTo(database, 40);
    let asked = 0;
    startElsewhere(() => {
      asked += 1;
      return unavailable();
    });
    await eventually(async () => asked === 1 && (await database.all(allRows)).every(({ claimed }) => !claimed));
    expect(asked).to.equal(1);
  });

  it('are replayed after their lease when the replica that had claimed them died', async () => {
    await flushTo(database, 3);
    const dead = createFailedPayloads(database);
    const claimed = await dead.claimDue(10);
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
    expect(first && (await dead.markReplayed(first.id)), 'recorded without the lease').to.equal(0);
  });

  it('are leased to one owner at a time', async () => {
    await flushTo(database, 3);
    const [one, other] = [createFailedPayloads(database), createFailedPayloads(database)];
    const [ofOne, ofOther] = await Promise.all([one.claimDue(2), other.claimDue(2)]);
    expect(new Set([...ids(ofOne), ...ids(ofOther)])).to.have.property('size', 3);
    const [first] = ofOne;
    expect(first && (await other.load(first))).to.equal(undefined);
  });

  it('are given up after three refusals', async () => {
    const [message] = await flushTo(database, 2);
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

  it('are given up at once when they cannot be read: logged and counted once, and the others are published', async () => {
    const [damaged, ...sound] = await flushTo(database, 3);
    await database.run(damage, damaged?.id ?? '');
    const { log, lines } = captureLog();
    const target = createTarget();
    const replica = startReplica({ directory: newDirectory(), database, publish: (message) => target.publish(message), intervalMs: 5, log });
    stops.push(replica.stop);
    await eventually(async () => target.published.length === 2 && (await database.all(allRows))[0]?.refused === true);
    await replica.stop();
    expect(ids(target.published).toSorted()).to.deep.equal(ids(sound).toSorted());
    const told = lines().filter(({ id }) => id === damaged?.id);
    expect(told.map(({ level, reason }) => [level, reason])).to.deep.equal([['error', 'corrupt: the header is not one of a message']]);
    expect(await valueOf(replica.metrics, 'signalbox_replays_total{source="row",outcome="corrupt"}')).to.equal(1);
    expect((await database.all(allRows))[0]).to.deep.include({ bytes: damaged?.body.length, claimed: false });
  });

  it('are tried again after a second when they cannot be read now, and told once; the others do not wait', async () => {
    const [first] = await flushTo(database, 3);
    const { log, lines } = captureLog();
    const target = createTarget();
    const triedAt: number[] = [];
    const failFirst = (whole: FailedPayloads): FailedPayloads => ({
      ...whole,
      async load(row) {
        if (row.id !== first?.id) return whole.load(row);
        if (triedAt.push(performance.now()) === 1) throw Object.assign(new Error('could not read block 7'), { code: 'XX001' });
        return whole.load(row);
      },
    });
    const publish = (message: Message) => target.publish(message);
    stops.push(startReplica({ directory: newDirectory(), database, publish, intervalMs: 1000, log, faults: { rows: failFirst } }).stop);
    await eventually(() => target.published.length === 3);
    expect(ids(target.published).at(-1)).to.equal(first?.id);
    const [firstTry = 0, secondTry = 0] = triedAt;
    expect(secondTry - firstTry).to.be.greaterThan(600);
    const told = lines().filter(({ ids: named }) => JSON.stringify(named)?.includes(first?.id ?? ''));
    expect(told.map(({ level, reason }) => [level, reason])).to.deep.equal([['warn', 'XX001']]);
  });
});
