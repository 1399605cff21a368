// Logging in at a provider: the way there, and the way back with a code.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { clientIn } from '../../platform/client-address.ts';
import type { RateLimit } from '../../platform/http/rate-limit.ts';
import { answer, type AnyRoute, route, type RouteRequest } from '../../platform/http/route.ts';
import { jsonIn } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import { Common, Problem } from '../../platform/problem.ts';
import { anyAnswer } from '../pages.ts';
import { readCookie, writeCookie } from './cookies.ts';
import { answerPage, arrive, type LoginParts, LoginQuery } from './login.ts';
import { providerLoginPath, type Refused } from './login-page.ts';
import { type Attempt, type Failure, type Identity, newAttempt, type Provider, stateOf } from './oidc.ts';
import { ownPath } from './own-path.ts';
import { recentMs } from './sessions.ts';

type Parts = Omit<LoginParts, 'provider'> & {
  readonly provider: Provider;
  /** Counts logins that the console or the provider does not take. */
  readonly codeLimit: Pick<RateLimit, 'attempt'>;
  readonly clock: () => Date;
  readonly log: Log;
};
type Request = Pick<RouteRequest<undefined, undefined, undefined>, 'headers' | 'url' | 'requestId' | 'clientAddress'>;

export const callbackPath = `${providerLoginPath}/callback`;
/** From the first step at the provider to the way back. */
const attemptSeconds = 600;

export const oidcRoutes = (parts: Parts): AnyRoute[] => [beginRoute(parts), endRoute(parts)];

/** By a link, since `form-action` of the pages would stop a form that leads to another site. It sets a cookie, and changes nothing. */
const beginRoute = (parts: Parts) =>
  route({
    method: 'get',
    path: providerLoginPath,
    access: 'open',
    summary: providerLoginPath,
    query: LoginQuery,
    answers: anyAnswer,
    async handle(request) {
      const { query, headers } = request;
      const attempt = newAttempt({ begunAtMs: parts.clock().getTime(), isAgain: query.again ?? false, to: ownPath(query.to) });
      const begun = await parts.provider.begin(attempt, query.other);
      if ('failure' in begun) return refuse(parts, request, { attempt, ...begun });
      return answer(303, null, { Location: begun.url, 'Set-Cookie': writeAttempt(headers, attempt) });
    },
  });

const endRoute = (parts: Parts) =>
  route({
    method: 'get',
    path: callbackPath,
    access: 'open',
    summary: callbackPath,
    answers: anyAnswer,
    async handle(request) {
      const attempt = readAttempt(request.headers, parts.clock());
      // Two tabs share the cookie, and the later login has it. Once a login has ended, the other tab needs none.
      const isOfAnotherTab = attempt === undefined || new URLSearchParams(request.url.slice(callbackPath.length)).get('state') !== stateOf(attempt);
      if (isOfAnotherTab && (await parts.sessions.look(request.headers))) return answer(303, null, { Location: '/' });
      if (!attempt) return refuse(parts, request, { refused: 'stale' });
      try {
        const ended = await parts.codeLimit.attempt(clientIn(request.clientAddress()), () => endAttempt(parts, request, attempt));
        if ('failure' in ended) return await refuse(parts, request, { attempt, ...ended });
        return await enter(parts, request, { attempt, identity: ended.identity });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (error.status === Common.tooMany.status) return refuse(parts, request, { attempt, refused: 'tooMany' });
        if (error.status === Common.unauthorized.status) return refuse(parts, request, { attempt, refused: 'foreign', isOfAnotherTab });
        throw error;
      }
    },
  });

/** @throws Problem 401 for what the limit counts: a code that the provider does not take, a state or nonce of another login */
async function endAttempt({ provider, log }: Parts, { url, requestId }: Request, attempt: Attempt): Promise<{ readonly identity: Identity } | Failure> {
  const ended = await provider.end(attempt, url.slice(callbackPath.length));
  if (!('failure' in ended) || ended.failure !== 'wrong') return ended;
  log.warn({ reason: ended.reason, requestId }, 'login at the provider refused');
  throw Common.unauthorized();
}

