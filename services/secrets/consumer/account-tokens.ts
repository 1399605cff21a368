// Tokens of Kubernetes ServiceAccounts: the signature is checked here, so that a forged one asks no other server; the API server decides on the rest.
import { hash } from 'node:crypto';
import { createRemoteJWKSet, customFetch, decodeJwt, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Call } from '../../platform/api-server.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { Common } from '../../platform/problem.ts';
import { createSemaphore } from '../../platform/semaphore.ts';

/** The API server of a Kubernetes cluster. */
export type ApiServer = { json(call: Call): Promise<unknown> };

export type AccountTokenParts = {
  readonly apiServer: ApiServer;
  /** The audience that a token must be made for, so that no other receiver of tokens can read with those that it gets. */
  readonly audience: string;
  readonly log: Log;
  readonly reviews: ReturnType<typeof countReviews>;
  readonly clock: () => Date;
};

/** How long an answer of the API server counts: so long a token of a deleted pod or account may still read. The API server itself remembers for 10 s. */
const reviewedForMs = 10_000;
/** More than the pods of a cluster that read within that time. */
const maxReviewed = 10_000;
const maxReviews = { atOnce: 8, waitMs: 5000 };
/** Clocks may differ; the API server goes by its own. */
const toleranceSeconds = 60;
const keys = { url: new URL('https://kubernetes.default.svc/openid/v1/jwks'), cooldownDuration: 5000 };
const keysCall = { method: 'GET', path: keys.url.pathname, accept: 'application/jwk-set+json, application/json' } as const;

const SigningKeys = z.object({ keys: z.array(z.looseObject({})) });
const Review = z.object({
  status: z.object({
    authenticated: z.boolean().default(false),
    audiences: z.array(z.string()).default([]),
    user: z.object({ username: z.string().default('') }).prefault({}),
  }),
});
const ofAccount = /^system:serviceaccount:([^:]+:[^:]+)$/;

const unavailable = () => Common.unavailable({ headers: { 'Retry-After': '5' } });

/** Whether a credential is a token, and not a key of an application, which has no dots. */
export const isToken = (credential: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(credential);

/** When a credential that was accepted expires; undefined for a key, whose end is not in it. */
export function expiryOfToken(credential: string): Date | undefined {
  const { exp } = isToken(credential) ? decodeJwt(credential) : {};
  return exp === undefined ? undefined : new Date(exp * 1000);
}

/** Whole seconds, 0 for a time that has passed. */
export const secondsUntil = (time: Date, now: Date): number => Math.max(0, Math.floor((time.getTime() - now.getTime()) / 1000));

/** It is there in every process, so that a dashboard finds it before the first token. */
export const countReviews = (metrics: Metrics) =>
  metrics.counter({
    name: 'signalbox_secrets_token_reviews_total',
    help: 'Questions to the API server about tokens of ServiceAccounts, by outcome: failed without an answer to a review, keys-failed without its signing keys',
    labels: ['outcome'],
    series: ['accepted', 'refused', 'failed', 'keys-failed'].map((outcome) => ({ outcome })),
  });

export type AccountTokens = ReturnType<typeof createAccountTokens>;

export function createAccountTokens({ apiServer, audience, log, reviews, clock }: AccountTokenParts) {
  const reviewed = new Map<string, { readonly until: number; readonly account: Promise<string | undefined> }>();
  const turns = createSemaphore(maxReviews.atOnce);
  const signingKeys = createRemoteJWKSet(keys.url, {
    ...keys,
    [customFetch]: async () => Response.json(await ask(keysCall, SigningKeys, 'keys-failed')),
  });

  /** @throws Problem 503 */
  async function ask<S extends z.ZodType>(call: Call, schema: S, failure: 'failed' | 'keys-failed'): Promise<z.output<S>> {
    try {
      return schema.parse(await apiServer.json(call));
    } catch (error) {
      reviews.inc({ outcome: failure });
      log.warn({ error }, 'asking the API server about the token of a ServiceAccount failed, read refused');
      throw unavailable();
    }
  }

  /** When the token expires, where the cluster signed it for this audience; undefined for any other. */
  async function expiryOf(token: string): Promise<number | undefined> {
    try {
      const rules = { audience, clockTolerance: toleranceSeconds, requiredClaims: ['sub', 'exp'], currentDate: clock() };
      const { payload } = await jwtVerify(token, signingKeys, rules);
      return (payload.exp ?? 0) * 1000;
    } catch (error) {
      if (error instanceof errors.JWKSTimeout) throw unavailable();
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  async function review(token: string): Promise<string | undefined> {
    if (!(await turns.acquire(1, maxReviews.waitMs))) throw unavailable();
    try {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences: [audience] } };
      const path = '/apis/authentication.k8s.io/v1/tokenreviews';
      const { status } = await ask({ method: 'POST', path, body, contentType: 'application/json' }, Review, 'failed');
      const isAccepted = status.authenticated && status.audiences.includes(audience);
      const [, account] = (isAccepted ? ofAccount.exec(status.user.username) : null) ?? [];
      reviews.inc({ outcome: account === undefined ? 'refused' : 'accepted' });
      return account?.replace(':', '/');
    } finally {
      turns.release(1);
    }
  }

  function known(id: string): Promise<string | undefined> | undefined {
    const before = reviewed.get(id);
    return before && clock().getTime() < before.until ? before.account : undefined;
  }

  function reviewAnew(id: string, token: string, expiresAt: number): Promise<string | undefined> {
    reviewed.delete(id);
    const [oldest] = reviewed.size >= maxReviewed ? reviewed.keys() : [];
    if (oldest !== undefined) reviewed.delete(oldest);
    const account = review(token);
    const kept = { until: Math.min(clock().getTime() + reviewedForMs, expiresAt), account };
    reviewed.set(id, kept);
    void account.catch(() => reviewed.get(id) === kept && reviewed.delete(id));
    return account;
  }

  return {
    /** `<namespace>/<name>` of the account; undefined for a token that is not valid. @throws Problem 503 when the API server does not say */
    async accountOf(token: string): Promise<string | undefined> {
      const id = hash('sha256', token);
      const before = known(id);
      if (before) return before;
      const expiresAt = await expiryOf(token);
      // Reads at the same time share a review.
      return expiresAt === undefined ? undefined : (known(id) ?? reviewAnew(id, token, expiresAt));
    },
  };
}
