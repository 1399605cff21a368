// The secrets service put together; what tests construct.
import { createAddressOf } from '../platform/client-address.ts';
import { authorization } from '../platform/http/credentials.ts';
import { createRateLimit } from '../platform/http/rate-limit.ts';
import type { Health } from '../platform/health.ts';
import { type App, createApp } from '../platform/http/app.ts';
import { startEvents } from '../platform/events/events.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Database, Pool } from '../platform/postgres/pool.ts';
import { type AnyRoute, asksDatabase, tagged } from '../platform/http/route.ts';
import { connectRedis } from '../platform/redis.ts';
import { systemClock } from '../platform/time.ts';
import { version } from '../platform/version.ts';
import { createAudit, createAuditStore } from './audit.ts';
import { changeRoutes, createChangePolls } from './changes/polls.ts';
import { createChangeStore } from './changes/store.ts';
import { keyVaultRoutes, keyVaultTag } from './compatibility/key-vault.ts';
import { vaultRoutes, vaultTag } from './compatibility/vault.ts';
import { vaultStateRoutes } from './compatibility/vault-state.ts';
import type { SecretsConfig } from './config.ts';
import { type ApiServer, countReviews, createAccountTokens } from './consumer/account-tokens.ts';
import { applicationGuard, consumerRoutes } from './consumer/reads.ts';
import { createSecretReader, type SecretReader } from './consumer/reader.ts';
import { createConsumerStore } from './consumer/store.ts';
import { createKeyUses } from './consumer/uses.ts';
import { Problems } from './contract.ts';
import { createKeyCheck } from './encryption/key-check.ts';
import { startHousekeeping } from './housekeeping.ts';
import { accountRoutes } from './management/accounts.ts';
import { applicationRoutes } from './management/applications.ts';
import { configurationRoutes } from './management/configurations.ts';
import { copyRoutes } from './management/copies.ts';
import { environmentRoutes } from './management/environments.ts';
import { keyRoutes } from './management/keys.ts';
import { secretRoutes } from './management/secrets.ts';
import { createManagementStore } from './management/store.ts';
import { createUnitOfWork } from './management/unit-of-work.ts';
import { valueRoutes } from './management/values.ts';
import { overviewRoutes } from './overview/overview.ts';
import { startNotices } from './notices.ts';
import { createOverviewStore } from './overview/store.ts';

export type SecretsParts = {
  readonly config: SecretsConfig;
  /** For everything but the writes of administrators. */
  readonly database: Pool;
  /** For the writes of administrators: one that waits for a lock takes a connection from nothing else. */
  readonly writeDatabase: Database;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Checks tokens of ServiceAccounts; without it applications have keys only. */
  readonly apiServer?: ApiServer | undefined;
  readonly clock?: () => Date;
};

const tags = {
  applications: { name: 'Applications', description: 'Programs that read secrets, each with a key of its own' },
  environments: { name: 'Environments', description: 'Environments of an application: `local`, `production`, …' },
  secrets: { name: 'Secrets', description: 'Secrets of an application, with versions of their value in each environment' },
  configurations: { name: 'Configurations', description: 'Configuration entries of an application, which are not secret' },
  overview: { name: 'Overview', description: 'Coverage of environments, versions that expire, and the audit' },
  changes: { name: 'Changes', description: 'A feed of changes for programs that keep copies' },
  reading: { name: 'Reading', description: 'Values for applications, each with its own key' },
};

const failures = { name: 'failed-credentials', counted: 'requests with a missing or wrong credential', seconds: 300 };
const administrator = { name: 'administrator', description: 'The token of an administrator: a value of `Management__AdminApiKey`.' };

