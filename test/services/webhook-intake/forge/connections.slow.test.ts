// Consuming from connections that come and go, on real embedded brokers.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Broker } from '../../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { createBrokerSettings } from '../../../../services/platform/broker/environment.ts';
import { createLog, silentLog } from '../../../../services/platform/log.ts';
import { type Connections, createConnections, followConfigured } from '../../../../services/webhook-intake/forge/connections.ts';
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
  let connections: Connections;
  let handled: string[];
  let largestBatch: number;
  let aheadMs: number;

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
    largestBatch = 0;
    aheadMs = 0;
    connections = create();
  });
  afterEach(() => connections.close());

  const create = (onBatch: () => Promise<void> = () => Promise.resolve(), log = silentLog, onEmpty = (_: { name: string }) => Promise.resolve()) =>
    createConnections({
      onEmpty,
      queue: 'forge',
      connect: ({ url }) => connect(url),
      handle: async (batch) => {
        await onBatch();
        largestBatch = Math.max(largestBatch, batch.length);
        handled.push(...batch.map(({ headers }) => headers['x-delivery-id'] ?? ''));
        return batch.map(() => 'ack' as const);
      },
      quietMs,
      clock: () => Date.now() + aheadMs,
      log,
    });
  const connection = (index: number) => ({ name: `BROKER_URL_${index + 1}`, url: databases[index]?.url ?? '' });
  const publish = async (index: number, deliveryId: string) => {
    const result = await publishers[index]?.publish(message({ event: 'push', payload: {}, deliveryId }), 10_000);
    expect(result?.outcome).to.equal('confirmed');
  };
  const names = () => connections.states().map(({ name }) => name);

  it('empties a connection that was in the file for less than a second', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-twice-'));
    const file = join(folder, 'brokers.env');
    const write = (...indexes: readonly number[]) => writeFile(file, indexes.map((index) => `BROKER_URL_${index + 1}=${connection(index).url}\n`).join(''));
    const stopping = new AbortController();
    try {
      await write(0);
      const following = followConfigured(connections, { brokers: createBrokerSettings({}, file, silentLog), stopping: stopping.signal, log: silentLog });
      for (let times = 0; times < 5; times++) {
        await eventually(() => names().length > 0);
        const begun = performance.now();
        await write(0, 1);
        await publish(1, `twice-${times}`);
        await write(0);
        expect(performance.now() - begun).to.be.below(900);
        await eventually(() => expect(handled).to.include(`twice-${times}`));
      }
      stopping.abort();
      await following;
    } finally {
      stopping.abort();
      await rm(folder, { recursive: true });
    }
  });

  it('takes messages from every connection, and from one that appears at once', async () => {
    await publish(0, 'a');
    await publish(1, 'b');
    connections.configure([connection(0)]);
    await eventually(() => expect(handled).to.deep.equal(['a']));
    connections.configure([connection(0), connection(1)]);
    await eventually(() => expect(handled).to.deep.equal(['a', 'b']));
  });

  it('goes on with a removed connection until its queue is empty', async () => {
    const gate = Promise.withResolvers<void>();
    let isAtWork = false;
    await connections.close();
    connections = create(() => ((isAtWork = true), gate.promise));
    for (let number = 0; number < 5; number++) await publish(1, `late ${number}`);
    connections.configure([connection(0), connection(1)]);
    await eventually(() => isAtWork && connections.states().every(({ isConnected }) => isConnected));
    connections.configure([connection(0)]);
    await pause(2 * quietMs); // silent, and not done
    await connections.look();
    expect(connections.states().map(({ isConfigured }) => isConfigured)).to.deep.equal([false, true]);
    gate.resolve();
    await eventually(() => connections.look().then(() => names().length === 1));
    expect(names()).to.deep.equal(['BROKER_URL_1']);
    expect(handled.sort()).to.deep.equal([0, 1, 2, 3, 4].map((number) => `late ${number}`));
  });

  describe('an empty queue', () => {
    let reported: string[];
    let gate: PromiseWithResolvers<void>;
    beforeEach(async () => {
      reported = [];
      gate = Promise.withResolvers();
      await connections.close();
      connections = create(
        () => gate.promise,
        silentLog,
        ({ name }) => Promise.resolve(void reported.push(name)),
      );
    });
    afterEach(() => gate.resolve());

    it('is reported when a look finds one, and not again within half a minute', async () => {
      gate.resolve();
      connections.configure([connection(0)]);
      await eventually(() => connections.look().then(() => expect(reported).to.deep.equal(['BROKER_URL_1'])));
      await connections.look();
      expect(reported).to.have.length(1);
      aheadMs = 30_000;
      await connections.look();
      expect(reported).to.have.length(2);
    });

    it('is not reported while a delivery is in work', async () => {
      await publish(0, 'in work');
      connections.configure([connection(0)]);
      await eventually(async () => expect(await publishers[0]?.depth('forge')).to.equal(0));
      await pause(quietMs);
      await connections.look();
      expect(reported).to.deep.equal([]);
      gate.resolve();
      await eventually(() => connections.look().then(() => expect(reported).to.deep.equal(['BROKER_URL_1'])));
    });

    it('is reported before a removed connection is left', async () => {
      gate.resolve();
      connections.configure([connection(0), connection(1)]);
      await eventually(() => connections.look().then(() => expect(reported).to.have.length(2)));
      await publish(1, 'the last one');
      connections.configure([connection(0)]);
      await eventually(() => connections.look().then(() => expect(names()).to.deep.equal(['BROKER_URL_1'])));
      expect(handled).to.deep.equal(['the last one']);
      expect(reported.at(-1)).to.equal('BROKER_URL_2');
      expect(reported).to.have.length(3);
    });
  });

  it('keeps a removed connection that comes back', async () => {
    connections.configure([connection(0), connection(1)]);
    connections.configure([connection(0)]);
    connections.configure([connection(0), connection(1)]);
    await eventually(() => connections.states().every(({ isConnected }) => isConnected));
    await publish(1, 'still');
    await eventually(() => expect(handled).to.deep.equal(['still']));
    await connections.look();
    expect(connections.states().map(({ isConfigured }) => isConfigured)).to.deep.equal([true, true]);
  });

  it('consumes on when a connection comes back in the very moment in which its queue is found empty', async () => {
    const { log, text } = captureLog();
    await connections.close();
    connections = create(undefined, log);
    connections.configure([connection(0)]);
    await eventually(async () => {
      connections.configure([]);
      const tidying = connections.look();
      connections.configure([connection(0)]);
      await tidying;
      expect(text()).to.contain('removed broker connection is empty');
    });
    await publish(0, 'after it came back');
    await eventually(() => expect(handled).to.deep.equal(['after it came back']));
    expect(connections.states()).to.deep.equal([{ name: 'BROKER_URL_1', isConfigured: true, isConnected: true }]);
  });

  it('still empties the old place of a connection that was given another URL', async () => {
    connections.configure([connection(0)]);
    connections.configure([{ ...connection(1), name: 'BROKER_URL_1' }]);
    await publish(0, 'at the old');
    await publish(1, 'at the new');
    await eventually(() => expect(handled.sort()).to.deep.equal(['at the new', 'at the old']));
  });

  it('tells of each connection under the number that it has now, a removed one first', async () => {
    connections.configure([connection(0), connection(1)]);
    await eventually(() => connections.states().every(({ isConnected }) => isConnected));
    const [first, second] = [connection(0), connection(1)];
    connections.configure([
      { ...second, name: 'BROKER_URL_1' },
      { ...first, name: 'BROKER_URL_2' },
    ]);
    expect(names()).to.have.members(['BROKER_URL_1', 'BROKER_URL_2']);
    connections.configure([{ ...first, name: 'BROKER_URL_7' }]);
    expect(connections.states()).to.deep.equal([
      { name: 'BROKER_URL_1', isConfigured: false, isConnected: true },
      { name: 'BROKER_URL_7', isConfigured: true, isConnected: true },
    ]);
  });

  it('gives up a removed connection that has been unreachable for an hour, and not sooner', async () => {
    const nowhere = { name: 'BROKER_URL_3', url: 'amqp://127.0.0.1:1' };
    connections.configure([nowhere]);
    connections.configure([]);
    aheadMs = 3_590_000;
    await connections.look();
    expect(names()).to.deep.equal(['BROKER_URL_3']);
    aheadMs = 3_600_000;
    await connections.look();
    expect(names()).to.deep.equal([]);
  });

  it('keeps a configured connection however long it is unreachable', async () => {
    connections.configure([{ name: 'BROKER_URL_3', url: 'amqp://127.0.0.1:1' }]);
    aheadMs = 86_400_000;
    await connections.look();
    expect(names()).to.deep.equal(['BROKER_URL_3']);
  });

  it('drains every queue in one run, 100 deliveries at a time at most', async () => {
    for (let number = 0; number < 250; number++) await publish(number % 2, String(number));
    connections.configure([connection(0), connection(1)]);
    await connections.drain(AbortSignal.timeout(100_000));
    expect(handled).to.have.length(250);
    expect(largestBatch).to.be.within(2, 100);
    expect(await publishers[0]?.depth('forge')).to.equal(0);
  });

  it('goes on with growing pauses in a run whose every batch fails, and has made no progress', async () => {
    await publish(0, 'unlucky');
    await connections.close();
    let tries = 0;
    connections = create(() => {
      tries += 1;
      return Promise.reject(new Error('the database is away'));
    });
    connections.configure([connection(0)]);
    await connections.drain(AbortSignal.timeout(5000));
    await connections.close();
    // 100 ms, 200, 400 … each shortened by up to a third: without growth there would be twenty.
    expect(tries).to.be.within(3, 8);
    expect(() => connections.assertProgress()).to.throw('stored none of the deliveries of queue forge: the database is away');
    connections = create();
    connections.configure([connection(0)]);
    await eventually(() => expect(handled).to.deep.equal(['unlucky']));
  });

  it('has made progress when something was stored, and when nothing was given', async () => {
    connections.assertProgress();
    await publish(0, 'a');
    connections.configure([connection(0)]);
    await connections.drain(AbortSignal.timeout(30_000));
    expect(handled).to.deep.equal(['a']);
    connections.assertProgress();
  });

  it('ends a run at its deadline, and keeps what is left', async () => {
    for (let number = 0; number < 150; number++) await publish(0, String(number));
    const gate = Promise.withResolvers<void>();
    await connections.close();
    connections = create(() => gate.promise);
    connections.configure([connection(0)]);
    const run = connections.drain(AbortSignal.timeout(300));
    await run;
    gate.resolve();
    await connections.close();
    expect(handled.length).to.be.lessThan(150);
    await eventually(async () => expect(handled.length + ((await publishers[0]?.depth('forge')) ?? NaN)).to.equal(150));
  });
});

