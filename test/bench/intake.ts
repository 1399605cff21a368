// The service worker: queued deliveries to event log and bucket, against a bare multi-row insert of the same rows.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { BatchHandler, Broker } from '../../services/platform/broker/broker.ts';
import { connectBroker } from '../../services/platform/broker/connect.ts';
import { silentLog } from '../../services/platform/log.ts';
import { createMetrics } from '../../services/platform/metrics.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { makePartitions } from '../../services/platform/postgres/partitions.ts';
import { createPool } from '../../services/platform/postgres/pool.ts';
import { consumeOptions } from '../../services/webhook-intake/forge/connections.ts';
import { createServiceWorker } from '../../services/webhook-intake/forge/service-worker.ts';
import { partitionedTables } from '../../services/webhook-intake/jobs/housekeeping.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { examples, message } from '../services/webhook-intake/deliveries.ts';
import { migrations, schema } from '../services/webhook-intake/intake-database.ts';
import { startPostgres } from '../support/postgres.ts';
import { rabbitmqAvailable, startRabbitmq } from '../support/rabbitmq.ts';
import { type Bench, compare, interleaved, type Pace } from './support/bench.ts';
import { insertRows, rowsOf } from './support/intake-bound.ts';

const deliveries = 3000;
const topology = { ...forgeTopology, queues: forgeTopology.queues.filter(({ name }) => name === 'forge') };

export const messages = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const { event, payload } = examples[index % examples.length] ?? { event: 'push', payload: {} };
    return message({ event, payload, priority: 1 + (index % 10) });
  });

async function ours(broker: Broker, work: BatchHandler): Promise<number> {
  const published = await Promise.all(messages(deliveries).map((one) => broker.publish(one, 60_000)));
  if (published.some(({ outcome }) => outcome !== 'confirmed')) throw new Error('not all deliveries could be queued');
  const all = Promise.withResolvers<void>();
  let handled = 0;
  const startedAt = performance.now();
  const consumer = broker.consume('forge', consumeOptions, async (batch) => {
    const outcomes = await work(batch);
    if (outcomes.some((outcome) => outcome !== 'ack')) all.reject(new Error('a delivery was not stored'));
    handled += batch.length;
    if (handled === deliveries) all.resolve();
    return outcomes;
  });
  await all.promise;
  const elapsedMs = performance.now() - startedAt;
  await consumer.stop();
  return (deliveries / elapsedMs) * 1000;
}

async function bound(client: pg.Client): Promise<number> {
  const rows = rowsOf(messages(deliveries));
  const startedAt = performance.now();
  for (let from = 0; from < rows.length; from += 100) await insertRows(client, rows.slice(from, from + 100));
  return (deliveries / (performance.now() - startedAt)) * 1000;
}

async function run({ rounds }: Pace) {
  const postgres = await startPostgres();
  const rabbitmq = rabbitmqAvailable ? await startRabbitmq() : undefined;
  await migrate(postgres.url, { schema, directory: migrations }, silentLog);
  const pool = createPool(postgres.url, { schema, log: silentLog });
  const client = new pg.Client({ connectionString: postgres.url, options: `-c search_path=${schema}` });
  await client.connect();
  for (const table of partitionedTables) await makePartitions(pool, table, new Date());
  const broker = connectBroker(rabbitmq?.url ?? postgres.url, topology, { log: silentLog, name: `bench ${randomUUID()}` });
  await broker.ready(60_000);
  const work = createServiceWorker({ database: pool, metrics: createMetrics(), log: silentLog });
  try {
    const measured = await interleaved(rounds, { ours: () => ours(broker, work), bound: () => bound(client) });
    const measure = `deliveries from ${rabbitmq ? 'RabbitMQ' : 'the embedded broker'}`;
    return [compare(measured, (perSecond) => perSecond, { measure, unit: '1/s', goal: { atLeast: 0.4 } })];
  } finally {
    await client.end();
    await broker.close();
    await pool.close();
    await rabbitmq?.close();
    await postgres.close();
  }
}

export const bench: Bench = {
  summary: `${deliveries} queued deliveries to event log and bucket; bound: multi-row inserts of the same rows, 100 a transaction`,
  run,
};
