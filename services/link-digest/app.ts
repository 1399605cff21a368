// The link digest put together; what tests construct.
import type { Broker } from '../platform/broker/broker.ts';
import { startEvents } from '../platform/events/events.ts';
import { type App, createApp } from '../platform/http/app.ts';
import { createAddressOf } from '../platform/client-address.ts';
import type { Health } from '../platform/health.ts';
import { byCredential } from '../platform/http/credentials.ts';
import { createRateLimit } from '../platform/http/rate-limit.ts';
import { asksDatabase, tagged } from '../platform/http/route.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Pool } from '../platform/postgres/pool.ts';
import { createSnapshots, type SnapshotLimits, usualSnapshotLimits } from '../platform/postgres/snapshots.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import { connectRedis } from '../platform/redis.ts';
import { systemClock } from '../platform/time.ts';
import { version } from '../platform/version.ts';
import { authorRoutes } from './authors/authors.ts';
import { createAuthorStore } from './authors/store.ts';
import type { DigestConfig } from './config.ts';
import { failureEnvelope } from './envelope.ts';
import { startHousekeeping } from './housekeeping.ts';
import { ingestGuard, ingestPath, ingestRoute } from './ingest/ingest.ts';
import { linkRoutes } from './links/links.ts';
import { createLinkStore } from './links/store.ts';
import { loginRoute } from './login/login.ts';
import { createLoginStore } from './login/store.ts';
import { bearer, createTokens } from './login/tokens.ts';
import type { MailReader } from './mails/reader.ts';
import { measureDigest } from './metrics.ts';
import { createArrivals } from './newsletters/arrivals.ts';
import { newsletterRoutes } from './newsletters/newsletters.ts';
import { createNewsletterLists } from './newsletters/store.ts';
import { createDecisionStore } from './scoring/decision-store.ts';
import { createScores } from './scoring/scores.ts';
import { createScoreStore } from './scoring/store.ts';
import { statisticsRoutes } from './statistics.ts';

export type DigestParts = {
  readonly config: DigestConfig;
  readonly database: Pool;
  /** The broker of the queue of mails. */
  readonly broker: Broker;
  /** Shared with the consumer of mails: one thread parses for both. */
  readonly mailReader: Pick<MailReader, 'show'>;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock?: () => Date;
  readonly snapshotLimits?: SnapshotLimits;
};

const tags = {
  ingest: { name: 'Ingest', description: 'Takes mails in' },
  login: { name: 'Login', description: 'Gives access tokens' },
  links: { name: 'Links', description: 'Links of newsletters, ranked for review' },
  newsletters: { name: 'Newsletters', description: 'Mails that were taken in, with their links' },
  authors: { name: 'Authors', description: 'Authors of the linked pages' },
  statistics: { name: 'Statistics', description: 'Counts of links, newsletters and authors' },
};

export function createDigestApp({ config, database, broker, mailReader, health, lifecycle, log, metrics, ...parts }: DigestParts): App {
  const { clock = systemClock, snapshotLimits = usualSnapshotLimits } = parts;
  const redis = config.redisUrl && lifecycle.opened('redis', connectRedis(config.redisUrl.reveal(), { name: 'signalbox link-digest', log }));
  const counting = { service: 'link-digest', redis, database, log, metrics };
  const logins = createRateLimit(counting, { name: 'logins', requests: config.loginAttempts, counted: 'failed logins', seconds: 900 });
  const mails = createRateLimit(counting, { name: 'mails', requests: config.mailsPerHour, seconds: 3600 });
  // The first signs; those of the console are only taken.
  const tokens = createTokens({ config: { ...config, keys: [...config.keys, ...(config.consoleKeys ?? [])] }, clock });
  const links = createLinkStore(database);
  const scores = createScores(createScoreStore(database), { weights: config, clock });
  const newsletters = createNewsletterLists(database);
  const openSnapshot = createSnapshots(database, snapshotLimits);
  measureDigest({ links, metrics });
  startEvents(config, { deployable: 'link-digest', database, lifecycle, log, metrics, clock });
  startHousekeeping({ database, lifecycle, log, clock, rawMailsDays: config.rawMailsDays });
  const routes = [
    ...tagged(tags.ingest, [
      ingestRoute({ broker, newsletters: createArrivals(database, { weights: config, clock }), maxMailBytes: config.maxMailBytes, clock, log }),
    ]),
    ...tagged(tags.login, [loginRoute({ config, store: createLoginStore(database), tokens, clock, limit: logins })]),
    ...tagged(tags.links, linkRoutes({ store: links, scores, decisions: createDecisionStore(database), openSnapshot, clock })),
    ...tagged(tags.newsletters, newsletterRoutes(newsletters, mailReader)),
    ...tagged(tags.authors, authorRoutes(createAuthorStore(database))),
    ...tagged(tags.statistics, statisticsRoutes({ database, newsletters, links, clock })),
  ];
  return createApp({
    description: { title: 'link-digest', summary: 'Finds the links in newsletters, and ranks them for review.', version },
    routes: routes.map(asksDatabase),
    areas: [
      { prefix: ingestPath, guard: ingestGuard(config.ingestTokens), limit: { counter: mails, by: byCredential } },
      { prefix: '/api', guard: bearer(tokens) },
    ],
    refusals: failureEnvelope,
    health,
    log,
    metrics,
    addressOf: createAddressOf(config.trustedProxies, log),
    corsOrigins: config.corsOrigins,
  });
}
