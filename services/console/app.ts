// The console put together; what tests construct.
import { type App, createApp } from '../platform/http/app.ts';
import { createAddressOf } from '../platform/client-address.ts';
import type { Health } from '../platform/health.ts';
import { createRateLimit } from '../platform/http/rate-limit.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Pool } from '../platform/postgres/pool.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import { connectRedis } from '../platform/redis.ts';
import { systemClock } from '../platform/time.ts';
import { version } from '../platform/version.ts';
import { createActionRecord } from './access/actions.ts';
import { createForwardAuth } from './access/forward-auth.ts';
import { loginRoutes } from './access/login.ts';
import { createLogins } from './access/logins.ts';
import { createProvider, type Provider } from './access/oidc.ts';
import { callbackPath, oidcRoutes } from './access/oidc-login.ts';
import { createSessions, recentMs } from './access/sessions.ts';
import { createConfirm, createEntrance, sourcesOf } from './access/sources.ts';
import { createBookmarkPages } from './areas/bookmarks/bookmarks.ts';
import { createEventPages } from './areas/events/events.ts';
import { createFollowing } from './areas/events/following.ts';
import { authorPages } from './areas/links/authors.ts';
import { linkPages } from './areas/links/links.ts';
import { newsletterPages } from './areas/links/newsletters.ts';
import { decisionActions } from './areas/listings/decisions.ts';
import { listingPages } from './areas/listings/listing.ts';
import { listPages } from './areas/listings/listings.ts';
import { mapPages } from './areas/listings/map.ts';
import { presetPages } from './areas/listings/presets.ts';
import { rentPages } from './areas/listings/rents.ts';
import { mePages, type OwnParts } from './areas/me/me.ts';
import { nowPages } from './areas/now/now.ts';
import { searchPages } from './areas/search/search.ts';
import { secretsPages } from './areas/secrets/secrets.ts';
import { brokerPages } from './areas/system/brokers.ts';
import { deadLetterPage } from './areas/system/dead-letter.ts';
import { deadLetterPages } from './areas/system/dead-letters.ts';
import { notificationPages } from './areas/system/notifications.ts';
import { recordPages } from './areas/system/record.ts';
import { rejectedPages } from './areas/system/rejected.ts';
import { spoolPages } from './areas/system/spool.ts';
import { systemPages } from './areas/system/system.ts';
import { workerPages } from './areas/system/workers.ts';
import { type UserParts, userPages } from './areas/users/users.ts';
import { assetPaths, assetRoutes } from './assets.ts';
import type { ConsoleConfig } from './config.ts';
import { startHousekeeping } from './housekeeping.ts';
import { countActions } from './metrics.ts';
import type { Declared } from './pages.ts';
import { createPeople } from './people-store.ts';
import { policyOf } from './policy.ts';
import { createRefusals } from './refusals.ts';
import { createStore } from './store.ts';
import { createUpstreams } from './upstream/upstreams.ts';
import { createKit, isSwitchedOn } from './visits.ts';
import { createWaiting } from './waiting.ts';

export type ConsoleParts = {
  readonly config: ConsoleConfig;
  readonly database: Pool;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock?: () => Date;
  /** How long a service is waited for. */
  readonly upstreamMs?: number;
  /** Between two signs of life of a stream, when the session is looked at as well. */
  readonly heartbeatMs?: number;
};

/** Every page, action and resource that needs nothing but a visit. */
const declared: readonly Declared[] = [
  ...nowPages,
  ...linkPages,
  ...newsletterPages,
  ...authorPages,
  ...searchPages,
  ...systemPages,
  ...brokerPages,
  ...deadLetterPages,
  ...deadLetterPage,
  ...spoolPages,
  ...rejectedPages,
  ...workerPages,
  ...notificationPages,
  ...listPages,
  ...mapPages,
  ...rentPages,
  ...listingPages,
  ...decisionActions,
  ...presetPages,
  ...secretsPages,
];

/** Pages that ask the console's own tables beside the services. */
const ownPages = (parts: OwnParts & UserParts): readonly Declared[] => [...mePages(parts), ...recordPages(parts), ...userPages(parts)];

