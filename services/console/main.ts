// Starts the console: settings, database, HTTP.
import type { Deployable, Runtime } from '../platform/process/deployable.ts';
import { createSchemaCheck, type MigrationSource } from '../platform/postgres/migrations.ts';
import { createPool, requestLimits } from '../platform/postgres/pool.ts';
import { createConsoleApp } from './app.ts';
import { type ConsoleConfig, readConfig, settings } from './config.ts';

const migrations: MigrationSource = { schema: 'console', directory: new URL('migrations/', import.meta.url) };

async function start({ log, metrics, health, lifecycle, listen }: Runtime, config: ConsoleConfig): Promise<void> {
  const database = lifecycle.opened('database', createPool(config.databaseUrl.reveal(), { schema: migrations.schema, log, metrics, ...requestLimits }));
  health.addCheck('schema', await createSchemaCheck(database, migrations));
  await listen(createConsoleApp({ config, database, health, lifecycle, log, metrics }), config.port);
}

export const deployable: Deployable<ConsoleConfig> = {
  name: 'console',
  summary: 'Pages for people: events, links, listings, bookmarks, secrets, and the state of all services',
  settings,
  migrations,
  isDescribed: false,
  read: readConfig,
  start,
};
