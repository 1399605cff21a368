// The link digest put together; what tests construct.
import { type App, createApp } from '../platform/http/app.ts';
import { createAddressOf } from '../platform/http/client-address.ts';
import type { Health } from '../platform/http/health.ts';
import { createRateLimit } from '../platform/http/rate-limit.ts';
import type { AnyRoute } from '../platform/http/route.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Pool } from '../platform/postgres/pool.ts';
import { Common } from '../platform/problem.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import { connectRedis } from '../platform/redis.ts';
import { systemClock } from '../platform/time.ts';
import { version } from '../platform/version.ts';
import type { DigestConfig } from './config.ts';
import { failureEnvelope } from './envelope.ts';
import { loginPath, loginRoute } from './login/login.ts';
import { createLoginStore } from './login/store.ts';
import { bearer, createTokens } from './login/tokens.ts';

export type DigestParts = {
  readonly config: DigestConfig;
  readonly database: Pool;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock?: () => Date;
};

export function createDigestApp({ config, database, health, lifecycle, log, metrics, clock = systemClock }: DigestParts): App {
  const redis = config.redisUrl && lifecycle.opened('redis', connectRedis(config.redisUrl.reveal(), { name: 'signalbox link-digest', log }));
  const logins = createRateLimit({ service: 'link-digest', redis, database, log, metrics }, { name: 'logins', requests: config.loginAttempts, seconds: 900 });
  const tokens = createTokens({ config, clock });
  return createApp({
    description: { title: 'link-digest', summary: 'Finds the links in newsletters, and ranks them for review.', version },
    routes: [loginRoute({ config, store: createLoginStore(database), tokens, clock })].map(asksDatabase),
    areas: [
      { prefix: loginPath, limit: logins },
      { prefix: '/api', guard: bearer(tokens) },
    ],
    refusals: failureEnvelope,
    health,
    log,
    metrics,
    addressOf: createAddressOf(config.trustedProxies),
    corsOrigins: config.corsOrigins,
  });
}

const asksDatabase = (route: AnyRoute): AnyRoute => ({ ...route, problems: [...(route.problems ?? []), Common.unavailable] });
