// Workers as processes: what one run comes to, and workers whose database comes later than they do.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Broker, Message } from '../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { migrate } from '../../../services/platform/postgres/migrations.ts';
import { forgeTopology } from '../../../services/webhook-relay/contract.ts';
import { createTestDatabase, startPostgres, type TestDatabase } from '../../support/postgres.ts';
import { type RunningProcess, startProcess } from '../../support/processes.ts';
import { eventually } from '../../support/wait.ts';
import { formsOf } from '../secrets/leak-watch.ts';
import { loggedDeliveries } from '../../system/flow.ts';
import { message } from './deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase, migrations, schema } from './intake-database.ts';

const unreachable = 'amqp://worker:correct-horse-battery@127.0.0.1:1/vhost';
const ended = (code: number) => ({ code, signal: null });

describe('a worker as a process', function () {
  this.timeout(120_000);
  let database: IntakeDatabase;
  let place: TestDatabase;
  let publisher: Broker;
  const started: RunningProcess[] = [];

  before(async () => {
    database = await createIntakeDatabase();
  });
  after(() => database.close());
  beforeEach(async () => {
    place = await createTestDatabase();
    publisher = connectBroker(place.url, forgeTopology, { log: silentLog, name: 'test' });
    await publisher.ready(60_000);
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((process) => process.kill()));
    await publisher.close();
    await place.drop();
    await database.empty();
  });

  function start(words: readonly string[], settings: Readonly<Record<string, string>> = {}): RunningProcess {
    const env = { DATABASE_URL: database.url, BROKER_URL_1: place.url, METRICS_PORT: '0', APP_ENV: 'development', ...settings };
    const process = startProcess(['worker', ...words], { env });
    started.push(process);
    return process;
  }
  async function publish(one: Message): Promise<void> {
    expect((await publisher.publish(one, 10_000)).outcome).to.equal('confirmed');
  }
  const push = (deliveryId: string) => message({ event: 'push', payload: {}, deliveryId });
  /** A payload that the database-service worker cannot write as JSON: arrays in each other. */
  /** The database refuses it. */
  const poison = () => message({ event: 'issues', payload: { action: 'opened', issue: { id: 1, number: 1 } }, deliveryId: 'refused' });
  before(() => database.rows(`alter table issues add constraint refused check (delivery_id <> 'refused')`));

  describe('in one run', () => {
    it('stores what is queued and ends with 0, also when nothing is', async () => {
      const deliveryId = randomUUID();
      await publish(push(deliveryId));
      const runs = [start(['service']), start(['database-service'])];
      expect(await Promise.all(runs.map(({ exited }) => exited))).to.deep.equal([ended(0), ended(0)]);
      expect((await loggedDeliveries(database.url)).get(deliveryId)).to.equal(1);
      expect(await start(['service']).exited).to.deep.equal(ended(0));
    });

    it('ends with 1 when nothing of what it was given could be stored', async () => {
      await publish(poison());
      const run = start(['database-service']);
      expect(await run.exited).to.deep.equal(ended(1));
      expect(run.lines.join()).to.contain('stored none of the deliveries of queue forge-database');
    });

    it('ends with 0 when some of it was stored', async () => {
      await publish(poison());
      await publish(push(randomUUID()));
      expect(await start(['database-service']).exited).to.deep.equal(ended(0));
    });

    it('ends with 1 when its database cannot be reached or is not migrated, though the queue is empty', async () => {
      const nowhere = start(['service'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
      const bare = start(['service'], { DATABASE_URL: place.url });
      expect(await Promise.all([nowhere.exited, bare.exited])).to.deep.equal([ended(1), ended(1)]);
      expect(nowhere.lines.join()).to.contain('the database of DATABASE_URL cannot be reached: nothing listens there');
      expect(bare.lines.join()).to.contain('run signalbox migrate');
    });

    it('ends with 1 when a connection cannot be reached, has worked through the others, and tells no password', async () => {
      const deliveryId = randomUUID();
      await publish(push(deliveryId));
      const run = start(['service'], { BROKER_URL_2: unreachable });
      expect(await run.exited).to.deep.equal(ended(1));
      expect((await loggedDeliveries(database.url)).get(deliveryId)).to.equal(1);
      expect(formsOf('correct-horse-battery').filter((form) => run.lines.join('\n').includes(form))).to.deep.equal([]);
    });

    it('that has to stop does not wait for a connection that is unreachable, and has not failed', async () => {
      const run = start(['service'], { BROKER_URL_2: unreachable });
      await run.waitForLine(/connecting to the broker failed/);
      run.signal('SIGTERM');
      expect(await run.exited).to.deep.equal(ended(0));
      expect(run.lines.join()).to.not.contain('is not connected after');
    });
  });

  it('that stays consumes while its database is away, and stores when it is back', async () => {
    const postgres = await startPostgres();
    try {
      await migrate(postgres.url, { schema, directory: migrations }, silentLog);
      const deliveryId = randomUUID();
      await publish(push(deliveryId));
      await postgres.stop();
      start(['service', '--loop'], { DATABASE_URL: postgres.url });
      // It holds the message.
      await eventually(async () => expect(await publisher.depth('forge')).to.equal(0), { withinMs: 30_000 });
      await postgres.start();
      await eventually(async () => expect([...(await loggedDeliveries(postgres.url)).keys()]).to.deep.equal([deliveryId]), { withinMs: 60_000 });
    } finally {
      await Promise.all(started.splice(0).map((process) => process.kill()));
      await postgres.close();
    }
  });
});
