// The operator: keeps what BrokerConnections, SecretApplications and SyncedSecrets say, on one of its replicas.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Environment } from '../platform/config/config.ts';
import { findCluster } from '../platform/kubernetes.ts';
import type { Runtime } from '../platform/process/deployable.ts';
import { createBrokerConnections } from './broker-connections/controller.ts';
import { createCluster } from './cluster/client.ts';
import { whileLeading } from './cluster/lease.ts';
import { createTransport } from '../platform/api-server.ts';
import { type OperatorConfig, readConfig, settings } from './config.ts';
import { type Controller, createManager } from './manager.ts';
import { createOperatorMetrics, type OperatorMetrics } from './metrics.ts';
import { createSecretsService, type SecretsService } from './secrets-service.ts';
import { createSecretApplications } from './secret-applications/controller.ts';
import { createOwnership, type Ownership } from './ownership.ts';
import { createSyncedSecrets } from './synced-secrets/controller.ts';
import { createWithoutService } from './without-service.ts';

/** The setting is a list while a token is replaced: the secrets service takes each, the operator sends the first and believes the seals of all. */
const tokensOf = ({ adminKey }: OperatorConfig): string[] =>
  adminKey
    ?.reveal()
    .split(',')
    .map((token) => token.trim()) ?? [];

function serviceOf({ secretsUrl }: OperatorConfig, [adminKey, ...formerAdminKeys]: readonly string[]): SecretsService | undefined {
  return secretsUrl === undefined || adminKey === undefined ? undefined : createSecretsService({ baseUrl: secretsUrl, adminKey, formerAdminKeys });
}

const controllersOf = (service: SecretsService | undefined, ownership: Ownership): Controller[] => [
  createBrokerConnections(),
  ...(service
    ? [createSecretApplications(service, ownership), createSyncedSecrets(service, ownership)]
    : [createWithoutService('SecretApplication'), createWithoutService('SyncedSecret')]),
];

/** Begins, and goes on until the lifecycle stops. */
async function start({ log, lifecycle, metrics, health }: Runtime, config: OperatorConfig): Promise<void> {
  const { config: cluster, namespace } = findCluster();
  const { stopping } = lifecycle;
  // Outlives the leading, to give the Lease back.
  const closing = new AbortController();
  const identity = `${hostname()}_${randomUUID()}`;
  const connect = (signal: AbortSignal) => {
    const transport = createTransport(cluster, signal);
    return { transport, cluster: createCluster({ transport, identity, onEventFailure: (error) => log.debug({ error }, 'recording an Event failed') }), signal };
  };
  let isLeading = false;
  const tokens = tokensOf(config);
  const ownership = createOwnership(config);
  const service = serviceOf(config, tokens);
  const leaseNamespace = config.leaseNamespace ?? namespace;
  const place = config.tokenSecret === undefined ? undefined : { namespace: leaseNamespace, name: config.tokenSecret };
  const manager = createManager({
    controllers: () => controllersOf(service, ownership),
    namespace: config.namespace,
    ownSecrets: { place, tokens },
    log,
    metrics: () => measured,
    feed: service?.follow,
  });
  const measured: OperatorMetrics = createOperatorMetrics(metrics, { isLeading: () => isLeading, ...manager });
  const lease = connect(closing.signal);
  health.addCheck('api-server', async () => {
    await lease.transport.json({ method: 'GET', path: '/version' });
    return { ok: true };
  });
  const key = { namespace: leaseNamespace, name: config.leaseName };
  const running = whileLeading({ cluster: lease.cluster, key, identity, stopping, log }, async (signal) => {
    isLeading = true;
    await manager.run(connect(signal)).finally(() => (isLeading = false));
  });
  lifecycle.onStop('operator', async () => {
    await running;
    closing.abort();
  });
  await Promise.resolve();
}

export const operator = {
  name: 'operator',
  summary: 'keep BrokerConnections, SecretApplications and SyncedSecrets of a cluster',
  settings,
  read: (environment: Environment) => readConfig(environment),
  start,
};