export function createSecretsApp(parts: SecretsParts): App {
  const { config, database, writeDatabase, health, lifecycle, log, metrics, clock = systemClock } = parts;

  const keyring = config.masterKeys;
  const keyCheck = createKeyCheck(keyring, database);
  health.addCheck('master keys', () => keyCheck.state());
  if (keyring.fault !== undefined) log.error({ reason: keyring.fault }, 'master keys unusable: writes and reads of secrets are refused with 503');

  const audit = lifecycle.opened('audit', createAudit({ store: createAuditStore(database), log, metrics }));
  startUpkeep({ ...parts, clock });
  const changePolls = createChangePolls({ store: createChangeStore(database), lifecycle, metrics, maxPolls: config.maxChangePolls });

  const store = createManagementStore(database);
  const write = createUnitOfWork({ database: writeDatabase, keyCheck, audit, clock });
  const managementRoutes = [
    ...tagged(tags.applications, [...applicationRoutes(store, write), ...keyRoutes(store, write), ...accountRoutes(store, write)]),
    ...tagged(tags.environments, environmentRoutes(store, write)),
    ...tagged(tags.secrets, [...secretRoutes(store, write), ...valueRoutes(store, write, keyring), ...copyRoutes(write, keyring)]),
    ...tagged(tags.configurations, configurationRoutes(store, write)),
    ...tagged(tags.overview, overviewRoutes({ management: store, store: createOverviewStore(database), audit: createAuditStore(database), clock })),
    ...tagged(tags.changes, changeRoutes(changePolls)),
  ];
  const consumerStore = createConsumerStore(database, clock);
  const keyUses = lifecycle.opened('key uses', createKeyUses({ database, log }));
  const reader = createSecretReader({ store: consumerStore, tokens: tokensOf(parts, clock), keyUses, keyring, keyCheck, audit, log, metrics, clock });
  const redis = config.redisUrl && lifecycle.opened('redis', connectRedis(config.redisUrl.reveal(), { name: 'signalbox secrets', log }));
  const failureLimit = createRateLimit({ service: 'secrets', redis, database, log, metrics }, { ...failures, requests: config.maxFailedCredentials });
  return createApp({
    description: { title: 'secrets', summary: 'Keeps secrets and configuration of applications, and hands each its own.', version },
    routes: [
      ...[...managementRoutes, ...tagged(tags.reading, consumerRoutes({ reader, store: consumerStore, keyUses, clock }))].map(withRefusals),
      ...compatibleRoutes(config, { reader, clock, health }),
    ],
    areas: [
      { prefix: '/api/management', guard: authorization('Bearer', config.adminApiKeys, { ...administrator, ofConsole: config.consoleTokens }), failureLimit },
      { prefix: '/api/consumer', guard: applicationGuard(reader) },
    ],
    health,
    log,
    metrics,
    addressOf: createAddressOf(config.trustedProxies, log),
    corsOrigins: config.corsOrigins,
  });
}

function tokensOf({ apiServer, config, log, metrics }: SecretsParts, clock: () => Date) {
  const reviews = countReviews(metrics);
  return apiServer && createAccountTokens({ apiServer, audience: config.tokenAudience, log, reviews, clock });
}

/** No route answers without the database; a write needs the master keys, and may find the application held by another one. */
function withRefusals(route: AnyRoute): AnyRoute {
  const ofWrites = route.method === 'get' ? [] : [Problems.masterKeysUnusable, Problems.applicationBusy];
  return asksDatabase({ ...route, problems: [...(route.problems ?? []), ...ofWrites] });
}

type CompatibleParts = { readonly reader: SecretReader; readonly clock: () => Date; readonly health: Health };

/** Reads in the wire forms of other products, where they are switched on. */
const compatibleRoutes = ({ vault, keyVault }: SecretsConfig, parts: CompatibleParts): AnyRoute[] => [
  ...(vault === 'on' ? tagged(vaultTag, [...vaultStateRoutes(parts.health, parts.clock), ...vaultRoutes(parts)]) : []),
  ...(keyVault === 'on' ? tagged(keyVaultTag, keyVaultRoutes(parts)) : []),
];

/** Work of the service by itself: its own tables, and events of what expires or is unused. */
function startUpkeep(parts: SecretsParts & { readonly clock: () => Date }): void {
  startHousekeeping(parts);
  startNotices({ ...parts, outbox: startEvents(parts.config, { ...parts, deployable: 'secrets' }) });
}
