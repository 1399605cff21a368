// Every example payload of the forge from the broker through both workers, as `signalbox worker` runs them.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Broker } from '../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createRuntimes } from '../../../services/platform/process/runtime.ts';
import { deployable } from '../../../services/webhook-intake/main.ts';
import { forgeTopology } from '../../../services/webhook-relay/contract.ts';
import { describeWith } from '../../support/need.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { rabbitmq, sharedRabbitmq } from '../../support/rabbitmq.ts';
import { examples, message } from './deliveries.ts';
import { expectedRows } from './expected-rows.ts';
import { createIntakeDatabase, type IntakeDatabase } from './intake-database.ts';

const typedTables = ['branches', 'comments', 'installations', 'issues', 'pull_requests', 'pushes', 'releases', 'repositories', 'users', 'workflow_runs'];

function suite(createBrokerUrl: () => Promise<{ readonly url: string; drop(): Promise<void> }>): void {
  let database: IntakeDatabase;
  let broker: Broker;
  const closing: (() => Promise<void>)[] = [];
  const identities = examples.map(() => randomUUID());
  let brokerUrl: string;

  before(async function () {
    this.timeout(120_000);
    const place = await createBrokerUrl();
    brokerUrl = place.url;
    database = await createIntakeDatabase();
    broker = connectBroker(brokerUrl, forgeTopology, { log: silentLog, name: 'test' });
    closing.push(
      () => broker.close(),
      () => database.close(),
      () => place.drop(),
    );
    await broker.ready(30_000);
  });
  after(async () => {
    for (const close of closing) await close();
  });

  async function publishAll(): Promise<void> {
    const outcomes = await Promise.all(
      examples.map(({ event, payload }, index) => broker.publish(message({ event, payload, deliveryId: identities[index] ?? '' }), 30_000)),
    );
    expect(outcomes.every(({ outcome }) => outcome === 'confirmed')).to.equal(true);
  }

  async function runOnce(name: 'service' | 'database-service'): Promise<void> {
    const lifecycle = createLifecycle(silentLog);
    const runtimes = createRuntimes({ lifecycle, metrics: createMetrics(), logFor: () => silentLog });
    const environment = { DATABASE_URL: database.url, BROKER_URL_1: brokerUrl };
    const worker = deployable.workers?.[name];
    await worker?.once(runtimes.of(name, environment), await worker.read(environment));
    await lifecycle.stop();
  }

  async function deliverAll(): Promise<void> {
    await publishAll();
    await runOnce('service');
    await runOnce('database-service');
  }

  const rowCounts = async () => Object.fromEntries(await Promise.all(typedTables.map(async (table) => [table, await database.count(table)] as const)));
  const sums = () => database.rows('select sum(received) as received, sum(duplicates) as duplicates, sum(bytes) as bytes from statistics_buckets');
  const bytes = examples.reduce((sum, { payload }) => sum + Buffer.byteLength(JSON.stringify(payload)), 0);

  it('stores 329 events and the typed rows that the payloads tell', async function () {
    this.timeout(120_000);
    await deliverAll();
    expect(await database.count('events')).to.equal(329);
    expect(await sums()).to.deep.equal([{ received: 329, duplicates: 0, bytes }]);
    expect(await rowCounts()).to.deep.equal(expectedRows(examples));
    expect(await broker.depth(forgeTopology.deadLetters.queue)).to.equal(0);
  });

  it('has processed every typed row', async () => {
    const states = await Promise.all(typedTables.map((table) => database.rows(`select distinct processing_state as state from ${table}`)));
    expect(states.flat().every(({ state }) => state === 'PROCESSED')).to.equal(true);
  });

  it('knows all of them when they are sent again', async function () {
    this.timeout(120_000);
    await deliverAll();
    expect(await database.count('events')).to.equal(329);
    expect(await sums()).to.deep.equal([{ received: 329, duplicates: 329, bytes }]);
    expect(await rowCounts()).to.deep.equal(expectedRows(examples));
    expect(await broker.depth(forgeTopology.deadLetters.queue)).to.equal(0);
  });
}

describe('all example payloads through the embedded broker', () => suite(() => createTestDatabase()));
describeWith(rabbitmq, 'all example payloads through RabbitMQ', () => suite(async () => (await sharedRabbitmq()).createVhost()));
