// Rate limits: fixed windows counted in Redis or Postgres, so that they hold across replicas and restarts.
import { createHash } from 'node:crypto';
import { RateLimiterPostgres, RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { describeError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Pool } from '../postgres/pool.ts';
import { Common } from '../problem.ts';
import type { RedisConnection } from '../redis.ts';
import { withTimeout } from '../time.ts';
import { clientIn } from '../client-address.ts';
import type { FailureLimit } from './credentials.ts';

export type RateLimitParts = {
  /** The deployable: keys of several may share a Redis. */
  readonly service: string;
  /** Counts here when given, else in the database: the service has the table `rate_limits` among its migrations then, as secrets has. */
  readonly redis?: RedisConnection | undefined;
  readonly database: Pool;
  readonly log: Log;
  readonly metrics: Metrics;
};

export type Window = {
  /** Tells the limits of a service apart; seen by callers in the headers. */
  readonly name: string;
  readonly requests: number;
  /** What is counted, for the one who is refused; `requests` unless given. */
  readonly counted?: string;
  /** It begins with the first request of a key. */
  readonly seconds: number;
  /** A store that answers slower than this is treated as away. */
  readonly storeMs?: number;
};

const warnEveryMs = 10_000;

/**
 * Counts by client address or whatever key it is given; the addresses of one IPv6 network are one client.
 * Headers: `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10, `Retry-After` of RFC 9110 when refused.
 *
 * A store that is away lets requests pass: the limit protects from load, and refusing everybody because nobody can
 * count would turn the loss of a helper into the loss of the service. It is logged and counted, so that it can be alerted on.
 */
export function createRateLimit(parts: RateLimitParts, { name, requests, counted = 'requests', seconds, storeMs = 1000 }: Window): FailureLimit {
  const { service, log } = parts;
  const limiter = createLimiter(parts, { name, requests, seconds });
  const labels = { labels: ['deployable', 'limit'] as const, series: [{ deployable: service, limit: name }] };
  const refused = parts.metrics.counter({ name: 'signalbox_rate_limit_refused_total', help: 'Requests answered 429.', ...labels });
  const uncounted = parts.metrics.counter({
    name: 'signalbox_rate_limit_uncounted_total',
    help: 'Requests let through because the store of the counts was away.',
    ...labels,
  });
  const policy = `"${name}";q=${requests};w=${seconds}`;
  let warnedAt = -Infinity;

  function passUncounted(error: unknown): void {
    uncounted.inc({ deployable: service, limit: name });
    if (performance.now() - warnedAt > warnEveryMs) {
      warnedAt = performance.now();
      log.warn({ limit: name, reason: describeError(error) }, 'rate-limit store unavailable, not limiting');
    }
  }

  function late(): never {
    throw new Error(`no answer in ${storeMs} ms`);
  }

  const secondsLeft = ({ msBeforeNext }: RateLimiterRes) => Math.max(1, Math.ceil(msBeforeNext / 1000));
  const headersOf = (remaining: number, left: number) => ({ 'RateLimit-Policy': policy, RateLimit: `"${name}";r=${remaining};t=${left}` });

  function refuse(usedUp: RateLimiterRes): never {
    refused.inc({ deployable: service, limit: name });
    const wait = secondsLeft(usedUp);
    throw Common.tooMany({
      detail: `At most ${requests} ${counted} in ${seconds} s; the next in ${wait} s.`,
      headers: { ...headersOf(0, wait), 'Retry-After': String(wait) },
    });
  }

  /** Null where nothing was counted yet, or nobody could count. */
  async function ask(asking: Promise<RateLimiterRes | null>): Promise<RateLimiterRes | null> {
    try {
      return await withTimeout(asking, storeMs, late);
    } catch (error) {
      // `consume` rejects with the state of the window when it is used up, and with an Error when it could not count.
      if (error instanceof RateLimiterRes) return refuse(error);
      passUncounted(error);
      return null;
    }
  }

  return {
    async count(key) {
      const state = await ask(limiter.consume(storedKey(key)));
      return state ? headersOf(state.remainingPoints, secondsLeft(state)) : {};
    },
    async check(key) {
      const state = await ask(limiter.get(storedKey(key)));
      if (state?.remainingPoints === 0) refuse(state);
    },
  };
}

function createLimiter({ service, redis, database }: RateLimitParts, { name, requests, seconds }: Window): RateLimiterAbstract {
  const window = {
    keyPrefix: `signalbox:${service}:${name}`,
    points: requests,
    duration: seconds,
    // Once a window is used up it stays so until it ends: the verdict needs no further question to the store.
    inMemoryBlockOnConsumed: requests + 1,
  };
  if (redis) return new RateLimiterRedis({ ...window, storeClient: redis.driver, rejectIfRedisNotReady: true });
  return new RateLimiterPostgres({ ...window, storeClient: database.driver, storeType: 'pool', tableName: 'rate_limits', tableCreated: true });
}

// Neither addresses nor tokens are kept, and the length of a key is bounded.
const storedKey = (key: string) => createHash('sha256').update(clientIn(key)).digest('base64url');
