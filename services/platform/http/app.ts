// A service's HTTP app on Koa: the middleware in order, the routes, and the API description of them.
import type { RequestListener } from 'node:http';
import cors from '@koa/cors';
import Koa from 'koa';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { logAborted, logRequests, type State, type Step } from './access-log.ts';
import type { AddressOf } from './client-address.ts';
import { type Area, findArea } from './credentials.ts';
import { answerErrors, problemDocuments, type Refusals } from './errors.ts';
import { type Health, healthRoutes } from './health.ts';
import { describe, type Description } from './openapi.ts';
import { normalizeTarget } from './request.ts';
import type { AnyRoute } from './route.ts';
import { createRouter, refuseUnknown } from './routing.ts';
import { swaggerRoutes } from './swagger.ts';

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
  /** Problem documents unless the service has an envelope of its own. */
  readonly refusals?: Refusals;
  /** Whether `/Broker` and `/broker` are different paths. */
  readonly caseSensitivePaths?: boolean;
};

export type App = { readonly handler: RequestListener; readonly openapi: object };

/** @throws TypeError for a route that no guarded area covers and that does not declare its `access` */
export function createApp(parts: AppParts): App {
  const { description, areas = [], health, log, metrics, corsOrigins = [], refusals = problemDocuments } = parts;
  const own = [...parts.routes, ...healthRoutes(health)];
  const areaOf = ({ method, path }: AnyRoute) => findArea(areas, method, path);
  own.forEach((route) => requireAccess(route, areaOf(route)));
  const openapi = describe({ description, routes: own, areaOf, refusals });
  const routing = { ...parts, areas };
  const router = createRouter([...own, ...swaggerRoutes(openapi)], routing);

  const app = new Koa<State>();
  app.use(logRequests({ log, metrics, service: description.title }));
  app.use(closeWhenStopping(health));
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins));
  app.use(answerErrors(refusals, log));
  app.use(normalizeTarget);
  app.use(router.routes());
  app.use(refuseUnknown(router, routing));
  app.on('error', logAborted(log));
  const handle = app.callback();
  return { handler: (request, response) => void handle(request, response), openapi };
}

/** A route that forgets its credential does not start. */
function requireAccess({ method, path, access }: AnyRoute, area: Area | undefined): void {
  if (access !== undefined || area?.guard) return;
  throw new TypeError(`access of ${method.toUpperCase()} ${path} must be 'open' or 'checkedByHandler': no guarded area covers it`);
}

/** A client with a connection that is kept alive is told to open the next one elsewhere. */
const closeWhenStopping =
  (health: Health): Step =>
  (context, next) => {
    if (health.isStopping) context.set('Connection', 'close');
    return next();
  };

/** Preflights are answered here, before any credential. */
const allowOrigins = (origins: readonly string[]) =>
  cors({ origin: (context) => (origins.includes('*') ? '*' : (origins.find((origin) => origin === context.get('Origin')) ?? '')), maxAge: 600 });
