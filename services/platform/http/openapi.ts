// The API description (OpenAPI 3.1) of an app, from the very declarations that run it.
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { z } from 'zod';
import { Common, type ProblemKind } from '../problem.ts';
import type { Area } from './credentials.ts';
import type { Refusals } from './errors.ts';
import type { AnyRoute } from './route.ts';

export type Description = { readonly title: string; readonly summary: string; readonly version: string };

const ProblemDocument = z
  .looseObject({ type: z.string(), title: z.string(), status: z.int(), detail: z.string().optional() })
  .meta({ id: 'Problem', description: 'A problem document, RFC 9457.' });
const ValidationProblem = ProblemDocument.extend({ errors: z.record(z.string(), z.array(z.string())) }).meta({
  id: 'ValidationProblem',
  description: 'All faults of a request: member name to messages.',
});

export type OpenApiParts = {
  readonly description: Description;
  readonly routes: readonly AnyRoute[];
  readonly areaOf: (route: AnyRoute) => Area | undefined;
  readonly refusals: Pick<Refusals, 'mediaType' | 'schema'>;
};

/** @returns the document, ready to be sent as JSON */
export function describe({ description: { title, summary, version }, routes, areaOf, refusals }: OpenApiParts) {
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
  return createDocument({
    openapi: '3.1.0',
    info: { title, summary, version },
    paths,
    components: { securitySchemes: securitySchemes as Record<string, { type: 'http'; scheme: string }> }, // our guards are of two of its five shapes
  });
}

const guardOf = ({ access }: AnyRoute, area: Area | undefined) => (access === 'open' ? undefined : area?.guard);

const objectOf = (schema: z.ZodType | undefined) => (schema instanceof z.ZodObject ? schema : undefined);

function parameters({ params, query, headers: header }: AnyRoute) {
  const path = objectOf(params);
  const search = objectOf(query);
  if (!path && !search && !header) return {};
  return { requestParams: { ...(path && { path }), ...(search && { query: search }), ...(header && { header }) } };
}

function requestBody({ body }: AnyRoute) {
  if (!body) return {};
  if (!('kind' in body)) return { requestBody: { required: true, content: { 'application/json': { schema: body } } } };
  return { requestBody: { required: true, content: Object.fromEntries(body.mediaTypes.map((type) => [type, {}])) } };
}

function answers({ answers: declared }: AnyRoute) {
  return Object.fromEntries(
    Object.entries(declared).map(([status, schema]) => [
      status,
      { description: phrase(Number(status)), ...(schema && { content: { 'application/json': { schema } } }) },
    ]),
  );
}

const phrases: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No content', 301: 'Moved permanently' };
const phrase = (status: number) => phrases[status] ?? `Status ${status}`;

function refusalsOf(route: AnyRoute, area: Area | undefined): ProblemKind[] {
  return [
    ...(route.params || route.query || route.headers || route.body ? [Common.invalid] : []),
    ...(route.body ? [Common.timeout, Common.tooLarge, Common.mediaType] : []),
    ...(guardOf(route, area) ? [Common.unauthorized] : []),
    ...(area?.limit || area?.quota ? [Common.tooMany] : []),
    ...(route.problems ?? []),
  ];
}

function refusalAnswers(route: AnyRoute, area: Area | undefined, { mediaType, schema: own }: OpenApiParts['refusals']) {
  const byStatus = Map.groupBy(refusalsOf(route, area), ({ status }) => status);
  const fresh = [...byStatus].filter(([status]) => !(status in route.answers));
  return Object.fromEntries(
    fresh.map(([status, kinds]) => {
      const schema = own ?? (kinds.includes(Common.invalid) ? ValidationProblem : ProblemDocument);
      const description = [...new Set(kinds.map(({ title }) => title))].join('; ');
      return [status, { description, content: { [mediaType]: { schema } } }];
    }),
  );
}
