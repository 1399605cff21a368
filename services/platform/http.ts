// A service's HTTP app: areas, routes, health and API description on Koa, with one place that turns an error into an answer.
import type { RequestListener } from 'node:http';
import cors from '@koa/cors';
import Router from '@koa/router';
import Koa from 'koa';
import { type Area, findArea } from './area.ts';
import type { AddressOf } from './client-address.ts';
import type { Health } from './health.ts';
import { healthRoutes } from './health-routes.ts';
import { sendAnswer, sendProblem } from './http-answer.ts';
import { createObserver } from './http-observer.ts';
import { readRequest, requirePercentEncoding } from './http-request.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { describe, type Description, type OpenApiParts } from './openapi.ts';
import { Common, Problem, toDocument } from './problem.ts';
import type { AnyRoute } from './route.ts';
import { swaggerRoutes } from './swagger.ts';

/** How a service words its refusals: problem documents, or an envelope of its own. */
export type Refusals = OpenApiParts['refusals'] & { readonly render: (problem: Problem) => unknown };

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
  koa.silent = true; // what reaches Koa's own error event has been answered and logged below
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
    requirePercentEncoding(context);
    const area = findArea(areas, context.method, context.path);
    if (area?.limit) context.set(await area.limit.count(clientAddress(context, parts.addressOf)));
    if (area?.guard) await area.guard.check(context.headers);
    await next();
  });
  koa.use(router.routes());
  koa.use(refuseUnrouted);
  return { handler: koa.callback(), openapi };
}

function createRouter(routes: readonly AnyRoute[], { addressOf, caseSensitivePaths = true }: AppParts): Router {
  const router = new Router({ sensitive: caseSensitivePaths, strict: false });
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    router[route.method](path, async (context) => {
      context.state['route'] = route.path;
      const { request, release } = await readRequest(context, route, clientAddress(context, addressOf));
      try {
        sendAnswer(context, await route.handle(request));
      } finally {
        release();
      }
    });
  }
  return router;
}

const clientAddress = (context: Koa.Context, addressOf: AddressOf = (address) => address) =>
  addressOf(context.req.socket.remoteAddress ?? '', context.get('X-Forwarded-For') || undefined);

function allowOrigins(origins: readonly string[]): Koa.Middleware {
  return cors({ origin: (context) => origins.find((one) => one === '*' || one === context.get('Origin')) ?? '', maxAge: 600, keepHeadersOnError: true });
}

function refuseUnrouted(context: Koa.Context): void {
  const layers: readonly { readonly methods: readonly string[] }[] = context['matched'] ?? [];
  const methods = [...new Set(layers.flatMap((layer) => layer.methods))];
  if (methods.length > 0) throw Common.methodNotAllowed({ headers: { Allow: methods.join(', ') } });
  throw Common.notFound();
}

function asProblem(error: unknown, requestId: unknown, log: Log): Problem {
  if (error instanceof Problem) return error;
  log.error({ error, requestId }, 'unexpected failure');
  return Common.failure({ detail: `Request ${String(requestId)} failed.` });
}