describe('the configured connections', () => {
  let directory: string;
  before(async () => (directory = await mkdtemp(join(tmpdir(), 'intake-connections-'))));
  after(() => rm(directory, { recursive: true }));

  /** Notes its calls; consuming itself has its own tests. */
  function createRecorder() {
    const configured: string[][] = [];
    let closed = false;
    const connections: Pick<Connections, 'configure' | 'look' | 'close'> = {
      configure: (named) => void configured.push(named.map(({ name }) => name)),
      look: () => Promise.resolve(),
      close: () => Promise.resolve(void (closed = true)),
    };
    return { configured, connections, isClosed: () => closed };
  }

  it('follows the file, and keeps the known ones while it is faulty, empty or missing', async () => {
    const file = join(directory, 'broker.env');
    await writeFile(file, 'BROKER_URL_2=amqp://127.0.0.1:1\n');
    const { configured, connections, isClosed } = createRecorder();
    const stopping = new AbortController();
    const complaints: string[] = [];
    const log = createLog({ level: 'error', name: 'test', destination: { write: (line) => void complaints.push(line) } });
    const environment = { BROKER_URL_1: 'amqp://127.0.0.1:2' };
    const following = followConfigured(connections, { brokers: createBrokerSettings(environment, file, log), stopping: stopping.signal, log });
    await eventually(() => expect(configured).to.deep.equal([['BROKER_URL_1', 'BROKER_URL_2']]));
    await writeFile(file, 'BROKER_URL_2=not a url\n');
    await eventually(() => expect(complaints.join()).to.contain('BROKER_URL_2').and.not.contain('not a url'));
    await writeFile(file, '');
    await eventually(() => expect(complaints.join()).to.contain('is empty'));
    await rm(file);
    await eventually(() => expect(complaints.join()).to.contain('is missing'));
    expect(configured).to.have.length(1);
    await writeFile(file, 'BROKER_URL_3=amqp://127.0.0.1:3\n');
    await eventually(() => expect(configured.at(-1)).to.deep.equal(['BROKER_URL_1', 'BROKER_URL_3']));
    stopping.abort();
    await following;
    expect(isClosed()).to.equal(true);
  });
});
