// The webhook intake as the `signalbox` command runs it: the API, the direct sources, and its four workers.
import { createAddressOf } from '../platform/client-address.ts';
import { authorization } from '../platform/http/credentials.ts';
import { createMetrics } from '../platform/metrics.ts';
import { brokerUrlFamily, createBrokerSettings } from '../platform/broker/environment.ts';
import type { Deployable, Runtime } from '../platform/process/deployable.ts';
import type { SubcommandLoaders } from '../platform/process/subcommand.ts';
import { createSchemaCheck, type MigrationSource } from '../platform/postgres/migrations.ts';
import { createPool, requestLimits } from '../platform/postgres/pool.ts';
import { createIntakeApp } from './app.ts';
import { brokerSettings, readCleanupConfig, readServiceConfig, readMaintenanceConfig, type ServiceConfig, settings } from './config.ts';
import { createDeadLetters } from './dead-letters.ts';
import { createDatabaseServiceWorker, createIsOwn } from './forge/database-service-worker.ts';
import { measureEmptied } from './forge/emptied-queues.ts';
import { createServiceWorker } from './forge/service-worker.ts';
import { createQueueJobs, createQueueWorker, type QueueWorkerParts } from './forge/queue-worker.ts';
import { startHousekeeping } from './jobs/housekeeping.ts';
import { startNotifications } from './notifications/notifications.ts';
import { followRules } from './notifications/rules-file.ts';
import { processRows } from './typed/store.ts';
import { createCleanup } from './jobs/cleanup.ts';
import { toOpen } from './jobs/dead-letters.ts';
import { createHeartbeat, withHeartbeat } from './jobs/heartbeat.ts';
import { createMaintenance } from './jobs/maintenance.ts';
import { measureRuns } from './jobs/metrics.ts';
import { createRunner } from './jobs/runner.ts';
import { createRunStore } from './jobs/store.ts';
import { batchPool, createJobWorker, upkeepPool } from './jobs/job-worker.ts';
import { createWorkers } from './jobs/workers.ts';

const cleanupEveryMs = 6 * 60 * 60 * 1000;
const maintenanceEveryMs = 10 * 60 * 1000;

const migrations: MigrationSource = { schema: 'intake', directory: new URL('migrations/', import.meta.url) };

const queueWorkers: readonly QueueWorkerParts[] = [
  {
    name: 'service',
    summary: 'The forge queue: events and statistics',
    queue: 'forge',
    create: ({ database, config: { maxPayloadValues, rulesFile: file }, metrics, log }) => ({
      handle: createServiceWorker({ database, rules: followRules({ file, part: 'worker', metrics, log }), maxPayloadValues, metrics, log }),
    }),
  },
  {
    name: 'database-service',
    summary: 'The forge-database queue: releases, workflow runs and the typed tables',
    queue: 'forge-database',
    create: ({ database, config, metrics, log }) => ({
      handle: createDatabaseServiceWorker({ database, isOwn: createIsOwn(config.ownRepositories), maxPayloadValues: config.maxPayloadValues, metrics, log }),
      between: () => processRows(database),
    }),
  },
];

