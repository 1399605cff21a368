// Declared routes on @koa/router: the credential, the request as its schemas parse it, the handler, its answer.
import Router from '@koa/router';
import { Common } from '../problem.ts';
import type { Context, Step } from './access-log.ts';
import { createBodyReader, type ReadBody } from './body.ts';
import { type AddressOf, clientAddress } from './client-address.ts';
import { type Area, findArea } from './credentials.ts';
import { parseRequest, requirePercentEncoding } from './request.ts';
import { type Access, Answer, type AnyRoute, Content } from './route.ts';

export type Routing = {
  readonly areas: readonly Area[];
  readonly addressOf?: AddressOf;
  readonly caseSensitivePaths?: boolean;
};
export type AppRouter = Router<Context['state']>;

/** Of two that match a path the first one is taken. HEAD is answered wherever GET is. */
export function createRouter(routes: readonly AnyRoute[], routing: Routing): AppRouter {
  const router: AppRouter = new Router({ sensitive: routing.caseSensitivePaths ?? true });
  for (const route of routes) router[route.method](route.path.replaceAll(/\{(\w+)\}/g, ':$1'), serve(route, routing));
  return router;
}

function serve(route: AnyRoute, { areas, addressOf }: Routing): Step {
  const readBody = createBodyReader(route.body, route.maxBodyBytes);
  const area = findArea(areas, route.method, route.path);
  return async (context) => {
    context.state.route = route.path;
    if (area) await enter(area, context, { addressOf, access: route.access });
    const { request, release } = await read(context, route, { readBody, area });
    try {
      send(
        context,
        await route.handle({
          ...request,
          // Parsing addresses is not free, and few handlers ask.
          get clientAddress() {
            return clientAddress(context.req, addressOf);
          },
        }),
      );
    } finally {
      release();
    }
  };
}

type Entrance = { readonly addressOf: AddressOf | undefined; readonly access?: Access | undefined };

async function enter({ limit, guard, quota }: Area, context: Context, { addressOf, access }: Entrance): Promise<void> {
  const { headers } = context.req;
  if (limit) context.set({ ...(await limit.count(clientAddress(context.req, addressOf))) });
  if (guard && access === undefined) await guard.check(headers);
  if (quota) context.set({ ...(await quota.limit.count(quota.keyOf(headers))) });
}

async function read(context: Context, route: AnyRoute, { readBody, area }: { readBody: ReadBody; area: Area | undefined }) {
  let release: (() => void) | undefined;
  try {
    requirePercentEncoding(context);
    const body = await readBody(context);
    release = body.release;
    return { request: parseRequest(context, route, body.value), release };
  } catch (error) {
    release?.();
    // Its handler, which would have asked for the credential, is never called.
    if (route.access === 'checkedByHandler') await area?.guard?.check(context.req.headers);
    throw error;
  }
}

/** A body itself is 200 and JSON; `answer(…)` and `new Content(…)` say otherwise. */
function send(context: Context, returned: unknown): void {
  const { status, body, headers } = returned instanceof Answer ? (returned as Answer) : new Answer(200, returned, {});
  if (body instanceof Content) {
    context.set('Content-Type', body.mediaType);
    context.body = body.data;
  } else if (body === null || body === undefined) context.body = null;
  else {
    const text = JSON.stringify(body);
    context.set('Content-Type', 'application/json; charset=utf-8');
    context.body = text;
  }
  context.set({ ...headers });
  context.status = status; // behind the body: Koa takes a body of null for 204
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** No route took the request: 401 below a protected prefix, else 404, or 405 with what would be. RFC 9110 sections 15.5.5 and 15.5.6. */
export const refuseUnknown =
  (router: AppRouter, { areas, addressOf }: Routing): Step =>
  async (context) => {
    const area = findArea(areas, context.method, decoded(context.path));
    if (area) await enter(area, context, { addressOf });
    requirePercentEncoding(context);
    const allowed = router.match(context.path, context.method).path.flatMap((layer) => layer.methods);
    throw allowed.length > 0
      ? Common.methodNotAllowed({ headers: { Allow: methods.filter((method) => allowed.includes(method)).join(', ') } })
      : Common.notFound();
  };

/** For comparing with prefixes; as it is when it does not decode. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
