// The state of a queue, as both adapters tell it.
import { expect } from 'chai';
import { onBothAdapters } from './adapters.ts';
import { message, newTopology, publish, until } from './fixture.ts';

onBothAdapters(({ connected }) => {
  it('tells how many wait and how many consume, and where it can how many they hold and since when', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    expect(await broker.stateOf(first)).to.include({ waiting: 0, consumers: 0, oldestAt: null });
    await publish(broker, message('a'), message('b'));
    const { oldestAt, inWork, ...waiting } = await broker.stateOf(first);
    expect(waiting).to.deep.equal({ waiting: 2, consumers: 0 });
    expect(inWork ?? 0).to.equal(0);
    if (oldestAt !== null) expect(oldestAt.getTime()).to.be.within(Date.now() - 60_000, Date.now() + 1000);

    const finish = Promise.withResolvers<undefined>();
    const consumer = broker.consume(first, { batchSize: 1, prefetch: 1 }, async (batch) => {
      await finish.promise;
      return batch.map(() => 'ack' as const);
    });
    await until(async () => {
      const state = await broker.stateOf(first);
      return state.waiting === 1 && state.consumers === 1 && (state.inWork ?? 1) === 1;
    }, 'one is held');
    finish.resolve(undefined);
    await until(async () => (await broker.stateOf(first)).waiting === 0, 'both are done');
    await consumer.stop();
    await until(async () => (await broker.stateOf(first)).consumers === 0, 'the consumer is gone');
  });
});
