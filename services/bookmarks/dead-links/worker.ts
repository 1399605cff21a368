// `signalbox worker dead-links`: checks the pages of bookmarks; once, or in a loop.
import { createOutbox } from '../../platform/events/events.ts';
import { createPublicFetch } from '../../platform/http/public-fetch.ts';
import { explainDatabase } from '../../platform/postgres/errors.ts';
import { createSchemaCheck, type MigrationSource } from '../../platform/postgres/migrations.ts';
import { createPool, requestLimits } from '../../platform/postgres/pool.ts';
import type { Runtime, Worker } from '../../platform/process/deployable.ts';
import { every, systemClock } from '../../platform/time.ts';
import { type CheckConfig, readWorkerConfig } from '../config.ts';
import { createDeadLinks } from './dead-links.ts';
import { createCheckStore } from './store.ts';

const everyMs = 15 * 60_000;

export const createDeadLinksWorker = (migrations: MigrationSource): Worker<CheckConfig> => ({
  summary: 'Asks for the pages of bookmarks, and marks those that are gone',
  read: readWorkerConfig,
  async start(runtime, config) {
    const { log, lifecycle } = runtime;
    const run = await open(runtime, config, migrations);
    const running = every(everyMs, lifecycle.stopping, () => run().catch((error: unknown) => log.warn({ error }, 'run of the worker failed, retrying')));
    lifecycle.onStop('dead-links worker', () => running);
  },
  async once(runtime, config) {
    const run = await open(runtime, config, migrations);
    const running = run();
    // On a stop the run ends before its pool is closed.
    runtime.lifecycle.onStop('run of the dead-links worker', () => running.catch(() => undefined)); // thrown below
    await running.catch(explainDatabase);
  },
});

async function open({ log, lifecycle, health, metrics }: Runtime, config: CheckConfig, migrations: MigrationSource) {
  const database = lifecycle.opened(
    'database',
    createPool(config.databaseUrl.reveal(), { schema: migrations.schema, log, metrics, maxConnections: 3, name: 'dead-links', ...requestLimits }),
  );
  health.addCheck('database', await createSchemaCheck(database, migrations));
  const deadLinks = createDeadLinks({
    config,
    store: createCheckStore(database),
    fetchPublic: createPublicFetch(config.allowedAddresses),
    outbox: createOutbox(config),
    log,
    metrics,
    clock: systemClock,
    stopping: lifecycle.stopping,
  });
  // One process at a time: a host gets one request at a time from all of them together.
  return async () => void (await database.whileLocked('signalbox.bookmarks.dead-links', () => deadLinks.run()));
}
