// A consumer of the embedded broker whose handler takes longer than a silent owner is given.
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import type { Broker, Topology } from '../../../../services/platform/broker/broker.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { startSwitch } from '../../../support/switch.ts';
import { eventually } from '../../../support/wait.ts';
import { collect, connect, generousMs, ids, message, newTopology, publish, until } from '../fixture.ts';

describe('the embedded adapter', function () {
  this.timeout(300_000);
  let database: TestDatabase;
  let observer: pg.Client;
  const open: Broker[] = [];

  async function connected(topology: Topology): Promise<Broker> {
    const broker = connect(database.url, topology);
    open.push(broker);
    await broker.ready(generousMs);
    return broker;
  }

  before(async () => {
    database = await createTestDatabase();
    observer = new pg.Client({ connectionString: database.url });
    await observer.connect();
  });
  after(async () => {
    await Promise.all(open.map((broker) => broker.close()));
    await observer.end();
    await database.drop();
  });

  it('never hands a batch in slow work to another while its owner lives', async () => {
    const { topology, first } = newTopology();
    const [owner, other] = [await connected(topology), await connected(topology)];
    await publish(owner, message('slow'));
    let started = 0;
    // Half as long again as a silent owner is given.
    owner.consume(first, { batchSize: 1, prefetch: 1 }, async (batch) => {
      started += 1;
      await pause(16_000);
      return batch.map(() => 'ack' as const);
    });
    await until(() => started === 1, 'the owner is at work');
    const seen = collect(other, first);
    await until(async () => (await jobs(first)) === 0, 'the owner has finished');
    expect(started).to.equal(1);
    expect(ids(seen.deliveries)).to.deep.equal([]);
  });

  async function connectedBySwitch() {
    const port = Number(new URL(database.url).port);
    const address = await startSwitch(port);
    const url = new URL(database.url);
    url.port = String(address.port);
    const broker = connect(url.href, newTopology().topology);
    open.push(broker);
    await broker.ready(generousMs);
    return { broker, port, address };
  }

  it('connects anew to a server that is gone without a word', async () => {
    const { broker, port, address } = await connectedBySwitch();
    address.silence();
    address.leadTo(port);
    // Sooner than any statement of the broker times out, the longest after 20 s.
    await eventually(() => !broker.isConnected, { withinMs: 19_000 });
    await broker.ready(generousMs);
    await publish(broker, message('a'));
    address.close();
  });

  it('gives up a server that answers neither a message nor anything else, before the next check finds it', async () => {
    const { broker, port, address } = await connectedBySwitch();
    address.silence();
    expect(await broker.publish(message('a'), generousMs)).to.include({ outcome: 'unpublished' });
    expect(broker.lastError).to.equal('the server does not answer');
    address.leadTo(port);
    await broker.ready(generousMs);
    await publish(broker, message('b'));
    address.close();
  });

  it('keeps a server that is only slow with messages', async () => {
    const broker = await connected(newTopology().topology);
    await observer.query('begin');
    await observer.query('lock table broker.job in access exclusive mode');
    expect(await broker.publish(message('a'), 500)).to.include({ outcome: 'unknown' });
    await pause(3500);
    expect(broker.isConnected).to.equal(true);
    await observer.query('rollback');
    await publish(broker, message('b'));
  });

  async function jobs(queue: string): Promise<number> {
    const { rows } = await observer.query<{ count: number }>('select count(*)::int as count from broker.job where name = $1', [queue]);
    return rows[0]?.count ?? -1;
  }
});
