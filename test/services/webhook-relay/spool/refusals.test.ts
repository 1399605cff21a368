import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Message } from '../../../../services/platform/broker/broker.ts';
import type { Pool } from '../../../../services/platform/postgres/pool.ts';
import type { ReplayOutcome } from '../../../../services/webhook-relay/spool/replay.ts';
import { eventually } from '../../../support/wait.ts';
import { createTarget, fill, ids, newDirectory, openDatabase, openSpool, startReplica, valueOf } from './ground.ts';

describe('a delivery that cannot be replayed', () => {
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
    const refused = await eventually(() => readdir(join(directory, 'refused')));
    expect(refused).to.have.length(1);
    expect(refused[0]).to.contain(refusedId);
    expect(await valueOf(metrics, 'signalbox_replays_total{source="file",outcome="refused"}')).to.equal(3);
    expect(await valueOf(metrics, 'signalbox_spool_refused_total')).to.equal(1);
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
    expect(await readdir(join(directory, 'refused'))).to.have.length(3);
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
