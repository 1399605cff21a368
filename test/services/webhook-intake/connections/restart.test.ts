// Worker processes that start after a connection has left the file of broker connections, with messages waiting there.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Broker } from '../../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { migrate } from '../../../../services/platform/postgres/migrations.ts';
import { forgeTopology } from '../../../../services/webhook-relay/contract.ts';
import { temporaryDirectory } from '../../../support/guard.ts';
import { describeWith } from '../../../support/need.ts';
import { createTestDatabase, startPostgres } from '../../../support/postgres.ts';
import { type RunningProcess, startProcess } from '../../../support/processes.ts';
import { rabbitmq, sharedRabbitmq } from '../../../support/rabbitmq.ts';
import { eventually } from '../../../support/wait.ts';
import { formsOf } from '../../secrets/leak-watch.ts';
import { loggedDeliveries } from '../../../system/flow.ts';
import { message } from '../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase, migrations, schema } from '../intake-database.ts';

type Place = { readonly url: string; drop(): Promise<void> };
const unreachable = 'amqp://worker:correct-horse-battery@127.0.0.1:1/vhost';
const connect = (url: string) => connectBroker(url, forgeTopology, { log: silentLog, name: 'test' });

/** Both workers, with a file of connections that changes. */
function createStarter(databaseUrl: string) {
  const file = join(temporaryDirectory('connections'), 'brokers.env');
  const started: RunningProcess[] = [];
  return {
    name: (connections: Readonly<Record<number, string>>) =>
      writeFile(
        file,
        Object.entries(connections)
          .map(([number, url]) => `BROKER_URL_${number}=${url}\n`)
          .join(''),
      ),
    start(worker: 'service' | 'database-service', ...more: readonly '--loop'[]) {
      const env = { DATABASE_URL: databaseUrl, Broker__EnvironmentFile: file, METRICS_PORT: '0', APP_ENV: 'development' };
      const process = startProcess(['worker', worker, ...more], { env });
      started.push(process);
      return process;
    },
    async stop(process: RunningProcess) {
      process.signal('SIGTERM');
      expect(await process.exited).to.deep.equal({ code: 0, signal: null });
    },
    text: () => started.flatMap(({ lines }) => lines).join('\n'),
    close: () => Promise.all(started.map((process) => process.kill())),
  };
}

