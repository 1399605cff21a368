// Starts the link digest: settings, database, queue, HTTP.
import type { MigrationSource } from '../platform/postgres/migrations.ts';
import { requestLimits } from '../platform/postgres/pool.ts';
import type { Deployable, Runtime } from '../platform/process/deployable.ts';
import { createDigestApp } from './app.ts';
import { type DigestConfig, readConfig, settings } from './config.ts';
import { consumeMails } from './ingest/consumer.ts';
import { createDigestWorker, openIngest } from './ingest/worker.ts';

const migrations: MigrationSource = { schema: 'digest', directory: new URL('migrations/', import.meta.url), extensions: ['pg_trgm'] };

async function start(runtime: Runtime, config: DigestConfig): Promise<void> {
  const { log, metrics, health, lifecycle, listen } = runtime;
  const { database, broker, handler, mailReader } = await openIngest(runtime, config, { name: 'signalbox link-digest', migrations, pool: requestLimits });
  if (config.consumes === 'true') lifecycle.onStop('consumer of mails', consumeMails(broker, handler).stop);
  await listen(createDigestApp({ config, database, broker, mailReader, health, lifecycle, log, metrics }), config.port);
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
