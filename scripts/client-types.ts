// The types of the npm client package: of each description the operations that it calls, with the schemas that these name.
import openapiTypes, { astToString } from 'openapi-typescript';
import { z } from 'zod';

/** Service → the file of its types, and the operations that the client calls. */
const called = {
  secrets: { file: 'secrets-api.ts', operations: ['readSecrets', 'readSecret', 'readConfigurations'] },
  'webhook-intake': { file: 'intake-api.ts', operations: ['listEvents'] },
};

const Operation = z.looseObject({ operationId: z.string(), responses: z.record(z.string(), z.unknown()) });
const Description = z.looseObject({
  info: z.unknown(),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});

/** The schemas that a part of a description names, and those that these name. */
function schemasOf(part: unknown, schemas: Readonly<Record<string, unknown>>, found = new Set<string>()): ReadonlySet<string> {
  for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    schemasOf(schemas[name], schemas, found);
  }
  return found;
}

/** Errors are read by their status alone. */
const withoutErrors = (operation: z.output<typeof Operation>) => ({ ...operation, responses: { 200: operation.responses['200'] } });

/** @returns the description with these operations alone, as JSON */
function reduced(text: string, operations: readonly string[]): string {
  const { info, paths, components } = Description.parse(JSON.parse(text));
  const kept = Object.entries(paths).flatMap(([path, methods]) => {
    const chosen = Object.entries(methods).filter(([, { operationId }]) => operations.includes(operationId));
    return chosen.length === 0 ? [] : [[path, Object.fromEntries(chosen.map(([method, operation]) => [method, withoutErrors(operation)]))] as const];
  });
  const names = schemasOf(kept, components.schemas);
  const schemas = Object.fromEntries(Object.entries(components.schemas).filter(([name]) => names.has(name)));
  return JSON.stringify({ openapi: '3.1.0', info, paths: Object.fromEntries(kept), components: { schemas } });
}

/** @param descriptions path in the repository → content @returns the same of the files of types */
export async function clientTypes(descriptions: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const made = Object.entries(called).map(async ([service, { file, operations }]) => {
    const types = await openapiTypes(reduced(descriptions[`docs/openapi/${service}.json`] ?? '', operations));
    return [`clients/npm/src/${file}`, `// Generated from docs/openapi/${service}.json by \`npm run generate\`.\n${astToString(types)}`] as const;
  });
  return Object.fromEntries(await Promise.all(made));
}