function suite(createPlace: () => Promise<Place>): void {
  let database: IntakeDatabase;
  let places: readonly [stays: Place, goes: Place];
  let publisher: Broker;
  let workers: ReturnType<typeof createStarter>;

  before(async function () {
    this.timeout(120_000);
    database = await createIntakeDatabase();
  });
  after(() => database.close());

  beforeEach(async () => {
    places = [await createPlace(), await createPlace()];
    publisher = connect(places[1].url);
    await publisher.ready(60_000);
    workers = createStarter(database.url);
    await workers.name({ 1: places[0].url, 2: places[1].url });
  });
  afterEach(async () => {
    await workers.close();
    await publisher.close();
    await Promise.all(places.map((place) => place.drop()));
    await database.empty();
  });

  async function publish(): Promise<string> {
    const deliveryId = randomUUID();
    const result = await publisher.publish(message({ event: 'push', payload: {}, deliveryId }), 10_000);
    expect(result.outcome).to.equal('confirmed');
    return deliveryId;
  }
  const noted = () =>
    database
      .rows<{ queue: string; name: string }>('select distinct queue, name from consumed_connections order by queue, name')
      .then((rows) => rows.map(({ queue, name }) => `${queue} ${name}`));
  const logged = async (deliveryId: string) => expect((await loggedDeliveries(database.url)).get(deliveryId)).to.equal(1);

  it('empty it after a restart, and after a kill once the killed one has been silent for a minute', async () => {
    const [stopped, killed] = [workers.start('service', '--loop'), workers.start('database-service', '--loop')];
    await eventually(async () => expect(await noted()).to.have.length(4), { withinMs: 30_000 });
    await Promise.all([workers.stop(stopped), killed.kill()]);
    const deliveryId = await publish();
    await workers.name({ 1: places[0].url });
    await database.rows("update consumed_connections set held_until = held_until - interval '60 s' where queue = 'forge-database'");
    workers.start('service', '--loop');
    workers.start('database-service', '--loop');
    await eventually(() => logged(deliveryId), { withinMs: 30_000 });
    await eventually(async () => expect(await noted()).to.deep.equal(['forge BROKER_URL_1', 'forge-database BROKER_URL_1']), {
      withinMs: 60_000,
      everyMs: 250,
    });
    expect(await Promise.all(forgeTopology.queues.map(({ name }) => publisher.depth(name)))).to.deep.equal([0, 0]);
  });

  it('empty it in one run, as a CronJob has them, and come to an end though another removed one is unreachable', async () => {
    await workers.name({ 1: places[0].url, 2: places[1].url, 3: unreachable });
    // A configured connection that is unreachable fails the run, which has noted all of them before.
    const failed = [workers.start('service'), workers.start('database-service')];
    expect(await Promise.all(failed.map(({ exited }) => exited))).to.deep.equal([
      { code: 1, signal: null },
      { code: 1, signal: null },
    ]);
    const deliveryId = await publish();
    await workers.name({ 1: places[0].url });
    const runs = [workers.start('service'), workers.start('database-service')];
    expect(await Promise.all(runs.map(({ exited }) => exited)), workers.text()).to.deep.equal([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
    await logged(deliveryId);
    expect(await Promise.all(forgeTopology.queues.map(({ name }) => publisher.depth(name)))).to.deep.equal([0, 0]);
    expect(await noted()).to.deep.equal(['forge BROKER_URL_1', 'forge BROKER_URL_3', 'forge-database BROKER_URL_1', 'forge-database BROKER_URL_3']);
    expect(workers.text()).to.contain('a removed broker connection cannot be reached');

    await database.rows("update consumed_connections set removed_at = removed_at - interval '1 hour', reachable_at = reachable_at - interval '1 hour'");
    const last = [workers.start('service'), workers.start('database-service')];
    await Promise.all(last.map(({ exited }) => exited));
    expect(await noted()).to.deep.equal(['forge BROKER_URL_1', 'forge-database BROKER_URL_1']);
    expect(formsOf('correct-horse-battery').filter((form) => workers.text().includes(form))).to.deep.equal([]);
  });
}

describe('workers after a connection was removed, on the embedded broker', function () {
  this.timeout(240_000);
  suite(() => createTestDatabase());
});
describeWith(rabbitmq, 'workers after a connection was removed, on RabbitMQ', function () {
  this.timeout(240_000);
  suite(async () => (await sharedRabbitmq()).createVhost());
});

describe('workers without their database at the start', function () {
  this.timeout(240_000);

  it('consume, and empty a removed connection when the database is back', async () => {
    const postgres = await startPostgres();
    const places = [await createTestDatabase(), await createTestDatabase()] as const;
    const publishers = places.map(({ url }) => connect(url));
    const workers = createStarter(postgres.url);
    try {
      await migrate(postgres.url, { schema, directory: migrations }, silentLog);
      await workers.name({ 1: places[0].url, 2: places[1].url });
      const first = workers.start('service', '--loop');
      await first.waitForLine(/"msg":"ready"/);
      await workers.stop(first);
      await workers.name({ 1: places[0].url });
      const ids = await Promise.all(
        publishers.map(async (publisher) => {
          const deliveryId = randomUUID();
          await publisher.ready(30_000);
          expect((await publisher.publish(message({ event: 'push', payload: {}, deliveryId }), 10_000)).outcome).to.equal('confirmed');
          return deliveryId;
        }),
      );
      await postgres.stop();
      const second = workers.start('service', '--loop');
      await second.waitForLine(/the record of broker connections cannot be kept for now/);
      // It holds the message of the configured connection.
      await eventually(async () => expect(await publishers[0]?.depth('forge')).to.equal(0), { withinMs: 30_000 });
      await postgres.start();
      await eventually(async () => expect([...(await loggedDeliveries(postgres.url)).keys()]).to.have.members(ids), { withinMs: 60_000 });
      expect(second.lines.filter((line) => line.includes('cannot be kept for now'))).to.have.length(1);
    } finally {
      await workers.close();
      await Promise.all(publishers.map((publisher) => publisher.close()));
      await Promise.all([...places.map((place) => place.drop()), postgres.close()]);
    }
  });
});

describe('one run of a worker that is told to stop', function () {
  this.timeout(120_000);
  let database: IntakeDatabase;
  let places: readonly [stays: Place, goes: Place];
  let workers: ReturnType<typeof createStarter>;

  before(async () => {
    database = await createIntakeDatabase();
    places = [await createTestDatabase(), await createTestDatabase()];
    workers = createStarter(database.url);
  });
  afterEach(() => workers.close());
  after(async () => {
    await Promise.all(places.map((place) => place.drop()));
    await database.close();
  });
  const held = () => database.rows('select name from consumed_connections where held_until > now()');

  it('lets others have its connections at once, while it waits on a removed one', async () => {
    await workers.name({ 1: places[0].url, 2: places[1].url });
    expect(await workers.start('service').exited).to.deep.equal({ code: 0, signal: null });
    await workers.name({ 1: places[0].url });
    const run = workers.start('service');
    await run.waitForLine(/removed before its queue was empty/);
    await workers.stop(run);
    expect(run.lines.filter((line) => /"level":"(warn|error|fatal)"/.test(line))).to.deep.equal([]);
    expect(await held()).to.deep.equal([]);
  });

  it('does not wait for a connection that is unreachable, and has not failed', async () => {
    await workers.name({ 1: places[0].url, 3: unreachable });
    const run = workers.start('service');
    await run.waitForLine(/connecting to the broker failed/);
    await workers.stop(run);
    expect(run.lines.join()).to.not.contain('is not connected after');
    expect(await held()).to.deep.equal([]);
  });
});

describe('a worker without a password in its DATABASE_URL', () => {
  it('says that connections are not stored, and stores none', async () => {
    const database = await createIntakeDatabase();
    const place = await createTestDatabase();
    // The test server asks for a password, which node-postgres takes from here too.
    const url = new URL(database.url);
    const password = url.password;
    url.password = '';
    const env = { DATABASE_URL: url.href, PGPASSWORD: password, BROKER_URL_1: place.url, METRICS_PORT: '0', APP_ENV: 'development' };
    const worker = startProcess(['worker', 'service'], { env });
    try {
      expect(await worker.exited, worker.lines.join('\n')).to.deep.equal({ code: 0, signal: null });
      const said = worker.lines.filter((line) => line.includes('without a password in DATABASE_URL'));
      expect(said).to.have.length(1);
      expect(said[0]).to.contain('"level":"info"');
      expect(await database.count('consumed_connections')).to.equal(0);
    } finally {
      await worker.kill();
      await Promise.all([database.close(), place.drop()]);
    }
  });
});
