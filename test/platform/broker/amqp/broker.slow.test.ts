// Failures that the RabbitMQ adapter notices after seconds: a memory alarm, a server that hangs.
import { expect } from 'chai';
import type { Broker, Topology } from '../../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { describeWith } from '../../../support/need.ts';
import { ownRabbitmq, type RabbitmqServer, startRabbitmq } from '../../../support/rabbitmq.ts';
import { captureLog } from '../../captured-log.ts';
import { collect, generousMs, message, newTopology, publish, until } from '../fixture.ts';

describeWith(ownRabbitmq, 'the RabbitMQ adapter', function () {
  this.timeout(600_000);
  let server: RabbitmqServer;
  let broker: Broker | undefined;

  async function connected(topology: Topology, log = silentLog): Promise<Broker> {
    broker = connectBroker(server.url, topology, { log, name: 'amqp test' });
    await broker.ready(generousMs);
    return broker;
  }

  before(async () => {
    server = await startRabbitmq();
  });
  afterEach(() => broker?.close());
  after(() => server.close());

  it('answers `unpublished` under a memory alarm on the same connection, while consumers go on', async () => {
    const { topology, first } = newTopology();
    const { log, lines } = captureLog();
    const broker = await connected(topology, log);
    await publish(broker, ...Array.from({ length: 20 }, (_, index) => message(`m${index}`)));
    await server.control('set_vm_memory_high_watermark', 'absolute', '1MB');
    try {
      // The server tells a connection of the alarm when it next publishes; that message's fate is not known.
      const unlucky = broker.publish(message('unlucky'), 3000);
      await until(() => !broker.isConnected, 'the alarm is noticed');
      expect(await broker.publish(message('a'), 600_000))
        .to.include({ outcome: 'unpublished' })
        .and.have.property('reason')
        .that.includes('blocked');
      expect(broker.lastError).to.include('blocked');
      expect(await unlucky)
        .to.have.property('outcome')
        .that.is.oneOf(['unknown', 'unpublished']);
      const { deliveries } = collect(broker, first);
      await until(() => deliveries.length >= 20, 'the queue is drained under the alarm');
      await until(async () => (await server.control('list_queues', 'name', 'messages')).includes(`${first}\t0`), 'and acknowledged');
      expect(broker.isConnected).to.equal(false);
      expect(lines().filter(({ msg }) => msg === 'reconnecting to the broker')).to.deep.equal([]);
    } finally {
      await server.control('set_vm_memory_high_watermark', '0.4');
    }
    await broker.ready(generousMs);
    await publish(broker, message('a'));
  });

  it('connects anew when the server confirms nothing more, though it lives', async () => {
    const { topology, first } = newTopology();
    const broker = await connected(topology);
    await publish(broker, message('a'));
    const queue = `{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"${first}">>)), Pid = amqqueue:get_pid(Q)`;
    await server.control('eval', `${queue}, sys:suspend(Pid).`);
    try {
      const unconfirmed = { outcome: 'unknown', reason: 'the server did not confirm in time' };
      // After a short wait the connection stays, or the next publish would lose its channel.
      expect(await broker.publish(message('b'), 100)).to.deep.equal(unconfirmed);
      expect(await broker.publish(message('c'), 3000)).to.deep.equal(unconfirmed);
      await until(() => !broker.isConnected, 'it is given up');
    } finally {
      await server.control('eval', `${queue}, sys:resume(Pid).`);
    }
    await broker.ready(generousMs);
    await publish(broker, message('d'));
  });

  it('leaves a server that hangs once it confirms nothing more, without heartbeats too, and says so once', async () => {
    const { log, lines } = captureLog();
    const parted = connectBroker(`${server.url}?heartbeat=0`, newTopology().topology, { log, name: 'amqp test' });
    broker = parted;
    await parted.ready(generousMs);
    server.hang();
    try {
      await Promise.all(['a', 'b', 'c'].map((id) => parted.publish(message(id), 3000)));
      await until(() => !parted.isConnected, 'it is given up');
    } finally {
      server.resume();
    }
    await parted.ready(generousMs);
    expect(lines().filter(({ reason }) => reason === 'it confirms nothing')).to.have.length(1);
  });

  it('is not connected to a server that hangs, deliveries or not, and connects again when it goes on', async () => {
    const { topology } = newTopology();
    const broker = await connected(topology);
    server.hang();
    try {
      await until(() => !broker.isConnected, 'the silence is noticed');
    } finally {
      server.resume();
    }
    await broker.ready(generousMs);
    await publish(broker, message('a'));
  });
});
