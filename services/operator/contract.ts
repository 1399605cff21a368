// The three kinds of `signalbox.dev/v1alpha1` as their users write them, their statuses, and every reason that a condition can have.
import { z } from 'zod';
import { Generate } from '../secrets/management/contract.ts';
import { exactlyOne, immutable, keyedBy, oneOf, rule, rules } from './keywords.ts';
import { Annotations, Labels, TargetType } from './secret-types.ts';

export const group = 'signalbox.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;
/** The field manager of server-side applies. */
export const fieldManager = 'signalbox-operator';
/** Annotations that the operator writes. */
export const annotations = {
  /** On a Secret that the operator writes: `SyncedSecret/shop`, the object that it belongs to; a Secret without it is never changed. */
  owner: `${group}/owner`,
  /** On a target Secret: the hash of its content, and the time of its last change; absent before the first change. */
  contentHash: `${group}/content-hash`,
  contentChangedAt: `${group}/content-changed-at`,
  /** On a target Secret: a random salt, so that a value cannot be guessed from the hash in a status. */
  salt: `${group}/salt`,
  /** On the Secret of an application's key: the slug and the id of the application. */
  application: `${group}/application`,
  rotatedAt: `${group}/rotated-at`,
  /** On the same Secret while its key is being replaced: the id of the former key, `none` where that one is deleted already; then the workloads remain to be rolled. */
  formerKey: `${group}/former-key`,
  /** On the same Secret: a text that is new for each rotation. It makes the API server refuse a late write of another process that leads no more. */
  rotation: `${group}/rotation`,
  /** On the same Secret: what happens in the service when the object is gone. */
  deletionPolicy: `${group}/deletion-policy`,
  /** On the same Secret: a MAC over its namespace and uid, its owner, application and deletion policy. A copy, a Secret from a backup and a forged one have no valid seal and delete nothing. */
  seal: `${group}/seal`,
  /** On the Secret of the relay's file: the draining connections, and since when, as JSON. */
  draining: `${group}/draining`,
  /** On pods: a change makes the kubelet bring them their changed Secret at once. */
  brokersChanged: `${group}/brokers-changed`,
} as const;

/** Reasons of conditions; docs/operator.md has the meaning of each, and what to do. */
export const reasons = [
  'InUse',
  'NotConnected',
  'Draining',
  'Conflict',
  'SecretMissing',
  'InvalidUrl',
  'RelayMissing',
  'RelayUnreachable',
  'NotFollowed',
  'InSync',
  'Synced',
  'NotFound',
  'KeyRefused',
  'ServiceUnavailable',
  'ValueMissing',
  'ValueRefused',
  'ApplicationNotReady',
  'TargetNotOwned',
  'Contested',
  'FormerKeyKept',
  'InvalidTemplate',
] as const;
export type Reason = (typeof reasons)[number];
/** Reasons of Events: those of a changed condition, and those of an action. */
export type EventReason = Reason | 'Rotated' | 'RolledOut' | 'FormerKeyDeleted' | 'Generated';

const dnsName = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
const Name = dnsName(253);
/** A key of a Secret or ConfigMap. */
const Key = z
  .string()
  .min(1)
  .max(253)
  .regex(/^\.?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$/);
const KeyRef = z.object({ name: Name.describe('The name of the object, in the same namespace.'), key: Key.describe('The key in it.') });
export type KeyRef = z.output<typeof KeyRef>;

/** A duration in Go's notation, in whole hours, minutes and seconds. */
const Duration = z
  .string()
  .max(20)
  .meta(
    rules(
      rule(
        "self.matches('^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?$') && self.matches('[1-9]')",
        'must be hours, minutes and seconds, such as 720h, 5m or 1h30m, and not 0',
      ),
    ),
  );

export const Condition = z.object({
  type: z.literal('Ready').describe('Always Ready.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether everything is as the spec says.'),
  reason: z.enum(reasons).describe('The reason in one word; docs/operator.md says what to do for each.'),
  message: z.string().max(32_768).describe('The reason in a sentence.'),
  lastTransitionTime: z.iso.datetime().describe('When the status of the condition last changed.'),
  observedGeneration: z.int().describe('The generation of the spec that this condition describes.'),
});
export type Condition = z.output<typeof Condition>;
const conditions = {
  observedGeneration: z.int().optional().describe('The generation of the spec that this status was written for.'),
  conditions: z.array(Condition).meta(keyedBy('type')).optional().describe('One condition, Ready.'),
};

