// Messages that cannot be stored, and a world that fails, on a real broker.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Delivery } from '../../../../services/platform/broker/broker.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createDatabaseServiceWorker } from '../../../../services/webhook-intake/forge/database-service-worker.ts';
import { createServiceWorker } from '../../../../services/webhook-intake/forge/service-worker.ts';
import { forgeTopology } from '../../../../services/webhook-relay/contract.ts';
import { type Place, useBroker } from '../../../support/broker.ts';
import { describeWith } from '../../../support/need.ts';
import { createTestDatabase } from '../../../support/postgres.ts';
import { rabbitmq, sharedRabbitmq } from '../../../support/rabbitmq.ts';
import { eventually } from '../../../support/wait.ts';
import { message } from '../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';

// The waits are shorter than the relay's, their number is the same.
const topology = { ...forgeTopology, queues: forgeTopology.queues.map((queue) => ({ ...queue, retryDelaysMs: queue.retryDelaysMs.map(() => 50) })) };

function suite(createPlace: () => Promise<Place>): void {
  let database: IntakeDatabase;
  const queues = useBroker(createPlace, topology);
  const dead: Delivery[] = [];
  /** Queues whose worker had no outcome on a batch. */
  const failed = new Set<string>();

  before(async function () {
    this.timeout(120_000);
    database = await createIntakeDatabase();
    const { broker } = queues;
    const parts = { metrics: createMetrics(), log: silentLog };
    const options = { batchSize: 100, prefetch: 200 };
    const handlers = {
      forge: createServiceWorker({ database: database.pool, ...parts }),
      'forge-database': createDatabaseServiceWorker({ database: database.pool, isOwn: () => true, ...parts }),
    };
    for (const [queue, handle] of Object.entries(handlers)) {
      broker.consume(queue, options, (batch) =>
        handle(batch).catch((error: unknown) => {
          failed.add(queue);
          throw error;
        }),
      );
    }
    broker.consume(topology.deadLetters.queue, options, (batch) => {
      dead.push(...batch);
      return Promise.resolve(batch.map(() => 'ack' as const));
    });
  });
  after(() => database.close());
  beforeEach(async () => {
    dead.length = 0;
    await database.empty();
  });

  const issue = (id: number) => ({ action: 'opened', issue: { id, number: 1 } });
  const publish = async (...messages: readonly ReturnType<typeof message>[]) => {
    const results = await Promise.all(messages.map((one) => queues.broker.publish(one, 10_000)));
    expect(results.every(({ outcome }) => outcome === 'confirmed')).to.equal(true);
  };
  const reasons = () => dead.map(({ headers }) => `${headers['x-dead-queue']}: ${headers['x-dead-reason']}`).sort();

  it('gives up what is not JSON at once, with its reason, from both queues', async () => {
    const broken = { ...message({ event: 'issues', payload: {} }), body: Buffer.from('not JSON') };
    await publish(message({ event: 'issues', payload: issue(1) }), broken, message({ event: 'issues', payload: issue(2) }));
    await eventually(() => expect(dead).to.have.length(2));
    expect(reasons()[0]).to.match(/^forge-database: the payload is not JSON/);
    expect(reasons()[1]).to.match(/^forge: the payload is not JSON/);
    await eventually(async () => expect([await database.count('events'), await database.count('issues')]).to.deep.equal([2, 2]));
  });

  it('gives up what the database refuses after the last retry, and stores its neighbours', async () => {
    for (const table of ['events', 'issues']) await database.rows(`alter table ${table} add constraint refused check (delivery_id <> 'refused')`);
    const refused = message({ event: 'issues', payload: issue(1), deliveryId: 'refused' });
    await publish(message({ event: 'issues', payload: issue(2) }), refused, message({ event: 'issues', payload: issue(3) }));
    await eventually(() => expect(dead).to.have.length(2), { withinMs: 60_000 });
    expect(reasons().every((reason) => reason.includes('constraint "refused"'))).to.equal(true);
    await eventually(async () => expect([await database.count('events'), await database.count('issues')]).to.deep.equal([2, 2]));
  });

  it('leaves a member out that is nested too deep, and stores everything else', async () => {
    const deep = message({ event: 'issues', payload: {} });
    const body = Buffer.from(JSON.stringify(issue(9)).replace('"issue":{', `"issue":{"x":${'['.repeat(5000)}${']'.repeat(5000)},`));
    await publish(message({ event: 'issues', payload: issue(1) }), { ...deep, body }, message({ event: 'issues', payload: issue(2) }));
    await publish(message({ event: 'issues', payload: issue(3) }));
    await eventually(async () => expect([await database.count('events'), await database.count('issues')]).to.deep.equal([4, 4]));
    expect(dead).to.deep.equal([]);
  });

  it('keeps the batch while the database cannot take it, and stores it when it can', async () => {
    await database.rows('alter table statistics_buckets rename to buckets_away; alter table tracked_deliveries rename to tracked_away');
    const deliveryIds = Array.from({ length: 30 }, () => randomUUID());
    await publish(...deliveryIds.map((deliveryId, index) => message({ event: 'issues', payload: issue(index), deliveryId })));
    await eventually(() => expect(failed).to.include.keys('forge', 'forge-database'));
    await database.rows('alter table buckets_away rename to statistics_buckets; alter table tracked_away rename to tracked_deliveries');
    await eventually(async () => expect([await database.count('events'), await database.count('issues')]).to.deep.equal([30, 30]), { withinMs: 60_000 });
    expect(dead).to.deep.equal([]);
  });
}

describe('poison on the embedded broker', () => suite(() => createTestDatabase()));
describeWith(rabbitmq, 'poison on RabbitMQ', () => suite(async () => (await sharedRabbitmq()).createVhost()));
