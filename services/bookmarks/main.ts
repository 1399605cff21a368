// Starts the bookmark catalogue: settings, databases, HTTP.
import type { Deployable, Runtime } from '../platform/process/deployable.ts';
import { createSchemaCheck, type MigrationSource } from '../platform/postgres/migrations.ts';
import { createPool, type PoolOptions, requestLimits } from '../platform/postgres/pool.ts';
import { startEvents } from '../platform/events/events.ts';
import { systemClock } from '../platform/time.ts';
import { createBookmarksApp } from './app.ts';
import { type BookmarksConfig, readConfig, settings } from './config.ts';
import { createDeadLinksWorker } from './dead-links/worker.ts';
import { startForgetting } from './undo/undo.ts';

const migrations: MigrationSource = { schema: 'bookmarks', directory: new URL('migrations/', import.meta.url), extensions: ['pg_trgm'] };

/** Long enough for a whole import, whose body is read only as fast as it is stored. */
const requestMs = 600_000;

async function start({ log, metrics, health, lifecycle, listen }: Runtime, config: BookmarksConfig): Promise<void> {
  const databaseUrl = config.databaseUrl.reveal();
  const open = (name: string, options: Pick<PoolOptions, 'maxConnections'>) =>
    lifecycle.opened(name, createPool(databaseUrl, { schema: 'bookmarks', name, log, metrics, ...requestLimits, ...options }));
  const database = open('database', { maxConnections: 10 });
  // Writes take turns anyway; a waiting write is cancelled like any statement that takes too long.
  const writeDatabase = open('write database', { maxConnections: 2 });
  health.addCheck('schema', await createSchemaCheck(database, migrations));
  startForgetting({ database, lifecycle, log });
  startEvents(config, { deployable: 'bookmarks', database, lifecycle, log, metrics, clock: systemClock });
  await listen(createBookmarksApp({ config, database, writeDatabase, stopping: lifecycle.stopping, health, log, metrics }), config.port, { requestMs });
}

export const deployable: Deployable<BookmarksConfig> = {
  name: 'bookmarks',
  summary: 'Keeps bookmarks in folders, searches them, and imports and exports files of browsers',
  settings,
  migrations,
  read: readConfig,
  start,
  workers: { 'dead-links': createDeadLinksWorker(migrations) },
};
