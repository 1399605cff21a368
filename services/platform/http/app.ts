// A service's HTTP app on Koa: the middleware in order, from the access log to the answer of an error.
import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import cors from '@koa/cors';
import Koa, { type Context as KoaContext } from 'koa';
import { codeOf } from '../errors.ts';
import type { Health } from '../health.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { isCancelled, isLockTimeout, isUnavailable, isUnmigrated } from '../postgres/errors.ts';
import { Common, Problem } from '../problem.ts';
import { type AddressOf, createProxyWarning, createRangeMatcher } from '../client-address.ts';
import { type Area, findArea, type Guard } from './credentials.ts';
import { healthRoutes } from './health-routes.ts';
import { describe, type Description, readableTitle } from './openapi.ts';
import { type AskedRequest, problemDocuments, type RefusalForm, type WrittenRefusal } from './refusals.ts';
import type { AnyRoute } from './route.ts';
import { createRouter, refuseUnknown, type State, type Step } from './routing.ts';
import { swaggerRoutes } from './swagger.ts';

export type AppParts = {
  readonly description: Description;
  readonly routes: readonly AnyRoute[];
  /** Looked at in order; the first that covers a path counts. */
  readonly areas?: readonly Area[];
  /** Guards the API description, which is open without it. */
  readonly descriptionGuard?: Guard | undefined;
  readonly health: Health;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly addressOf?: AddressOf;
  /** Headers that say who asks: taken away from requests that come from any other address. */
  readonly proxyHeaders?: ProxyHeaders | undefined;
  readonly corsOrigins?: readonly string[];
  /** Whether `/Broker` and `/broker` are different paths. */
  readonly caseSensitivePaths?: boolean;
  /** Problem documents unless given. */
  readonly refusals?: RefusalForm;
  /** Headers of every answer, unless the answer has its own value of one. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** Whether the app serves its API description; pages for people have none. Default: true. */
  readonly isDescribed?: boolean;
};

export type ProxyHeaders = {
  /** In lower case. */
  readonly names: readonly string[];
  /** Addresses and CIDR ranges of the proxies' own sockets; `X-Forwarded-For` plays no part. */
  readonly from: readonly string[];
};

export type App = { readonly handler: RequestListener; readonly openapi: () => object };

/** @throws TypeError for a route that no guarded area covers and that does not declare its `access` */
export function createApp(parts: AppParts): App {
  const { health, log, descriptionGuard, corsOrigins = [], refusals = problemDocuments, answerHeaders = {}, isDescribed = true } = parts;
  const areas = [...(descriptionGuard ? [{ prefix: '/swagger', guard: descriptionGuard } as const] : []), ...(parts.areas ?? [])];
  const own = [...parts.routes, ...healthRoutes(health)];
  const areaOf = ({ path }: AnyRoute) => findArea(areas, path);
  own.forEach((route) => requireAccess(route, areaOf(route)));
  // Made on request: for 40 operations it takes longer than the rest of a start, and most processes are never asked for it.
  const openapi = () => describe(parts.description, own, { areaOf, refusals });
  const routing = { ...parts, areas };
  const swagger = isDescribed ? swaggerRoutes(readableTitle(parts.description.title), openapi, { isGuarded: descriptionGuard !== undefined }) : [];
  const router = createRouter([...own, ...swagger], routing);

  const app = new Koa<State>();
  app.use(logRequests(parts));
  app.use(closeWhenStopping(health));
  if (Object.keys(answerHeaders).length > 0) app.use(setHeaders(answerHeaders));
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins));
  app.use(answerErrors(log, refusals));
  if (parts.proxyHeaders) app.use(keepProxyHeaders(parts.proxyHeaders, log));
  app.use(requireOneHost);
  app.use(normalizeTarget);
  app.use(router.routes());
  app.use(refuseUnknown(router, routing));
  app.on('error', logAborted(log));
  const handle = app.callback();
  return { handler: (request, response) => void handle(request, response), openapi };
}

/** A route that forgets its credential does not start. */
function requireAccess({ method, path, access, guard }: AnyRoute, area: Area | undefined): void {
  if (access !== undefined || guard || area?.guard) return;
  throw new TypeError(`access of ${method.toUpperCase()} ${path} must be 'open' or 'checkedByHandler': no guarded area covers it`);
}

const givenId = /^[\w.-]{1,64}$/;
/** Asked every few seconds by probes; their lines would hide the others. */
const quietRoutes = new Set(['/health', '/health/ready']);

/** The request's id, one access line, one duration by route template. The first middleware: whatever the others answer is seen here. */
function logRequests({ log, metrics, description: { title: deployable } }: Pick<AppParts, 'log' | 'metrics' | 'description'>): Step {
  const durations = metrics.histogram({
    name: 'signalbox_http_request_duration_seconds',
    help: 'Time from the request head to the answer, by route template.',
    labels: ['deployable', 'method', 'route', 'status'],
  });
  // Looking for credentials costs more than the rest of the line, and these lines hold nothing of the caller's but what tells requests apart.
  const accessLog = log.child({}, { redact: [] });
  return async (context, next) => {
    const startedAtMs = performance.now();
    const given = context.req.headers['x-request-id'];
    const requestId = typeof given === 'string' && givenId.test(given) ? given : randomUUID();
    context.state = { requestId, startedAtMs, logged: {} };
    context.set('X-Request-Id', requestId);
    await next();
    const { method, status } = context;
    const { route = 'unrouted' } = context.state;
    const ms = performance.now() - startedAtMs;
    durations.observe({ deployable, method, route, status }, ms / 1000);
    const line = { requestId, method, route, status, ms: Math.round(ms * 10) / 10, ...context.state.logged };
    if (quietRoutes.has(route)) accessLog.debug(line, 'request');
    else accessLog.info(line, 'request');
  };
}

