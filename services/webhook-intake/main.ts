// The webhook intake as the `signalbox` command runs it: the dashboard API, and a worker for each queue.
import { createAddressOf } from '../platform/http/client-address.ts';
import { authorization } from '../platform/http/credentials.ts';
import { brokerUrlFamily } from '../platform/broker/environment.ts';
import type { Deployable, Runtime } from '../platform/process/deployable.ts';
import type { SubcommandLoaders } from '../platform/process/subcommand.ts';
import { createSchemaCheck, type MigrationSource } from '../platform/postgres/migrations.ts';
import { createPool } from '../platform/postgres/pool.ts';
import { createIntakeApp } from './app.ts';
import { brokerSettings, readServiceConfig, type ServiceConfig, settings } from './config.ts';
import { createDatabaseServiceWorker, createIsOwn } from './forge/database-service-worker.ts';
import { createServiceWorker } from './forge/service-worker.ts';
import { keepPartitions } from './housekeeping.ts';
import { createQueueWorker } from './forge/queue-worker.ts';
import { processRows } from './typed/store.ts';

/** A question of the dashboard that takes longer is of no use to anybody; a server that hangs is given up soon after. */
const statementMs = 8000;
const answerMs = 10_000;

const migrations: MigrationSource = { schema: 'intake', directory: new URL('migrations/', import.meta.url) };

async function start({ log, metrics, health, lifecycle, listen }: Runtime, config: ServiceConfig): Promise<void> {
  const addressOf = createAddressOf(config.trustedProxies);
  const database = lifecycle.opened('database', createPool(config.databaseUrl.reveal(), { schema: migrations.schema, log, statementMs, answerMs }));
  health.addCheck('database', await createSchemaCheck(database, migrations));
  keepPartitions({ database, lifecycle, log });
  const tokenHolder = authorization('token', config.accessTokens);
  await listen(createIntakeApp({ database, tokenHolder, health, log, metrics, addressOf, corsOrigins: config.corsOrigins }), config.port);
}

export const deployable: Deployable<ServiceConfig> = {
  name: 'webhook-intake',
  summary: 'Takes what the relay published into the event log and the typed tables, and answers the dashboard API',
  settings,
  settingFamilies: [brokerUrlFamily],
  migrations,
  read: readServiceConfig,
  start,
  workers: {
    service: createQueueWorker({
      name: 'service',
      summary: 'The forge queue: events and statistics',
      queue: 'forge',
      migrations,
      create: ({ database, config: { maxPayloadValues }, runtime: { metrics, log } }) => ({
        handle: createServiceWorker({ database, maxPayloadValues, metrics, log }),
      }),
    }),
    'database-service': createQueueWorker({
      name: 'database-service',
      summary: 'The forge-database queue: releases, workflow runs and the typed tables',
      queue: 'forge-database',
      migrations,
      create: ({ database, config, runtime: { metrics, log } }) => ({
        handle: createDatabaseServiceWorker({ database, isOwn: createIsOwn(config.ownRepositories), maxPayloadValues: config.maxPayloadValues, metrics, log }),
        between: () => processRows(database),
      }),
    }),
  },
};

export const subcommands: SubcommandLoaders = {
  'dead-letters': async () => (await import('./forge/dead-letters.ts')).createDeadLetters(brokerSettings),
};
