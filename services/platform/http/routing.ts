// Declared routes on @koa/router: the credential, the request as its schemas parse it, the handler, its answer.
import { channel } from 'node:diagnostics_channel';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { parse as parseQuerystring } from 'node:querystring';
import Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import { z } from 'zod';
import { type Faults, parseInto, type Place } from '../faults.ts';
import { Common, Problem } from '../problem.ts';
import { createBodyReader } from './body.ts';
import { type AddressOf, clientAddress } from '../client-address.ts';
import { anonymous, type Area, credentialRefused, findArea, type Guard, type Principal } from './credentials.ts';
import type { RefusalForm } from './refusals.ts';
import { Answer, type AnyRoute, Content, type HeaderSchema, type RouteRequest, type Schema } from './route.ts';

/** The middleware's own facts of a request. */
export type State = {
  requestId: string;
  /** `performance.now()` when the head was read. */
  startedAtMs: number;
  /** Beside what every line of the access log has. */
  logged: Record<string, string>;
  /** Template of the route that took the request. */
  route?: string;
  /** The form of refusals of that route, where it has one of its own. */
  refusals?: RefusalForm;
};
type Context = ParameterizedContext<State>;
export type Step = Middleware<State>;

type Routing = {
  readonly areas: readonly Area[];
  readonly addressOf?: AddressOf;
  readonly caseSensitivePaths?: boolean;
};
type AppRouter = Router<State>;

/** The first route that matches a path takes the request. HEAD is answered wherever GET is. */
export function createRouter(routes: readonly AnyRoute[], routing: Routing): AppRouter {
  const router: AppRouter = new Router({ sensitive: routing.caseSensitivePaths ?? true });
  for (const route of routes) router[route.method](patternOf(route.path), serve(route, routing));
  return router;
}

/** In the words of path-to-regexp. */
const patternOf = (path: string) => path.replaceAll(/\{\+(\w+)\}/g, '*$1').replaceAll(/\{(\w+)\}/g, ':$1');

function serve(route: AnyRoute, { areas, addressOf }: Routing): Step {
  const area = findArea(areas, route.path);
  const anyGuard = route.guard ?? area?.guard;
  const guard = route.access === undefined ? anyGuard : undefined;
  const readBody = route.body && createBodyReader(route.body, route.maxBodyBytes);
  return async (context) => {
    context.state.route = route.path;
    if (route.refusals) context.state.refusals = route.refusals;
    const principal = await enter(context, { area, guard, addressOf });
    if (guard && !principal.rights.includes(route.method === 'get' ? 'read' : 'write')) throw Common.forbidden();
    let release: (() => void) | undefined;
    const read = async () => {
      requirePercentEncoding(context);
      const body = await readBody?.(context);
      release = body?.release;
      const left = () => leftSignal(context.res);
      const onEnd = (work: () => void) => void (context.res.closed ? work() : context.res.once('close', work));
      return parseRequest(context, route, { principal, value: body?.value, clientAddress: () => clientAddress(context.req, addressOf), left, onEnd });
    };
    const refuse = async (error: unknown) => {
      // The handler, which would have checked the credential, is not called.
      if (route.access === 'checkedByHandler' && anyGuard) await enter(context, { area: undefined, guard: anyGuard, addressOf });
      if (error instanceof Problem) route.onRefused?.({ headers: context.req.headers, problem: error });
      throw error;
    };
    try {
      send(context, route, await route.handle(await read().catch(refuse)));
    } finally {
      release?.();
    }
  };
}

function leftSignal(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  const leave = () => {
    // After a whole answer no work is left to stop, and an aborted signal makes an error with its stack.
    if (!response.writableFinished) left.abort();
  };
  if (response.closed) leave();
  else response.once('close', leave);
  return left.signal;
}

type Entrance = { readonly area: Area | undefined; readonly guard: Guard | undefined; readonly addressOf: AddressOf | undefined };

/** @throws Problem 429 or 401 */
async function enter(context: Context, { area, guard, addressOf }: Entrance): Promise<Principal> {
  const { limit, failureLimit } = area ?? {};
  const address = () => clientAddress(context.req, addressOf);
  const principal = guard ? await guard.check(context.req.headers, context.querystring) : anonymous;
  const counted = limit?.by(principal ?? anonymous, address());
  if (limit && counted !== undefined) context.set({ ...(await limit.counter.count(counted)) });
  if (principal?.actor !== undefined) context.state.logged['actor'] = principal.actor;
  if (principal || !guard) return principal ?? anonymous;
  await failureLimit?.count(address());
  throw credentialRefused(guard);
}

/** @throws Problem 400 when the path or query is not percent-encoded UTF-8 */
function requirePercentEncoding({ path, querystring }: Context): void {
  if (!path.includes('%') && !querystring.includes('%')) return;
  try {
    decodeURIComponent(path);
    decodeURIComponent(querystring);
  } catch {
    throw Common.malformed({ detail: 'The path or query holds a malformed percent escape.' });
  }
}

/**
 * Parameters, query, headers and body by the route's schemas, all faults told at once.
 * @param given `value`: the parsed JSON of the body, or its bytes
 */
