// The secrets service put together; what tests construct.
import { createAddressOf } from '../platform/http/client-address.ts';
import type { Health } from '../platform/http/health.ts';
import { type App, createApp } from '../platform/http/app.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Database } from '../platform/postgres/pool.ts';
import { Common } from '../platform/problem.ts';
import type { AnyRoute } from '../platform/http/route.ts';
import { version } from '../platform/version.ts';
import { createAdministrators } from './administrators.ts';
import { createApplications } from './applications/applications.ts';
import { applicationRoutes } from './applications/routes.ts';
import { createTurns } from './applications/turns.ts';
import { createAudit } from './audit/audit.ts';
import { createAuditStore } from './audit/store.ts';
import { createAuditWriter } from './audit/writer.ts';
import type { SecretsConfig } from './config.ts';
import { createConfigurations } from './configurations/configurations.ts';
import { configurationRoutes } from './configurations/routes.ts';
import { keyHolder } from './consumer/key-holder.ts';
import { createReads } from './consumer/reads.ts';
import { consumerRoutes } from './consumer/routes.ts';
import { createConsumerStore } from './consumer/store.ts';
import { createKeyCheck } from './encryption/key-check.ts';
import { readMasterKeys } from './encryption/master-keys.ts';
import { createKeyCheckStore } from './encryption/store.ts';
import { Problems } from './contract.ts';
import { createEnvironments } from './environments/environments.ts';
import { environmentRoutes } from './environments/routes.ts';
import { startHousekeeping } from './housekeeping.ts';
import { secretRoutes } from './secrets/routes.ts';
import { createSecrets } from './secrets/secrets.ts';
import { valueRoutes } from './values/routes.ts';
import { createValues } from './values/values.ts';

export type SecretsParts = {
  readonly config: SecretsConfig;
  /** For readiness, what administrators read, audit and housekeeping. */
  readonly database: Database;
  /** For the writes of administrators: what they wait for holds up nothing else. */
  readonly writeDatabase: Database;
  /** For the reads of applications: no administrator's write can hold them up. */
  readonly consumerDatabase: Database;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock?: () => Date;
};

export function createSecretsApp(parts: SecretsParts): App {
  const { config, database, writeDatabase, consumerDatabase, health, lifecycle, log, metrics, clock = () => new Date() } = parts;

  const keyring = readMasterKeys(config.masterKeys);
  const keyCheck = createKeyCheck({ keyring, store: createKeyCheckStore(database) });
  health.addCheck('master keys', () => keyCheck.state());
  if (keyring.fault !== undefined) log.error({ fault: keyring.fault }, 'the master keys are not usable: nothing is written and no value is served');

  const writer = lifecycle.opened('audit', createAuditWriter({ store: createAuditStore(database), log, metrics }));
  const audit = createAudit({ database: writeDatabase, turns: createTurns(), keyCheck, writer, clock });
  startHousekeeping({ database, lifecycle, log, clock, auditRetentionDays: config.auditRetentionDays });

  const administrators = createAdministrators(config.adminApiKeys);
  const { actorOf } = administrators;
  const consumerStore = createConsumerStore(consumerDatabase);
  const nouns = { database, audit, clock };
  return createApp({
    description: { title: 'secrets', summary: 'Keeps secrets and configuration of applications, and hands each its own.', version },
    routes: [
      ...applicationRoutes(createApplications(nouns), actorOf),
      ...environmentRoutes(createEnvironments(nouns), actorOf),
      ...secretRoutes(createSecrets(nouns), actorOf),
      ...valueRoutes(createValues(nouns), actorOf),
      ...configurationRoutes(createConfigurations(nouns), actorOf),
      ...consumerRoutes(createReads({ store: consumerStore, keyring, keyCheck, audit, log, metrics, clock })),
    ].map(asksDatabase),
    areas: [
      { prefix: '/api/management', guard: administrators.guard },
      { prefix: '/api/consumer', guard: keyHolder(consumerStore) },
    ],
    health,
    log,
    metrics,
    addressOf: createAddressOf(config.trustedProxies),
    corsOrigins: config.corsOrigins,
  });
}

/** No route answers without the database; those that write may find the application held by another write. */
function asksDatabase(route: AnyRoute): AnyRoute {
  const held = route.problems?.includes(Problems.masterKeysUnusable) ? [Problems.applicationBusy] : [];
  return { ...route, problems: [...(route.problems ?? []), ...held, Common.unavailable] };
}
