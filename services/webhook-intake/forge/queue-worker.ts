// A queue worker as a process runs it: a pool, a handler, and every configured broker connection; one run, or until it stops.
import type { BatchHandler } from '../../platform/broker/broker.ts';
import { connectBroker } from '../../platform/broker/connect.ts';
import { type BrokerSettings, createBrokerSettings, readWithBrokers } from '../../platform/broker/environment.ts';
import { finishWithin, pauseAfterFailure } from '../../platform/broker/outcomes.ts';
import type { CheckResult } from '../../platform/health.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { type MigrationSource, requireSchema } from '../../platform/postgres/migrations.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import type { Runtime, Worker } from '../../platform/process/deployable.ts';
import { every } from '../../platform/time.ts';
import { forgeTopology } from '../../webhook-relay/contract.ts';
import { readWorkerConfig, type WorkerConfig } from '../config.ts';
import type { WorkerName } from '../contract.ts';
import type { Counts, Job } from '../jobs/runner.ts';
import { batchPool, openRunner, runOnce } from '../jobs/job-worker.ts';
import { type Connections, createConnections, followConfigured, lastMs } from './connections.ts';
import { recordEmptied } from './emptied-queues.ts';

type Work = {
  readonly handle: BatchHandler;
  /** Work beside the queue, called again and again. @returns whether there may be more to do at once */
  readonly between?: () => Promise<boolean>;
};

export type QueueWorkerParts = {
  /** As `signalbox worker <name>` has it. */
  readonly name: WorkerName;
  readonly summary: string;
  readonly queue: (typeof forgeTopology.queues)[number]['name'];
  readonly create: (parts: { readonly database: Database; readonly config: WorkerConfig; readonly metrics: Metrics; readonly log: Log }) => Work;
};

const longestRetryMs = Math.max(...forgeTopology.queues.flatMap(({ retryDelaysMs }) => [...retryDelaysMs]));
const quietMs = longestRetryMs + 5000;
const longestRunMs = 5 * 60 * 1000;
const betweenEveryMs = 500;

export function createQueueWorker(parts: QueueWorkerParts, migrations: MigrationSource): Worker<WorkerConfig> {
  const { summary, queue } = parts;
  async function open({ environment, ...runtime }: Runtime, config: WorkerConfig) {
    const { database, checkSchema, runner } = await openRunner({ environment, ...runtime }, config.databaseUrl, { migrations, pool: batchPool });
    const brokers = () => createBrokerSettings(environment, config.environmentFile, runtime.log);
    return { runner, jobs: createQueueJobs(parts, { database, checkSchema, config, brokers, ...runtime }) };
  }
  return {
    summary,
    read: async (environment) => (await readWithBrokers(environment, readWorkerConfig)).config,
    async start(runtime, config) {
      const { lifecycle } = runtime;
      const { runner, jobs } = await open(runtime, config);
      const running = runner.run(jobs.stay, lifecycle.stopping);
      lifecycle.onStop(`consumers of ${queue}`, () => running.then(() => undefined));
    },
    async once(runtime, config) {
      const { runner, jobs } = await open(runtime, config);
      await runOnce(runtime, runner, jobs.drain);
    },
  };
}

type QueueJobParts = {
  readonly database: Database;
  readonly checkSchema: () => Promise<CheckResult>;
  readonly config: WorkerConfig;
  /** Each call gives settings that remember by themselves which state of their file was read. */
  readonly brokers: () => BrokerSettings;
  readonly metrics: Metrics;
  readonly log: Log;
  /** A signal that is aborted after so long. */
  readonly timeout?: (ms: number) => AbortSignal;
};

/** The jobs of a queue worker in one process; runs of them may be side by side. */
export function createQueueJobs({ name, queue, create }: QueueWorkerParts, parts: QueueJobParts) {
  const { database, checkSchema, config, brokers, log, timeout = (ms: number) => AbortSignal.timeout(ms) } = parts;
  const work = create(parts);
  const inUse = new Set<Connections>();
  measureConnections(parts.metrics, name, inUse);

  async function connected(counts: Counts, run: (connections: Connections) => Promise<void>): Promise<void> {
    const connections = createConnections({
      queue,
      connect: ({ name: connection, url }) =>
        connectBroker(url, forgeTopology, { log: log.child({ connection }), name: `signalbox worker ${name}`, queueType: config.queueType }),
      handle: work.handle,
      counts,
      onEmpty: recordEmptied({ database, queue, log }),
      quietMs,
      clock: Date.now,
      log,
    });
    inUse.add(connections);
    try {
      await run(connections);
    } finally {
      inUse.delete(connections);
      await connections.close();
    }
  }

  /** Until the queue is empty, for five minutes at most. */
  const drain: Job = {
    name,
    isExclusive: false,
    async run({ counts, stopping }) {
      const deadline = AbortSignal.any([stopping, timeout(longestRunMs)]);
      await requireSchema(checkSchema);
      await connected(counts, async (connections) => {
        connections.configure(await configured(brokers(), config));
        await connections.drain(deadline);
        await workBetween(work, deadline);
        await connections.close();
        if (!stopping.aborted) connections.assertProgress();
      });
    },
  };

  /** Runs until it is stopped. */
  const stay: Job = {
    name,
    isExclusive: false,
    run: ({ counts, stopping }) =>
      connected(counts, async (connections) => {
        const following = followConfigured(connections, { brokers: brokers(), stopping, log });
        let failures = 0;
        const between = every(betweenEveryMs, stopping, async () => {
          try {
            await finishWithin(lastMs, stopping, workBetween(work, stopping));
            failures = 0;
          } catch (error) {
            log.warn({ error }, 'updating the processing state failed, retrying');
            await pauseAfterFailure((failures += 1), stopping);
          }
        });
        await Promise.all([following, between]);
      }),
  };
  return { drain, stay };
}

async function configured(brokers: BrokerSettings, { environmentFile }: WorkerConfig) {
  const connections = await brokers.read(false);
  // With a file the first connection may come later.
  if (connections.length === 0 && environmentFile === undefined) throw new Error('no BROKER_URL_n is set');
  return connections;
}

function measureConnections(metrics: Metrics, worker: WorkerName, inUse: ReadonlySet<Connections>): void {
  metrics.gauge({
    name: 'signalbox_worker_connected',
    help: 'Whether the worker is connected to each broker connection that it consumes.',
    labels: ['worker', 'broker'],
    collect(gauge) {
      for (const connections of inUse) for (const { name, isConnected } of connections.states()) gauge.set({ worker, broker: name }, isConnected ? 1 : 0);
    },
  });
}

async function workBetween({ between }: Work, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await between?.()));
}