/** The parts that know people: the ways to log in, sessions, the record. */
function createAccess({ config, database, lifecycle, log, metrics, clock }: Omit<ConsoleParts, 'clock'> & { readonly clock: () => Date }) {
  const redis = config.redisUrl && lifecycle.opened('redis', connectRedis(config.redisUrl.reveal(), { name: 'signalbox console', log }));
  const failedLogins = { name: 'logins', requests: config.loginAttempts, counted: 'failed logins', seconds: 900 };
  // A code cannot be guessed: the limit spares the provider. People behind one address share it, and each failure of a clock or a cookie counts.
  const failedCodes = { name: 'codes', requests: 100, counted: 'failed logins', seconds: 900 };
  const limits = { service: 'console', redis, database, log, metrics };
  const store = createStore(database);
  const forwardAuth = createForwardAuth(config);
  const sessions = createSessions({ store, config, confirm: createConfirm({ config, forwardAuth }), clock });
  const logins = createLogins({ store, config, limit: createRateLimit(limits, failedLogins), clock });
  return {
    config,
    clock,
    log,
    codeLimit: createRateLimit(limits, failedCodes),
    store,
    forwardAuth,
    sessions,
    logins,
    entrance: createEntrance({ store, sessions, config, clock, log }),
    provider: providerIn(config, clock),
    actions: createActionRecord({ store, clock, log, count: countActions(metrics) }),
    people: createPeople(database, { sources: sourcesOf({ config, forwardAuth }), first: logins.first }),
    hasLocal: config.localLogin === 'on',
  };
}

export function createConsoleApp({ clock = systemClock, upstreamMs, heartbeatMs, ...parts }: ConsoleParts): App & { readonly declared: readonly Declared[] } {
  const { config, database, health, lifecycle, log, metrics } = parts;
  const access = createAccess({ ...parts, clock });
  const { store, sessions, provider } = access;
  const upstreams = createUpstreams(config, { log, metrics, ...(upstreamMs !== undefined && { timeoutMs: upstreamMs }) });
  startHousekeeping({ database, lifecycle, log, clock, store, sessions, actionsDays: config.actionsDays });
  const following = createFollowing({ ask: (behalf) => upstreams.ask('intake', behalf), stopping: lifecycle.stopping, log });
  const all = [...declared, ...createBookmarkPages(), ...createEventPages(following, heartbeatMs), ...ownPages(access)];
  const switchedOn = all.filter(({ area }) => isSwitchedOn(area, upstreams));
  const areasWithPages = new Set(switchedOn.map(({ area }) => area));
  const waiting = createWaiting({ upstreams, log });
  const kit = createKit({ ...access, upstreams, areasWithPages, assets: assetPaths(), waiting });
  const app = createApp({
    description: { title: 'console', summary: 'Pages for people over all services.', version },
    isDescribed: false,
    routes: [
      ...assetRoutes(),
      ...loginRoutes({ ...access, kit }),
      ...(provider ? oidcRoutes({ ...access, kit, provider }) : []),
      ...switchedOn.map(({ routeBy }) => routeBy(kit)),
    ],
    areas: [{ prefix: '/', guard: sessions.guard }],
    refusals: createRefusals(kit, sessions, config.runbookUrl),
    answerHeaders: answerHeaders(config),
    proxyHeaders: access.forwardAuth?.headers,
    health,
    log,
    metrics,
    addressOf: createAddressOf(config.trustedProxies, log),
  });
  return { ...app, declared: switchedOn };
}

/** The settings were checked together: with an issuer, all others are there. */
function providerIn(config: ConsoleConfig, clock: () => Date): Provider | undefined {
  const { oidcIssuer, oidcClientId = '', oidcClientSecret, oidcScopes, oidcGroupsClaim, publicUrl, sessionHours } = config;
  if (oidcIssuer === undefined) return undefined;
  return createProvider({
    issuer: oidcIssuer,
    clientId: oidcClientId,
    clientSecret: oidcClientSecret,
    scopes: oidcScopes,
    groupsClaim: oidcGroupsClaim,
    redirectUri: `${publicUrl}${callbackPath}`,
    maxAgeSeconds: sessionHours * 3600,
    recentSeconds: recentMs / 1000,
    clock,
  });
}

/** No page is framed but by the console itself, and none is kept. */
function answerHeaders(config: Pick<ConsoleConfig, 'imageOrigins'>): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': policyOf(config),
    'X-Content-Type-Options': 'nosniff',
    // To the console itself only: an action without a field that says so leads back to the page that it was on.
    'Referrer-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
}