export const BrokerConnectionSpec = z.object({
  position: z.int().min(1).max(99).meta(immutable('position')).describe('The number of the broker: brokers are asked in this order. Immutable.'),
  urlSecretRef: KeyRef.describe('The key of a Secret that holds the amqp or amqps URL.'),
  monthlyLimit: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Messages a month; 0 publishes nothing. Default: Broker__MonthlyMessageLimit of the relay, 2000000 unless set.'),
});
export type BrokerConnectionSpec = z.output<typeof BrokerConnectionSpec>;
export const BrokerConnectionStatus = z.object({
  ...conditions,
  broker: z.string().optional().describe('Its name in the relay, BROKER_URL_<position>.'),
  active: z.boolean().optional().describe('Whether a relay publishes to it now.'),
  period: z.string().optional().describe('The calendar month, in UTC, of the counts.'),
  used: z.int().optional().describe('Messages that were published in the period.'),
  limit: z.int().optional().describe('Messages that may be published in the period, as the relays have it.'),
  remaining: z.int().optional().describe('Messages that may still be published in the period.'),
});
export type BrokerConnectionStatus = z.output<typeof BrokerConnectionStatus>;

export const WorkloadRef = z.object({
  kind: z.enum(['Deployment', 'StatefulSet', 'DaemonSet']).describe('The kind of the workload.'),
  name: Name.describe('Its name.'),
});
export type WorkloadRef = z.output<typeof WorkloadRef>;
const Rollout = z.array(WorkloadRef).max(50).meta(keyedBy('kind', 'name'));

const environmentSlug = z.string().min(1).max(100).describe('The slug of the environment, such as production; local is always there.');
const secretName = z.string().min(1).max(200).describe('The name of the secret in the service.');
const configurationKey = z.string().min(1).max(500).describe('The key of the configuration entry in the service.');

const ConfigurationEntry = z
  .object({
    environment: environmentSlug,
    key: configurationKey,
    value: z.string().max(65_536).optional().describe('Its value.'),
    valueFrom: z
      .object({ configMapKeyRef: KeyRef.describe('The key of a ConfigMap.') })
      .optional()
      .describe('The source of the value, instead of value.'),
  })
  .meta(oneOf('value', 'valueFrom'));
const SecretValue = z.object({
  environment: environmentSlug,
  secret: secretName,
  valueFrom: z.object({ secretKeyRef: KeyRef.describe('The key of a Secret.') }).describe('The source of the value.'),
});

/** Members that need the key of the object, which compares values and is replaced. */
const needKey = ['secretValues', 'rotateEvery', 'rollout'] as const;
const needsKey = (member: string) => `${member} goes with apiKeySecretRef`;

export const SecretApplicationSpec = z
  .object({
    applicationName: z
      .string()
      .min(1)
      .max(200)
      .meta(immutable('applicationName'))
      .describe('The name in the secrets service, which derives the slug from it. Immutable.'),
    description: z.string().max(1000).optional().describe('Its description in the service; without it the description there stays.'),
    environments: z
      .array(z.string().min(1).max(100))
      .max(100)
      .default([])
      .meta({ 'x-kubernetes-list-type': 'set' })
      .describe('Names of environments beside local; the service derives their slugs.'),
    prune: z
      .boolean()
      .default(false)
      .describe('Whether environments that are not named here are deleted with their values, also those made by hand; local never is.'),
    configuration: z
      .array(ConfigurationEntry)
      .max(1000)
      .default([])
      .meta(keyedBy('environment', 'key'))
      .describe('Configuration entries; an entry that is taken out of the object is deleted, other entries of the application stay.'),
    secretValues: z
      .array(SecretValue)
      .max(1000)
      .default([])
      .meta(keyedBy('environment', 'secret'))
      .describe(
        'Values of secrets, taken from Secrets of Kubernetes; each change is a new version. A value that is taken out of the object stays in the service.',
      ),
    apiKeySecretRef: KeyRef.optional().describe(
      'The Secret that the operator writes the key of the application into. A Secret that exists and does not belong to this object is left as it is. Without it the object has no key, and must have serviceAccounts.',
    ),
    serviceAccounts: z
      .array(Name)
      .max(100)
      .meta({ 'x-kubernetes-list-type': 'set' })
      .optional()
      .describe(
        'ServiceAccounts of this namespace whose pods read with their own tokens, where Operator__ServiceAccounts is on; others of it are unbound. Without this member bindings stay as they are.',
      ),
    rotateEvery: Duration.optional().describe(
      'The age at which the key is replaced, such as 720h; the former one stays valid until the workloads are rolled out. Default: it is not replaced by age.',
    ),
    rollout: Rollout.optional().describe(
      'Workloads of this namespace that are rolled when the key was replaced. Default: those whose pods take the Secret of apiKeySecretRef by a variable or a volume.',
    ),
    generate: z
      .enum(['Deny', 'Allow'])
      .default('Deny')
      .describe('Whether SyncedSecrets of this namespace may have random values made in the application, for secrets that have none.'),
    deletionPolicy: z.enum(['Retain', 'Delete']).default('Retain').describe('Whether the application stays in the service when this object is deleted.'),
    existing: z
      .enum(['Fail', 'Adopt'])
      .default('Fail')
      .describe(
        'How an application that exists and has no owner is treated: Adopt takes it and rotates its key (without apiKeySecretRef its keys stay), where Operator__AdoptNamespaces of the operator has the namespace.',
      ),
  })
  .check(({ value, issues }) => {
    if (value.apiKeySecretRef) return;
    const given = needKey.filter((member) => [value[member] ?? []].flat().length > 0);
    for (const member of given) issues.push({ code: 'custom', input: value, path: [member], message: needsKey(member) });
  })
  .meta(
    rules(
      rule('has(self.apiKeySecretRef) || has(self.serviceAccounts)', 'one of apiKeySecretRef and serviceAccounts must be given, or both'),
      ...needKey.map((member) => rule(`has(self.apiKeySecretRef) || !has(self.${member}) || size(self.${member}) == 0`, needsKey(member))),
    ),
  );
