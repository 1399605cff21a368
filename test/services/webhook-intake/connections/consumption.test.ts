// Consuming from connections that come and go, on real embedded brokers.
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Broker } from '../../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { type Consumption, createConsumption } from '../../../../services/webhook-intake/connections/consumption.ts';
import { forgeTopology } from '../../../../services/webhook-relay/contract.ts';
import { captureLog } from '../../../platform/captured-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { message } from '../deliveries.ts';

const quietMs = 100;
const connect = (url: string) => connectBroker(url, forgeTopology, { log: silentLog, name: 'test' });

describe('consuming from configured connections', () => {
  const databases: TestDatabase[] = [];
  const publishers: Broker[] = [];
  let consumption: Consumption;
  let handled: string[];
  let nowMs: number;

  before(async () => {
    databases.push(await createTestDatabase(), await createTestDatabase());
    publishers.push(...databases.map(({ url }) => connect(url)));
    await Promise.all(publishers.map((broker) => broker.ready(30_000)));
  });
  after(async () => {
    await Promise.all(publishers.map((broker) => broker.close()));
    await Promise.all(databases.map((database) => database.drop()));
  });

  beforeEach(() => {
    handled = [];
    nowMs = 0;
    consumption = create();
  });
  afterEach(() => consumption.close());

  const create = (onBatch: () => Promise<void> = () => Promise.resolve(), log = silentLog) =>
    createConsumption({
      queue: 'forge',
      connect: ({ url }) => connect(url),
      handle: async (batch) => {
        await onBatch();
        handled.push(...batch.map(({ headers }) => headers['x-delivery-id'] ?? ''));
        return batch.map(() => 'ack' as const);
      },
      quietMs,
      unreachableMs: 3_600_000,
      clock: () => nowMs,
      log,
    });
  const connection = (index: number) => ({ name: `BROKER_URL_${index + 1}`, url: databases[index]?.url ?? '' });
  const publish = async (index: number, deliveryId: string) => {
    const result = await publishers[index]?.publish(message({ event: 'push', payload: {}, deliveryId }), 10_000);
    expect(result?.outcome).to.equal('confirmed');
  };
  const names = () => consumption.states().map(({ name }) => name);

  it('takes messages from every connection, and from one that appears at once', async () => {
    await publish(0, 'a');
    await publish(1, 'b');
    consumption.configure([connection(0)]);
    await eventually(() => expect(handled).to.deep.equal(['a']));
    consumption.configure([connection(0), connection(1)]);
    await eventually(() => expect(handled).to.deep.equal(['a', 'b']));
  });

  it('goes on with a removed connection until its queue is empty', async () => {
    const gate = Promise.withResolvers<void>();
    let isAtWork = false;
    await consumption.close();
    consumption = create(() => ((isAtWork = true), gate.promise));
    for (let number = 0; number < 5; number++) await publish(1, `late ${number}`);
    consumption.configure([connection(0), connection(1)]);
    await eventually(() => isAtWork && consumption.states().every(({ isConnected }) => isConnected));
    consumption.configure([connection(0)]);
    await pause(2 * quietMs); // silent, and not done
    await consumption.tidy();
    expect(consumption.states().map(({ isConfigured }) => isConfigured)).to.deep.equal([false, true]);
    gate.resolve();
    await eventually(() => consumption.tidy().then(() => names().length === 1));
    expect(names()).to.deep.equal(['BROKER_URL_1']);
    expect(handled.sort()).to.deep.equal([0, 1, 2, 3, 4].map((number) => `late ${number}`));
  });

  it('keeps a removed connection that comes back', async () => {
    consumption.configure([connection(0), connection(1)]);
    consumption.configure([connection(0)]);
    consumption.configure([connection(0), connection(1)]);
    await eventually(() => consumption.states().every(({ isConnected }) => isConnected));
    await publish(1, 'still');
    await eventually(() => expect(handled).to.deep.equal(['still']));
    await consumption.tidy();
    expect(consumption.states().map(({ isConfigured }) => isConfigured)).to.deep.equal([true, true]);
  });

  it('consumes on when a connection comes back in the very moment in which its queue is found empty', async () => {
    const { log, text } = captureLog();
    await consumption.close();
    consumption = create(undefined, log);
    consumption.configure([connection(0)]);
    await eventually(async () => {
      consumption.configure([]);
      const tidying = consumption.tidy();
      consumption.configure([connection(0)]);
      await tidying;
      expect(text()).to.contain('its queue is empty');
    });
    await publish(0, 'after it came back');
    await eventually(() => expect(handled).to.deep.equal(['after it came back']));
    expect(consumption.states()).to.deep.equal([{ name: 'BROKER_URL_1', isConfigured: true, isConnected: true }]);
  });

  it('still empties the old place of a connection that was given another URL', async () => {
    consumption.configure([connection(0)]);
    consumption.configure([{ ...connection(1), name: 'BROKER_URL_1' }]);
    await publish(0, 'at the old');
    await publish(1, 'at the new');
    await eventually(() => expect(handled.sort()).to.deep.equal(['at the new', 'at the old']));
  });

  it('tells of each connection under the number that it has now, a removed one first', async () => {
    consumption.configure([connection(0), connection(1)]);
    await eventually(() => consumption.states().every(({ isConnected }) => isConnected));
    const [first, second] = [connection(0), connection(1)];
    consumption.configure([
      { ...second, name: 'BROKER_URL_1' },
      { ...first, name: 'BROKER_URL_2' },
    ]);
    expect(names()).to.have.members(['BROKER_URL_1', 'BROKER_URL_2']);
    consumption.configure([{ ...first, name: 'BROKER_URL_7' }]);
    expect(consumption.states()).to.deep.equal([
      { name: 'BROKER_URL_1', isConfigured: false, isConnected: true },
      { name: 'BROKER_URL_7', isConfigured: true, isConnected: true },
    ]);
  });

  it('gives up a removed connection that has been unreachable for an hour, and not sooner', async () => {
    const nowhere = { name: 'BROKER_URL_3', url: 'amqp://127.0.0.1:1' };
    consumption.configure([nowhere]);
    consumption.configure([]);
    nowMs = 3_599_999;
    await consumption.tidy();
    expect(names()).to.deep.equal(['BROKER_URL_3']);
    nowMs = 3_600_000;
    await consumption.tidy();
    expect(names()).to.deep.equal([]);
  });

  it('keeps a configured connection however long it is unreachable', async () => {
    consumption.configure([{ name: 'BROKER_URL_3', url: 'amqp://127.0.0.1:1' }]);
    nowMs = 86_400_000;
    await consumption.tidy();
    expect(names()).to.deep.equal(['BROKER_URL_3']);
  });

  it('drains every queue in one run', async () => {
    for (let number = 0; number < 250; number++) await publish(number % 2, String(number));
    consumption.configure([connection(0), connection(1)]);
    await consumption.drain(AbortSignal.timeout(100_000));
    expect(handled).to.have.length(250);
    expect(await publishers[0]?.depth('forge')).to.equal(0);
  });

  it('ends a run at its deadline, and keeps what is left', async () => {
    for (let number = 0; number < 150; number++) await publish(0, String(number));
    const gate = Promise.withResolvers<void>();
    await consumption.close();
    consumption = create(() => gate.promise);
    consumption.configure([connection(0)]);
    const run = consumption.drain(AbortSignal.timeout(300));
    await run;
    gate.resolve();
    await consumption.close();
    expect(handled.length).to.be.lessThan(150);
    await eventually(async () => expect(handled.length + ((await publishers[0]?.depth('forge')) ?? NaN)).to.equal(150));
  });
});
