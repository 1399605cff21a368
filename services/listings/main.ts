// Starts the listing triage service: settings, database, HTTP.
import type { Deployable, Runtime } from '../platform/process/deployable.ts';
import { createSchemaCheck, type MigrationSource } from '../platform/postgres/migrations.ts';
import { createPool, requestLimits } from '../platform/postgres/pool.ts';
import { createListingsApp } from './app.ts';
import { type ListingsConfig, readServiceConfig, settings } from './config.ts';
import { createGeocodingWorker } from './geocoding/worker.ts';

const migrations: MigrationSource = { schema: 'listings', directory: new URL('migrations/', import.meta.url), extensions: ['pg_trgm'] };

/** The longest request, a stream of listings. */
const requestMs = 10 * 60_000;

async function start({ log, metrics, health, lifecycle, listen }: Runtime, config: ListingsConfig): Promise<void> {
  const database = lifecycle.opened('database', createPool(config.databaseUrl.reveal(), { schema: migrations.schema, log, metrics, ...requestLimits }));
  health.addCheck('schema', await createSchemaCheck(database, migrations));
  await listen(createListingsApp({ config, database, health, lifecycle, log, metrics }), config.port, { requestMs });
}

export const deployable: Deployable<ListingsConfig> = {
  name: 'listings',
  summary: 'Takes rental listings in, and lets people decide on them',
  settings,
  migrations,
  read: readServiceConfig,
  start,
  workers: { geocoding: createGeocodingWorker(migrations) },
};
