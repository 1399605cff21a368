// Rate limits: fixed windows counted in Redis or Postgres, so they hold across replicas and restarts.
import { createHash } from 'node:crypto';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { describeError, toError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Pool } from '../postgres/pool.ts';
import { Common, Problem } from '../problem.ts';
import type { RedisConnection } from '../redis.ts';
import { withTimeout } from '../time.ts';
import { clientIn } from '../client-address.ts';

export type RateLimitParts = {
  /** The deployable; several may share a Redis. */
  readonly service: string;
  /** Counts are kept here when given, else in the table `rate_limits` of the service. */
  readonly redis?: RedisConnection | undefined;
  readonly database: Pool;
  readonly log: Log;
  readonly metrics: Metrics;
};

export type Window = {
  /** Unique in its service; callers see it in the headers. */
  readonly name: string;
  readonly requests: number;
  /** Noun for the text of a refusal. Default: `requests`. */
  readonly counted?: string;
  /** Begins with the first request of a key. */
  readonly seconds: number;
  /** A store that answers slower than this is treated as unavailable. */
  readonly storeMs?: number;
};

const warnEveryMs = 10_000;

export type RateLimit = ReturnType<typeof createRateLimit>;

/**
 * Counts by client address or any other key; the addresses of one IPv6 /64 are one client.
 * Headers: `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10, `Retry-After` of RFC 9110 when refused.
 * While the store is unavailable each process counts by itself: guesses stay limited, and the loss of a helper is not the loss of the service.
 */
export function createRateLimit(parts: RateLimitParts, window: Window) {
  const { name, requests, counted = 'requests', seconds, storeMs = 1000 } = window;
  const stored = createLimiter(parts, window);
  const emergency = new RateLimiterMemory({ points: requests, duration: seconds });
  const { refused, onFallback } = createMeters(parts, name);
  const policy = `"${name}";q=${requests};w=${seconds}`;
  const secondsLeft = ({ msBeforeNext }: RateLimiterRes) => Math.max(1, Math.ceil(msBeforeNext / 1000));
  const headersOf = (remaining: number, left: number) => ({ 'RateLimit-Policy': policy, RateLimit: `"${name}";r=${remaining};t=${left}` });

  function refuse(usedUp: RateLimiterRes): never {
    refused();
    const wait = secondsLeft(usedUp);
    throw Common.tooMany({
      detail: `At most ${requests} ${counted} in ${seconds} s; the next in ${wait} s.`,
      headers: { ...headersOf(0, wait), 'Retry-After': String(wait) },
    });
  }

  /** `consume` rejects with the state of a window that is used up, and with an Error when it could not count. */
  const consume = (limiter: RateLimiterAbstract, key: string) =>
    limiter.consume(key).catch((error: unknown) => (error instanceof RateLimiterRes ? refuse(error) : Promise.reject(toError(error))));

  async function take(key: string): Promise<{ readonly limiter: RateLimiterAbstract; readonly state: RateLimiterRes }> {
    try {
      return { limiter: stored, state: await withTimeout(consume(stored, key), storeMs, late) };
    } catch (error) {
      if (error instanceof Problem) throw error;
      onFallback(error);
      return { limiter: emergency, state: await consume(emergency, key) };
    }
  }

  function late(): never {
    throw new Error(`no answer in ${storeMs} ms`);
  }

  return {
    async count(key: string): Promise<Readonly<Record<string, string>>> {
      const { state } = await take(storedKey(key));
      return headersOf(state.remainingPoints, secondsLeft(state));
    },
    /**
     * Runs one attempt at a credential. Only one that is refused (401) stays counted; it is counted before it runs, so that attempts made
     * at the same time are not all run. @throws Problem 429 without running it
     */
    async attempt<T>(key: string, work: () => Promise<T>): Promise<T> {
      const { limiter } = await take(storedKey(key));
      const refund = () => withTimeout(limiter.reward(storedKey(key)), storeMs, late).catch(onFallback);
      try {
        const result = await work();
        await refund();
        return result;
      } catch (error) {
        if (!(error instanceof Problem) || error.status !== Common.unauthorized.status) await refund();
        throw error;
      }
    },
  };
}

function createMeters({ service: deployable, log, metrics }: RateLimitParts, limit: string) {
  const labels = { labels: ['deployable', 'limit'] as const, series: [{ deployable, limit }] };
  const refused = metrics.counter({ name: 'signalbox_rate_limit_refused_total', help: 'Requests answered 429.', ...labels });
  const fallback = metrics.counter({
    name: 'signalbox_rate_limit_fallback_total',
    help: 'Requests counted in one process only, because the store of the counts was unavailable.',
    ...labels,
  });
  let warnedAt = -Infinity;
  return {
    refused: () => refused.inc({ deployable, limit }),
    onFallback(error: unknown): void {
      fallback.inc({ deployable, limit });
      if (performance.now() - warnedAt < warnEveryMs) return;
      warnedAt = performance.now();
      log.warn({ limit, reason: describeError(error) }, 'rate-limit store unavailable, counting in this process');
    },
  };
}

function createLimiter({ service, redis, database }: RateLimitParts, { name, requests, seconds }: Window): RateLimiterAbstract {
  const window = {
    keyPrefix: `signalbox:${service}:${name}`,
    points: requests,
    duration: seconds,
    // A window that is used up stays so until it ends, so the store need not be asked again.
    inMemoryBlockOnConsumed: requests + 1,
  };
  if (redis) return new RateLimiterRedis({ ...window, storeClient: redis.driver, rejectIfRedisNotReady: true });
  return new RateLimiterPostgres({ ...window, storeClient: database, storeType: 'pool', tableName: 'rate_limits', tableCreated: true });
}

// The store gets neither addresses nor tokens, and keys of bounded length.
const storedKey = (key: string) => createHash('sha256').update(clientIn(key)).digest('base64url');