async function enter(parts: Parts, request: Request, { attempt, identity }: { readonly attempt: Attempt; readonly identity: Identity }) {
  const { actions, config, clock } = parts;
  const { headers, requestId } = request;
  const { subject, name, email, groups, authenticatedAt = new Date(0) } = identity;
  if (attempt.isAgain && clock().getTime() - authenticatedAt.getTime() >= recentMs) {
    const record = { address: request.clientAddress(), area: 'access', action: 'log in', requestId } as const;
    await actions.add({ ...record, person: name, target: 'old', outcome: 'refused' });
    return refuse(parts, request, { attempt, refused: 'old' });
  }
  const arrival = { source: 'oidc', subject: `${config.oidcIssuer} ${subject}`, label: subject, name, email, groups } as const;
  const { session, refused } = await arrive(parts, request, { ...arrival, authenticatedAt });
  if (session === undefined) return refuse(parts, request, { attempt, refused });
  return answer(303, null, { Location: attempt.to, 'Set-Cookie': [session, writeAttempt(headers, undefined)] });
}

const statuses: Readonly<Record<Refused, number>> = {
  wrong: 401,
  tooMany: 429,
  noRole: 403,
  disabled: 403,
  away: 502,
  denied: 403,
  foreign: 400,
  old: 403,
  stale: 400,
};

type Refusal = { readonly attempt?: Attempt; readonly isOfAnotherTab?: boolean } & ({ readonly refused: Refused } | Failure);

/** The login page with the reason, and with the way to try it again. */
async function refuse(parts: Parts, request: Request, { attempt, isOfAnotherTab, ...refusal }: Refusal) {
  const { headers, requestId } = request;
  const failed = 'failure' in refusal ? refusal : undefined;
  if (failed)
    parts.log.warn({ reason: failed.reason, requestId }, failed.failure === 'away' ? 'provider does not answer as it should' : 'provider denied a login');
  const refused: Refused = 'refused' in refusal ? refusal.refused : refusal.failure === 'wrong' ? 'foreign' : refusal.failure;
  if (failed || !['noRole', 'disabled', 'old'].includes(refused)) parts.actions.count({ area: 'access', outcome: 'refused' });
  const found = attempt?.isAgain ? await parts.sessions.look(headers) : undefined;
  const page = { to: attempt?.to ?? '/', name: '', again: found?.person.source, refused, requestId, status: statuses[refused] };
  return answerPage(parts, request, { ...page, sent: isOfAnotherTab ? {} : { 'Set-Cookie': writeAttempt(headers, undefined) } });
}

const StoredAttempt = z.tuple([z.string().regex(/^[\w-]{43}$/), z.int(), z.boolean(), z.string()]);

/** @param attempt undefined removes the cookie: a login ends once */
const writeAttempt = (headers: IncomingHttpHeaders, attempt: Attempt | undefined) =>
  attempt
    ? writeCookie(headers, {
        purpose: 'attempt',
        value: Buffer.from(JSON.stringify([attempt.secret, attempt.begunAtMs, attempt.isAgain, attempt.to])).toString('base64url'),
        seconds: attemptSeconds,
      })
    : writeCookie(headers, { purpose: 'attempt', value: '', seconds: 0 });

function readAttempt(headers: IncomingHttpHeaders, now: Date): Attempt | undefined {
  const text = Buffer.from(readCookie(headers, 'attempt') ?? '', 'base64url').toString('utf8');
  // Another cookie than ours may hold anything.
  const [secret, begunAtMs, isAgain, to] = StoredAttempt.safeParse(jsonIn(text)).data ?? [];
  if (secret === undefined || begunAtMs === undefined || isAgain === undefined) return undefined;
  const isLate = now.getTime() - begunAtMs > attemptSeconds * 1000;
  return isLate ? undefined : { secret, begunAtMs, isAgain, to: ownPath(to) };
}
