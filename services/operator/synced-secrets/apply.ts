// Brings the target of a SyncedSecret to the values of the secrets service, and rolls the workloads that use it.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { toError } from '../../platform/errors.ts';
import type { ConsumerClient } from '../../secrets/client.ts';
import type { KubeObject, Resource } from '../cluster/cluster.ts';
import { annotations, apiVersion, type SecretApplicationSpec, type SyncedSecretSpec } from '../contract.ts';
import type { ReconcileContext } from '../manager.ts';
import { type SecretsService, serviceFailure, unlessMissing } from '../secrets-service.ts';
import { annotationOf, encodedData, ownerNameOf, ownerOf, type OwnWrites, secretResource, secretText } from '../secrets.ts';
import { durationMs } from '../specs.ts';
import { isInvalid, notReady, ObjectRefused, type Readiness, refusalOf, statusOf } from '../status.ts';
import { compose, contentHash, maxTargetBytes, namesIn, planRollout, planTarget, type Read, rolloutAnnotation, sourcesOf } from './reconcile.ts';
import { TemplateError } from './template.ts';

export type Outcome = {
  readonly readiness: Readiness;
  readonly target?: string;
  readonly contentHash?: string;
  readonly versions?: Readonly<Record<string, number>>;
  /** When the content last became another. */
  readonly lastSyncedAt?: string;
  readonly againAfterMs: number;
  /** Not of what the object says: to be tried again with growing pauses. */
  readonly failure?: Error;
};

export type Subject = {
  readonly object: KubeObject;
  readonly spec: SyncedSecretSpec;
  readonly service: SecretsService;
  readonly applicationSpec: (object: KubeObject) => SecretApplicationSpec | undefined;
  readonly writes: OwnWrites;
};

const refreshMs = ({ refreshInterval }: SyncedSecretSpec) => Math.max(durationMs(refreshInterval), 1000);

/** @throws what the cluster does not answer */
export async function sync(subject: Subject, context: ReconcileContext): Promise<Outcome> {
  const fail = (readiness: Readiness, failure?: Error): Outcome => ({ readiness, againAfterMs: refreshMs(subject.spec), ...(failure && { failure }) });
  try {
    const read = await readValues(subject, context);
    if ('readiness' in read) return fail(read.readiness, read.failure);
    return await write(subject, read, context);
  } catch (error) {
    const readiness = refusalOf(error);
    if (!readiness) throw error;
    return fail(readiness, isInvalid(error) ? undefined : toError(error));
  }
}

type Values = { readonly data: Readonly<Record<string, string>>; readonly versions: Readonly<Record<string, number>> };
type Unread = { readonly readiness: Readiness; readonly failure?: Error };

/** What the target is to hold, or why that is not known. */
async function readValues(subject: Subject, context: ReconcileContext): Promise<Values | Unread> {
  const { spec, service } = subject;
  const key = await findKey(subject, context);
  if (typeof key !== 'string') return { readiness: key };
  let sources: ReturnType<typeof sourcesOf>;
  let read: Read;
  try {
    sources = sourcesOf(spec);
    read = await readService(service.consumer(key, context.signal), sources, spec.environment);
  } catch (error) {
    if (error instanceof TemplateError) return { readiness: notReady('InvalidTemplate', error.message) };
    const failure = serviceFailure(error);
    if (!failure) throw error;
    const readiness = notReady(failure.reason, `${failure.message}; the Secret stays as it is`);
    return failure.reason === 'ServiceUnavailable' ? { readiness, failure: toError(error) } : { readiness };
  }
  const composed = compose(sources, read);
  if ('bytes' in composed) throw tooLarge(composed.bytes);
  if ('missing' in composed)
    return { readiness: notReady('NotFound', `${spec.environment} has no active value of ${composed.missing.join(', ')}; the Secret stays as it is`) };
  return { data: composed.data, versions: Object.fromEntries([...read.secrets].map(([name, { version }]) => [name, version])) };
}