async function start(runtime: Runtime, config: ServiceConfig): Promise<void> {
  const { log, metrics, health, lifecycle, listen } = runtime;
  const addressOf = createAddressOf(config.trustedProxies);
  const database = lifecycle.opened('database', createPool(config.databaseUrl.reveal(), { schema: migrations.schema, log, metrics, ...requestLimits }));
  health.addCheck('database', await createSchemaCheck(database, migrations));
  const store = createRunStore(database);
  measureRuns(metrics, store);
  measureEmptied(metrics, database);
  startHousekeeping({ database, runs: store, lifecycle, log });
  const { runner, jobs, database: batches } = await openJobs(runtime, config);
  const workers = createWorkers({ store, runner, jobs, stopping: lifecycle.stopping });
  const tokenHolder = authorization('token', config.accessTokens, { description: 'A value of `Intake__AccessTokens`.', ofConsole: config.consoleTokens });
  const { sources, corsOrigins } = config;
  const { rules, wake: onStored } = startNotifications(config, { database, lifecycle, metrics, log });
  const { stopping } = lifecycle;
  const brokers = createBrokerSettings(runtime.environment, config.environmentFile, log);
  const deadLetters = createDeadLetters(async () => (await brokers.read(false)).map((connection) => toOpen(connection, config)));
  const isOwn = createIsOwn(config.ownRepositories);
  const replay = { database: batches, runner, isOwn, maxPayloadValues: config.maxPayloadValues, maxEvents: config.replayMaxEvents };
  const app = createIntakeApp({
    database,
    workers,
    tokenHolder,
    stopping,
    deadLetters,
    replay,
    forge: { url: config.forgeApiUrl, token: config.forgeApiToken, hooks: config.forgeApiHooks },
    sources,
    rules,
    onStored,
    health,
    log,
    metrics,
    addressOf,
    corsOrigins,
  });
  await listen(app, config.port);
}

/** The jobs of runs that the API starts: they have pools of their own, so that the dashboard does not wait for them. */
async function openJobs({ environment, log, metrics, lifecycle }: Runtime, config: ServiceConfig) {
  const open = (name: string, pool: typeof batchPool) =>
    lifecycle.opened(name, createPool(config.databaseUrl.reveal(), { ...pool, schema: migrations.schema, name, log, metrics }));
  const database = open('database of queues', batchPool);
  const upkeepDatabase = open('database of upkeep', upkeepPool);
  const checkSchema = await createSchemaCheck(database, migrations);
  const runner = createRunner({ database: upkeepDatabase, log, metrics });
  lifecycle.onStop('runs of workers', () => runner.ended());
  // Gauges of work in hand and connections belong to the worker that stays, which may be in the same process.
  const ofRuns = { ...metrics, gauge: createMetrics().gauge };
  const brokers = () => createBrokerSettings(environment, config.environmentFile, log);
  const jobs = [
    ...queueWorkers.map((parts) => createQueueJobs(parts, { database, checkSchema, config, brokers, metrics: ofRuns, log }).drain),
    withHeartbeat(createCleanup({ database: upkeepDatabase, retention: config, log }), createHeartbeat(config.pingUrl, log)),
    createMaintenance({ database: upkeepDatabase, config, brokers, log }),
  ];
  return { runner, jobs, database };
}

export const deployable: Deployable<ServiceConfig> = {
  name: 'webhook-intake',
  summary: 'Takes what the relay published, and webhooks of direct sources, into the event log and the typed tables; answers the dashboard API',
  settings,
  settingFamilies: [brokerUrlFamily],
  migrations,
  read: readServiceConfig,
  start,
  workers: {
    ...Object.fromEntries(queueWorkers.map((parts) => [parts.name, createQueueWorker(parts, migrations)])),
    cleanup: createJobWorker({
      summary: 'Deletes what is older than its retention',
      migrations,
      everyMs: cleanupEveryMs,
      read: readCleanupConfig,
      heartbeat: ({ pingUrl }, log) => createHeartbeat(pingUrl, log),
      create: ({ runtime, config, ...parts }) => createCleanup({ log: runtime.log, retention: config, ...parts }),
    }),
    maintenance: createJobWorker({
      summary: 'Creates partitions ahead, and retries what was given up: stale claims and runs, dead letters, failed deliveries',
      migrations,
      everyMs: maintenanceEveryMs,
      read: readMaintenanceConfig,
      create: ({ runtime: { environment, log }, ...parts }) =>
        createMaintenance({ brokers: () => createBrokerSettings(environment, parts.config.environmentFile, log), log, ...parts }),
    }),
  },
};

export const subcommands: SubcommandLoaders = {
  'dead-letters': async () => (await import('./jobs/dead-letters.ts')).createDeadLetters(brokerSettings),
};

export const loadTracer = async () => (await import('./trace.ts')).createTracer(settings);
