// The application of a SecretApplication in the service, and its key, which has a place in a Secret before it is made.
import { type ManagementClient, Refusal, InvalidCredential } from '../../secrets/client.ts';
import { type Application, slugOf } from '../../secrets/contract.ts';
import type { KubeObject } from '../cluster/cluster.ts';
import type { Contention } from '../contention.ts';
import type { SecretApplicationSpec } from '../contract.ts';
import type { ReconcileContext } from '../manager.ts';
import { type SecretsService, unlessMissing } from '../secrets-service.ts';
import { annotationOf, encode, encodedData, keyText, ownerOf, secretResource, secretText } from '../secrets.ts';
import type { Readiness } from '../status.ts';
import { describeSecret, fingerprintOf, noFormerKey, readKeySecret, removeFormer, writtenFor } from './key-secret.ts';
import { decideApplication, decideKey, type Observed } from './reconcile.ts';
import { isOwnKey, removeKey, replaceKey, type RotationSubject } from './rotation.ts';

export type Subject = Omit<RotationSubject, 'spec'> & {
  readonly spec: SecretApplicationSpec;
  /** The owner of its application in the service. */
  readonly owner: string;
  /** Whether it may take an application without an owner. */
  readonly mayAdopt: boolean;
  /** Whether ServiceAccounts are bound to its application. */
  readonly bindsAccounts: boolean;
  readonly contention: Contention;
  /** Actions on the contents that the service refused the last time, as JSON, by the key of the object. */
  readonly refused: Map<string, ReadonlySet<string>>;
};
/** With a key in a Secret. */
export type KeyedSubject = Subject & RotationSubject;
export const isKeyed = (subject: Subject): subject is KeyedSubject => subject.spec.apiKeySecretRef !== undefined;
export type Keyed = {
  readonly id: string;
  readonly apiKey: string;
  readonly rotatedAt: Date | undefined;
  /** The Secret as it is now. */
  readonly secret: KubeObject;
};
/** Its pods read with the tokens of ServiceAccounts. */
export type Keyless = { readonly id: string; readonly apiKey?: undefined; readonly rotatedAt?: undefined };
export type Refused = Pick<Readiness, 'reason' | 'message'> & { readonly againAfterMs?: number };

export async function keepKey(subject: KeyedSubject, context: ReconcileContext): Promise<Keyed | Refused> {
  const { object, spec, service } = subject;
  const management = service.management(context.signal);
  const { secret, ...observed } = await observe(subject, context, management);
  const step = decideKey(spec, observed, context.now());
  if (step.step === 'refuse') return { reason: step.reason, message: step.message };
  const { application, keySecret } = observed;
  if (step.step === 'keep' && application && keySecret?.apiKey !== undefined) {
    const described = await describeSecret(subject, context, { secret, application: application.id });
    await removeFormer(subject, context);
    subject.contention.settle(keyText(object.metadata), context.now());
    return { id: application.id, apiKey: keySecret.apiKey, rotatedAt: keySecret.rotatedAt, secret: described };
  }
  const contest = step.step === 'rotate' ? subject.contention.admit(keyText(object.metadata), 'the key', context.now()) : undefined;
  if (contest) {
    const message = `another writer changes or rotates the key, which was rotated ${contest.count} times for that; it is rotated once a minute at most`;
    return { reason: 'Contested', message, againAfterMs: contest.pauseMs };
  }
  // A key that its Secret does not take would be lost, and the next one, too.
  const place = { namespace: object.metadata.namespace, name: spec.apiKeySecretRef.name };
  await context.cluster.tryApply(secretResource, { metadata: place, data: { [spec.apiKeySecretRef.key]: encode('pending') } });
  if (step.step === 'replace' && application && keySecret?.apiKey !== undefined) {
    const replaced = await replaceKey(subject, context, { id: application.id, secret, apiKey: keySecret.apiKey });
    await context.cluster.recordEvent(object, { type: 'Normal', reason: 'Rotated', message: 'added a key: rotateEvery has passed' });
    return replaced;
  }
  // There is a place for the key before there is a key: a crash from here on leads to a rotation, and so does a Secret that cannot be written.
  const claimed = await describeSecret(subject, context, { secret, application: application?.id ?? null });
  if (application && step.step === 'adopt' && !(await adopt(subject, application, management))) return takenMeanwhile;
  const keyed = application ? await rotate(subject, context, { id: application.id }) : await create(subject, management.createApplication, withKey(context));
  if ('reason' in keyed) return keyed;
  // A key that was rotated is refused already: its workloads are rolled without a wait.
  const formerKey = step.step === 'create' ? null : noFormerKey;
  const written = await describeSecret(subject, context, { ...keyed, secret: claimed, application: keyed.id, formerKey });
  const why = step.step === 'rotate' ? 'the Secret did not hold its key' : step.step === 'adopt' ? 'the application was adopted' : undefined;
  if (why !== undefined) await context.cluster.recordEvent(object, { type: 'Normal', reason: 'Rotated', message: `rotated the key: ${why}` });
  return { ...keyed, secret: written };
}

