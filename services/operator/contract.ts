// The three kinds of `signalbox.dev/v1alpha1` as their users write them, their statuses, and every reason that a condition can have.
import { z } from 'zod';

export const group = 'signalbox.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;
/** Of server-side apply. */
export const fieldManager = 'signalbox-operator';
/** What we write onto objects. */
export const annotations = {
  /** On a Secret that we write: `SyncedSecret/shop`, the object that it belongs to; one without it is never touched. */
  owner: `${group}/owner`,
  /** On a target Secret: what its content is, and when that last became another; absent until then. */
  contentHash: `${group}/content-hash`,
  contentChangedAt: `${group}/content-changed-at`,
  /** On a target Secret: random, so that a hash in a status tells nobody a value that can be guessed. */
  salt: `${group}/salt`,
  /** On the Secret of an application's key: the id of the application, or `pending` while it is being created. */
  application: `${group}/application`,
  rotatedAt: `${group}/rotated-at`,
  /** On the same: what to do in the service when the object is gone. */
  deletionPolicy: `${group}/deletion-policy`,
  /** On the Secret of the relay's file: the connections that drain, and since when, as JSON. */
  draining: `${group}/draining`,
  /** On pods, so that the kubelet brings them their changed Secret at once. */
  brokersChanged: `${group}/brokers-changed`,
} as const;

/** Of all conditions; the meaning of each, and what to do, is in docs/operator.md. */
export const reasons = [
  'InUse',
  'NotConnected',
  'Draining',
  'Conflict',
  'SecretMissing',
  'InvalidUrl',
  'RelayMissing',
  'NotFollowed',
  'InSync',
  'Synced',
  'NotFound',
  'KeyRefused',
  'PlaneUnavailable',
  'ValueMissing',
  'ValueRefused',
  'ApplicationNotReady',
  'TargetNotOwned',
  'InvalidTemplate',
] as const;
export type Reason = (typeof reasons)[number];

const dnsName = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
const Name = dnsName(253);
/** Of a Secret or ConfigMap. */
const Key = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[-._a-zA-Z0-9]+$/);
const KeyRef = z.object({ name: Name, key: Key });
export type KeyRef = z.output<typeof KeyRef>;
/** As Go writes it, in whole hours, minutes and seconds. */
const Duration = z
  .string()
  .min(2)
  .max(20)
  .regex(/^(\d+h)?(\d+m)?(\d+s)?$/);

/** CEL, checked by the API server. */
const rule = (cel: string, message: string) => ({ rule: cel, message });
const rules = (...all: readonly { rule: string; message: string }[]) => ({ 'x-kubernetes-validations': all });
const immutable = rules(rule('self == oldSelf', 'is immutable'));
const keyedBy = (...keys: readonly string[]) => ({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });

export const Condition = z.object({
  type: z.literal('Ready'),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.enum(reasons),
  message: z.string().max(32_768),
  lastTransitionTime: z.iso.datetime(),
  observedGeneration: z.int(),
});
export type Condition = z.output<typeof Condition>;
const conditions = { observedGeneration: z.int().optional(), conditions: z.array(Condition).meta(keyedBy('type')).optional() };

export const BrokerConnectionSpec = z.object({
  position: z.int().min(1).max(99).meta(immutable).describe('The number of the broker: brokers are asked in this order. Immutable.'),
  urlSecretRef: KeyRef.describe('The key of a Secret that holds the amqp or amqps URL.'),
  monthlyLimit: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe('Messages a month; 0 publishes nothing, none given is no limit.'),
});
export type BrokerConnectionSpec = z.output<typeof BrokerConnectionSpec>;
export const BrokerConnectionStatus = z.object({
  ...conditions,
  /** `BROKER_URL_<position>`. */
  broker: z.string().optional(),
  active: z.boolean().optional(),
  period: z.string().optional(),
  used: z.int().optional(),
  limit: z.int().optional(),
  remaining: z.int().optional(),
});
export type BrokerConnectionStatus = z.output<typeof BrokerConnectionStatus>;

const ConfigurationEntry = z
  .object({
    environment: z.string().min(1).max(100),
    key: z.string().min(1).max(500),
    value: z.string().max(65_536).optional(),
    valueFrom: z.object({ configMapKeyRef: KeyRef }).optional(),
  })
  .meta(rules(rule('has(self.value) != has(self.valueFrom)', 'has either value or valueFrom')));
