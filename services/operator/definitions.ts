// The kinds, and their CustomResourceDefinitions from the schemas of contract.ts.
import { z } from 'zod';
import {
  BrokerConnectionSpec,
  BrokerConnectionStatus,
  group,
  SecretApplicationSpec,
  SecretApplicationStatus,
  SyncedSecretSpec,
  SyncedSecretStatus,
  version,
} from './contract.ts';

type Column = { readonly name: string; readonly type: 'string' | 'integer' | 'boolean' | 'date'; readonly jsonPath: string; readonly priority?: number };
const ready: Column = { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' };
const reason: Column = { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' };
/** With `--output wide`. */
const message: Column = { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 };
const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** The kinds as the definitions describe them. */
export const kinds = {
  BrokerConnection: {
    description: 'A message broker of the relay in the same namespace.',
    plural: 'brokerconnections',
    singular: 'brokerconnection',
    shortNames: ['bc'],
    spec: BrokerConnectionSpec,
    status: BrokerConnectionStatus,
    columns: [
      { name: 'Broker', type: 'string', jsonPath: '.status.broker' },
      { name: 'Active', type: 'boolean', jsonPath: '.status.active' },
      { name: 'Used', type: 'integer', jsonPath: '.status.used' },
      { name: 'Limit', type: 'integer', jsonPath: '.status.limit' },
      { name: 'Remaining', type: 'integer', jsonPath: '.status.remaining' },
      ready,
      reason,
      age,
      message,
    ],
  },
  SecretApplication: {
    description: 'An application of the secrets service, and the Secret with its key.',
    plural: 'secretapplications',
    singular: 'secretapplication',
    shortNames: ['sapp'],
    spec: SecretApplicationSpec,
    status: SecretApplicationStatus,
    columns: [
      { name: 'Slug', type: 'string', jsonPath: '.status.slug' },
      { name: 'Rotated', type: 'date', jsonPath: '.status.lastRotatedAt' },
      ready,
      reason,
      age,
      message,
    ],
  },
  SyncedSecret: {
    description: 'A Secret that is kept equal to values of the secrets service.',
    plural: 'syncedsecrets',
    singular: 'syncedsecret',
    shortNames: ['ssec'],
    spec: SyncedSecretSpec,
    status: SyncedSecretStatus,
    columns: [
      { name: 'Target', type: 'string', jsonPath: '.status.target' },
      { name: 'Environment', type: 'string', jsonPath: '.spec.environment' },
      ready,
      reason,
      { name: 'Synced', type: 'date', jsonPath: '.status.lastSyncedAt' },
      age,
      message,
    ],
  },
} as const satisfies Readonly<Record<string, { readonly columns: readonly Column[]; readonly [member: string]: unknown }>>;
export type Kind = keyof typeof kinds;

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
    spec: structural(spec.describe('The wanted state.')),
    status: structural(status.describe('The observed state, as the operator last wrote it.')),
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

/** Keywords of JSON Schema that a structural schema must not have. */
const unknownToKubernetes = new Set(['$schema', 'propertyNames', 'const']);

/** The schema of the input: members with a default may be left out. */
const structural = (schema: z.ZodType): unknown => plain(z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0' }));

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, member]) => !unknownToKubernetes.has(name) && !(name === 'additionalProperties' && typeof member !== 'object'),
  );
  return Object.fromEntries(entries.map(([name, member]) => [name, plain(member)]));
}
