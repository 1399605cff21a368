// The CustomResourceDefinitions of the kinds, from the schemas of contract.ts.
import { z } from 'zod';
import { group, type Kind, kinds, version } from './contract.ts';

type Definition = {
  readonly spec: { readonly names: { readonly plural: string }; readonly [member: string]: unknown };
  readonly [member: string]: unknown;
};

/** In alphabetical order. */
export const definitions = (): Definition[] => [definitionOf('BrokerConnection'), definitionOf('SecretApplication'), definitionOf('SyncedSecret')];

function definitionOf(kind: Kind): Definition {
  const { description, plural, singular, shortNames, spec, status, columns } = kinds[kind];
  const names = { kind, listKind: `${kind}List`, plural, singular, shortNames, categories: ['signalbox'] };
  const properties = {
    apiVersion: { type: 'string', description: `Always ${group}/${version}.` },
    kind: { type: 'string', description: `Always ${kind}.` },
    metadata: { type: 'object' },
    spec: structural(spec.describe('What is wanted.')),
    status: structural(status.describe('What there is, as the operator last wrote it.')),
  };
  const served = {
    name: version,
    served: true,
    storage: true,
    subresources: { status: {} },
    additionalPrinterColumns: columns,
    schema: { openAPIV3Schema: { type: 'object', description, required: ['spec'], properties } },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names, versions: [served] },
  };
}

/** What JSON Schema says and a structural schema may not. */
const unknownToKubernetes = new Set(['$schema', 'propertyNames', 'const']);

/** As users write it: what has a default may be left out. */
const structural = (schema: z.ZodType): unknown => plain(z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0' }));

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, member]) => !unknownToKubernetes.has(name) && !(name === 'additionalProperties' && typeof member !== 'object'),
  );
  return Object.fromEntries(entries.map(([name, member]) => [name, plain(member)]));
}
