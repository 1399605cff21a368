// The application of a SecretApplication in the service, and its key, which has a place in a Secret before it is made.
import { type ManagementClient, Refusal, InvalidCredential } from '../../secrets/client.ts';
import { type Application, slugOf } from '../../secrets/contract.ts';
import type { Key, KubeObject } from '../cluster/cluster.ts';
import { annotations, type SecretApplicationSpec } from '../contract.ts';
import type { Contention } from '../contention.ts';
import type { Caches, ReconcileContext } from '../manager.ts';
import { type SecretsService, unlessMissing } from '../secrets-service.ts';
import { annotationOf, encode, keyText, ownerNameOf, ownerOf, type OwnWrites, secretResource, secretText } from '../secrets.ts';
import type { Readiness } from '../status.ts';
import { decideKey, type KeySecret, type Observed } from './reconcile.ts';

export type Subject = {
  readonly object: KubeObject;
  readonly spec: SecretApplicationSpec;
  /** The owner of its application in the service. */
  readonly owner: string;
  /** Whether it may take an application without an owner. */
  readonly mayAdopt: boolean;
  readonly service: SecretsService;
  readonly writes: OwnWrites;
  readonly contention: Contention;
  /** Actions on the contents that the service refused the last time, as JSON, by the key of the object. */
  readonly refused: Map<string, ReadonlySet<string>>;
};
export type Keyed = { readonly id: string; readonly apiKey: string; readonly rotatedAt: Date | undefined };
export type Refused = Pick<Readiness, 'reason' | 'message'> & { readonly againAfterMs?: number };

export async function keepKey(subject: Subject, context: ReconcileContext): Promise<Keyed | Refused> {
  const { object, spec, service } = subject;
  const management = service.management(context.signal);
  const { secret, ...observed } = await observe(subject, context, management);
  const step = decideKey(spec, observed, context.now());
  if (step.step === 'refuse') return { reason: step.reason, message: step.message };
  const { application, keySecret } = observed;
  if (step.step === 'keep' && application && keySecret?.apiKey !== undefined) {
    await describeSecret(subject, context, { secret, application: application.id });
    await removeFormer(subject, context);
    subject.contention.settle(keyText(object.metadata), context.now());
    return { id: application.id, apiKey: keySecret.apiKey, rotatedAt: keySecret.rotatedAt };
  }
  const isRestoration = step.step === 'rotate' && step.why === 'the Secret does not hold its key';
  const contest = isRestoration ? subject.contention.admit(keyText(object.metadata), 'the key', context.now()) : undefined;
  if (contest) {
    const message = `another writer changes or rotates the key, which was rotated ${contest.count} times for that; it is rotated once a minute at most`;
    return { reason: 'Contested', message, againAfterMs: contest.pauseMs };
  }
  // A key that its Secret does not take would be lost, and the next one, too.
  const place = { namespace: object.metadata.namespace, name: spec.apiKeySecretRef.name };
  await context.cluster.tryApply(secretResource, { metadata: place, data: { [spec.apiKeySecretRef.key]: encode('pending') } });
  // There is a place for the key before there is a key: a crash from here on leads to a rotation, and so does a Secret that cannot be written.
  const claimed = await describeSecret(subject, context, { secret, application: application?.id ?? null });
  if (application && step.step === 'adopt' && !(await adopt(subject, application, management)))
    return { reason: 'Conflict', message: 'another object has just become the owner of the application' };
  const keyed = application ? await rotate(subject, context, { id: application.id }) : await createApplication(subject, context, management);
  if ('reason' in keyed) return keyed;
  await describeSecret(subject, context, { secret: claimed, application: keyed.id, apiKey: keyed.apiKey, rotatedAt: keyed.rotatedAt });
  const why = step.step === 'rotate' ? step.why : step.step === 'adopt' ? 'the application was adopted' : undefined;
  if (why !== undefined) await context.cluster.recordEvent(object, { type: 'Normal', reason: 'Rotated', message: `rotated the key: ${why}` });
  return keyed;
}

type NewKey = Keyed & { readonly rotatedAt: Date };

async function rotate({ spec, service }: Subject, context: ReconcileContext, { id }: { readonly id: string }): Promise<NewKey> {
  const { plainApiKey } = await service.management(context.signal).rotateKey(slugOf(spec.applicationName));
  return { id, apiKey: plainApiKey, rotatedAt: context.now() };
}

/** False when another one was faster. */
async function adopt({ owner }: Subject, { slug, name, description }: Application, management: ManagementClient): Promise<boolean> {
  try {
    await management.updateApplication(slug, { name, description, owner });
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.status === 409) return false;
    throw error;
  }
}

async function createApplication({ spec, owner }: Subject, context: ReconcileContext, management: ManagementClient): Promise<NewKey | Refused> {
  const { applicationName: name, description = null } = spec;
  try {
    const { id, plainApiKey } = await management.createApplication({ name, description, owner });
    return { id, apiKey: plainApiKey, rotatedAt: context.now() };
  } catch (error) {
    if (!(error instanceof Refusal) || (error.status !== 409 && error.status !== 400)) throw error;
    return { reason: error.status === 409 ? 'Conflict' : 'ValueRefused', message: error.message };
  }
}

type Seen = Observed & { readonly secret: KubeObject | undefined; readonly application: Application | undefined };

