// Starts the webhook relay: settings, database, broker connections, HTTP.
import { connectBroker } from '../platform/broker/connect.ts';
import { brokerLimitFamily, brokerUrlFamily, createBrokerSettings, readWithBrokers } from '../platform/broker/environment.ts';
import type { Deployable, Runtime } from '../platform/process/deployable.ts';
import { createSchemaCheck } from '../platform/postgres/migrations.ts';
import { createPool } from '../platform/postgres/pool.ts';
import { every, systemClock } from '../platform/time.ts';
import { createRelay } from './app.ts';
import { readConfig, type RelayConfig, settings } from './config.ts';
import { type Connections, createConnections } from './connections/connections.ts';
import { forgeTopology } from './contract.ts';
import { usagePool, generalPool } from './database.ts';
import { awaitBrokers, passedOnce } from './health.ts';

const migrations = { schema: 'relay', directory: new URL('migrations/', import.meta.url) };

async function start(runtime: Runtime, config: RelayConfig): Promise<void> {
  const { log, metrics, health, lifecycle, listen } = runtime;
  const databaseUrl = config.databaseUrl.reveal();
  const database = lifecycle.opened('database', createPool(databaseUrl, { ...generalPool, log, metrics }));
  const usageDatabase = lifecycle.opened('usage database', createPool(databaseUrl, { ...usagePool(config.budgetMs), name: 'usage database', log, metrics }));
  // Asked of the pool that counts, so that a first delivery finds its connection.
  health.addCheck('schema', passedOnce(await createSchemaCheck(usageDatabase, migrations)));

  const connections = await openConnections(runtime, config);
  const connecting = awaitBrokers(connections, lifecycle.stopping);
  health.addCheck('brokers', connecting.check);

  await listen(createRelay({ ...runtime, config, connections, database, usageDatabase }), config.port);
  await connecting.over;
}

const fileCheckedEveryMs = 1000;

/** The connections of the environment and of its file, which is followed as it changes. None needs to be connected yet. */
async function openConnections({ environment, lifecycle, log }: Runtime, { environmentFile, monthlyLimit, queueType }: RelayConfig): Promise<Connections> {
  const brokers = createBrokerSettings(environment, environmentFile, log);
  const connections = await createConnections({
    read: brokers.read,
    connect: ({ name, url }, onConnected) =>
      connectBroker(url, forgeTopology, { log: log.child({ broker: name }), name: `signalbox relay ${name}`, queueType, onConnected }),
    defaultLimit: monthlyLimit,
    clock: systemClock,
    log,
  });
  void every(fileCheckedEveryMs, lifecycle.stopping, async () => {
    if (await brokers.hasChanged()) await connections.reload().catch((error: unknown) => log.error({ error }, 'reloading broker connections failed'));
  });
  return lifecycle.opened('broker connections', connections);
}

export const loadTracer = async () => (await import('./trace.ts')).createTracer(settings);

export const deployable: Deployable<RelayConfig> = {
  name: 'webhook-relay',
  summary: 'Takes webhooks of the forge, scores them and publishes them to a message broker',
  settings,
  settingFamilies: [brokerUrlFamily, brokerLimitFamily],
  migrations,
  read: async (environment) => (await readWithBrokers(environment, readConfig)).config,
  start,
};