/** `Connection: close` makes a client with a kept-alive connection open the next one elsewhere. */
const closeWhenStopping =
  (health: Health): Step =>
  (context, next) => {
    if (health.isStopping) context.set('Connection', 'close');
    return next();
  };

const setHeaders =
  (headers: Readonly<Record<string, string>>): Step =>
  (context, next) => {
    context.set(headers);
    return next();
  };

/** The headers that scripts of another origin may read. */
const exposeHeaders = ['ETag', 'Link', 'Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id'];

/** Preflights are answered here, before any credential. */
const allowOrigins = (origins: readonly string[]) =>
  cors({ origin: (context) => (origins.includes('*') ? '*' : (origins.find((origin) => origin === context.get('Origin')) ?? '')), maxAge: 600, exposeHeaders });

/** Before anything reads them, so that a handler which finds such a header can believe it. A second value may be the client's own: the proxy added, and did not replace. */
function keepProxyHeaders({ names, from }: ProxyHeaders, log: Log): Step {
  const isProxy = createRangeMatcher(from);
  const warn = createProxyWarning(log, 'header of a proxy ignored, as its sender is none of the addresses that may set it');
  return (context, next) => {
    const { headers, headersDistinct, socket } = context.req;
    const given = names.filter((name) => headers[name] !== undefined);
    if (given.length === 0) return next();
    const peer = socket.remoteAddress ?? '';
    const repeated = given.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
    if (isProxy(peer) && repeated === undefined) return next();
    for (const name of given) headers[name] = undefined;
    if (isProxy(peer)) throw Common.malformed({ detail: `The header ${repeated} came more than once.` });
    warn(peer);
    return next();
  };
}

/** The one place that turns an error into an answer: the refusal that was thrown, or one that tells nothing of the inside. */
const answerErrors =
  (log: Log, usual: RefusalForm): Step =>
  async (context, next) => {
    try {
      await next();
    } catch (error) {
      const { requestId } = context.state;
      const problem = asProblem(error, requestId, log);
      const form = context.state.refusals ?? usual;
      const asked = { method: context.method, url: context.url, headers: context.req.headers, requestId };
      const written = (await writtenBy(form, log, { problem, asked })) ?? { mediaType: form.mediaType, text: JSON.stringify(form.toBody(problem)) };
      context.status = written.status ?? problem.status;
      context.set({ ...problem.headers, ...written.headers, 'Content-Type': written.mediaType });
      context.body = written.text;
      // The rest of a body that was refused is dropped, so that its sender gets to read the answer; `requestTimeout` bounds it.
      context.req.resume();
    }
  };

type Refused = { readonly problem: Problem; readonly asked: AskedRequest };

/** A form that fails, such as a page whose data is away, must not cost the refusal. */
async function writtenBy(form: RefusalForm, log: Log, { problem, asked }: Refused): Promise<WrittenRefusal | undefined> {
  try {
    return await form.write?.(problem, asked);
  } catch (error) {
    log.error({ error, requestId: asked.requestId }, 'refusal could not be written in its form');
    return undefined;
  }
}

const retryLater = { 'Retry-After': '5' };

function asProblem(error: unknown, requestId: string, log: Log): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error) || isCancelled(error) || isLockTimeout(error)) {
    log.warn({ error, requestId }, 'database unavailable or busy, request refused');
    return Common.unavailable({ detail: 'A server that this service needs does not answer in time; try again.', headers: retryLater });
  }
  if (isUnmigrated(error)) {
    log.error({ error, requestId }, 'database schema missing, run signalbox migrate');
    return Common.unavailable({ detail: 'The database of this service is not migrated yet: `signalbox migrate` does it.', headers: retryLater });
  }
  log.error({ error, requestId }, 'request failed');
  return Common.failure({ detail: `Request ${requestId} failed.` });
}

/** RFC 9112 section 3.2. Several are joined by a comma, which no host has; HTTP/0.9 has none. */
const requireOneHost: Step = (context, next) => {
  const { httpVersionMajor, headers } = context.req;
  if (httpVersionMajor < 1 || headers.host?.includes(',')) throw Common.malformed({ detail: 'A request must name one host.' });
  return next();
};

/** Requests may name the whole URL, RFC 9112 section 3.2.2. */
const beforePath = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;
const unreserved = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi;

/** `http://host/%61pi` and `/api` are one path: an escape of an unreserved character means that character, RFC 3986 section 6.2.2.2. */
const normalizeTarget: Step = (context, next) => {
  const { url } = context;
  if (!url.startsWith('/')) context.url = url.replace(beforePath, '').replace(/^(?!\/)/, '/');
  if (url.includes('%')) context.url = context.url.replaceAll(unreserved, decodeURIComponent);
  return next();
};

// The client disconnected or sent what is no HTTP: nothing that an operator could mend.
const clientsFault = /^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|HPE_)/;

/** For Koa's `error` event: an answer that failed while it was sent. */
const logAborted =
  (log: Log) =>
  (error: Error, context?: KoaContext): void => {
    const line = { error, requestId: (context?.state as Partial<State> | undefined)?.requestId }; // set by logRequests, the first of all
    if (clientsFault.test(codeOf(error) ?? '')) log.debug(line, 'client disconnected');
    else log.warn(line, 'response aborted');
  };