async function observe(
  { object, spec, owner, mayAdopt, service }: Subject,
  { readSecret, signal }: ReconcileContext,
  management: ManagementClient,
): Promise<Seen> {
  const { namespace, name } = object.metadata;
  const slug = slugOf(spec.applicationName);
  const secret = await readSecret({ namespace, name: spec.apiKeySecretRef.name });
  const application = slug === '' ? undefined : await unlessMissing(management.application(slug));
  const keySecret = secret && readKeySecret(secret, spec.apiKeySecretRef.key);
  const isKeyAccepted = keySecret?.apiKey !== undefined && application !== undefined && (await isAccepted(service, keySecret.apiKey, signal));
  return { secretOwner: ownerOf('SecretApplication', name), owner, mayAdopt, application, keySecret, isKeyAccepted, secret };
}

function readKeySecret(secret: KubeObject, key: string): KeySecret {
  const rotatedAt = annotationOf(secret, 'rotatedAt');
  return { owner: annotationOf(secret, 'owner'), apiKey: secretText(secret, key), rotatedAt: rotatedAt === undefined ? undefined : new Date(rotatedAt) };
}

/** The application that the annotation on the Secret of its key names; only `isSealed` proves it. */
export function applicationOf(secret: KubeObject): { readonly slug: string; readonly id: string } | undefined {
  const [slug, id] = annotationOf(secret, 'application')?.split('/') ?? [];
  return slug === undefined || id === undefined ? undefined : { slug, id };
}

async function isAccepted(service: SecretsService, apiKey: string, signal: AbortSignal): Promise<boolean> {
  try {
    await service.consumer(apiKey, signal).configurations('local');
    return true;
  } catch (error) {
    if (error instanceof InvalidCredential) return false;
    if (!(error instanceof Refusal) || error.status >= 500 || error.status === 429) throw error;
    return error.status !== 401;
  }
}

type Notes = {
  /** The Secret as it was read; undefined: it is created. */
  readonly secret: KubeObject | undefined;
  readonly application: string | null;
  readonly rotatedAt?: Date;
  readonly apiKey?: string;
};

/** Writes the annotations of the Secret, and its key. @returns the Secret after the write */
async function describeSecret(subject: Subject, context: ReconcileContext, { secret, application, rotatedAt, apiKey }: Notes): Promise<KubeObject> {
  const { object, spec, service, writes } = subject;
  const { cluster } = context;
  const { namespace, name } = object.metadata;
  const key = { namespace, name: spec.apiKeySecretRef.name };
  if (!secret) {
    const noted = { [annotations.owner]: ownerOf('SecretApplication', name) };
    const created = await cluster.create(secretResource, { metadata: { ...key, annotations: noted }, type: 'Opaque' });
    if (created === 'conflict') throw new Error(`the Secret ${key.name} has just been made by another writer`);
    return describeSecret(subject, context, { secret: created, application });
  }
  const sealed = {
    [annotations.owner]: ownerOf('SecretApplication', name),
    [annotations.application]: application === null ? '' : `${slugOf(spec.applicationName)}/${application}`,
    [annotations.deletionPolicy]: spec.deletionPolicy,
  };
  const wanted: Readonly<Record<string, string>> = {
    ...sealed,
    [annotations.seal]: sealOf(service, secret, sealed),
    ...(rotatedAt !== undefined && { [annotations.rotatedAt]: rotatedAt.toISOString() }),
  };
  const isSame = Object.entries(wanted).every(([note, value]) => secret.metadata.annotations?.[note] === value);
  if (isSame && apiKey === undefined) return secret;
  const data = apiKey === undefined ? {} : { [spec.apiKeySecretRef.key]: encode(apiKey) };
  const patched = await cluster.patch(secretResource, key, { metadata: { resourceVersion: secret.metadata.resourceVersion, annotations: wanted }, data });
  if (!patched) throw new Error(`the Secret ${key.name} was deleted just now`);
  writes.note(patched);
  return patched;
}

function sealOf(service: SecretsService, { metadata: { namespace, uid } }: KubeObject, noted: Readonly<Record<string, string>>): string {
  const texts = [annotations.owner, annotations.application, annotations.deletionPolicy].map((name) => noted[name] ?? '');
  return service.seal([namespace, uid, ...texts]);
}

/**
 * Whether this operator wrote these annotations for this Secret: every writer of Secrets can write any annotation.
 * Another token of the administrator breaks all seals; the next reconcile of an object seals its Secret anew, since the owner in the service decides.
 */
export const isSealed = (service: SecretsService, secret: KubeObject): boolean =>
  annotationOf(secret, 'seal') === sealOf(service, secret, secret.metadata.annotations ?? {});

/** The Secrets that this operator wrote for an object. */
export const writtenFor = (service: SecretsService, caches: Caches, { namespace, name }: Key): readonly KubeObject[] =>
  (caches['Secret']?.list(namespace) ?? []).filter((secret) => ownerNameOf(secret, 'SecretApplication') === name && isSealed(service, secret));

/** Where the object names another Secret than before, the former one holds a dead key. */
async function removeFormer({ object, spec, service }: Subject, { cluster, caches }: ReconcileContext): Promise<void> {
  for (const { metadata } of writtenFor(service, caches, object.metadata))
    if (metadata.name !== spec.apiKeySecretRef.name) await cluster.remove(secretResource, metadata);
}