const takenMeanwhile: Refused = { reason: 'Conflict', message: 'another object has just become the owner of the application' };

/** The application of an object without `apiKeySecretRef`: no key is made, and keys that others made stay. */
export async function keepWithoutKey(subject: Subject, context: ReconcileContext): Promise<Keyless | Refused> {
  const { spec, owner, mayAdopt, service } = subject;
  const management = service.management(context.signal);
  const slug = slugOf(spec.applicationName);
  const application = slug === '' ? undefined : await unlessMissing(management.application(slug));
  const step = decideApplication(spec, { owner, mayAdopt, application });
  if (step.step === 'refuse') return { reason: step.reason, message: step.message };
  if (!application) return create(subject, management.createKeylessApplication, ({ id }) => ({ id }));
  if (step.step === 'adopt' && !(await adopt(subject, application, management))) return takenMeanwhile;
  return { id: application.id };
}

/**
 * Ends the keys that the operator made for an object without `apiKeySecretRef`, then removes their Secrets. Call it only when the accounts are bound:
 * until then pods read with the key.
 * @returns the ids of the keys that stay valid: without its Secret only the name of a key shows that the operator made it
 */
export async function endOwnKeys({ object, spec, service }: Subject, context: ReconcileContext): Promise<readonly string[]> {
  const { caches, cluster, readSecret, signal, now } = context;
  const slug = slugOf(spec.applicationName);
  const management = service.management(signal);
  const written = writtenFor(service, caches, object.metadata);
  const secrets = await Promise.all(written.map(({ metadata }) => readSecret(metadata)));
  const held = secrets.flatMap((secret) => (secret ? Object.keys(encodedData(secret)).map((key) => fingerprintOf(secretText(secret, key) ?? '')) : []));
  const former = written.map((secret) => annotationOf(secret, 'formerKey'));
  const staying: string[] = [];
  for (const key of await management.keys(slug)) {
    if (held.includes(key.fingerprint) || former.includes(key.id) || isOwnKey(key)) {
      await removeKey(management, slug, key);
      await cluster.recordEvent(object, { type: 'Normal', reason: 'FormerKeyDeleted', message: `deleted the key ${key.id}: apiKeySecretRef was taken out` });
    } else if (key.expiresAt === null || key.expiresAt >= now()) staying.push(key.id);
  }
  for (const { metadata } of written) await cluster.remove(secretResource, metadata);
  return staying;
}

type NewKey = Omit<Keyed, 'secret'> & { readonly rotatedAt: Date };

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

const withKey =
  ({ now }: ReconcileContext) =>
  ({ id, plainApiKey }: { readonly id: string; readonly plainApiKey: string }): NewKey => ({ id, apiKey: plainApiKey, rotatedAt: now() });

type Creation = { readonly name: string; readonly description: string | null; readonly owner: string };

async function create<C, T>({ spec, owner }: Subject, make: (wanted: Creation) => Promise<C>, read: (created: C) => T): Promise<T | Refused> {
  const { applicationName: name, description = null } = spec;
  try {
    return read(await make({ name, description, owner }));
  } catch (error) {
    if (!(error instanceof Refusal) || (error.status !== 409 && error.status !== 400)) throw error;
    return { reason: error.status === 409 ? 'Conflict' : 'ValueRefused', message: error.message };
  }
}

type Seen = Observed & { readonly secret: KubeObject | undefined; readonly application: Application | undefined };

async function observe(
  { object, spec, owner, mayAdopt, service }: KeyedSubject,
  { readSecret, signal }: ReconcileContext,
  management: ManagementClient,
): Promise<Seen> {
  const { namespace, name } = object.metadata;
  const slug = slugOf(spec.applicationName);
  const secret = await readSecret({ namespace, name: spec.apiKeySecretRef.name });
  const application = slug === '' ? undefined : await unlessMissing(management.application(slug));
  const keySecret = secret && readKeySecret(service, secret, spec.apiKeySecretRef.key);
  const isKeyAccepted = keySecret?.apiKey !== undefined && application !== undefined && (await isAccepted(service, keySecret.apiKey, signal));
  return { secretOwner: ownerOf('SecretApplication', name), owner, mayAdopt, application, keySecret, isKeyAccepted, secret };
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
