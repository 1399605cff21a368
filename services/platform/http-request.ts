// What a handler gets of a request: parameters, query, headers and body, parsed by the route's schemas, all faults told at once.
import type { Context } from 'koa';
import type { z } from 'zod';
import { parseJson, readBody, requireMediaType } from './body.ts';
import type { AddressOf } from './client-address.ts';
import { Common } from './problem.ts';
import type { AnyRoute, HeaderSchema, RouteRequest, Schema } from './route.ts';

type Read = { readonly request: RouteRequest<Schema, Schema, Schema, Schema>; readonly release: () => void };

const jsonBody = { mediaTypes: ['application/json'], maxBytes: 1_048_576, timeoutMs: 30_000 };
const nothingToRelease = () => undefined;

export const clientAddress = (context: Context, addressOf: AddressOf = (address) => address) =>
  addressOf(context.req.socket.remoteAddress ?? '', context.get('X-Forwarded-For') || undefined);

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

export async function readRequest(context: Context, route: AnyRoute, addressOf?: AddressOf): Promise<Read> {
  const { value, release } = await readValue(context, route);
  try {
    const faults: Faults = {};
    const params = parsed(route.params, context['params'], { root: 'path', faults });
    const query = parsed(route.query, route.query && Object.fromEntries(new URLSearchParams(context.querystring)), { root: 'query', faults });
    const headers = route.headers ? parsed(route.headers, declaredHeaders(context, route.headers), { root: 'headers', faults }) : context.headers;
    const body = route.body && !('kind' in route.body) ? parsed(route.body, value, { root: 'body', faults }) : value;
    if (Object.keys(faults).length > 0) throw Common.invalid({ detail: 'The request is not valid; see errors.', errors: faults });
    const { requestId, startedAtMs } = context.state as { requestId: string; startedAtMs: number }; // set by http-observer.ts
    const request = {
      params,
      query,
      headers,
      body,
      requestId,
      startedAtMs,
      // Parsing addresses is not free, and few handlers ask.
      get clientAddress() {
        return clientAddress(context, addressOf);
      },
    };
    return { request, release };
  } catch (error) {
    release();
    throw error;
  }
}

async function readValue(context: Context, { body, maxBodyBytes }: AnyRoute): Promise<{ value: unknown; release: () => void }> {
  if (!body) return { value: undefined, release: nothingToRelease };
  const spec = 'kind' in body ? body : { ...jsonBody, ...(maxBodyBytes !== undefined && { maxBytes: maxBodyBytes }) };
  requireMediaType(context.req, spec.mediaTypes);
  const { bytes, release } = await readBody(context.req, spec);
  return 'kind' in body ? { value: bytes, release } : { value: parseJson(bytes), release };
}

/** By the names as they are declared; Node has them in lower case. */
const declaredHeaders = ({ headers }: Context, { shape }: HeaderSchema) =>
  Object.fromEntries(Object.keys(shape).map((name) => [name, headers[name.toLowerCase()]]));

type Faults = Record<string, string[]>;

function parsed(schema: Schema | undefined, value: unknown, { root, faults }: { root: string; faults: Faults }): unknown {
  if (!schema) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) (faults[memberName(issue.path) || root] ??= []).push(wording(issue, value));
  return undefined;
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
