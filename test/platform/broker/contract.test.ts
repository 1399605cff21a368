// The broker's contract, line by line, on both adapters and real servers; what takes seconds is in contract.slow.test.ts.
import { expect } from 'chai';
import type { Delivery } from '../../../services/platform/broker/broker.ts';
import { onBothAdapters } from './adapters.ts';
import { freePort } from '../../support/wait.ts';
import { collect, connect, generousMs, ids, message, newTopology, publish, until } from './fixture.ts';

onBothAdapters((given) => {
  const { connected, server } = given;

  it('gives every queue a copy of its own', async () => {
    const { topology, first, second } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'), message('b'));
    const [one, other] = [collect(broker, first), collect(broker, second)];
    await until(() => one.deliveries.length === 2 && other.deliveries.length === 2, 'two copies of each');
    expect(ids(one.deliveries)).to.have.members(['a', 'b']);
    expect(ids(other.deliveries)).to.have.members(['a', 'b']);
  });

  it('carries every byte, header and property', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    const body = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256));
    const headers = { 'x-sender': 'Zoë "quoted" \\ 😀', 'x-empty': '' };
    const timestamp = new Date('2026-01-02T03:04:05Z');
    const sent = message('a', {
      type: 'pull_request',
      body,
      contentType: 'application/octet-stream',
      contentEncoding: 'gzip',
      priority: 7,
      timestamp,
      headers,
    });
    await publish(broker, sent);
    const { deliveries } = collect(broker, first);
    await until(() => deliveries.length === 1, 'the message arrives');
    expect(deliveries[0]).to.deep.equal({ ...sent, attempt: 1, redelivered: false });
  });

  it('waits no longer to be ready once it is closed', async () => {
    const { topology } = newTopology();
    const url = new URL(server().url);
    url.port = String(await freePort());
    const broker = connect(url.href, topology);
    const ready = broker.ready(3_600_000).then(
      () => 'ready',
      (error: unknown) => (error instanceof Error ? error.message : error),
    );
    await broker.close();
    expect(await ready).to.equal('the broker connection was closed');
  });

  it('carries an empty body', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a', { body: Buffer.alloc(0) }));
    const { deliveries } = collect(broker, first);
    await until(() => deliveries.length === 1, 'the message arrives');
    expect(deliveries[0]?.body.length).to.equal(0);
  });

  it('hands out higher priorities first on a prioritised queue', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('low', { priority: 1 }), message('middle', { priority: 5 }), message('high', { priority: 10 }));
    const { deliveries } = collect(broker, first);
    await until(() => deliveries.length === 3, 'all three arrive');
    expect(ids(deliveries)).to.deep.equal(['high', 'middle', 'low']);
  });

  it('keeps the order of publishing on a queue without priorities', async () => {
    const { topology, second } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a', { priority: 1 }), message('b', { priority: 10 }), message('c', { priority: 5 }));
    const { deliveries } = collect(broker, second);
    await until(() => deliveries.length === 3, 'all three arrive');
    expect(ids(deliveries)).to.deep.equal(['a', 'b', 'c']);
    expect(deliveries.map(({ priority }) => priority)).to.deep.equal([1, 10, 5]);
  });

  it('takes two messages of one id as two', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'), message('a'));
    expect(await broker.depth(first)).to.equal(2);
  });

  it('holds no more than its prefetch', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    await publish(broker, ...Array.from({ length: 10 }, (_, index) => message(`m${index}`)));
    const release = Promise.withResolvers<void>();
    let held = 0;
    broker.consume(first, { batchSize: 2, prefetch: 3 }, async (batch) => {
      held = batch.length;
      await release.promise;
      return batch.map(() => 'ack' as const);
    });
    await until(() => held > 0, 'a batch is in work');
    for (let look = 0; look < 10; look += 1) expect(await broker.depth(first)).to.be.at.least(7);
    release.resolve();
    await until(async () => (await broker.depth(first)) === 0, 'all are consumed');
  });

  it('hands over the waiting messages in batches, one at a time', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    await publish(broker, ...Array.from({ length: 25 }, (_, index) => message(`m${index}`)));
    const sizes: number[] = [];
    let inWork = 0;
    let mostInWork = 0;
    broker.consume(first, { batchSize: 10, prefetch: 20 }, async (batch) => {
      mostInWork = Math.max(mostInWork, ++inWork);
      sizes.push(batch.length);
      await broker.depth(first);
      inWork -= 1;
      return batch.map(() => 'ack' as const);
    });
    await until(() => sizes.reduce((sum, size) => sum + size, 0) === 25, 'all arrive');
    expect(mostInWork).to.equal(1);
    expect(Math.max(...sizes)).to.be.within(2, 10);
  });

  it('tries again after each wait, then dead-letters with the reason', async () => {
    const waits = [300, 600];
    const { topology, first, dead } = newTopology(waits);
    const broker = await connected(topology);
    await publish(broker, message('a', { priority: 4, headers: { 'x-own': 'kept' } }));
    const { deliveries, times } = collect(broker, first, ({ attempt }) => ({ retry: `failed at ${attempt}` }));
    const deadLetters = collect(broker, dead);
    await until(() => deadLetters.deliveries.length === 1, 'the message is given up');
    expect(deliveries.map(({ attempt }) => attempt)).to.deep.equal([1, 2, 3]);
    expect(deliveries.map(({ headers, priority }) => ({ headers, priority }))).to.deep.equal(Array(3).fill({ headers: { 'x-own': 'kept' }, priority: 4 }));
    for (const [index, wait] of waits.entries()) expect((times[index + 1] ?? 0) - (times[index] ?? 0)).to.be.at.least(wait - 5);
    const [deadLettered] = deadLetters.deliveries;
    expect(deadLettered?.attempt).to.equal(1);
    expect(deadLettered?.headers).to.include({ 'x-own': 'kept', 'x-dead-reason': 'failed at 3', 'x-dead-queue': first });
    expect(Math.abs(Date.parse(deadLettered?.headers['x-dead-at'] ?? '') - Date.now())).to.be.below(generousMs);
  });

  it('leaves the other queue alone when it tries again', async () => {
    const { topology, first, second } = newTopology([50]);
    const broker = await connected(topology);
    await publish(broker, message('a'));
    const retried = collect(broker, first, ({ attempt }) => (attempt === 1 ? { retry: 'once' } : 'ack'));
    await until(() => retried.deliveries.length === 2, 'the second try');
    expect(await broker.depth(second)).to.equal(1);
  });

  it('dead-letters at once on the outcome `deadLetter`', async () => {
    const { topology, first, dead } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('good'), message('bad'));
    const seen = collect(broker, first, ({ id }) => (id === 'bad' ? { deadLetter: 'cannot be read' } : 'ack'));
    const deadLetters = collect(broker, dead);
    await until(() => deadLetters.deliveries.length === 1, 'the message is given up');
    expect(ids(seen.deliveries)).to.have.members(['good', 'bad']);
    expect(deadLetters.deliveries[0]).to.include({ id: 'bad' });
    expect(deadLetters.deliveries[0]?.headers).to.include({ 'x-dead-reason': 'cannot be read', 'x-dead-queue': first });
  });

  it('asks before it dead-letters, and acknowledges a message where the answer is `ack`', async () => {
    const { topology, first, second, dead } = newTopology([]);
    const broker = await connected(topology);
    await publish(broker, message('kept'), message('known'));
    const asked: string[] = [];
    const giveUp = ({ id }: Delivery, reason: string) => {
      asked.push(`${id}: ${reason}`);
      return Promise.resolve(id === 'known' ? ('ack' as const) : { deadLetter: `${reason}, and kept` });
    };
    for (const [queue, outcome] of [
      [first, { retry: 'failed' }],
      [second, { deadLetter: 'unreadable' }],
    ] as const)
      broker.consume(queue, { batchSize: 1, prefetch: 1, giveUp }, (batch) => Promise.resolve(batch.map(() => outcome)));
    await until(async () => (await broker.depth(dead)) === 2, 'two are dead');
    await until(() => asked.length === 4, 'all are asked about');
    expect(asked.toSorted()).to.deep.equal(['kept: failed', 'kept: unreadable', 'known: failed', 'known: unreadable']);
    const reasons = (await broker.listDeadLetters({ limit: 10 })).map(({ headers }) => headers['x-dead-reason']);
    expect(reasons.toSorted()).to.deep.equal(['failed, and kept', 'unreadable, and kept']);
    await until(async () => (await broker.depth(first)) + (await broker.depth(second)) === 0, 'nothing is left');
  });

  it('puts a dead letter that fails again back, still saying where it came from', async () => {
    const { topology, first, dead } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'));
    collect(broker, first, () => ({ deadLetter: 'cannot be read' }));
    const deadLetters = collect(broker, dead, () => (deadLetters.deliveries.length === 1 ? { retry: 'still not' } : 'ack'));
    await until(() => deadLetters.deliveries.length === 2, 'it comes again');
    expect(deadLetters.deliveries[1]?.headers).to.include({ 'x-dead-reason': 'still not', 'x-dead-queue': first });
    await until(async () => (await broker.depth(dead)) === 0, 'it is settled');
  });

  it('returns dead letters to the one queue that they came from, as they were', async () => {
    const { topology, first, second, dead } = newTopology();
    const broker = await connected(topology);
    const sent = [message('a', { priority: 3, headers: { 'x-own': 'kept' } }), message('b'), message('c')];
    await publish(broker, ...sent);
    const failing = collect(broker, first, () => ({ deadLetter: 'not yet' }));
    await until(async () => (await broker.depth(dead)) === 3, 'all are dead letters');
    await failing.consumer.stop();
    expect(await broker.returnDeadLetters({ limit: 2 })).to.deep.equal({ returned: 2, kept: 0 });
    expect([await broker.depth(first), await broker.depth(second)]).to.deep.equal([2, 3]);
    await until(async () => (await broker.depth(dead)) === 1, 'the third is left');
    expect(await broker.returnDeadLetters({ limit: 10 })).to.deep.equal({ returned: 1, kept: 0 });
    const { deliveries } = collect(broker, first);
    await until(() => deliveries.length === 3, 'they come again');
    const { timestamp: _, ...before } = sent[0] ?? message('none');
    const headers = { 'x-own': 'kept', 'x-dead-returns': '1' };
    expect(deliveries.find(({ id }) => id === 'a')).to.deep.include({ ...before, headers, attempt: 1, redelivered: false });
    expect(await broker.returnDeadLetters({ limit: 10 })).to.deep.equal({ returned: 0, kept: 0 });
  });

  it('lists dead letters with their reasons, oldest first, and leaves them as they are', async () => {
    const { topology, first, second, dead } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'), message('b'));
    const failing = [first, second].map((queue) => collect(broker, queue, ({ id }) => ({ deadLetter: `${id} in ${queue}` })));
    await until(async () => (await broker.depth(dead)) === 4, 'all copies are dead letters');
    await Promise.all(failing.map(({ consumer }) => consumer.stop()));
    for (let times = 0; times < 2; times++) {
      const found = await broker.listDeadLetters({ queue: first, limit: 10 });
      expect(found.map(({ headers }) => headers['x-dead-reason'])).to.have.members([`a in ${first}`, `b in ${first}`]);
    }
    expect(await broker.listDeadLetters({ limit: 3 })).to.have.length(3);
    await until(async () => (await broker.depth(dead)) === 4, 'all are still there');
  });

  it('leaves the dead letters of other queues where they are', async () => {
    const { topology, first, second, dead } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'), message('b'));
    const failing = [first, second].map((queue) => collect(broker, queue, () => ({ deadLetter: 'not yet' })));
    await until(async () => (await broker.depth(dead)) === 4, 'all copies are dead letters');
    await Promise.all(failing.map(({ consumer }) => consumer.stop()));
    expect(await broker.returnDeadLetters({ queue: first, limit: 10 })).to.deep.equal({ returned: 2, kept: 2 });
    expect(await broker.depth(first)).to.equal(2);
    const deadLetters = collect(broker, dead);
    await until(() => deadLetters.deliveries.length === 2, 'the others are still there');
    expect(deadLetters.deliveries.map(({ headers }) => headers['x-dead-queue'])).to.deep.equal([second, second]);
  });

  it('returns a dead letter that dies again once in a call', async () => {
    const { topology, first, dead } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'), message('b'));
    const failing = collect(broker, first, () => ({ deadLetter: 'never' }));
    await until(async () => (await broker.depth(dead)) === 2, 'both are dead letters');
    expect(await broker.returnDeadLetters({ limit: 100 })).to.deep.equal({ returned: 2, kept: 0 });
    await until(async () => failing.deliveries.length === 4 && (await broker.depth(dead)) === 2, 'both died again');
  });

  it('counts how often a dead letter was returned, and says whether its handler refused it or its retries failed', async () => {
    const { topology, first, second, dead } = newTopology([]);
    const broker = await connected(topology);
    await publish(broker, message('a'));
    const failing = [collect(broker, first, () => ({ retry: 'failed' })), collect(broker, second, () => ({ deadLetter: 'never' }))];
    for (const returns of [undefined, '1', '2']) {
      await until(async () => (await broker.depth(dead)) === 2, 'both copies are dead letters');
      const found = await broker.listDeadLetters({ limit: 10 });
      const told = found.map(({ headers }) => [headers['x-dead-queue'], headers['x-dead-cause'], headers['x-dead-returns']]);
      expect(told).to.have.deep.members([
        [first, 'failed', returns],
        [second, 'refused', returns],
      ]);
      await broker.returnDeadLetters({ limit: 10 });
    }
    await Promise.all(failing.map(({ consumer }) => consumer.stop()));
  });

  it('returns, reads and drops the dead letters that are asked for, and leaves the others', async () => {
    const { topology, first, second, dead } = newTopology();
    const broker = await connected(topology);
    await publish(broker, ...['a', 'b', 'c', 'd'].map((id) => message(id)));
    const failing = collect(broker, first, () => ({ deadLetter: 'not yet' }));
    await until(async () => (await broker.depth(dead)) === 4, 'all are dead letters');
    await failing.consumer.stop();
    const where = ({ id }: { readonly id: string }) => id === 'b' || id === 'd';
    const read: string[] = [];
    for await (const { body } of broker.readDeadLetters({ limit: 10, where })) read.push(body.toString());
    expect(read).to.have.members(['{"id":"b"}', '{"id":"d"}']);
    for await (const { id } of broker.readDeadLetters({ limit: 1 })) read.push(id);
    expect(read).to.have.length(3);
    expect(await broker.returnDeadLetters({ limit: 10, where })).to.deep.equal({ returned: 2, kept: 2 });
    expect(await broker.dropDeadLetters({ limit: 10, queue: second })).to.equal(0);
    expect(await broker.dropDeadLetters({ limit: 1 })).to.equal(1);
    await until(async () => (await broker.depth(dead)) === 1, 'the last one is left');
    expect(await broker.dropDeadLetters({ limit: 10, where: ({ id }) => id === 'a' || id === 'c' })).to.equal(1);
    expect([await broker.depth(first), await broker.depth(second), await broker.depth(dead)]).to.deep.equal([2, 4, 0]);
  });

  it('survives a reason that no header can hold as it is', async () => {
    const { topology, first, dead } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'));
    collect(broker, first, () => ({ deadLetter: `\0\ud83d${'x'.repeat(100_000)}` }));
    const deadLetters = collect(broker, dead);
    await until(() => deadLetters.deliveries.length === 1, 'the message is given up');
    expect(deadLetters.deliveries[0]?.headers['x-dead-reason']).to.match(/^\ufffd\ufffdx+$/);
  });

  it('hands the same batch over again, uncounted, when the handler throws', async () => {
    const { topology, first, dead } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'), message('b'));
    const calls: { ids: string[]; attempts: number[] }[] = [];
    broker.consume(first, { batchSize: 10, prefetch: 10 }, (batch) => {
      calls.push({ ids: ids(batch), attempts: batch.map(({ attempt }) => attempt) });
      if (calls.length <= 4) return Promise.reject(new Error('the world failed'));
      return Promise.resolve(batch.map(() => 'ack' as const));
    });
    await until(() => calls.length >= 5, 'the handler is asked until it succeeds');
    const { ids: members = [] } = calls[0] ?? {};
    expect(calls.slice(0, 5)).to.deep.equal(Array(5).fill({ ids: members, attempts: members.map(() => 1) }));
    await until(async () => (await broker.depth(first)) === 0, 'the batch is settled');
    expect(await broker.depth(dead)).to.equal(0);
  });

  it('takes a wrong number of outcomes as a throw', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'));
    let calls = 0;
    broker.consume(first, { batchSize: 1, prefetch: 1 }, (batch) => {
      calls += 1;
      return Promise.resolve(calls === 1 ? [] : batch.map(() => 'ack' as const));
    });
    await until(() => calls === 2, 'the batch comes again');
  });

  it('finishes the batch in work when stopped, and gives the rest back', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    await publish(broker, ...Array.from({ length: 10 }, (_, index) => message(`m${index}`)));
    const release = Promise.withResolvers<void>();
    let worked = 0;
    const consumer = broker.consume(first, { batchSize: 2, prefetch: 10 }, async (batch) => {
      worked += batch.length;
      await release.promise;
      return batch.map(() => 'ack' as const);
    });
    await until(() => worked > 0, 'a batch is in work');
    const stopped = consumer.stop();
    release.resolve();
    await stopped;
    await until(async () => (await broker.depth(first)) === 10 - worked, 'the rest is back');
    const { deliveries } = collect(broker, first);
    await until(() => deliveries.length === 10 - worked, 'the rest is delivered');
  });

  it('tells the handler when it is stopped, and gives back uncounted what the handler has not begun', async () => {
    const { topology, first, dead } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'));
    for (const queue of [first, dead]) {
      let isGiven = false;
      const consumer = broker.consume(queue, { batchSize: 1, prefetch: 1 }, async (batch, stopping) => {
        isGiven = true;
        await until(() => stopping?.aborted === true, 'the handler is told');
        return batch.map(() => 'requeue' as const);
      });
      await until(() => isGiven, 'it is in work');
      await consumer.stop();
      await until(async () => (await broker.depth(queue)) === 1, 'it is back');
      const again = collect(broker, queue, () => (queue === first ? { deadLetter: 'cannot be read' } : 'ack'));
      await until(() => again.deliveries.length === 1, 'it comes again');
      expect(again.deliveries[0]).to.include({ attempt: 1, redelivered: queue === first });
      if (queue === dead) expect(again.deliveries[0]?.headers).to.include({ 'x-dead-reason': 'cannot be read', 'x-dead-queue': first });
      await again.consumer.stop();
    }
  });

  it('gives a batch back when stopped while its handler fails', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'));
    let calls = 0;
    const consumer = broker.consume(first, { batchSize: 1, prefetch: 1 }, () => {
      calls += 1;
      return Promise.reject(new Error('the world failed'));
    });
    await until(() => calls > 0, 'the handler has failed');
    await consumer.stop();
    await until(async () => (await broker.depth(first)) === 1, 'the message is back');
  });

  it('counts what waits, but not what waits for a retry', async () => {
    const { topology, first, second, dead } = newTopology([3_600_000]);
    const broker = await connected(topology);
    await publish(broker, message('a'), message('b'), message('c'));
    expect(await broker.depth(first)).to.equal(3);
    const { deliveries } = collect(broker, first, () => ({ retry: 'in an hour' }));
    await until(() => deliveries.length === 3, 'all are tried');
    await until(async () => (await broker.depth(first)) === 0, 'all wait for the retry');
    expect(await broker.depth(second)).to.equal(3);
    expect(await broker.depth(dead)).to.equal(0);
  });

  it('knows only the queues of its topology', async () => {
    const { topology } = newTopology();
    const broker = await connected(topology);
    expect(() => broker.consume('other', { batchSize: 1, prefetch: 1 }, () => Promise.resolve([]))).to.throw(TypeError, 'other');
    expect(await broker.depth('other').catch((error: unknown) => error)).to.be.instanceOf(TypeError);
    expect(await broker.returnDeadLetters({ queue: 'other', limit: 1 }).catch((error: unknown) => error)).to.be.instanceOf(TypeError);
  });

  it('answers `unpublished` at once after close', async () => {
    const { topology } = newTopology();
    const broker = await connected(topology);
    await broker.close();
    expect(broker.isConnected).to.equal(false);
    expect(await broker.publish(message('a'), 600_000)).to.include({ outcome: 'unpublished' });
  });
});
