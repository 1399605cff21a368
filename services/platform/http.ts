// A service's HTTP app: areas, routes, health and API description on Koa, with one place that turns an error into an answer.
import type { RequestListener } from 'node:http';
import cors from '@koa/cors';
import Koa from 'koa';
import { type Area, findArea } from './area.ts';
import type { AddressOf } from './client-address.ts';
import type { Health } from './health.ts';
import { healthRoutes } from './health-routes.ts';
import { type Refusals, sendProblem } from './http-answer.ts';
import { brokenAnswers, createObserver } from './http-observer.ts';
import { clientAddress, requirePercentEncoding } from './http-request.ts';
import { createRouter, refuseUnrouted } from './http-router.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { describe, type Description } from './openapi.ts';
import { isUnavailable, isUnmigrated } from './postgres-error.ts';
import { Common, Problem, toDocument } from './problem.ts';
import type { AnyRoute } from './route.ts';
import { swaggerRoutes } from './swagger.ts';

export type { Refusals } from './http-answer.ts';

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

export type App = { readonly handler: RequestListener; readonly openapi: object };

const problemDocuments = { mediaType: 'application/problem+json', render: toDocument };

export function createApp(parts: AppParts): App {
  const { areas = [], health, log, metrics, refusals = problemDocuments } = parts;
  const routes = [...parts.routes, ...healthRoutes(health)];
  const openapi = describe({
    description: parts.description,
    routes,
    areaOf: (route) => findArea(areas, route.method, route.path),
    ...(parts.refusals && { refusals: parts.refusals }),
  });
  const router = createRouter([...routes, ...swaggerRoutes(openapi)], parts);
  const observe = createObserver({ log, metrics, service: parts.description.title });

  const koa = new Koa();
  // Refusals and failures are answered below; what is left breaks while an answer is being sent: its stream, or a renderer.
  koa.on('error', brokenAnswers(log));
  koa.use((context, next) =>
    observe(context, async () => {
      if (health.isStopping) context.set('Connection', 'close');
      try {
        await next();
      } catch (error) {
        sendProblem(context, asProblem(error, context.state['requestId'], log), refusals);
      }
    }),
  );
  if (parts.corsOrigins && parts.corsOrigins.length > 0) koa.use(allowOrigins(parts.corsOrigins));
  koa.use(async (context, next) => {
    const area = findArea(areas, context.method, context.path);
    if (area?.limit) context.set(await area.limit.count(clientAddress(context, parts.addressOf)));
    if (area?.guard && !area.isCheckedByRoute?.(context.method, context.url)) await area.guard.check(context.headers);
    if (area?.quota) context.set(await area.quota.limit.count(area.quota.keyOf(context.headers)));
    requirePercentEncoding(context);
    await next();
  });
  koa.use(router.routes());
  koa.use(refuseUnrouted);
  const handle = koa.callback();
  return { handler: (request, response) => void handle(request, response), openapi };
}

function allowOrigins(origins: readonly string[]): Koa.Middleware {
  return cors({ origin: (context) => origins.find((one) => one === '*' || one === context.get('Origin')) ?? '', maxAge: 600, keepHeadersOnError: true });
}

function asProblem(error: unknown, requestId: unknown, log: Log): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error)) {
    log.warn({ error, requestId }, 'the database does not answer');
    return Common.unavailable({ detail: 'A server that this service needs does not answer.', headers: { 'Retry-After': '5' } });
  }
  if (isUnmigrated(error)) {
    log.error({ error, requestId }, 'the database schema is not there: run the migrations');
    return Common.unavailable({ detail: 'The database of this service is not migrated yet.', headers: { 'Retry-After': '5' } });
  }
  log.error({ error, requestId }, 'unexpected failure');
  return Common.failure({ detail: `Request ${String(requestId)} failed.` });
}