async function write(subject: Subject, { data, versions }: Values, context: ReconcileContext): Promise<Outcome> {
  const { object, spec } = subject;
  const target = targetName(object, spec);
  const written = await writeTarget(subject, data, context);
  if (!written) {
    const readiness = notReady(
      'TargetNotOwned',
      `the Secret ${target} does not belong to this object or is not of the type ${spec.target.type}, and is left as it is`,
    );
    return { readiness, againAfterMs: refreshMs(spec) };
  }
  await removeFormer(subject, context);
  const { hash, changedAt, writtenAt } = written;
  const rolled = await rollOut(subject, { hash, changedAt }, context);
  const count = Object.keys(data).length;
  const message = [`${count} ${count === 1 ? 'key' : 'keys'}`, ...rolled.missing.map((name) => `there is no ${name} to roll`)].join('; ');
  const readiness: Readiness = { isReady: true, reason: 'Synced', message };
  const againAfterMs = Math.min(refreshMs(spec), rolled.againAfterMs);
  return { readiness, target, contentHash: hash, versions, lastSyncedAt: writtenAt, againAfterMs };
}

export const targetName = (object: KubeObject, { target }: SyncedSecretSpec) => target.name ?? object.metadata.name;

async function findKey({ object, spec, applicationSpec }: Subject, { readSecret, caches }: ReconcileContext): Promise<string | Readiness> {
  const { namespace } = object.metadata;
  const { applicationRef, apiKeySecretRef } = spec;
  const application = applicationRef && caches['SecretApplication']?.get({ namespace, name: applicationRef.name });
  if (applicationRef && !application) return notReady('ApplicationNotReady', `there is no SecretApplication ${applicationRef.name}`);
  const ref = apiKeySecretRef ?? (application && applicationSpec(application)?.apiKeySecretRef);
  const key = ref && secretText(await readSecret({ namespace, name: ref.name }), ref.key);
  if (key !== undefined) return key;
  if (applicationRef) return notReady('ApplicationNotReady', `SecretApplication ${applicationRef.name} has no key yet`);
  return notReady('SecretMissing', `there is no Secret ${ref?.name ?? ''} with a text at ${ref?.key ?? ''}`);
}

/** Secrets that are read at once. */
const questions = 8;

/** @param bytes so far */
const tooLarge = (bytes: number) =>
  new ObjectRefused(`the target would hold ${bytes} bytes or more, and a Secret holds ${maxTargetBytes} at most; the Secret stays as it is`);

/** @throws ObjectRefused as soon as the values that were read cannot all have a place in the target */
async function readService(client: ConsumerClient, sources: ReturnType<typeof sourcesOf>, environment: string): Promise<Read> {
  const secrets = new Map<string, { value: string; version: number }>();
  let bytes = 0;
  const names = namesIn(sources, 'secret');
  for (let from = 0; from < names.length; from += questions) {
    const batch = names.slice(from, from + questions);
    const answers = await Promise.all(batch.map((name) => unlessMissing(client.secret(name, environment))));
    answers.forEach((answer, index) => answer && secrets.set(batch[index] ?? '', { value: answer.value, version: answer.properties.version }));
    bytes += answers.reduce((sum, answer) => sum + Buffer.byteLength(answer?.value ?? ''), 0);
    if (bytes > maxTargetBytes) throw tooLarge(bytes);
  }
  const keys = new Set(namesIn(sources, 'configuration'));
  const entries = keys.size > 0 ? ((await unlessMissing(client.configurations(environment))) ?? []) : [];
  return { secrets, configuration: new Map(entries.filter(({ key }) => keys.has(key)).map(({ key, value }) => [key, value])) };
}

type Written = { readonly hash: string; readonly changedAt: Date | undefined; readonly writtenAt: string };

/** Undefined when a Secret of that name does not belong to the object, or has another type. */
async function writeTarget(subject: Subject, data: Readonly<Record<string, string>>, context: ReconcileContext): Promise<Written | undefined> {
  const { object, spec, writes } = subject;
  const { cluster, readSecret, now } = context;
  const key = { namespace: object.metadata.namespace, name: targetName(object, spec) };
  const owner = ownerOf('SyncedSecret', object.metadata.name);
  const { labels, annotations: noted, type } = spec.target;
  const found = await readSecret(key);
  if (!found) return createTarget(subject, data, context);
  if (annotationOf(found, 'owner') !== owner || found['type'] !== type) return undefined;
  const { metadata } = found;
  const salt = annotationOf(found, 'salt') ?? randomBytes(16).toString('hex');
  const hash = contentHash(data, salt);
  const isOwnedBy = metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid) ?? false;
  const target = {
    resourceVersion: metadata.resourceVersion,
    data: encodedData(found),
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    isOwnedBy,
  };
  const patch = planTarget(
    target,
    { data, hash, labels, annotations: { ...noted, [annotations.owner]: owner, [annotations.salt]: salt }, ownerReference: ownerReferenceOf(subject) },
    now(),
  );
  const written = patch ? await cluster.patch(secretResource, key, patch) : found;
  if (written && patch) writes.note(written);
  const changed = annotationOf(written, 'contentChangedAt');
  return { hash, changedAt: changed === undefined ? undefined : new Date(changed), writtenAt: changed ?? metadata.creationTimestamp };
}

