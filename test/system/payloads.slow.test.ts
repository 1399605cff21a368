import { randomUUID } from 'node:crypto';
import { connect } from 'amqplib';
import { expect } from 'chai';
import pg from 'pg';
import { examples } from '../services/webhook-intake/deliveries.ts';
import { expectedRows } from '../services/webhook-intake/expected-rows.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { rabbitmq, sharedRabbitmq } from '../support/rabbitmq.ts';
import { eventually } from '../support/wait.ts';
import { createForge, type Flow, type Forge, startFlow } from './flow.ts';

describeWith(rabbitmq, 'every example payload of the forge, from the relay over RabbitMQ through both workers', function () {
  this.timeout(400_000);
  let database: TestDatabase;
  let brokerUrl: string;
  let flow: Flow;
  let forge: Forge;
  let client: pg.Pool;
  const ids = examples.map(() => randomUUID());

  before(async () => {
    database = await createTestDatabase();
    brokerUrl = (await (await sharedRabbitmq()).createVhost()).url;
    flow = await startFlow({ databaseUrl: database.url, brokerUrls: [brokerUrl] });
    await flow.startWorker('service');
    await flow.startWorker('database-service');
    forge = createForge(flow.relayUrls);
    client = new pg.Pool({ connectionString: database.url });
  });
  after(async () => {
    forge.close();
    await client.end();
    await flow.close();
    await database.drop();
  });

  const count = async (table: string) => (await client.query<{ count: number }>(`select count(*)::int as count from intake.${table}`)).rows[0]?.count ?? NaN;
  const sums = async () =>
    (await client.query('select sum(received)::int as received, sum(duplicates)::int as duplicates from intake.statistics_buckets')).rows[0];
  const handled = async (queue: string) => {
    const worker = flow.workers[queue === 'forge' ? 0 : 1];
    const text = await (await fetch(`${worker?.metricsUrl ?? ''}/metrics`)).text();
    const lines = text.matchAll(new RegExp(`^signalbox_intake_deliveries_total\\{queue="${queue}",outcome="\\w+"\\} (\\d+)$`, 'gm'));
    return [...lines].reduce((sum, [, number]) => sum + Number(number), 0);
  };

  async function deliverAll(times: number): Promise<void> {
    for (const [index, { event, payload }] of examples.entries()) {
      const { status } = await forge.deliver(Buffer.from(JSON.stringify(payload)), event, ids[index]);
      expect(status, event).to.equal(202);
    }
    await eventually(async () => (await handled('forge')) === 329 * times && (await handled('forge-database')) === 329 * times, { withinMs: 150_000 });
  }

  it('makes 329 events, and in each typed table the rows that the payloads tell', async () => {
    await deliverAll(1);
    expect(await count('events')).to.equal(329);
    expect(await sums()).to.deep.equal({ received: 329, duplicates: 0 });
    const expected = expectedRows(examples);
    const found = await Promise.all(Object.keys(expected).map(async (table) => [table, await count(table)] as const));
    expect(Object.fromEntries(found)).to.deep.equal(expected);
  });

  it('makes no more of them when they are sent again', async () => {
    await deliverAll(2);
    expect(await count('events')).to.equal(329);
    expect(await sums()).to.deep.equal({ received: 329, duplicates: 329 });
  });

  it('dead-letters none', async () => {
    const connection = await connect(brokerUrl);
    const channel = await connection.createChannel();
    expect(await channel.checkQueue('forge.dead')).to.include({ messageCount: 0 });
    await connection.close();
  });
});
