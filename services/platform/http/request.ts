// What a handler gets of a request: parameters, query, headers and body, parsed by the route's schemas, all faults told at once.
import type { IncomingHttpHeaders } from 'node:http';
import { parse } from 'node:querystring';
import type { z } from 'zod';
import { parseJson } from '../json.ts';
import { goOn, readBody, requireMediaType, requirePlain } from './body.ts';
import type { AddressOf } from './client-address.ts';
import { clientAddress, type Exchange } from './exchange.ts';
import { Common } from '../problem.ts';
import type { AnyRoute, HeaderSchema, RawBody, RouteRequest, Schema } from './route.ts';

type Read = { readonly request: RouteRequest<Schema, Schema, Schema, Schema>; readonly release: () => void };

const jsonBody = { mediaTypes: ['application/json'], maxBytes: 1_048_576, timeoutMs: 30_000 };
const noQuery: Readonly<Record<string, undefined>> = {};
const nothing = { value: undefined, release: () => undefined };

/** @param exchange with the parameters that the router found in its path */
export async function readRequest(
  exchange: Exchange,
  route: AnyRoute,
  { params: found, addressOf }: { params: unknown; addressOf?: AddressOf | undefined },
): Promise<Read> {
  const { value, release } = route.body ? await readValue(exchange, route.body, route.maxBodyBytes) : nothing;
  try {
    const faults = noFaults();
    const params = parsed(route.params, found, { root: 'path', faults });
    const query = route.query && parsedQuery(route.query, exchange.querystring, faults);
    const { headers: all } = exchange.request;
    const headers = route.headers ? parsed(route.headers, declaredHeaders(all, route.headers), { root: 'headers', faults }) : all;
    const body = route.body && !('kind' in route.body) ? parsed(route.body, value, { root: 'body', faults }) : value;
    if (Object.keys(faults).length > 0) throw Common.invalid({ detail: 'The request is not valid; see errors.', errors: faults });
    const { requestId, startedAtMs } = exchange;
    const request = {
      params,
      query,
      headers,
      body,
      requestId,
      startedAtMs,
      // Parsing addresses is not free, and few handlers ask.
      get clientAddress() {
        return clientAddress(exchange, addressOf);
      },
    };
    return { request, release };
  } catch (error) {
    release();
    throw error;
  }
}

async function readValue(
  { request, response }: Exchange,
  body: Schema | RawBody,
  maxBodyBytes: number | undefined,
): Promise<{ value: unknown; release: () => void }> {
  const spec = 'kind' in body ? body : { ...jsonBody, ...(maxBodyBytes !== undefined && { maxBytes: maxBodyBytes }) };
  requireMediaType(request, spec.mediaTypes);
  requirePlain(request);
  const { bytes, release } = await readBody(request, { ...spec, goOn: () => goOn(request, response) });
  return 'kind' in body ? { value: bytes, release } : { value: parseJson(bytes), release };
}

/** By the names as they are declared; Node has them in lower case. */
const declaredHeaders = (headers: IncomingHttpHeaders, { shape }: HeaderSchema) =>
  Object.fromEntries(Object.keys(shape).map((name) => [name, headers[name.toLowerCase()]]));

type Faults = Record<string, string[]>;
/** Callers name them: `__proto__` and `constructor` must be names like any other. */
const noFaults = () => Object.create(null) as Faults; // nothing is in it, and nothing inherited
/** What faults of the whole are filed under, and where. */
type Place = { readonly root: string; readonly faults: Faults };

function parsed(schema: Schema | undefined, value: unknown, { root, faults }: Place): unknown {
  if (!schema) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) (faults[memberName(issue.path) || root] ??= []).push(wording(issue, value));
  return undefined;
}

/** A parameter that stands there twice means nothing: which one a proxy before us reads is anybody's guess. */
function parsedQuery(schema: Schema, querystring: string, faults: Faults): unknown {
  const given = querystring === '' ? noQuery : parse(querystring, undefined, undefined, { maxKeys: 0 });
  const repeated = Object.keys(given).filter((name) => Array.isArray(given[name]));
  for (const name of repeated) faults[name] = ['is given more than once'];
  return repeated.length === 0 ? parsed(schema, given, { root: 'query', faults }) : undefined;
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
