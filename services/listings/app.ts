// The listing triage service put together; what tests construct.
import { createAddressOf } from '../platform/client-address.ts';
import { authorization, byCredentialAndAddress } from '../platform/http/credentials.ts';
import type { Health } from '../platform/health.ts';
import { startEvents } from '../platform/events/events.ts';
import { createRateLimit } from '../platform/http/rate-limit.ts';
import { type App, createApp } from '../platform/http/app.ts';
import { asksDatabase, tagged } from '../platform/http/route.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Pool } from '../platform/postgres/pool.ts';
import { connectRedis } from '../platform/redis.ts';
import { systemClock } from '../platform/time.ts';
import { version } from '../platform/version.ts';
import type { ListingsConfig } from './config.ts';
import { createHeartbeatCheck } from './geocoding/heartbeat.ts';
import { createGeocodingStore } from './geocoding/store.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createIngest, ingestRoutes } from './ingest.ts';
import { createBoundedParser } from './mails/bounded-parser.ts';
import { createMails, mailRoutes } from './mails/mails.ts';
import { createMailStore } from './mails/store.ts';
import { measureWorker } from './metrics.ts';
import { overviewRoutes } from './overview/overview.ts';
import { createOverviewStore } from './overview/store.ts';
import { presetRoutes } from './presets/presets.ts';
import { createPresetStore } from './presets/store.ts';
import { propertyRoutes } from './properties.ts';
import { relationRoutes } from './relations/relations.ts';
import { createRelationStore } from './relations/store.ts';
import { createListingStore } from './store.ts';

export type ListingsParts = {
  readonly config: ListingsConfig;
  readonly database: Pool;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock?: () => Date;
};

export function createListingsApp({ config, database, health, lifecycle, log, metrics, clock = systemClock }: ListingsParts): App {
  const store = createListingStore(database);
  const relations = createRelationStore(database);
  const outbox = startEvents(config, { deployable: 'listings', database, lifecycle, log, metrics, clock });
  const { withdrawnAfterDays } = config;
  const ingest = createIngest({ store, outbox, withdrawnAfterDays, onStored: outbox.wake });
  const mailStore = createMailStore(database);
  const mails = createMails({ store: mailStore, ingest, parse: createBoundedParser(config.linkPattern), clock, log, metrics });
  const geocoding = createGeocodingStore(database);
  health.addCheck('geocoding worker', createHeartbeatCheck(geocoding, clock));
  measureWorker({ geocoding, mails: mailStore, metrics, clock });
  const { rawMailsDays, geocodeCacheDays } = config;
  startHousekeeping({ database, lifecycle, log, clock, store, outbox, withdrawnAfterDays, rawMailsDays, geocodeCacheDays });

  const redis = config.redisUrl && lifecycle.opened('redis', connectRedis(config.redisUrl.reveal(), { name: 'signalbox listings', log }));
  const window = { name: 'requests', requests: config.requestsPerMinute, seconds: 60 };
  const limit = createRateLimit({ service: 'listings', redis, database, log, metrics }, window);
  const guard = authorization('Bearer', config.accessTokens, { description: 'A value of `Listings__AccessTokens`.', ofConsole: config.consoleTokens });
  return createApp({
    description: { title: 'listings', summary: 'Takes rental listings in, and lets people decide on them.', version },
    routes: [
      ...tagged({ name: 'Overviews', description: 'Numbers of the listings that filters leave' }, overviewRoutes(createOverviewStore(database))),
      ...tagged({ name: 'Properties', description: 'Listings, and what is decided on them' }, [
        ...propertyRoutes({ store, relations, clock }),
        ...relationRoutes(store, relations),
      ]),
      ...tagged({ name: 'Presets', description: 'Filters with a name' }, presetRoutes(createPresetStore(database), clock)),
      ...tagged({ name: 'Ingest', description: 'Listings on their way in' }, [...ingestRoutes(ingest, clock), ...mailRoutes(mails)]),
    ].map(asksDatabase),
    areas: [{ prefix: '/api', guard, limit: { counter: limit, by: byCredentialAndAddress } }],
    descriptionGuard: config.appEnv === 'production' ? guard : undefined,
    health,
    log,
    metrics,
    addressOf: createAddressOf(config.trustedProxies, log),
    corsOrigins: config.corsOrigins,
  });
}
