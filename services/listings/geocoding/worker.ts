// `signalbox worker geocoding`: finds coordinates of listings and parses failed mails again; once, or in a loop.
import { createOutbox } from '../../platform/events/events.ts';
import { explainDatabase } from '../../platform/postgres/errors.ts';
import { createSchemaCheck, type MigrationSource } from '../../platform/postgres/migrations.ts';
import { createPool, requestLimits } from '../../platform/postgres/pool.ts';
import type { Runtime, Worker } from '../../platform/process/deployable.ts';
import { every, systemClock } from '../../platform/time.ts';
import { type GeocodingConfig, readWorkerConfig } from '../config.ts';
import { createIngest } from '../ingest.ts';
import { createBoundedParser } from '../mails/bounded-parser.ts';
import { createMails } from '../mails/mails.ts';
import { createMailStore } from '../mails/store.ts';
import { createListingStore } from '../store.ts';
import { createGeocoding } from './geocoding.ts';
import { createProvider } from './providers.ts';
import { createGeocodingStore } from './store.ts';

export const createGeocodingWorker = (migrations: MigrationSource): Worker<GeocodingConfig> => ({
  summary: 'Fills in coordinates of listings, and parses failed alert mails again',
  read: readWorkerConfig,
  async start(runtime, config) {
    const { log, lifecycle } = runtime;
    const jobs = await open(runtime, config, migrations);
    const running = every(config.geocodingIntervalSeconds * 1000, lifecycle.stopping, async () => {
      for (const { name, run } of jobs) await run().catch((error: unknown) => log.warn({ job: name, error }, 'run of the worker failed, retrying'));
    });
    lifecycle.onStop('geocoding worker', () => running);
  },
  async once(runtime, config) {
    const jobs = await open(runtime, config, migrations);
    const running = Promise.allSettled(jobs.map(({ run }) => run()));
    // On a stop the run ends before its pool is closed.
    runtime.lifecycle.onStop('run of the geocoding worker', () => running.then(() => undefined));
    const failed = (await running).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') explainDatabase(failed.reason);
  },
});

async function open({ log, lifecycle, health, metrics }: Runtime, config: GeocodingConfig, migrations: MigrationSource) {
  const { geocodingProvider: provider, geocodingBaseUrl: baseUrl, geocodingApiKey: apiKey, geocodeCacheDays: cacheDays, linkPattern } = config;
  const { stopping } = lifecycle;
  const database = lifecycle.opened(
    'database',
    createPool(config.databaseUrl.reveal(), { schema: migrations.schema, log, metrics, maxConnections: 4, ...requestLimits }),
  );
  health.addCheck('database', await createSchemaCheck(database, migrations));
  const shared = { clock: systemClock, log, metrics };
  const geocoding = createGeocoding({
    ...shared,
    store: createGeocodingStore(database),
    provider: createProvider({ provider, baseUrl, apiKey }),
    cacheDays,
    stopping,
  });
  const mails = createMails({
    ...shared,
    store: createMailStore(database),
    ingest: createIngest({ store: createListingStore(database), outbox: createOutbox(config), withdrawnAfterDays: config.withdrawnAfterDays }),
    parse: createBoundedParser(linkPattern),
  });
  // One process at a time asks the geocoder, whose limit is for all processes together, and records the heartbeat for all.
  const runGeocoding = async () => void (await database.whileLocked('signalbox.listings.geocoding', () => geocoding.run()));
  return [
    { name: 'geocoding', run: runGeocoding },
    { name: 'failed mails', run: () => mails.parseFailed(stopping) },
  ];
}
