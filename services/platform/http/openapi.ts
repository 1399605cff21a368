// The API description (OpenAPI 3.1) of an app, from the very declarations that run it.
import { STATUS_CODES } from 'node:http';
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { z } from 'zod';
import { Common, type ProblemKind } from '../problem.ts';
import type { Area } from './credentials.ts';
import type { RefusalForm } from './refusals.ts';
import type { AnyRoute } from './route.ts';

export type Description = { readonly title: string; readonly summary: string; readonly version: string };

/** Of an app: which area covers a route, and how its refusals read. */
type Context = { readonly areaOf: (route: AnyRoute) => Area | undefined; readonly refusals: RefusalForm };

/** @returns the document, ready to be sent as JSON */
export function describe({ title, summary, version }: Description, routes: readonly AnyRoute[], { areaOf, refusals }: Context) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const securitySchemes: Record<string, Record<string, string>> = {};
  for (const route of routes) {
    const guard = guardOf(route, areaOf(route));
    if (guard) securitySchemes[guard.name] = guard.scheme;
    (paths[route.path] ??= {})[route.method] = {
      summary: route.summary,
      ...(guard && { security: [{ [guard.name]: [] }] }),
      ...parameters(route),
      ...requestBody(route),
      responses: { ...answers(route), ...refusalAnswers(route, areaOf(route), refusals) },
    };
  }
  return createDocument(
    {
      openapi: '3.1.0',
      info: { title, summary, version },
      paths,
      components: { securitySchemes: securitySchemes as Record<string, { type: 'http'; scheme: string }> }, // our guards are of two of its five shapes
    },
    { override: leaveOpen },
  );
}

/** Members are added to answers over time, and a client that was made from this description must take them. */
function leaveOpen({ jsonSchema, io }: { jsonSchema: { additionalProperties?: unknown }; io: 'input' | 'output' }): void {
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}

const guardOf = ({ access }: AnyRoute, area: Area | undefined) => (access === 'open' ? undefined : area?.guard);

const objectOf = (schema: z.ZodType | undefined) => (schema instanceof z.ZodObject ? schema : undefined);

const asHeaders = (described: Readonly<Record<string, string>>) =>
  z.object(Object.fromEntries(Object.entries(described).map(([name, description]) => [name, z.string().optional().meta({ description })])));

function parameters({ params, query, headers, describedHeaders }: AnyRoute) {
  const path = objectOf(params);
  const search = objectOf(query);
  const header = headers ?? (describedHeaders && asHeaders(describedHeaders));
  if (!path && !search && !header) return {};
  return { requestParams: { ...(path && { path }), ...(search && { query: search }), ...(header && { header }) } };
}

function requestBody({ body }: AnyRoute) {
  if (!body) return {};
  if (!('kind' in body)) return { requestBody: { required: true, content: { 'application/json': { schema: body } } } };
  return { requestBody: { required: true, content: Object.fromEntries(body.mediaTypes.map((type) => [type, {}])) } };
}

function answers({ answers: declared, describedAnswerHeaders, describedMediaTypes = [] }: AnyRoute) {
  const beside = Object.fromEntries(describedMediaTypes.map((type) => [type, { schema: { type: 'string' as const } }]));
  return Object.fromEntries(
    Object.entries(declared).map(([status, schema]) => [
      status,
      {
        description: STATUS_CODES[status] ?? status,
        ...headersOf({ ...headersByStatus[Number(status)], ...describedAnswerHeaders?.[Number(status)] }),
        ...(schema && { content: { 'application/json': { schema }, ...beside } }),
      },
    ]),
  );
}

/** Headers that answers of a status may bear, with what they mean. */
const headersByStatus: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  201: { Location: 'Where the new one is' },
  301: { Location: 'Where it is' },
  401: { 'WWW-Authenticate': 'What has to be presented' },
  415: { 'Accept-Encoding': 'Where the coding was refused: what is taken' },
  429: { 'Retry-After': 'Seconds until the window ends', RateLimit: 'What is left of the window', 'RateLimit-Policy': 'How much the window holds' },
  503: { 'Retry-After': 'Seconds until a further try makes sense' },
};

function headersOf(described: Readonly<Record<string, string>> = {}) {
  const headers = Object.entries(described);
  if (headers.length === 0) return {};
  return { headers: Object.fromEntries(headers.map(([name, description]) => [name, { description, schema: { type: 'string' as const } }])) };
}

function refusalsOf(route: AnyRoute, area: Area | undefined): ProblemKind[] {
  return [
    ...(route.params || route.query || route.isQueryClosed || route.headers || route.body ? [Common.invalid, Common.malformed] : []),
    ...(route.body ? [Common.timeout, Common.tooLarge, Common.mediaType] : []),
    ...(route.body && 'memory' in route.body ? [Common.unavailable] : []),
    ...(guardOf(route, area) ? [Common.unauthorized] : []),
    ...(area?.limit || (area?.failureLimit && guardOf(route, area)) ? [Common.tooMany] : []),
    ...(route.problems ?? []),
  ];
}

function refusalAnswers(route: AnyRoute, area: Area | undefined, { mediaType, schemaOf }: RefusalForm) {
  const byStatus = Map.groupBy(refusalsOf(route, area), ({ status }) => status);
  const fresh = [...byStatus].filter(([status]) => !(status in route.answers));
  return Object.fromEntries(
    fresh.map(([status, kinds]) => {
      const description = [...new Set(kinds.map(({ title }) => title))].join('; ');
      return [status, { description, ...headersOf(headersByStatus[status]), content: { [mediaType]: { schema: schemaOf(kinds) } } }];
    }),
  );
}
