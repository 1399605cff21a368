// The API description (OpenAPI 3.1) of an app, from the very declarations that run it.
import { STATUS_CODES } from 'node:http';
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { z } from 'zod';
import { Common, type Problem, type ProblemKind } from '../problem.ts';
import type { Area, Guard } from './credentials.ts';
import type { RefusalForm } from './refusals.ts';
import type { AnyRoute, DescribedHeader, Tag } from './route.ts';

/** `title` names the deployable, as in metrics. */
export type Description = { readonly title: string; readonly summary: string; readonly version: string };

/** `webhook-relay` → `Signalbox webhook relay` */
export const readableTitle = (title: string): string => `Signalbox ${title.replaceAll('-', ' ')}`;

/** Of an app: which area covers a route, and how its refusals read. */
type Context = { readonly areaOf: (route: AnyRoute) => Area | undefined; readonly refusals: RefusalForm };

/** @returns the document, ready to be sent as JSON */
export function describe({ title, summary, version }: Description, routes: readonly AnyRoute[], { areaOf, refusals }: Context) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const tags = new Map<string, Tag>();
  let securitySchemes: Guard['schemes'] = {};
  for (const route of routes) {
    const guard = guardOf(route, areaOf(route));
    if (guard) securitySchemes = { ...securitySchemes, ...guard.schemes };
    if (route.tag) tags.set(route.tag.name, route.tag);
    (paths[route.path] ??= {})[route.method] = {
      ...named(route),
      security: Object.keys(guard?.schemes ?? {}).map((name) => ({ [name]: [] })),
      ...parameters(route),
      ...requestBody(route),
      responses: { ...answers(route), ...refusalAnswers(route, areaOf(route), refusals) },
    };
  }
  return createDocument(
    {
      openapi: '3.1.0',
      info: { title: readableTitle(title), summary, version },
      tags: [...tags.values()],
      paths,
      components: { securitySchemes: securitySchemes as Record<string, { type: 'http'; scheme: string }> }, // our guards are of two of its five shapes
    },
    { override: tidy },
  );
}

const named = ({ tag, operationId, summary, description }: AnyRoute) => ({
  ...(tag && { tags: [tag.name] }),
  ...(operationId !== undefined && { operationId }),
  summary,
  ...(description !== undefined && { description }),
});

type Schema = { additionalProperties?: unknown; minimum?: unknown; maximum?: unknown; examples?: unknown };
type Made = { readonly jsonSchema: Schema; readonly zodSchema: unknown; readonly io: 'input' | 'output' };

/**
 * Members are added to answers over time, and a client that was made from this description must take them. The bounds of what
 * JavaScript counts exactly are none that a caller would meet. Zod leaves out the examples of an input with a transform in it, though
 * those of a contract are what is sent.
 */
function tidy({ jsonSchema, zodSchema, io }: Made): void {
  const examples = zodSchema instanceof z.ZodType ? zodSchema.meta()?.['examples'] : undefined;
  if (io === 'input' && Array.isArray(examples)) jsonSchema.examples = examples;
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

const guardOf = ({ access, guard }: AnyRoute, area: Area | undefined) => (access === 'open' ? undefined : (guard ?? area?.guard));

const objectOf = (schema: z.ZodType | undefined) => (schema instanceof z.ZodObject ? schema : undefined);

const asHeaders = (described: Readonly<Record<string, DescribedHeader>>) =>
  z.object(
    Object.fromEntries(
      Object.entries(described).map(([name, { description, example, isRequired = false }]) => {
        const value = (isRequired ? z.string() : z.string().optional()).meta({ description, ...(example !== undefined && { examples: [example] }) });
        return [name, value];
      }),
    ),
  );

function parameters({ params, query, headers, describedHeaders }: AnyRoute) {
  const path = objectOf(params);
  const search = objectOf(query);
  const header = headers ?? (describedHeaders && asHeaders(describedHeaders));
  if (!path && !search && !header) return {};
  return { requestParams: { ...(path && { path }), ...(search && { query: search }), ...(header && { header }) } };
}

function requestBody({ body, describedBody }: AnyRoute) {
  if (!body) return {};
  if (!('kind' in body)) return { requestBody: { required: true, content: { 'application/json': { schema: body } } } };
  const contentOf = (type: string) => (describedBody?.[type] ? { schema: describedBody[type] } : {});
  return { requestBody: { required: true, content: Object.fromEntries(body.mediaTypes.map((type) => [type, contentOf(type)])) } };
}

function answers({ answers: declared, describedAnswerHeaders, describedContent }: AnyRoute) {
  const contentOf = (schema: z.ZodType) => describedContent ?? { 'application/json': schema };
  return Object.fromEntries(
    Object.entries(declared).map(([status, schema]) => [
      status,
      {
        description: STATUS_CODES[status] ?? status,
        ...headersOf({ ...headersByStatus[Number(status)], ...describedAnswerHeaders?.[Number(status)] }),
        ...(schema && { content: Object.fromEntries(Object.entries(contentOf(schema)).map(([type, one]) => [type, { schema: one }])) }),
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
    Common.failure,
  ];
}

/** The first that is the service's own, else the first. */
function exampleOf(kinds: readonly ProblemKind[]): Problem {
  const kind = kinds.find(({ type }) => type !== Common.invalid.type && type !== 'about:blank') ?? kinds[0] ?? Common.failure;
  if (kind.type === Common.invalid.type) return kind({ detail: 'The request is not valid; see errors.', errors: { name: ['is required'] } });
  return kind({ ...(kind.members && exampleMembers(kind.members)) });
}

const exampleMembers = (members: z.ZodObject) => {
  const [first] = (members.meta()?.['examples'] ?? []) as Record<string, unknown>[]; // as the declarations of problems have them
  return first;
};

function refusalAnswers(route: AnyRoute, area: Area | undefined, { mediaType, schemaOf, toBody }: RefusalForm) {
  const byStatus = Map.groupBy(refusalsOf(route, area), ({ status }) => status);
  const fresh = [...byStatus].filter(([status]) => !(status in route.answers));
  return Object.fromEntries(
    fresh.map(([status, kinds]) => {
      const description = [...new Set(kinds.map(({ title }) => title))].join('; ');
      const content = { [mediaType]: { schema: schemaOf(kinds), example: toBody(exampleOf(kinds)) } };
      return [status, { description, ...headersOf(headersByStatus[status]), content }];
    }),
  );
}
