// The webhook relay put together; what tests construct.
import { createAddressOf } from '../platform/http/client-address.ts';
import { authorization, createCredentials } from '../platform/http/credentials.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Health } from '../platform/http/health.ts';
import { type App, createApp } from '../platform/http/app.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { version } from '../platform/version.ts';
import { createBodyMemory } from './body-memory.ts';
import type { RelayConfig } from './config.ts';
import { createAdministration } from './connections/administration.ts';
import type { Connections } from './connections/connections.ts';
import { createHealthReporter } from './health-report.ts';
import { createPublishing } from './publishing.ts';
import { createReceiving } from './receiving.ts';
import { createRoutes } from './routes.ts';
import { startSpooling } from './spooling.ts';
import { createUsage } from './usage/usage.ts';

export type RelayParts = {
  readonly config: RelayConfig;
  readonly connections: Connections;
  readonly database: Database;
  /** Counts messages; with timeouts that leave a delivery time for the spool. */
  readonly counters: Database;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock?: () => Date;
  /** How long spooled deliveries wait for the next try, where no connection comes back before. */
  readonly replayEveryMs?: number;
};

export function createRelay(given: RelayParts): App {
  const parts = { clock: () => new Date(), ...given };
  const { config } = parts;
  const publishing = createPublishing(parts);
  const spool = startSpooling(parts, publishing.publisher);
  const { deliveries, senders } = createReceiving(parts, publishing, spool);
  const routes = createRoutes({
    deliveries,
    administration: createAdministration({ ...parts, ...publishing }),
    usage: createUsage({ ...parts, ...publishing }),
    senders,
    healthReporter: createHealthReporter({ ...parts, ...publishing, database: publishing.state }),
    maxPayloadBytes: config.maxPayloadBytes,
    bodyMemory: createBodyMemory(config.maxBodyMemoryBytes),
  });
  return createApp({
    ...parts,
    description: { title: 'webhook-relay', summary: 'Takes webhooks of the forge, scores them and publishes them to a message broker.', version },
    routes,
    areas: [{ prefix: '/broker', guard: authorization('Bearer', createCredentials(config.authTokens)) }],
    addressOf: createAddressOf(config.trustedProxies),
    corsOrigins: config.corsOrigins,
    caseSensitivePaths: false,
  });
}