/** By it the Secret goes with the object; undefined where it stays. */
function ownerReferenceOf({ object: { metadata }, spec }: Subject) {
  const { name, uid } = metadata;
  return spec.target.deletionPolicy === 'Delete' ? { apiVersion, kind: 'SyncedSecret', name, uid, controller: true } : undefined;
}

async function createTarget(subject: Subject, data: Readonly<Record<string, string>>, { cluster, now }: ReconcileContext): Promise<Written | undefined> {
  const { object, spec, writes } = subject;
  const { labels, annotations: noted, type } = spec.target;
  const key = { namespace: object.metadata.namespace, name: targetName(object, spec) };
  const owner = ownerOf('SyncedSecret', object.metadata.name);
  const ownerReference = ownerReferenceOf(subject);
  const salt = randomBytes(16).toString('hex');
  const hash = contentHash(data, salt);
  // One that was deleted may have held something else: who uses it is rolled.
  const changedAt = statusOf(object)['target'] === key.name ? now() : undefined;
  const stamp = changedAt && { [annotations.contentChangedAt]: changedAt.toISOString() };
  const notes = { ...noted, [annotations.owner]: owner, [annotations.salt]: salt, [annotations.contentHash]: hash, ...stamp };
  // Never applied: that would change one that somebody made just now.
  const created = await cluster.create(secretResource, {
    metadata: { ...key, labels, annotations: notes, ownerReferences: ownerReference ? [ownerReference] : [] },
    type,
    data,
  });
  if (created === 'conflict') return undefined;
  writes.note(created);
  return { hash, changedAt, writtenAt: changedAt?.toISOString() ?? created.metadata.creationTimestamp };
}

/** A target that the object named before goes as it would go with the object. */
async function removeFormer({ object, spec }: Subject, { cluster, caches }: ReconcileContext): Promise<void> {
  const { namespace, name, uid } = object.metadata;
  for (const secret of caches['Secret']?.list(namespace) ?? []) {
    const isOurs = ownerNameOf(secret, 'SyncedSecret') === name && secret.metadata.ownerReferences?.some((reference) => reference.uid === uid);
    if (isOurs && secret.metadata.name !== targetName(object, spec)) await cluster.remove(secretResource, secret.metadata);
  }
}

const plurals = { Deployment: 'deployments', StatefulSet: 'statefulsets', DaemonSet: 'daemonsets' };
/** What we read of a workload. */
const WorkloadSpec = z.object({ template: z.object({ metadata: z.object({ annotations: z.record(z.string(), z.string()).optional() }).optional() }) });

async function rollOut({ object, spec }: Subject, { hash, changedAt }: Omit<Written, 'writtenAt'>, context: ReconcileContext) {
  const { cluster, now } = context;
  const annotation = rolloutAnnotation(object.metadata.name);
  const missing: string[] = [];
  let againAfterMs = Number.POSITIVE_INFINITY;
  for (const { kind, name } of spec.rollout) {
    const resource: Resource = { apiVersion: 'apps/v1', kind, plural: plurals[kind] };
    const key = { namespace: object.metadata.namespace, name };
    const found = await cluster.get(resource, key);
    const template = WorkloadSpec.safeParse(found?.['spec']).data?.template;
    if (!found || !template) {
      missing.push(`${kind} ${name}`);
      continue;
    }
    const workload = { createdAt: new Date(found.metadata.creationTimestamp), rolledFor: template.metadata?.annotations?.[annotation] };
    const plan = planRollout(workload, { hash, changedAt }, now());
    if (plan === 'roll') {
      await cluster.patch(resource, key, { spec: { template: { metadata: { annotations: { [annotation]: hash } } } } });
      await cluster.recordEvent(object, { type: 'Normal', reason: 'RolledOut', message: `rolled ${kind} ${name}` });
    } else if (plan !== 'keep') againAfterMs = Math.min(againAfterMs, plan.againAfterMs);
  }
  return { missing, againAfterMs };
}
