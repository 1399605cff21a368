// What a handler gets of a request: parameters, query, headers and body, parsed by the route's schemas, all faults told at once.
import type { IncomingHttpHeaders } from 'node:http';
import { parse as parseQuerystring } from 'node:querystring';
import type { z } from 'zod';
import { Common } from '../problem.ts';
import type { Context, Step } from './access-log.ts';
import type { AnyRoute, HeaderSchema, RouteRequest, Schema } from './route.ts';

/** Requests may name the whole URL, RFC 9112 section 3.2.2. */
const beforePath = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;
const unreserved = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi;

/** `http://host/%61pi` and `/api` are one path: an escape of an unreserved character stands for that character, RFC 3986 section 6.2.2.2. */
export const normalizeTarget: Step = (context, next) => {
  const { url } = context;
  if (!url.startsWith('/')) context.url = url.replace(beforePath, '').replace(/^(?!\/)/, '/');
  if (url.includes('%')) context.url = context.url.replaceAll(unreserved, decodeURIComponent);
  return next();
};

/** @throws Problem 400 when the path or query is not percent-encoded UTF-8 */
export function requirePercentEncoding({ path, querystring }: Context): void {
  if (!path.includes('%') && !querystring.includes('%')) return;
  try {
    decodeURIComponent(path);
    decodeURIComponent(querystring);
  } catch {
    throw Common.malformed({ detail: 'The path or query holds a malformed percent escape.' });
  }
}

const noQuery: Readonly<Record<string, undefined>> = {};

/** @param value the parsed JSON of the body, or its bytes */
export function parseRequest(context: Context, route: AnyRoute, value: unknown): Omit<RouteRequest<Schema, Schema, Schema, Schema>, 'clientAddress'> {
  const faults = noFaults();
  const { headers: all } = context.req;
  const params = parse(route.params, context['params'], { root: 'path', faults });
  const query = route.query && parseQuery(route.query, context.querystring, faults);
  const headers = route.headers ? parse(route.headers, declaredHeaders(all, route.headers), { root: 'headers', faults }) : all;
  const body = route.body && !('kind' in route.body) ? parse(route.body, value, { root: 'body', faults }) : value;
  if (Object.keys(faults).length > 0) throw Common.invalid({ detail: 'The request is not valid; see errors.', errors: faults });
  const { requestId, startedAtMs } = context.state;
  return { params, query, headers, body, requestId, startedAtMs };
}

/** By the names as they are declared; Node has them in lower case. */
const declaredHeaders = (headers: IncomingHttpHeaders, { shape }: HeaderSchema) =>
  Object.fromEntries(Object.keys(shape).map((name) => [name, headers[name.toLowerCase()]]));

type Faults = Record<string, string[]>;
/** Callers name them: `__proto__` and `constructor` must be names like any other. */
const noFaults = () => Object.create(null) as Faults; // nothing is in it, and nothing inherited
/** What faults of the whole are filed under, and where. */
type Place = { readonly root: string; readonly faults: Faults };

function parse(schema: Schema | undefined, value: unknown, { root, faults }: Place): unknown {
  if (!schema) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) (faults[memberName(issue.path) || root] ??= []).push(wording(issue, value));
  return undefined;
}

/** A parameter that stands there twice means nothing: which one a proxy before us reads is anybody's guess. */
function parseQuery(schema: Schema, querystring: string, faults: Faults): unknown {
  const given = querystring === '' ? noQuery : parseQuerystring(querystring, undefined, undefined, { maxKeys: 0 });
  const repeated = Object.keys(given).filter((name) => Array.isArray(given[name]));
  for (const name of repeated) faults[name] = ['is given more than once'];
  return repeated.length === 0 ? parse(schema, given, { root: 'query', faults }) : undefined;
}

/** `routingKeys[0]`, `[2].expiresAt`. */
const memberName = (path: readonly PropertyKey[]) =>
  path.reduce<string>((name, part) => (typeof part === 'number' ? `${name}[${part}]` : `${name}${name && '.'}${String(part)}`), '');

// zod tells an absent member as a wrong type, which is not how people speak of it.
function wording({ code, path, message }: z.core.$ZodIssue, value: unknown): string {
  const isAbsent = path.length > 0 && memberAt(value, path) === undefined;
  return isAbsent && (code === 'invalid_type' || code === 'invalid_value' || code === 'invalid_union') ? 'is required' : message;
}

const memberAt = (value: unknown, path: readonly PropertyKey[]) =>
  path.reduce<unknown>((inner, part) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, part) : undefined), value);
