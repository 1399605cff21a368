// A queue worker as a process runs it: a pool, a handler, and every configured broker connection.
import type { BatchHandler } from '../../platform/broker/broker.ts';
import { connectBroker } from '../../platform/broker/connect.ts';
import { type BrokerConnection, readWithBrokers } from '../../platform/broker/environment.ts';
import { createSchemaCheck, type MigrationSource } from '../../platform/postgres/migrations.ts';
import { createPool, type Database } from '../../platform/postgres/pool.ts';
import type { Runtime, Worker } from '../../platform/process/deployable.ts';
import { every } from '../../platform/time.ts';
import { forgeTopology } from '../../webhook-relay/contract.ts';
import { readWorkerConfig, type WorkerConfig } from '../config.ts';
import { createConnections, followConfigured } from './connections.ts';

type Work = {
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
  readonly create: (parts: { readonly database: Database; readonly config: WorkerConfig; readonly runtime: Runtime }) => Work;
};

const longestRetryMs = Math.max(...forgeTopology.queues.flatMap(({ retryDelaysMs }) => [...retryDelaysMs]));
const quietMs = longestRetryMs + 5000;
const longestRunMs = 5 * 60 * 1000;
/** A batch may take its time. One whose answer is lost on the way, as where a network falls silent, is tried again. */
const batchPool = { maxConnections: 5, statementMs: 30_000, answerMs: 35_000 };
const betweenEveryMs = 500;

type Configuration = { readonly config: WorkerConfig; readonly connections: readonly BrokerConnection[] };

export function createQueueWorker(parts: QueueWorkerParts): Worker<Configuration> {
  const { queue } = parts;
  return {
    summary: parts.summary,
    read: (environment) => readWithBrokers(environment, readWorkerConfig),
    async start(runtime, { config }) {
      const { environment, lifecycle, log } = runtime;
      const { work, connections } = await open(parts, runtime, config);
      const { stopping } = lifecycle;
      const following = followConfigured(connections, { environment, file: config.environmentFile, stopping, log });
      const between = every(betweenEveryMs, stopping, () =>
        workBetween(work, stopping).catch((error: unknown) => log.warn({ error }, 'updating the processing state failed, retrying')),
      );
      const working = Promise.all([following, between]);
      lifecycle.onStop(`consumers of ${queue}`, () => working.then(() => undefined));
    },
    async once(runtime, { config, connections: configured }) {
      const { work, connections, checkSchema } = await open(parts, runtime, config);
      const { stopping } = runtime.lifecycle;
      const deadline = AbortSignal.any([stopping, AbortSignal.timeout(longestRunMs)]);
      const run = async () => {
        try {
          const schema = await checkSchema();
          if (!schema.ok) throw new Error(schema.detail);
          connections.configure(configured);
          await connections.drain(deadline);
          await workBetween(work, deadline);
        } finally {
          await connections.close();
        }
        if (!stopping.aborted) connections.assertProgress();
      };
      const running = run();
      // A run that is told to stop ends before its pools do, and stores what it has in hand.
      runtime.lifecycle.onStop(`run of ${queue}`, () => running.catch(() => undefined)); // whoever waits for the run is told
      await running;
    },
  };
}

async function open({ name: worker, queue, migrations, create }: QueueWorkerParts, runtime: Runtime, config: WorkerConfig) {
  const { log, lifecycle, health, metrics } = runtime;
  const database = lifecycle.opened('database', createPool(config.databaseUrl.reveal(), { ...batchPool, schema: migrations.schema, log }));
  const checkSchema = await createSchemaCheck(database, migrations);
  health.addCheck('database', checkSchema);
  const work = create({ database, config, runtime });
  const connections = createConnections({
    queue,
    connect: ({ name, url }) =>
      connectBroker(url, forgeTopology, { log: log.child({ connection: name }), name: `signalbox worker ${worker}`, queueType: config.queueType }),
    handle: work.handle,
    quietMs,
    clock: Date.now,
    log,
  });
  metrics.gauge({
    name: 'signalbox_worker_connected',
    help: 'Whether the worker is connected to each broker connection that it consumes.',
    labels: ['worker', 'broker'],
    collect(gauge) {
      for (const { name, isConnected } of connections.states()) gauge.set({ worker, broker: name }, isConnected ? 1 : 0);
    },
  });
  return { work, connections, checkSchema };
}

async function workBetween({ between }: Work, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await between?.()));
}
