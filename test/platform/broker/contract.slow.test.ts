// The broker's contract where it takes seconds: large bodies, kills and outages.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Delivery } from '../../../services/platform/broker/broker.ts';
import { onBothAdapters } from './adapters.ts';
import { collect, connect, consumerProcess, generousMs, ids, message, newTopology, publish, until } from './fixture.ts';

onBothAdapters((given) => {
  const { connected, open, server } = given;

  it('carries a body of 25 MiB', async () => {
    const { topology, second } = newTopology();
    const broker = await connected(topology);
    const body = randomBytes(25 * 1024 * 1024);
    await publish(broker, message('large', { body }));
    const { deliveries } = collect(broker, second);
    await until(() => deliveries.length === 1, 'the large message arrives');
    expect(deliveries[0]?.body.equals(body)).to.equal(true);
  });

  it('redelivers what a killed consumer held, and says so', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'), message('b'));
    const consumer = consumerProcess(server().url, topology, first);
    await until(() => consumer.taken.length === 2, 'the consumer has taken both');
    consumer.kill();
    await consumer.exited;
    const { deliveries } = collect(broker, first);
    await until(() => deliveries.length === 2, 'both come back');
    expect(deliveries.map(({ redelivered, attempt }) => ({ redelivered, attempt }))).to.deep.equal([
      { redelivered: true, attempt: 1 },
      { redelivered: true, attempt: 1 },
    ]);
  });

  it('loses none when what returns dead letters is killed', async () => {
    const { topology, first, dead } = newTopology();
    const broker = await connected(topology);
    const all = Array.from({ length: 1000 }, (_, index) => `m${index}`);
    await Promise.all(all.map((id) => publish(broker, message(id))));
    const failing = collect(broker, first, () => ({ retry: 'failed' }));
    await until(async () => (await broker.depth(dead)) === all.length, 'all are dead letters');
    await failing.consumer.stop();
    const returning = consumerProcess(server().url, topology, dead, 'returns dead letters');
    await until(async () => (await broker.depth(first)) > 0, 'some are returned');
    returning.kill();
    await returning.exited;
    await until(async () => (await broker.depth(first)) + (await broker.depth(dead)) >= all.length, 'the server has seen its end');
    expect(await broker.depth(dead)).to.be.above(0);
    await broker.returnDeadLetters({ limit: 10_000 });
    const { deliveries } = collect(broker, first);
    await until(() => new Set(ids(deliveries)).size === all.length, 'all have come again');
  });

  it('asks before it gives up a message that ended its consumers, and the given reason becomes that of the dead letter', async () => {
    const { topology, first } = newTopology([]);
    const broker = await connected(topology);
    await publish(broker, message('poison'));
    for (let ended = 0; ended < 2; ended += 1) await consumerProcess(server().url, topology, first, 'ended by poison').exited;
    const asked: string[] = [];
    const giveUp = ({ id }: Delivery, reason: string) => {
      asked.push(`${id}: ${reason}`);
      // As a database does that is away for a moment.
      return asked.length === 1 ? Promise.reject(new Error('the world failed')) : Promise.resolve({ deadLetter: 'kept elsewhere' });
    };
    // A copy that had left the queue when its consumer was killed may be handled: a message may come twice.
    broker.consume(first, { batchSize: 1, prefetch: 1, giveUp }, (batch) => Promise.resolve(batch.map(() => 'ack' as const)));
    await until(async () => (await broker.listDeadLetters({ limit: 1 })).length === 1, 'it is given up');
    const reason = 'poison: its consumer ended without an answer, with nothing else in work';
    expect(asked).to.deep.equal([reason, reason]);
    const [dead] = await broker.listDeadLetters({ limit: 1 });
    expect(dead?.headers).to.include({ 'x-dead-reason': 'kept elsewhere', 'x-dead-queue': first });
  });

  it('handles alone what came back from a killed consumer, and gives up the one that kills it again', async () => {
    const { topology, first } = newTopology([100, 100]);
    const broker = await connected(topology);
    const good = Array.from({ length: 8 }, (_, index) => `m${index}`);
    await publish(broker, ...[...good.slice(0, 4), 'poison', ...good.slice(4)].map((id) => message(id)));
    const acknowledged: string[] = [];
    let ended = 0;
    const listed = () => broker.listDeadLetters({ limit: 10 });
    while ((await listed()).length === 0) {
      const consumer = consumerProcess(server().url, topology, first, 'ended by poison');
      await until(async () => consumer.hasEnded() || (await listed()).length > 0, 'it ends its consumer, or is dead');
      if (consumer.hasEnded()) ended += 1;
      else await until(async () => (await broker.depth(first)) === 0, 'the others are handled');
      consumer.kill();
      await consumer.exited;
      acknowledged.push(...consumer.taken);
    }
    expect(ended).to.equal(3);
    const [dead] = await listed();
    expect(dead).to.deep.include({ id: 'poison' });
    expect(dead?.headers['x-dead-reason']).to.contain('consumer ended');
    const { deliveries } = collect(broker, first);
    await until(async () => (await broker.depth(first)) === 0, 'nothing is left');
    await until(() => new Set([...acknowledged, ...ids(deliveries)]).size === good.length, 'the others were handled');
  });

  it('counts nothing against a delivery whose consumers stop in order while nothing can be stored', async () => {
    const { topology, first } = newTopology([100, 100]);
    const broker = await connected(topology);
    await publish(broker, message('a'));
    for (let stopped = 0; stopped < 5; stopped += 1) {
      const taken = Promise.withResolvers<void>();
      const consumer = broker.consume(first, { batchSize: 1, prefetch: 1 }, () => {
        taken.resolve();
        return Promise.reject(new Error('the database is away'));
      });
      await taken.promise;
      await consumer.stop();
    }
    const { deliveries } = collect(broker, first);
    await until(() => deliveries.length === 1, 'it is handled');
    expect(deliveries[0]).to.deep.include({ id: 'a', attempt: 1 });
    expect(await broker.listDeadLetters({ limit: 1 })).to.deep.equal([]);
  });

  it('gives a batch back when stopped while its handler hangs', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'));
    const { promise: never } = Promise.withResolvers<never>();
    let calls = 0;
    const consumer = broker.consume(first, { batchSize: 1, prefetch: 1 }, () => {
      calls += 1;
      return never;
    });
    await until(() => calls > 0, 'the handler hangs');
    await consumer.stop();
    await until(async () => (await broker.depth(first)) === 1, 'the message is back');
    expect(calls).to.equal(1);
  });

  it('lets the process end after close', async () => {
    const { topology } = newTopology();
    expect(await consumerProcess(server().url, topology).exited).to.equal(0);
  });

  describe('when the server goes away', () => {
    it('answers `unpublished` at once, says why, and comes back by itself', async () => {
      const { topology, first } = newTopology();
      const broker = await connected(topology);
      const { deliveries } = collect(broker, first);
      await server().stop();
      try {
        await until(() => !broker.isConnected, 'the loss is noticed');
        expect(await broker.publish(message('lost'), 600_000)).to.include({ outcome: 'unpublished' });
        expect(broker.lastError).to.be.a('string');
      } finally {
        await server().start();
      }
      await broker.ready(generousMs);
      await publish(broker, message('a'));
      await until(() => deliveries.length === 1, 'the consumer is attached again');
      expect(ids(deliveries)).to.deep.equal(['a']);
    });

    it('connects to a server that starts after it', async () => {
      await server().stop();
      const { topology } = newTopology();
      const broker = connect(server().url, topology);
      open.push(broker);
      try {
        await until(() => broker.lastError !== null, 'it was tried');
        const failure: unknown = await broker.ready(1000).catch((error: unknown) => error);
        expect(failure).to.be.instanceOf(Error);
        expect(String(failure)).to.include(String(broker.lastError));
        expect(await broker.publish(message('lost'), 600_000)).to.include({ outcome: 'unpublished' });
      } finally {
        await server().start();
      }
      await broker.ready(generousMs);
      await publish(broker, message('a'));
    });

    it('drops the outcomes of a batch that was in work, and gets it again', async () => {
      const { topology, first } = newTopology();
      const broker = await connected(topology);
      await publish(broker, message('a'));
      const release = Promise.withResolvers<void>();
      const seen: boolean[] = [];
      broker.consume(first, { batchSize: 1, prefetch: 1 }, async (batch) => {
        seen.push(batch[0]?.redelivered ?? false);
        if (seen.length === 1) await release.promise;
        return batch.map(() => 'ack' as const);
      });
      await until(() => seen.length === 1, 'the batch is in work');
      await server().stop();
      await until(() => !broker.isConnected, 'the loss is noticed');
      release.resolve();
      await server().start();
      await until(() => seen.length === 2, 'it is delivered again');
      expect(seen).to.deep.equal([false, true]);
      await until(async () => broker.isConnected && (await broker.depth(first)) === 0, 'it is settled');
    });

    it('keeps 2 000 confirmed messages when it is killed', async () => {
      const { topology, first, second } = newTopology();
      const broker = await connected(topology);
      const sent = Array.from({ length: 2000 }, (_, index) => message(`m${index}`, { body: randomBytes(2000) }));
      const results = await Promise.all(sent.map((one) => broker.publish(one, generousMs)));
      expect(results.filter(({ outcome }) => outcome === 'confirmed').length).to.equal(2000);
      await server().kill();
      await server().start();
      const [one, other] = [collect(broker, first), collect(broker, second)];
      await until(() => one.deliveries.length >= 2000 && other.deliveries.length >= 2000, 'all are there');
      expect(new Set(ids(one.deliveries)).size).to.equal(2000);
      expect(new Set(ids(other.deliveries)).size).to.equal(2000);
    });
  });
});
