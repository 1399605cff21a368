// Starts the secrets service: settings, databases, HTTP.
import type { Deployable, Runtime } from '../platform/process/deployable.ts';
import { createSchemaCheck } from '../platform/postgres/migrations.ts';
import { createPool, type PoolOptions, requestLimits } from '../platform/postgres/pool.ts';
import { createTransport } from '../platform/api-server.ts';
import { createSecretsApp } from './app.ts';
import { readConfig, type SecretsConfig, settings } from './config.ts';
import type { ApiServer } from './consumer/account-tokens.ts';

const migrations = { schema: 'secrets', directory: new URL('migrations/', import.meta.url) };

/** The library of Kubernetes takes 55 MB, so it is loaded only where it is needed. */
async function connectApiServer({ lifecycle }: Pick<Runtime, 'lifecycle'>): Promise<ApiServer> {
  const { findCluster } = await import('../platform/kubernetes.ts');
  const closing = new AbortController();
  // Reads in hand end before it.
  lifecycle.onStop('API server', () => closing.abort());
  return createTransport(findCluster().config, closing.signal, { answerMs: 5000 });
}

async function start({ log, metrics, health, lifecycle, listen }: Runtime, config: SecretsConfig): Promise<void> {
  const databaseUrl = config.databaseUrl.reveal();
  const open = (name: string, options: Pick<PoolOptions, 'maxConnections' | 'lockMs'>) =>
    lifecycle.opened(name, createPool(databaseUrl, { schema: 'secrets', name, log, metrics, ...requestLimits, ...options }));
  const database = open('database', { maxConnections: 8 });
  // A write that cannot lock its application gives up before its statement times out, and the refusal says so.
  const writeDatabase = open('write database', { maxConnections: 10, lockMs: 2000 });
  health.addCheck('schema', await createSchemaCheck(database, migrations));
  const apiServer = config.serviceAccounts === 'on' ? await connectApiServer({ lifecycle }) : undefined;
  await listen(createSecretsApp({ config, database, writeDatabase, health, lifecycle, log, metrics, apiServer }), config.port, {
    takesList: config.vault === 'on',
  });
}

export const deployable: Deployable<SecretsConfig> = {
  name: 'secrets',
  summary: 'Keeps secrets and configuration of applications, and hands each its own',
  settings,
  migrations,
  read: readConfig,
  start,
};
