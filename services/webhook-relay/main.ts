// Starts the webhook relay: settings, database, broker connections, HTTP.
import { connectBroker } from '../platform/broker/connect.ts';
import { brokerLimitFamily, brokerUrlFamily, readBrokerConnections, readWithBrokers } from '../platform/broker/environment.ts';
import type { Deployable, Runtime } from '../platform/deployable.ts';
import { watchFile } from '../platform/file-watch.ts';
import type { Check } from '../platform/health.ts';
import { createSchemaCheck } from '../platform/migrations.ts';
import { createPool } from '../platform/postgres.ts';
import { createRelay } from './app.ts';
import { readConfig, settings } from './config.ts';
import type { Administration } from './connections/administration.ts';
import { type Connections, createConnections } from './connections/connections.ts';
import { forgeTopology } from './contract.ts';

const migrations = { schema: 'relay', directory: new URL('migrations/', import.meta.url) };

const generalPool = { schema: 'relay', statementMs: 10_000, answerMs: 12_000 };
// A reservation must fail soon enough to leave time for the spool, also when the server hangs. One that is slow beside a busy
// node still leaves time to publish.
const countersPool = { schema: 'relay', maxConnections: 4, connectMs: 3000, statementMs: 2500, answerMs: 3000 };
const watchEveryMs = 1000;
/** Unready for so long at most, so that a first delivery finds its connection. */
const connectMs = 3000;

async function start({ environment, log, metrics, health, lifecycle, listen }: Runtime): Promise<void> {
  const { config } = await readWithBrokers(environment, readConfig);
  const databaseUrl = config.databaseUrl.reveal();
  const database = lifecycle.opened('database', createPool(databaseUrl, { ...generalPool, log }));
  const counters = lifecycle.opened('counters', createPool(databaseUrl, { ...countersPool, log }));
  // Asked of the counters, so that a first delivery finds their connection.
  health.addCheck('schema', seenOnce(await createSchemaCheck(counters, migrations)));

  const { environmentFile: file } = config;
  const administering = Promise.withResolvers<Administration>();
  if (file !== undefined) {
    const reload = async () => (await administering.promise).reload();
    // Watched before it is read, so that no change falls in between; a reload that fails has logged why.
    lifecycle.opened(
      'environment file',
      watchFile(file, () => void reload().catch(() => undefined), { intervalMs: watchEveryMs }),
    );
  }
  const connections = lifecycle.opened(
    'broker connections',
    await createConnections({
      read: (isReload) => readBrokerConnections(environment, file, { isReload, log }),
      connect: ({ name, url }, up) =>
        connectBroker(url, forgeTopology, { log: log.child({ broker: name }), name: `signalbox relay ${name}`, queueType: config.queueType, up }),
      defaultLimit: config.monthlyLimit,
      clock: () => new Date(),
      log,
    }),
  );
  const { app, administration } = createRelay({ config, connections, database, counters, health, lifecycle, log, metrics });
  administering.resolve(administration);
  const connecting = awaitBrokers(connections, lifecycle.stopping);
  health.addCheck('brokers', connecting.check);
  await listen(app, config.port);
  await connecting.over;
}

/** At the start only: a broker that is down then or later does not make the relay unready. */
function awaitBrokers(connections: Connections, stopping: AbortSignal): { readonly check: Check; readonly over: Promise<void> } {
  let isOver = false;
  const stopped = new Promise((resolve) => stopping.addEventListener('abort', resolve, { once: true }));
  const ready = Promise.allSettled(connections.all.map((connection) => connection.ready(connectMs)));
  const over = Promise.race([ready, stopped]).then(() => void (isOver = true));
  return { over, check: () => (isOver ? { ok: true } : { ok: false, detail: 'connecting' }) };
}

/** The relay is needed most while its database is down, so what was right once is not asked again. */
function seenOnce(check: Check): Check {
  let seen = false;
  return async () => {
    if (seen) return { ok: true };
    const result = await check();
    seen = result.ok;
    return result;
  };
}

export const deployable: Deployable = {
  name: 'webhook-relay',
  summary: 'Takes webhooks of the forge, scores them and publishes them to a message broker',
  settings,
  settingFamilies: [brokerUrlFamily, brokerLimitFamily],
  migrations,
  check: (environment) => readWithBrokers(environment, readConfig),
  start,
};
