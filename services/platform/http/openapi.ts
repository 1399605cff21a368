// The API description (OpenAPI 3.1) of an app, from the very declarations that run it.
import { STATUS_CODES } from 'node:http';
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { z } from 'zod';
import { type Faults, parseInto } from '../faults.ts';
import { Common, type Problem, type ProblemKind } from '../problem.ts';
import type { Area, Guard } from './credentials.ts';
import type { RefusalForm } from './refusals.ts';
import { type AnswerHeaders, type AnyRoute, type DescribedHeader, headersOfStatus, type Tag } from './route.ts';

/** `title` names the deployable, as in metrics. */
export type Description = { readonly title: string; readonly summary: string; readonly version: string };

/** `webhook-relay` → `Signalbox webhook relay` */
export const readableTitle = (title: string): string => `Signalbox ${title.replaceAll('-', ' ')}`;

const conventions = [
  'Times are ISO 8601 in UTC with milliseconds. Unknown members of a request are ignored; answers may get further members.',
  'An empty query parameter counts as absent, and one that is given twice is refused.',
].join(' ');

/** Which area covers a route of the app, and how its refusals read. */
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
    (paths[route.path.replaceAll('{+', '{')] ??= {})[route.method] = {
      ...named(route),
      security: Object.keys(guard?.schemes ?? {}).map((name) => ({ [name]: [] })),
      ...parameters(route),
      ...requestBody(route),
      responses: { ...answers(route, areaOf(route)), ...refusalAnswers(route, areaOf(route), route.refusals ?? refusals) },
    };
  }
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: readableTitle(title),
        summary,
        description: `${refusals.description} ${conventions}`,
        license: { name: 'MIT', identifier: 'MIT' },
        version,
      },
      servers: [{ url: '/', description: 'The server of this description' }],
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

function answers(route: AnyRoute, area: Area | undefined) {
  const { answers: declared, describedContent } = route;
  const contentOf = (schema: z.ZodType) => describedContent ?? { 'application/json': schema };
  return Object.fromEntries(
    Object.entries(declared).map(([status, schema]) => [
      status,
      {
        description: STATUS_CODES[status] ?? status,
        ...headersOf(route, Number(status), area),
        ...(schema && { content: Object.fromEntries(Object.entries(contentOf(schema)).map(([type, one]) => [type, { schema: one }])) }),
      },
    ]),
  );
}

/** Headers of every answer, and of those that a limit counts. */
const headersOfAll: AnswerHeaders = { 'X-Request-Id': 'Names the request in the log of the service; taken over from the request where it has one' };
const headersOfLimited: AnswerHeaders = {
  RateLimit: { description: 'The rest of the window', isOptional: true },
  'RateLimit-Policy': { description: 'The size of the window', isOptional: true },
};

function headersOf(route: AnyRoute, status: number, area: Area | undefined) {
  const described = { ...(area?.limit && headersOfLimited), ...headersOfStatus(route, status), ...headersOfAll };
  const headers = Object.entries(described).map(([name, said]) => {
    const { description, isOptional } = typeof said === 'string' ? { description: said, isOptional: false } : said;
    return [name, { description, ...(!isOptional && { required: true }), schema: { type: 'string' as const } }];
  });
  return { headers: Object.fromEntries(headers) as Record<string, { description: string; schema: { type: 'string' } }> }; // made of such entries
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
function exampleOf(route: AnyRoute, kinds: readonly ProblemKind[]): Problem {
  const kind = kinds.find(({ type }) => type !== Common.invalid.type && type !== 'about:blank') ?? kinds[0] ?? Common.failure;
  if (kind.type !== Common.invalid.type) return kind({ ...(kind.members && exampleMembers(kind.members)) });
  const errors = exampleFaults(route);
  return errors
    ? kind({ detail: 'The request is not valid; see errors.', errors })
    : Common.malformed({ detail: 'The path or query holds a malformed percent escape.' });
}

/** Faults that a request of the operation can have, in the words of its own schemas. */
function exampleFaults({ body, query, headers }: AnyRoute): Readonly<Record<string, readonly string[]>> | undefined {
  const names = [query, headers].flatMap((schema) => Object.keys(objectOf(schema)?.shape ?? {}));
  const tries: readonly (readonly [schema: z.ZodType | undefined, root: string, value: unknown])[] = [
    ...(body && !('kind' in body) ? ([{}, null] as const).map((value) => [body, 'body', value] as const) : []),
    ...[{}, ...names.map((name) => ({ [name]: '?' }))].flatMap((value) => [[query, 'query', value] as const, [headers, 'headers', value] as const]),
  ];
  for (const [schema, root, value] of tries) {
    const faults: Faults = new Map();
    if (schema) parseInto(schema, value, { root, faults });
    if (faults.size > 0) return Object.fromEntries([...faults].slice(0, 2));
  }
  const [first] = names;
  return first === undefined ? undefined : { [first]: ['is given more than once'] };
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
      const content = { [mediaType]: { schema: schemaOf(kinds), example: toBody(exampleOf(route, kinds)) } };
      return [status, { description, ...headersOf(route, status, area), content }];
    }),
  );
}
