// A queue worker as a process runs it: a pool, a handler, and every configured broker connection.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchHandler } from '../platform/broker/broker.ts';
import { connectBroker } from '../platform/broker/connect.ts';
import { type BrokerConnection, readWithBrokers } from '../platform/broker/environment.ts';
import type { Runtime, Worker } from '../platform/process/deployable.ts';
import { createSchemaCheck, type MigrationSource } from '../platform/postgres/migrations.ts';
import { createPool, type Database } from '../platform/postgres/pool.ts';
import { forgeTopology } from '../webhook-relay/contract.ts';
import { readWorkerConfig, type WorkerConfig } from './config.ts';
import { consumeConfigured } from './connections/configured.ts';
import { type Consumption, createConsumption } from './connections/consumption.ts';
import { createRecord } from './connections/record.ts';
import { createRecordKeeper, type RecordKeeper } from './connections/record-keeper.ts';
import { createConnectionStore } from './connections/store.ts';
import { createUrlSealing } from './connections/url-sealing.ts';
import { measureConnections } from './metrics.ts';

export type QueueWorker = {
  readonly handle: BatchHandler;
  /** What it does beside the queue; called again and again. @returns whether there may be more to do at once */
  readonly between?: () => Promise<boolean>;
};

export type QueueWorkerParts = {
  /** As `signalbox worker <name>` has it. */
  readonly name: string;
  readonly summary: string;
  readonly queue: (typeof forgeTopology.queues)[number]['name'];
  readonly migrations: MigrationSource;
  readonly create: (parts: { readonly database: Database; readonly config: WorkerConfig; readonly runtime: Runtime }) => QueueWorker;
};

const longestRetryMs = Math.max(...forgeTopology.queues.flatMap(({ retryDelaysMs }) => [...retryDelaysMs]));
const quietMs = longestRetryMs + 5000;
const unreachableMs = 60 * 60 * 1000;
const longestRunMs = 5 * 60 * 1000;
/** A batch may take its time. One whose answer is lost on the way, as where a network falls silent, is tried again. */
const batchPool = { maxConnections: 5, statementMs: 30_000, answerMs: 35_000 };
const betweenEveryMs = 500;
const recordEveryMs = 10_000;

type Configuration = { readonly config: WorkerConfig; readonly connections: readonly BrokerConnection[] };

export function createQueueWorker(parts: QueueWorkerParts): Worker<Configuration> {
  return {
    summary: parts.summary,
    read: (environment) => readWithBrokers(environment, readWorkerConfig),
    async start(runtime, { config, connections }) {
      const { environment, lifecycle, log } = runtime;
      const { worker, consumption, recordKeeper } = open(parts, runtime, config);
      const { stopping } = lifecycle;
      consumption.configure(connections);
      void recordKeeper.begin();
      const consuming = consumeConfigured(consumption, { environment, file: config.environmentFile, stopping, log });
      const working = Promise.all([consuming, betweenUntil(stopping, worker, runtime)]);
      lifecycle.onStop(`consumers of ${parts.queue}`, () => working.then(recordKeeper.end));
    },
    async once(runtime, { config, connections }) {
      const { worker, consumption, recordKeeper } = open(parts, runtime, config);
      const deadline = AbortSignal.any([runtime.lifecycle.stopping, AbortSignal.timeout(longestRunMs)]);
      const run = async () => {
        try {
          consumption.configure(connections);
          // It consumes already; what else is to be drained is known then.
          await recordKeeper.begin();
          await consumption.drain(deadline);
          while (!deadline.aborted && (await worker.between?.()));
        } finally {
          await recordKeeper.end();
          await consumption.close();
        }
      };
      const running = run();
      // A run that is told to stop ends before its pools do: it stores what it has in hand, and lets others have its connections.
      runtime.lifecycle.onStop(`run of ${parts.queue}`, () => running.catch(() => undefined)); // whoever waits for the run is told
      await running;
    },
  };
}

function open({ name: worker, queue, migrations, create }: QueueWorkerParts, runtime: Runtime, config: WorkerConfig) {
  const { log, lifecycle, health, metrics } = runtime;
  const database = lifecycle.opened('database', createPool(config.databaseUrl.reveal(), { ...batchPool, schema: migrations.schema, log }));
  const schemaCheck = createSchemaCheck(database, migrations);
  health.addCheck('database', async () => (await schemaCheck)());
  const work = create({ database, config, runtime });
  const consumption = createConsumption({
    queue,
    connect: ({ name, url }) =>
      connectBroker(url, forgeTopology, { log: log.child({ connection: name }), name: `signalbox ${queue} worker`, queueType: config.queueType }),
    handle: work.handle,
    quietMs,
    unreachableMs,
    clock: Date.now,
    log,
  });
  measureConnections(metrics, worker, consumption.states);
  return { worker: work, consumption, recordKeeper: openRecord({ queue, migrations, consumption }, runtime, config) };
}

/** On a connection of its own: what hangs there holds up no batch, and no batch holds it up. */
function openRecord(
  { queue, migrations, consumption }: Pick<QueueWorkerParts, 'queue' | 'migrations'> & { readonly consumption: Consumption },
  { log, lifecycle }: Runtime,
  { databaseUrl }: WorkerConfig,
): RecordKeeper {
  const options = { schema: migrations.schema, log, maxConnections: 1, connectMs: 3000, statementMs: 4000, answerMs: 5000 };
  const database = lifecycle.opened('record of connections', createPool(databaseUrl.reveal(), options));
  const store = createConnectionStore(database, queue, randomUUID());
  return createRecordKeeper({
    open: async () => {
      const sealing = await createUrlSealing(databaseUrl.reveal(), queue);
      if (sealing) return createRecord({ queue, consumption, store, sealing, keptMs: unreachableMs, log });
      log.info({ queue }, 'without a password in DATABASE_URL broker connections are not stored: one that is removed while no worker runs stays as it is');
      return undefined;
    },
    everyMs: recordEveryMs,
    log,
  });
}

async function betweenUntil(stopping: AbortSignal, { between }: QueueWorker, { log }: Runtime): Promise<void> {
  while (between && !stopping.aborted) {
    const isMore = await between().catch((error: unknown) => log.warn({ error }, 'work beside the queue failed, it will be tried again'));
    if (isMore !== true) await sleep(betweenEveryMs, undefined, { signal: stopping }).catch(() => undefined); // stopping ends the wait
  }
}
