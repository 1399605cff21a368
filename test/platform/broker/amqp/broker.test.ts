// Behaviour of RabbitMQ alone: returns, nacks, size limits, alarms, mismatched queues, lost channels.
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Channel, type ChannelModel, type ConfirmChannel, connect as connectBare } from 'amqplib';
import { expect } from 'chai';
import type { Broker, Topology } from '../../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { startMuteable } from '../../../support/muteable.ts';
import { describeWith } from '../../../support/need.ts';
import { ownRabbitmq, type RabbitmqServer, startRabbitmq } from '../../../support/rabbitmq.ts';
import { eventually } from '../../../support/wait.ts';
import { collect, connect, generousMs, ids, message, newTopology, publish, until } from '../fixture.ts';

const maxMessageBytes = 1_500_000;

describeWith(ownRabbitmq, 'the RabbitMQ adapter', function () {
  this.timeout(600_000);
  let server: RabbitmqServer;
  const open: Broker[] = [];
  const bare: ChannelModel[] = [];

  /** Beside the broker's own. */
  async function openConnection(): Promise<ChannelModel> {
    const connection = await connectBare(server.url);
    bare.push(connection);
    return connection;
  }
  const openChannel = async (): Promise<Channel> => (await openConnection()).createChannel();

  async function connected(topology: Topology, queueType: 'classic' | 'quorum' = 'classic'): Promise<Broker> {
    const broker = connectBroker(server.url, topology, { log: silentLog, name: 'amqp test', queueType });
    open.push(broker);
    await broker.ready(generousMs);
    return broker;
  }

  before(async () => {
    server = await startRabbitmq({ config: `max_message_size = ${maxMessageBytes}\n` });
  });
  afterEach(async () => {
    await Promise.all([...open.splice(0), ...bare.splice(0)].map((one) => one.close()));
  });
  after(() => server.close());

  it('answers `unpublished` for a message that no queue takes, and then works on', async () => {
    const { topology, first, second } = newTopology();
    const broker = await connected(topology);
    const channel = await openChannel();
    for (const queue of [first, second]) await channel.unbindQueue(queue, topology.exchange, '');
    const results = await Promise.all(['a', 'b', 'a'].map((id) => broker.publish(message(id), generousMs)));
    for (const result of results) expect(result).to.include({ outcome: 'unpublished' }).and.have.property('reason').that.includes('returned');
    await channel.bindQueue(first, topology.exchange, '');
    await publish(broker, message('c'));
  });

  it('publishes on another channel after a nack, and over another connection after one more', async () => {
    const { topology, second } = newTopology();
    let connections = 0;
    const broker = connectBroker(server.url, topology, { log: silentLog, name: 'amqp test', onConnected: () => (connections += 1) });
    open.push(broker);
    await broker.ready(generousMs);
    const beside = await openChannel();
    await server.control('set_policy', 'full', `^${second}$`, '{"max-length":1,"overflow":"reject-publish"}', '--apply-to', 'queues');
    await publish(broker, message('a'));
    const channels = await server.control('list_channels', 'pid', 'confirm');
    const expectNack = async () =>
      expect(await broker.publish(message('b'), generousMs))
        .to.include({ outcome: 'unpublished' })
        .and.have.property('reason')
        .that.includes('nack');
    // The policy takes effect a moment later.
    await eventually(expectNack);
    await beside.purgeQueue(second);
    await publish(broker, message('c'));
    const remaining = (await server.control('list_channels', 'pid', 'confirm')).split('\n').filter((channel) => channels.includes(channel));
    expect(remaining).to.have.length(channels.split('\n').length - 1);
    expect(connections).to.equal(1);
    await expectNack();
    await expectNack();
    await eventually(() => expect(connections).to.equal(2));
    await beside.purgeQueue(second);
    await publish(broker, message('d'));
    await server.control('clear_policy', 'full');
  });

  it('goes on when the connection ends between the closing of a channel and its answer', async () => {
    const { topology } = newTopology();
    const closesChannel = 'Goodbye'; // amqplib's word for it
    const proxy = await startMuteable(new URL(server.url));
    proxy.cutAt(closesChannel); // that of the declarations
    const broker = connectBroker(proxy.url, topology, { log: silentLog, name: 'amqp test' });
    open.push(broker);
    try {
      await broker.ready(generousMs);
      expect(proxy.hasCut()).to.equal(true);
      proxy.cutAt(closesChannel);
      // The depth of any other queue is of two, on a channel each.
      expect(await broker.depth(topology.deadLetters.queue)).to.equal(0);
      await eventually(() => publish(broker, message('later')));
      expect(proxy.hasCut()).to.equal(true);
    } finally {
      proxy.close();
    }
  });

  it('closes when the connection ends in that moment', async () => {
    const proxy = await startMuteable(new URL(server.url));
    const broker = connectBroker(proxy.url, newTopology().topology, { log: silentLog, name: 'amqp test' });
    await broker.ready(generousMs);
    proxy.cutAt('Cheers'); // amqplib says so when it closes a connection
    await broker.close();
    expect(proxy.hasCut()).to.equal(true);
    proxy.close();
  });

  it('answers `unknown` when no confirmation comes in time, and confirms again later', async () => {
    const { topology } = newTopology();
    const broker = await connected(topology);
    server.hang();
    try {
      const results = await Promise.all([100, 100, 100].map((timeoutMs, index) => broker.publish(message(`m${index}`), timeoutMs)));
      expect(results.map(({ outcome }) => outcome)).to.deep.equal(['unknown', 'unknown', 'unknown']);
    } finally {
      server.resume();
    }
    await publish(broker, message('later'));
  });

  it('answers `refused` for what is larger than the server takes, and harms no other message', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    const small = Array.from({ length: 200 }, (_, index) => broker.publish(message(`m${index}`), generousMs));
    const tooLarge = broker.publish(message('large', { body: Buffer.alloc(maxMessageBytes + 1) }), generousMs);
    const stillSmall = Array.from({ length: 200 }, (_, index) => broker.publish(message(`n${index}`), generousMs));
    const justRight = broker.publish(message('fits', { body: Buffer.alloc(maxMessageBytes) }), generousMs);
    expect(await tooLarge)
      .to.include({ outcome: 'refused' })
      .and.have.property('reason')
      .that.includes(String(maxMessageBytes));
    const others = await Promise.all([...small, ...stillSmall, justRight]);
    expect(others.filter(({ outcome }) => outcome !== 'confirmed')).to.deep.equal([]);
    expect(await broker.depth(first)).to.equal(401);
    expect(await broker.publish(message('again', { body: Buffer.alloc(maxMessageBytes + 1) }), generousMs)).to.include({ outcome: 'refused' });
    expect(broker.isConnected).to.equal(true);
  });

  it('answers `refused` for a property that AMQP cannot hold', async () => {
    const { topology } = newTopology();
    const broker = await connected(topology);
    expect(await broker.publish(message('x'.repeat(300)), generousMs)).to.include({ outcome: 'refused' });
    await publish(broker, message('a'));
  });

  it('writes a message that had to wait in the async context that it was published in, so that its trace is its own', async () => {
    const { topology } = newTopology();
    const broker = await connected(topology);
    const current = new AsyncLocalStorage<string>();
    const prototype = Object.getPrototypeOf(await (await openConnection()).createConfirmChannel()) as ConfirmChannel;
    const { publish: original } = prototype;
    const written: (string | undefined)[][] = [];
    prototype.publish = function (this: ConfirmChannel, ...given: Parameters<ConfirmChannel['publish']>) {
      written.push([given[3]?.messageId, current.getStore()]);
      return original.apply(this, given);
    };
    try {
      const body = Buffer.alloc(1_200_000); // such go one at a time
      await Promise.all(['a', 'b', 'c'].map((id) => current.run(id, () => publish(broker, message(id, { body })))));
    } finally {
      prototype.publish = original;
    }
    expect(written).to.deep.equal(['a', 'b', 'c'].map((id) => [id, id]));
  });

  it('tells every time that it is connected', async () => {
    const { topology } = newTopology();
    let times = 0;
    const broker = connectBroker(server.url, topology, { log: silentLog, name: 'amqp test', onConnected: () => (times += 1) });
    open.push(broker);
    await broker.ready(generousMs);
    expect(times).to.equal(1);
    await server.control('close_all_connections', 'a test');
    await until(() => times === 2, 'it connects again');
  });

  it('says in plain words that a virtual host is missing or closed to it', async () => {
    const { topology } = newTopology();
    const url = new URL(server.url);
    url.pathname = '/nowhere';
    const broker = connect(url.href, topology);
    open.push(broker);
    const words = 'the server does not open the virtual host "nowhere": it does not exist there, or this user may not use it';
    await eventually(() => expect(broker.lastError).to.equal(words));
  });

  it('names a queue that exists with other arguments, says what to do, and connects once that is done', async () => {
    const { topology, first } = newTopology();
    const channel = await openChannel();
    await channel.assertQueue(first, { durable: true });
    const broker = connect(server.url, topology);
    open.push(broker);
    await eventually(() => expect(broker.lastError).to.include(`queue "${first}"`).and.include('delete').and.include('inequivalent arg'));
    expect(broker.isConnected).to.equal(false);
    await channel.deleteQueue(first);
    await broker.ready(generousMs);
  });

  it('says nothing of the password when it is wrong', async () => {
    const { topology } = newTopology();
    const url = new URL(server.url);
    url.password = 'hunter2-wrong';
    const broker = connect(url.href, topology);
    open.push(broker);
    await eventually(() => expect(broker.lastError).to.include('ACCESS'));
    expect(broker.lastError).to.not.include('hunter2');
  });

  it('attaches again when the server closes its connections', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    const { deliveries } = collect(broker, first);
    await publish(broker, message('a'));
    await until(() => deliveries.length === 1, 'the consumer works');
    await server.control('close_all_connections', 'a test');
    await until(() => broker.lastError !== null, 'the loss is noticed');
    await broker.ready(generousMs);
    await publish(broker, message('b'));
    // The first comes again when its acknowledgement was lost with the connection.
    await until(() => ids(deliveries).includes('b'), 'the consumer works again');
  });

  it('declares a deleted queue again and goes on consuming', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    const { deliveries } = collect(broker, first);
    let tries = 0;
    await publish(broker, message('a'));
    await until(() => deliveries.length === 1, 'the consumer works');
    await (await openChannel()).deleteQueue(first);
    await until(async () => {
      await publish(broker, message(`b${++tries}`));
      return deliveries.length > 1;
    }, 'the consumer works again');
  });

  it('attaches again when its channel alone is lost', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    const release = Promise.withResolvers<void>();
    const seen: string[] = [];
    broker.consume(first, { batchSize: 1, prefetch: 1 }, async (batch) => {
      seen.push(...ids(batch));
      if (seen.length === 1) await release.promise;
      return batch.map(() => 'ack' as const);
    });
    await publish(broker, message('a'));
    await until(() => seen.length === 1, 'the batch is in work');
    // As a batch that took longer than the server's timeout ends: the server closes the channel, not the connection.
    await server
      .control(
        'eval',
        '[exit(P, {shutdown, test}) || P <- rabbit_channel:list_local(), {prefetch_count, N} <- rabbit_channel:info(P, [prefetch_count]), N =:= 1].',
      )
      .catch(() => undefined);
    release.resolve();
    await until(() => seen.length >= 2, 'the message comes again');
    await until(async () => (await broker.depth(first).catch(() => -1)) === 0, 'and is settled');
  });

  it('works on quorum queues', async () => {
    const { topology, first, dead } = newTopology([50]);
    const broker = await connected(topology, 'quorum');
    await publish(broker, message('a'), message('b'));
    const { deliveries } = collect(broker, first, ({ id, attempt }) => (id === 'b' ? { deadLetter: 'bad' } : attempt === 1 ? { retry: 'once' } : 'ack'));
    const deadLetters = collect(broker, dead);
    await until(() => deliveries.length === 3 && deadLetters.deliveries.length === 1, 'retry and dead letter');
    expect(ids(deadLetters.deliveries)).to.deep.equal(['b']);
    expect(await server.control('list_queues', 'name', 'type')).to.include(`${first}\tquorum`);
  });

  it('holds no more bytes than it may, handles each message once, and has wide windows again afterwards', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    const large = Array.from({ length: 40 }, (_, index) => message(`large ${index}`, { body: Buffer.alloc(1_000_000) }));
    await publish(broker, ...large);
    const handled: string[] = [];
    const sizes: number[] = [];
    const gate = Promise.withResolvers<void>();
    const secondGate = Promise.withResolvers<void>();
    broker.consume(first, { batchSize: 100, prefetch: 200, maxBytes: 4_500_000 }, async (batch) => {
      await gate.promise;
      if (handled.length > 3500) await secondGate.promise;
      handled.push(...ids(batch));
      sizes.push(batch.length);
      return batch.map(() => 'ack' as const);
    });
    await until(async () => (await broker.depth(first)) === 36, 'all but four are back in the queue');
    gate.resolve();
    await until(() => handled.length === 40, 'the large ones are handled');
    expect(new Set(handled)).to.have.property('size', 40);
    expect(Math.max(...sizes)).to.be.at.most(4);
    const small = Array.from({ length: 4000 }, (_, index) => message(`small ${index}`));
    await Promise.all(small.map((one) => publish(broker, one)));
    await until(async () => 4040 - handled.length - (await broker.depth(first)) >= 120 && handled.length > 3500, 'it has many at hand, whoever is slow');
    secondGate.resolve();
    await until(() => handled.length === 4040, 'the small ones are handled');
    expect(new Set(handled)).to.have.property('size', 4040);
    expect(Math.max(...sizes)).to.be.above(50);
  });

  it('takes a message that is larger than all it may hold', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    await publish(broker, ...['a', 'b', 'c'].map((id) => message(id, { body: Buffer.alloc(100_000) })));
    const handled: string[] = [];
    broker.consume(first, { batchSize: 100, prefetch: 200, maxBytes: 1000 }, (batch) => {
      handled.push(...ids(batch));
      return Promise.resolve(batch.map(() => 'ack' as const));
    });
    await until(() => handled.length === 3, 'all are handled');
    expect(handled.sort()).to.deep.equal(['a', 'b', 'c']);
  });
});
