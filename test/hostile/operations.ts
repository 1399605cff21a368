// The operations of the API descriptions: what there is to attack.
import { z } from 'zod';
import { descriptionOf } from './house.ts';

const JsonSchema = z.looseObject({});
export type JsonSchema = z.output<typeof JsonSchema>;

const Parameter = z.object({ in: z.enum(['path', 'query', 'header']), name: z.string(), required: z.boolean().default(false), schema: JsonSchema });
const Operation = z.object({
  security: z.array(z.record(z.string(), z.unknown())).default([]),
  parameters: z.array(Parameter).default([]),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: JsonSchema.optional() })) }).optional(),
  responses: z.record(z.string(), z.unknown()),
});
const Scheme = z.looseObject({ type: z.string(), name: z.string().optional() });
const Description = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ securitySchemes: z.record(z.string(), Scheme).default({}), schemas: z.record(z.string(), JsonSchema).default({}) }),
});

export type Operation = {
  readonly service: string;
  readonly method: string;
  /** With its parameters in braces. */
  readonly path: string;
  readonly parameters: readonly z.output<typeof Parameter>[];
  /** The schema of a body that is described as JSON. */
  readonly bodySchema: JsonSchema | undefined;
  readonly mediaType: string | undefined;
  /** Named as the description has it; undefined where no credential is asked for. */
  readonly scheme: string | undefined;
  readonly statuses: readonly number[];
};

export function operationsOf(service: string): readonly Operation[] {
  const { paths, components } = Description.parse(descriptionOf(service));
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security, parameters, requestBody, responses }]) => {
      const [mediaType, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
      const scheme = Object.keys(security[0] ?? {})[0];
      return {
        service,
        method,
        path,
        parameters: parameters.map((one) => ({ ...one, schema: inlined(one.schema, components.schemas) })),
        mediaType,
        bodySchema: mediaType?.endsWith('json') && content?.schema ? inlined(content.schema, components.schemas) : undefined,
        scheme,
        statuses: Object.keys(responses).map(Number),
      };
    }),
  );
}

/** With what it refers to in its place; none of them refers to itself. */
const inlined = (schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  JsonSchema.parse(JSON.parse(JSON.stringify(schema), (_, value: unknown) => referred(value, schemas)));

function referred(value: unknown, schemas: Readonly<Record<string, JsonSchema>>): unknown {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
  return inlined(schemas[String(value.$ref).replace(/^.*\//, '')] ?? {}, schemas);
}

/** The header that a scheme of a service wants, with a value in it. */
export function credentialHeader(service: string, scheme: string, value: string): readonly [name: string, value: string] {
  const { name, type } = Description.parse(descriptionOf(service)).components.securitySchemes[scheme] ?? {};
  if (type === 'http') return ['Authorization', `Bearer ${value}`];
  return name === 'Authorization' ? [name, `${scheme} ${value}`] : [name ?? '', value];
}