function parseRequest(
  context: Context,
  route: AnyRoute,
  { value, ...asked }: Pick<RouteRequest<undefined, undefined, undefined>, 'principal' | 'clientAddress' | 'left' | 'onEnd'> & { readonly value: unknown },
): RouteRequest<Schema, Schema, Schema, Schema> {
  const faults: Faults = new Map();
  const all = context.method === 'HEAD' ? withoutRange(context.req.headers) : context.req.headers;
  const params = parse(route.params, context['params'], { root: 'path', faults });
  const query = parseQuery(route, context.querystring, faults);
  const headers = route.headers ? parse(route.headers, declaredHeaders(all, route.headers), { root: 'headers', faults }) : all;
  const schema = route.bodyFor && query !== undefined ? route.bodyFor(query) : route.body;
  const body = schema && !('kind' in schema) ? parse(schema, value, { root: 'body', faults }) : value;
  if (faults.size > 0) throw Common.invalid({ detail: 'The request is not valid; see errors.', errors: Object.fromEntries(faults) });
  const { requestId, startedAtMs, logged } = context.state;
  const isRepeated = (name: string) => (context.req.headersDistinct[name]?.length ?? 0) > 1;
  const accepts = (...types: string[]) => chosen(context.accepts(...types));
  const acceptsEncodings = (...codings: string[]) => chosen(context.acceptsEncodings(...codings));
  return { params, query, headers, isRepeated, accepts, acceptsEncodings, body, requestId, url: context.url, startedAtMs, logged, ...asked };
}

/** Koa answers with a list when it is given none. */
const chosen = (accepted: string | false | string[]): string | false => (Array.isArray(accepted) ? false : accepted);

/** By the names as they are declared; Node has them in lower case. */
const declaredHeaders = (headers: IncomingHttpHeaders, { shape }: HeaderSchema) =>
  Object.fromEntries(Object.keys(shape).map((name) => [name, headers[name.toLowerCase()]]));

/** A range means something to GET alone, whose route answers HEAD. RFC 9110 section 14.2. */
const withoutRange = ({ range: _range, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders => headers;

const parse = (schema: Schema | undefined, value: unknown, place: Place): unknown => schema && parseInto(schema, value, place);

/** An empty parameter counts as absent. A parameter that is given twice is refused unless it is repeatable: a proxy before this service may have read either value. */
function parseQuery({ query: schema, isQueryClosed, repeatable = [] }: AnyRoute, querystring: string, faults: Faults): unknown {
  if (!schema && !isQueryClosed) return undefined;
  const given = parseQuerystring(querystring, undefined, undefined, { maxKeys: 0 });
  if (isQueryClosed) refuseUnknownNames(Object.keys(given), namesOf(schema), faults);
  const repeated = Object.keys(given).filter((name) => Array.isArray(given[name]) && !repeatable.includes(name));
  for (const name of repeated) faults.set(name, ['is given more than once']);
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  return repeated.length === 0 ? parse(schema, present, { root: 'query', faults }) : undefined;
}

const namesOf = (schema: Schema | undefined): readonly string[] => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);

function refuseUnknownNames(given: readonly string[], known: readonly string[], faults: Faults): void {
  const reason = `is not known here; known: ${known.join(', ') || 'none'}`;
  for (const name of given) if (!known.includes(name)) faults.set(name, [reason]);
}

/** Diagnostics channel of answers. Tests compare their headers with the description; a missing declaration costs no client its answer. */
export const answeredChannel = 'signalbox:answered';
export type Answered = { readonly route: AnyRoute; readonly status: number; readonly headers: Answer['headers'] };
const answered = channel(answeredChannel);

/** A body itself is 200 and JSON; `answer(…)` and `new Content(…)` say otherwise. */
function send(context: Context, route: AnyRoute, returned: unknown): void {
  const { status, body, headers } = returned instanceof Answer ? (returned as Answer) : new Answer(200, returned, {});
  if (route.operationId !== undefined && answered.hasSubscribers) answered.publish({ route, status, headers } satisfies Answered);
  if (body instanceof Content) {
    context.set('Content-Type', body.mediaType);
    context.body = body.data;
  } else if (body === null || body === undefined) context.body = null;
  else {
    const text = JSON.stringify(body);
    context.set('Content-Type', 'application/json; charset=utf-8');
    context.body = text;
  }
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'Vary' && typeof value === 'string')
      context.vary(value); // beside that of CORS
    else context.set(name, typeof value === 'string' ? value : [...value]);
  }
  context.status = status; // behind the body: Koa takes a body of null for 204
  // As node:http does it for GET.
  if (context.method === 'HEAD' && context.body === null && !isBodiless(status)) context.length = 0;
}

/** Whether an answer of this status never has a body, and so no length. RFC 9110 section 8.6. */
const isBodiless = (status: number) => status === 204 || status === 304;

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** No route took the request: 401 below a protected prefix, else 404, or 405 with what would be. RFC 9110 sections 15.5.5 and 15.5.6. */
export const refuseUnknown =
  (router: AppRouter, { areas, addressOf }: Routing): Step =>
  async (context) => {
    const area = findArea(areas, context.path);
    await enter(context, { area, guard: area?.guard, addressOf });
    requirePercentEncoding(context);
    const allowed = router.match(context.path, context.method).path.flatMap((layer) => layer.methods);
    throw allowed.length > 0
      ? Common.methodNotAllowed({ headers: { Allow: methods.filter((method) => allowed.includes(method)).join(', ') } })
      : Common.notFound();
  };
