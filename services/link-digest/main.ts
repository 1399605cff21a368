// Starts the link digest: settings, database, queue, HTTP.
import { connectBroker } from '../platform/broker/connect.ts';
import { createSchemaCheck, type MigrationSource } from '../platform/postgres/migrations.ts';
import { createPool } from '../platform/postgres/pool.ts';
import type { Deployable, Runtime } from '../platform/process/deployable.ts';
import { systemClock } from '../platform/time.ts';
import { createDigestApp } from './app.ts';
import { type DigestConfig, readConfig, settings } from './config.ts';
import { consumeMails, createMailHandler, measureQueue } from './ingest/consumer.ts';
import { ingestTopology } from './ingest/queue.ts';
import { createDigestWorker } from './ingest/worker.ts';
import { createNewsletterReader } from './mails/newsletters.ts';
import { createNewsletterStore } from './newsletters/arrivals.ts';

const migrations: MigrationSource = { schema: 'digest', directory: new URL('migrations/', import.meta.url), extensions: ['pg_trgm'] };

/** A server that hangs is given up; scores of a hundred thousand links take a few seconds. */
const statementMs = 20_000;
const answerMs = 25_000;

async function start({ log, metrics, health, lifecycle, listen }: Runtime, config: DigestConfig): Promise<void> {
  const database = lifecycle.opened('database', createPool(config.databaseUrl.reveal(), { schema: migrations.schema, log, statementMs, answerMs }));
  health.addCheck('schema', await createSchemaCheck(database, migrations));
  const { maxRetries, queueType } = config;
  const connection = { log, name: 'signalbox link-digest', queueType };
  const broker = lifecycle.opened('broker', connectBroker(config.brokerUrl.reveal(), ingestTopology(maxRetries), connection));
  measureQueue(broker, metrics);
  if (config.consumes === 'true') {
    const newsletters = createNewsletterStore(database, { weights: config, clock: systemClock });
    const handle = createMailHandler({ newsletters, read: createNewsletterReader(), maxRetries, log, metrics });
    lifecycle.onStop('consumer of mails', consumeMails(broker, handle).stop);
  }
  await listen(createDigestApp({ config, database, broker, health, lifecycle, log, metrics }), config.port);
}

export const deployable: Deployable<DigestConfig> = {
  name: 'link-digest',
  summary: 'Finds the links in newsletters, and ranks them for review',
  settings,
  migrations,
  read: readConfig,
  start,
  workers: { digest: createDigestWorker(migrations) },
};