const SecretValue = z.object({ environment: z.string().min(1).max(100), secret: z.string().min(1).max(200), valueFrom: z.object({ secretKeyRef: KeyRef }) });

export const SecretApplicationSpec = z.object({
  applicationName: z.string().min(1).max(200).meta(immutable).describe('The name in the secrets service, which makes the slug of it. Immutable.'),
  description: z.string().max(1000).optional(),
  environments: z.array(z.string().min(1).max(100)).max(100).default([]).meta({ 'x-kubernetes-list-type': 'set' }),
  prune: z.boolean().default(false).describe('Whether an environment that is taken out is deleted, with its values.'),
  configuration: z.array(ConfigurationEntry).max(1000).default([]).meta(keyedBy('environment', 'key')),
  secretValues: z.array(SecretValue).max(1000).default([]).meta(keyedBy('environment', 'secret')),
  apiKeySecretRef: KeyRef.describe('The Secret that the operator writes the key of the application into.'),
  rotateEvery: Duration.optional().describe('How old the key may become, such as 720h.'),
  deletionPolicy: z.enum(['Retain', 'Delete']).default('Retain').describe('What becomes of the application in the service when this object is deleted.'),
  existing: z.enum(['Fail', 'Adopt']).default('Fail').describe('What to do with an application that is there and belongs to no object; Adopt rotates its key.'),
});
export type SecretApplicationSpec = z.output<typeof SecretApplicationSpec>;
export const SecretApplicationStatus = z.object({
  ...conditions,
  slug: z.string().optional(),
  applicationId: z.string().optional(),
  lastRotatedAt: z.iso.datetime().optional(),
});
export type SecretApplicationStatus = z.output<typeof SecretApplicationStatus>;

const DataEntry = z
  .object({ key: Key, secret: z.string().min(1).max(200).optional(), configuration: z.string().min(1).max(500).optional() })
  .meta(rules(rule('has(self.secret) != has(self.configuration)', 'has either secret or configuration')));
const Texts = z.record(z.string().max(253), z.string().max(65_536));

export const SyncedSecretSpec = z
  .object({
    applicationRef: z.object({ name: Name }).optional().describe('A SecretApplication of this namespace, whose key reads the values.'),
    apiKeySecretRef: KeyRef.optional().describe('Instead of applicationRef: the key of a Secret that holds an API key.'),
    environment: z.string().min(1).max(100),
    target: z
      .object({
        name: Name.optional().describe("The name of the Secret; the object's own unless given."),
        type: z.string().max(253).default('Opaque').meta(immutable),
        labels: Texts.default({}),
        annotations: Texts.default({}),
        deletionPolicy: z.enum(['Delete', 'Retain']).default('Delete'),
      })
      .prefault({}),
    data: z.array(DataEntry).max(1000).default([]).meta(keyedBy('key')),
    template: Texts.default({}).describe('Texts by key, with {{ secret NAME }} and {{ configuration KEY }} replaced.'),
    refreshInterval: Duration.default('5m').describe('How often values are read though no change was heard of.'),
    rollout: z
      .array(z.object({ kind: z.enum(['Deployment', 'StatefulSet', 'DaemonSet']), name: Name }))
      .max(50)
      .default([])
      .meta(keyedBy('kind', 'name')),
  })
  .meta(rules(rule('has(self.applicationRef) != has(self.apiKeySecretRef)', 'has either applicationRef or apiKeySecretRef')));
export type SyncedSecretSpec = z.output<typeof SyncedSecretSpec>;
export const SyncedSecretStatus = z.object({
  ...conditions,
  contentHash: z.string().optional(),
  versions: z.record(z.string(), z.int()).optional(),
  lastSyncedAt: z.iso.datetime().optional(),
});
export type SyncedSecretStatus = z.output<typeof SyncedSecretStatus>;

type Column = { readonly name: string; readonly type: 'string' | 'integer' | 'boolean' | 'date'; readonly jsonPath: string };
const ready: Column = { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' };
const reason: Column = { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' };
const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** What the definitions are generated from. */
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
      { name: 'Target', type: 'string', jsonPath: '.spec.target.name' },
      { name: 'Environment', type: 'string', jsonPath: '.spec.environment' },
      ready,
      reason,
      { name: 'Synced', type: 'date', jsonPath: '.status.lastSyncedAt' },
      age,
    ],
  },
} as const satisfies Readonly<Record<string, { readonly columns: readonly Column[]; readonly [member: string]: unknown }>>;
export type Kind = keyof typeof kinds;
