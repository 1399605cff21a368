import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import type { Message } from '../../../../services/platform/broker/broker.ts';
import type { Pool } from '../../../../services/platform/postgres/pool.ts';
import type { ReplayOutcome } from '../../../../services/webhook-relay/spool/replay.ts';
import { eventually } from '../../../support/wait.ts';
import { age, createMessage, createTarget, fill, ids, newDirectory, openDatabase, openSpool, startReplica, valueOf } from './ground.ts';

describe('createReplayer', () => {
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
  });
  function start(directory: string, publish: (message: Message) => Promise<ReplayOutcome>) {
    const replica = startReplica({ directory, database, publish });
    stops.push(replica.stop);
    return replica;
  }

  it('publishes what an earlier process left, as it was, and keeps nothing of it', async () => {
    const directory = newDirectory();
    const [message] = await fill(openSpool(directory).spool, 1);
    const target = createTarget();
    const { metrics, stop } = start(directory, (message) => target.publish(message));
    await eventually(() => target.published.length === 1);
    expect(target.published).to.deep.equal([message]);
    await stop();
    expect((await readdir(directory)).filter((name) => !name.startsWith('process-'))).to.deep.equal([]);
    expect(await valueOf(metrics, 'signalbox_replays_total{source="file",outcome="published"}')).to.equal(1);
  });

  it('asks once while nothing takes messages, and drains at once when nudged', async () => {
    const directory = newDirectory();
    const messages = await fill(openSpool(directory).spool, 60);
    const target = createTarget(false);
    const { spool, nudge } = start(directory, (message) => target.publish(message));
    await eventually(async () => target.asked.length === 1 && (await spool.pending()).length === 60);
    expect(target.asked).to.deep.equal([messages[0]?.id]);
    target.isOpen = true;
    nudge();
    await eventually(() => target.published.length === 60);
    expect(new Set(ids(target.published))).to.deep.equal(new Set(ids(messages)));
  });

  it('tries again by itself after the interval', async () => {
    const directory = newDirectory();
    await fill(openSpool(directory).spool, 1);
    const target = createTarget(false);
    const { stop } = startReplica({ directory, database, publish: (message) => target.publish(message), intervalMs: 20 });
    stops.push(stop);
    await eventually(() => target.asked.length >= 3);
    target.isOpen = true;
    await eventually(() => target.published.length === 1);
  });

  it('begins with the oldest and keeps the order but for what is in flight together', async () => {
    const directory = newDirectory();
    const messages = await fill(openSpool(directory).spool, 300);
    const target = createTarget();
    start(directory, (message) => target.publish(message));
    await eventually(() => target.published.length === 300);
    const position = new Map(messages.map(({ id }, index) => [id, index]));
    expect(target.published[0]?.id).to.equal(messages[0]?.id);
    const displacements = target.published.map(({ id }, index) => Math.abs((position.get(id) ?? Infinity) - index));
    expect(Math.max(...displacements)).to.be.at.most(64);
  });

  it('has several in flight, and not all', async () => {
    const directory = newDirectory();
    await fill(openSpool(directory).spool, 200);
    let inFlight = 0;
    let most = 0;
    let published = 0;
    start(directory, async () => {
      most = Math.max(most, (inFlight += 1));
      await new Promise((resolve) => setTimeout(resolve, 2));
      inFlight -= 1;
      published += 1;
      return 'published';
    });
    await eventually(() => published === 200);
    expect(most).to.be.within(8, 32);
  });

  it('holds few large payloads in memory at once', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    for (let n = 0; n < 8; n += 1) await spool.write({ message: createMessage(Buffer.alloc(15 * 1024 * 1024)), reason: '' });
    let inFlight = 0;
    let most = 0;
    let published = 0;
    start(directory, async () => {
      most = Math.max(most, (inFlight += 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
      inFlight -= 1;
      published += 1;
      return 'published';
    });
    await eventually(() => published === 8);
    expect(most).to.equal(2);
  });

  it('publishes each file once, with another replayer on the same directory', async () => {
    const directory = newDirectory();
    const messages = await fill(openSpool(directory).spool, 200);
    const target = createTarget();
    start(directory, (message) => target.publish(message));
    start(directory, (message) => target.publish(message));
    await eventually(() => target.published.length >= 200);
    await Promise.all(stops.map((stop) => stop()));
    expect(ids(target.published).toSorted()).to.deep.equal(ids(messages).toSorted());
  });

  it('publishes what a process that was killed had in hand', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    const messages = await fill(spool, 3);
    for (const file of await spool.pending()) await spool.claim(file);
    await age(directory);
    const target = createTarget();
    start(directory, (message) => target.publish(message));
    await eventually(() => target.published.length === 3);
    expect(ids(target.published).toSorted()).to.deep.equal(ids(messages).toSorted());
  });

  it('finishes what is in flight when it stops, and begins nothing more', async () => {
    const directory = newDirectory();
    await fill(openSpool(directory).spool, 100);
    const answer = Promise.withResolvers<ReplayOutcome>();
    let begun = 0;
    const { spool, metrics, stop } = startReplica({
      directory,
      database,
      publish: () => {
        begun += 1;
        return begun === 1 ? Promise.resolve('published') : answer.promise;
      },
    });
    await eventually(() => begun === 33);
    setTimeout(() => answer.resolve('published'), 50); // a stop that does not wait for it ends before
    await stop();
    expect(begun).to.equal(33);
    expect(await spool.pending()).to.have.length(67);
    expect(await valueOf(metrics, 'signalbox_spool_files'), 'published, and still there').to.equal(67);
  });
});
