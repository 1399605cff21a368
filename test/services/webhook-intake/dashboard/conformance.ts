// Holds real answers to the API description: whatever is on the wire must be what the document says for its route and status.
import { z } from 'zod';

const Described = z.looseObject({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({ responses: z.record(z.string(), z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.unknown() })).optional() })) }),
    ),
  ),
  components: z.looseObject({ schemas: z.record(z.string(), z.looseObject({})) }),
});

export type Wire = { readonly status: number; readonly mediaType: string; readonly body: unknown };

/** @returns checks one answer. It throws with what is wrong, and when the document does not know of such an answer. */
export function createConformance(openapi: object): (template: string, method: string, answer: Wire) => void {
  // Schemas of the components are referred to where JSON Schema has its definitions.
  const { paths, components } = Described.parse(JSON.parse(JSON.stringify(openapi).replaceAll('#/components/schemas/', '#/$defs/'), closed));
  return (template, method, { status, mediaType, body }) => {
    const content = paths[template]?.[method]?.responses[status]?.content;
    const schema = content?.[mediaType.split(';')[0] ?? '']?.schema;
    if (typeof schema !== 'object' || schema === null) throw new Error(`${method} ${template} → ${status} ${mediaType} is not described`);
    const result = z.fromJSONSchema({ ...schema, $defs: components.schemas }).safeParse(body);
    if (!result.success) throw new Error(`${method} ${template} → ${status} is not as described:\n${z.prettifyError(result.error)}`);
  };
}

/** The description leaves answers open, so that members can be added; here one that it does not name is a fault. */
function closed(_name: string, value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && 'type' in value && value.type === 'object' && 'properties' in value;
  return isObject && !('additionalProperties' in value) ? { ...value, additionalProperties: false } : value;
}
