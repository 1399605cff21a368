import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Message } from '../../../../services/platform/broker/broker.ts';
import type { Pool } from '../../../../services/platform/postgres/pool.ts';
import type { ReplayOutcome } from '../../../../services/webhook-relay/spool/replayer.ts';
import type { Spool } from '../../../../services/webhook-relay/spool/spool.ts';
import { eventually } from '../../../support/wait.ts';
import { createMessage, createTarget, fill, ids, newDirectory, openDatabase, openSpool, startReplica, valueOf } from './fixtures.ts';

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
    expect(await readdir(directory)).to.deep.equal([]);
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

  /** Publishes when told to: until then what is published stays in flight. */
  function createGate() {
    const inFlight: { readonly message: Message; readonly finish: () => void }[] = [];
    let published = 0;
    return {
      inFlight,
      get published() {
        return published;
      },
      publish: (message: Message) =>
        new Promise<ReplayOutcome>((resolve) => {
          const finish = () => {
            published += 1;
            resolve('published');
          };
          inFlight.push({ message, finish });
        }),
      finishAll: () => {
        for (const { finish } of inFlight.splice(0)) finish();
      },
    };
  }

  it('begins with the oldest alone, then has the next 32 in flight, and so on', async () => {
    const directory = newDirectory();
    const messages = await fill(openSpool(directory).spool, 100);
    const gate = createGate();
    start(directory, gate.publish);
    for (const [from, to] of [
      [0, 1],
      [1, 33],
      [33, 65],
      [65, 97],
      [97, 100],
    ] as const) {
      await eventually(() => gate.inFlight.length === to - from);
      expect(gate.inFlight.map(({ message }) => message.id)).to.have.members(ids(messages.slice(from, to)));
      gate.finishAll();
    }
    await eventually(() => gate.published === 100);
  });

  it('holds few large payloads in memory at once', async () => {
    const directory = newDirectory();
    const { spool } = openSpool(directory);
    for (let n = 0; n < 8; n += 1) await spool.write({ message: createMessage(Buffer.alloc(15 * 1024 * 1024)), reason: '' });
    const gate = createGate();
    start(directory, gate.publish);
    for (const count of [1, 2, 2, 2, 1]) {
      await eventually(() => gate.inFlight.length === count);
      await new Promise((resolve) => setTimeout(resolve, 50)); // one more that may begin has the time to
      expect(gate.inFlight).to.have.length(count);
      gate.finishAll();
    }
    await eventually(() => gate.published === 8);
  });

  it('publishes once what cannot be removed', async () => {
    const directory = newDirectory();
    await fill(openSpool(directory).spool, 1);
    const target = createTarget();
    let removals = 0;
    const failing = (whole: Spool): Spool => ({
      ...whole,
      remove: (file) => ((removals += 1) < 3 ? Promise.reject(Object.assign(new Error('EROFS'), { code: 'EROFS' })) : whole.remove(file)),
    });
    const { spool, stop } = startReplica({ directory, database, publish: (message) => target.publish(message), intervalMs: 5, faults: { spool: failing } });
    stops.push(stop);
    await eventually(async () => (await spool.pending()).length === 0);
    expect(target.asked).to.have.length(1);
    expect(removals).to.equal(3);
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

  describe('a delivery that cannot be replayed', () => {
    it('is put aside after three refusals, and those behind it are published', async () => {
      const directory = newDirectory();
      const messages = await fill(openSpool(directory).spool, 4);
      const refusedId = messages[1]?.id;
      const target = createTarget();
      let refusals = 0;
      const { nudge, metrics } = start(directory, (message) => {
        if (message.id !== refusedId) return target.publish(message);
        refusals += 1;
        return Promise.resolve('refused');
      });
      for (let tries = 1; tries <= 3; tries += 1) {
        await eventually(() => refusals === tries);
        expect(await eventually(() => target.published.length === 3)).to.equal(true);
        nudge();
      }
      const refused = await eventually(async () => {
        const names = await readdir(join(directory, 'refused'));
        return names.length > 0 && names;
      });
      expect(refused).to.have.length(1);
      expect(refused[0]).to.contain(refusedId);
      expect(await valueOf(metrics, 'signalbox_replays_total{source="file",outcome="refused"}')).to.equal(3);
      await eventually(async () => (await valueOf(metrics, 'signalbox_spool_refused_total')) === 1);
    });

    it('has its refusals counted over restarts', async () => {
      const directory = newDirectory();
      await fill(openSpool(directory).spool, 1);
      let refusals = 0;
      for (let round = 1; round <= 3; round += 1) {
        const { stop } = startReplica({ directory, database, publish: () => Promise.resolve((refusals += 1) > 0 ? 'refused' : 'published') });
        await eventually(() => refusals === round);
        await stop();
      }
      expect(await readdir(join(directory, 'refused'))).to.have.length(1);
    });

    it('holds up nothing when its file is corrupt', async () => {
      const directory = newDirectory();
      const { spool } = openSpool(directory);
      const messages = await fill(spool, 6);
      for (const { name } of (await spool.pending()).slice(0, 3)) await truncate(join(directory, name), 10);
      const target = createTarget();
      start(directory, (message) => target.publish(message));
      await eventually(() => target.published.length === 3);
      expect(new Set(ids(target.published))).to.deep.equal(new Set(ids(messages.slice(3))));
      await eventually(async () => (await readdir(join(directory, 'refused'))).length === 3);
    });

    it('is kept when publishing it throws, and the others are published', async () => {
      const directory = newDirectory();
      const messages = await fill(openSpool(directory).spool, 5);
      const target = createTarget();
      const { spool } = start(directory, (message) => {
        if (message.id === messages[0]?.id) throw new Error('a bug');
        return target.publish(message);
      });
      await eventually(async () => target.published.length === 4 && (await spool.pending()).length === 1);
    });
  });
});