export type SecretApplicationSpec = z.output<typeof SecretApplicationSpec>;
/** The spec of an object with a key. */
export type KeyedSpec = SecretApplicationSpec & { readonly apiKeySecretRef: KeyRef };
export const SecretApplicationStatus = z.object({
  ...conditions,
  slug: z.string().optional().describe('The slug of the application in the service.'),
  applicationId: z.string().optional().describe('Its id there.'),
  lastRotatedAt: z.iso.datetime().optional().describe('When its key was created or replaced by the operator.'),
  waitsFor: z
    .array(z.string())
    .optional()
    .describe(
      'While a replaced key is still valid: the workloads that are not rolled out, such as `Deployment shop`, or `the former key`, which is read with.',
    ),
});
export type SecretApplicationStatus = z.output<typeof SecretApplicationStatus>;

const DataEntry = z
  .object({
    key: Key.describe('The key in the target.'),
    secret: secretName.optional(),
    configuration: configurationKey.optional(),
    decode: z
      .enum(['Base64'])
      .optional()
      .describe('How the value is decoded: Base64 for bytes, such as a keystore, that the service holds in base64. Default: it is not.'),
    generate: z
      .object({
        length: z.int().min(8).max(1024).default(32).describe('How many characters.'),
        alphabet: Generate.shape.alphabet.describe('Which characters; symbols adds -._~+=, to the letters and digits.'),
      })
      .optional()
      .describe('A random value is made in the service where the environment has no version of the secret. The SecretApplication must say generate: Allow.'),
  })
  .meta(rules(...exactlyOne('secret', 'configuration'), rule('!has(self.generate) || has(self.secret)', 'generate goes with secret')));
const Texts = z.record(z.string().max(253), z.string().max(65_536));

export const SyncedSecretSpec = z
  .object({
    applicationRef: z
      .object({ name: Name.describe('Its name.') })
      .optional()
      .describe('A SecretApplication of this namespace, whose key reads the values.'),
    apiKeySecretRef: KeyRef.optional().describe('Instead of applicationRef: the key of a Secret that holds an API key.'),
    environment: environmentSlug,
    target: z
      .object({
        name: Name.optional().describe("The name of the Secret. Default: the object's own."),
        type: TargetType.describe('The type of the Secret; of the types of Kubernetes only those that hold data of applications. Immutable.'),
        labels: Labels.describe('Labels of the Secret; a label that is taken out of the object stays on the Secret.'),
        annotations: Annotations.describe('Annotations of the Secret; an annotation that is taken out of the object stays on the Secret.'),
        mergePolicy: z
          .enum(['Replace', 'Merge'])
          .default('Replace')
          .describe(
            'How keys that other writers add to the Secret are treated: Replace removes them, Merge leaves them; a key that is taken out of the object then stays, too.',
          ),
        deletionPolicy: z
          .enum(['Delete', 'Retain'])
          .default('Delete')
          .describe('Whether the Secret stays when this object is deleted, or names another target.'),
      })
      .prefault({})
      .describe('The Secret that is written. A Secret that exists and does not belong to this object, or has another type, is left as it is.'),
    data: z.array(DataEntry).max(1000).default([]).meta(keyedBy('key')).describe('Keys of the Secret, each with its source.'),
    template: Texts.default({}).describe(
      'Texts by key, with {{ secret NAME }} and {{ configuration KEY }} replaced. With data they name at most 1000 secrets.',
    ),
    refreshInterval: Duration.default('5m').describe('How often values are read when the change feed reports nothing.'),
    rollout: Rollout.default([]).describe('Workloads of this namespace that are rolled once for each change of the content.'),
  })
  .meta(
    rules(
      ...exactlyOne('applicationRef', 'apiKeySecretRef'),
      rule('has(self.applicationRef) || !has(self.data) || self.data.all(entry, !has(entry.generate))', 'generate goes with applicationRef'),
    ),
  );
export type SyncedSecretSpec = z.output<typeof SyncedSecretSpec>;
export const SyncedSecretStatus = z.object({
  ...conditions,
  target: z.string().optional().describe('The name of the Secret.'),
  contentHash: z.string().optional().describe('A hash of the content of the Secret, keyed by a salt that the Secret holds.'),
  versions: z.record(z.string(), z.int()).optional().describe('Versions of the secrets in it, by name.'),
  lastSyncedAt: z.iso.datetime().optional().describe('When the content last changed.'),
});
export type SyncedSecretStatus = z.output<typeof SyncedSecretStatus>;
