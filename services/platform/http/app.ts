// A service's HTTP app on node:http: areas, routes, health and API description, with one place that turns an error into an answer.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type Area, findArea } from './area.ts';
import type { AddressOf } from './client-address.ts';
import type { Health } from './health.ts';
import { healthRoutes, isProbe } from './health-routes.ts';
import { type Refusals, sendAnswer, sendProblem } from './answer.ts';
import { createCors } from './cors.ts';
import { decodedPath, requirePercentEncoding } from './escapes.ts';
import { clientAddress, type Exchange, openExchange } from './exchange.ts';
import { asProblem } from './failure.ts';
import { createObserver, logBroken } from './access-log.ts';
import { readRequest } from './request.ts';
import { createRouter, type Found } from './router.ts';
import type { WordRefusal } from './listen-refusals.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { describe, type Description } from './openapi.ts';
import { type Problem, toDocument } from '../problem.ts';
import type { Access, AnyRoute } from './route.ts';
import { swaggerRoutes } from './swagger.ts';

export type { Refusals } from './answer.ts';

export type AppParts = {
  readonly description: Description;
  readonly routes: readonly AnyRoute[];
  /** Looked at in order; the first that covers a path counts. */
  readonly areas?: readonly Area[];
  readonly health: Health;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly addressOf?: AddressOf;
  readonly corsOrigins?: readonly string[];
  readonly refusals?: Refusals;
  /** Whether `/Broker` and `/broker` are different paths. */
  readonly caseSensitivePaths?: boolean;
};

export type App = {
  readonly handler: RequestListener;
  /** For what never becomes a request. */
  readonly refusal: WordRefusal;
  readonly openapi: object;
};

/** A route that forgets its credential does not start. */
function requireAccess({ method, path, access, area }: AnyRoute & { readonly area: Area | undefined }): void {
  if (access !== undefined || area?.guard) return;
  throw new TypeError(`access of ${method.toUpperCase()} ${path} must be 'open' or 'checkedByHandler': no guarded area covers it`);
}

const problemDocuments = { mediaType: 'application/problem+json', render: toDocument };

export function createApp(parts: AppParts): App {
  const { areas = [], health, log, metrics, addressOf, refusals = problemDocuments } = parts;
  const own = [...parts.routes, ...healthRoutes(health)];
  const areaOf = ({ method, path }: Pick<AnyRoute, 'method' | 'path'>) => findArea(areas, method, path);
  const openapi = describe({ description: parts.description, routes: own, areaOf, ...(parts.refusals && { refusals: parts.refusals }) });
  const routes = [...own, ...swaggerRoutes(openapi)].map((route) => ({ ...route, area: areaOf(route) }));
  routes.forEach(requireAccess);
  const router = createRouter(routes, parts);
  const observe = createObserver({ log, metrics, service: parts.description.title });
  const onBroken = logBroken(log);
  const isPreflight = parts.corsOrigins && parts.corsOrigins.length > 0 ? createCors(parts.corsOrigins) : () => false;

  async function enter({ limit, guard, quota }: Area, exchange: Exchange, access: Access | undefined): Promise<void> {
    const { headers, request } = exchange;
    if (limit) Object.assign(headers, await limit.count(clientAddress(exchange, addressOf)));
    if (guard && access === undefined) await guard.check(request.headers);
    if (quota) Object.assign(headers, await quota.limit.count(quota.keyOf(request.headers)));
  }

  async function read(exchange: Exchange, found: Found<AnyRoute> | undefined) {
    requirePercentEncoding(exchange);
    if (!found) throw router.refusal(exchange.path);
    const { route, params } = found;
    exchange.route = route.path;
    return { route, ...(await readRequest(exchange, route, { params, addressOf })) };
  }

  async function serve(exchange: Exchange): Promise<void> {
    const found = router.find(exchange);
    // By its route a path has the area of what it reaches, however it is spelled.
    const area = found ? found.route.area : findArea(areas, exchange.method, decodedPath(exchange));
    const access = found?.route.access;
    if (area) await enter(area, exchange, access);
    const { request, release, route } = await read(exchange, found).catch(async (error: unknown) => {
      // Its handler, which would have asked for the credential, is never called.
      if (access === 'checkedByHandler') await area?.guard?.check(exchange.request.headers);
      throw error;
    });
    try {
      sendAnswer(exchange, await route.handle(request), onBroken);
    } finally {
      release();
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = openExchange(request, response);
    if (health.isStopping) exchange.headers['Connection'] = 'close';
    if (!isProbe(exchange)) health.asked();
    try {
      if (!isPreflight(exchange)) await serve(exchange);
    } catch (error) {
      refuse(exchange, asProblem(error, exchange.requestId, log));
    }
    observe(exchange);
  }

  function refuse(exchange: Exchange, problem: Problem): void {
    try {
      sendProblem(exchange, problem, refusals);
    } catch (error) {
      // A renderer failed: nothing that could be said is left.
      onBroken(error instanceof Error ? error : new Error(String(error)), exchange);
      exchange.response.destroy();
    }
  }

  return {
    handler: (request, response) => void handle(request, response),
    refusal: (problem) => ({ mediaType: refusals.mediaType, text: JSON.stringify(refusals.render(problem)) }),
    openapi,
  };
}
