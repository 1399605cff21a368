// Brings an application of the secrets service, and the Secret of its key, to what a SecretApplication says.
import { Refusal, type ManagementClient } from '../../secrets/client.ts';
import { toError } from '../../platform/errors.ts';
import { slugOf } from '../../secrets/contract.ts';
import type { KubeObject } from '../cluster/cluster.ts';
import { annotations, type SecretApplicationSpec } from '../contract.ts';
import type { ReconcileContext } from '../controller.ts';
import { type Plane, planeFailure, unlessMissing } from '../plane.ts';
import { annotationOf, configMapResource, configMapText, createReader, encode, ownerOf, secretResource, secretText } from '../secrets.ts';
import { statusOf, type Verdict } from '../status.ts';
import {
  type Action,
  type Contents,
  decideKey,
  type KeySecret,
  type KeyStep,
  pending,
  planContents,
  rotatesInMs,
  type Standing,
  type Wanted,
} from './reconcile.ts';

export type Outcome = {
  readonly verdict: Verdict;
  readonly slug?: string;
  readonly applicationId?: string;
  readonly lastRotatedAt?: string;
  readonly againAfterMs: number;
  /** The service was away: to be tried again with growing pauses. */
  readonly failure?: Error;
};

/** However settled: what somebody changes in the service by hand is put right after this at the latest. */
const resyncMs = 600_000;

type Subject = { readonly object: KubeObject; readonly spec: SecretApplicationSpec; readonly older: string | undefined; readonly plane: Plane };
type Keyed = { readonly id: string; readonly apiKey: string; readonly rotatedAt: Date | undefined };

/** @throws what the cluster refuses or does not answer */
export async function keep(subject: Subject, context: ReconcileContext): Promise<Outcome> {
  try {
    const keyed = await keepKey(subject, context);
    if ('reason' in keyed) return { verdict: { isReady: false, ...keyed }, againAfterMs: resyncMs };
    const problems = await keepContents(subject, keyed, context);
    const verdict: Verdict = problems[0]
      ? { isReady: false, reason: problems[0].reason, message: problems.map(({ message }) => message).join('; ') }
      : { isReady: true, reason: 'InSync', message: 'the service has all of it' };
    const againAfterMs = Math.min(resyncMs, rotatesInMs(subject.spec, keyed.rotatedAt, context.now()));
    const lastRotatedAt = keyed.rotatedAt?.toISOString();
    return {
      verdict,
      slug: slugOf(subject.spec.applicationName),
      applicationId: keyed.id,
      ...(lastRotatedAt !== undefined && { lastRotatedAt }),
      againAfterMs,
    };
  } catch (error) {
    const failure = planeFailure(error);
    if (!failure) throw error;
    return { verdict: { isReady: false, ...failure }, againAfterMs: resyncMs, failure: toError(error) };
  }
}

type Refused = Pick<Verdict, 'reason' | 'message'>;

async function keepKey(subject: Subject, context: ReconcileContext): Promise<Keyed | Refused> {
  const { object, spec, plane } = subject;
  const management = plane.management(context.signal);
  const standing = await observe(subject, context, management);
  const step: KeyStep = decideKey(spec, standing, context.now());
  if (step.step === 'refuse') return { reason: step.reason, message: step.message };
  const { application, keySecret } = standing;
  if (step.step === 'keep' && application && keySecret?.apiKey !== undefined) {
    await describeSecret(subject, context, { application: application.id });
    return { id: application.id, apiKey: keySecret.apiKey, rotatedAt: keySecret.rotatedAt };
  }
  if (!application) {
    // A crash after the next line leads to a rotation, not to a key that nobody knows.
    await describeSecret(subject, context, { application: pending });
    const created = await createApplication(subject, management);
    if ('reason' in created) {
      await describeSecret(subject, context, { application: null });
      return created;
    }
    return storeKey(subject, context, { id: created.id, apiKey: created.plainApiKey });
  }
  const { plainApiKey } = await management.rotateKey(slugOf(spec.applicationName));
  const keyed = await storeKey(subject, context, { id: application.id, apiKey: plainApiKey });
  if (step.step === 'rotate') await context.cluster.tell(object, { type: 'Normal', reason: 'InSync', message: `rotated the key: ${step.why}` });
  return keyed;
}

async function createApplication({ spec }: Subject, management: ManagementClient) {
  try {
    return await management.createApplication({ name: spec.applicationName, description: spec.description ?? null });
  } catch (error) {
    if (!(error instanceof Refusal) || (error.status !== 409 && error.status !== 400)) throw error;
    return { reason: error.status === 409 ? 'Conflict' : 'ValueRefused', message: error.message } as const;
  }
}

async function observe({ object, spec, older, plane }: Subject, { cluster, signal }: ReconcileContext, management: ManagementClient): Promise<Standing> {
  const { namespace, name } = object.metadata;
  const slug = slugOf(spec.applicationName);
  const secret = await cluster.get(secretResource, { namespace, name: spec.apiKeySecretRef.name });
  const application = slug === '' || older !== undefined ? undefined : await unlessMissing(management.application(slug));
  const keySecret = secret && readKeySecret(secret, spec.apiKeySecretRef.key);
  const isKeyAccepted = keySecret?.apiKey !== undefined && application !== undefined && (await isAccepted(plane, keySecret.apiKey, signal));
  return { owner: ownerOf('SecretApplication', name), older, application, knownId: knownIdOf(object), keySecret, isKeyAccepted };
}

function readKeySecret(secret: KubeObject, key: string): KeySecret {
  const rotatedAt = annotationOf(secret, 'rotatedAt');
  return {
    owner: annotationOf(secret, 'owner'),
    application: applicationOf(secret)?.id,
    apiKey: secretText(secret, key),
    rotatedAt: rotatedAt === undefined ? undefined : new Date(rotatedAt),
  };
}

/** By the annotation on the Secret of its key. */
export function applicationOf(secret: KubeObject): { readonly slug: string; readonly id: string } | undefined {
  const [slug, id] = annotationOf(secret, 'application')?.split('/') ?? [];
  return slug === undefined || id === undefined ? undefined : { slug, id };
}

function knownIdOf(object: KubeObject): string | undefined {
  const { applicationId } = statusOf(object, 'applicationId');
  return typeof applicationId === 'string' ? applicationId : undefined;
}

async function isAccepted(plane: Plane, apiKey: string, signal: AbortSignal): Promise<boolean> {
  try {
    await plane.consumer(apiKey, signal).configurations('local');
    return true;
  } catch (error) {
    // It is no header value, or the service does not know it.
    if (error instanceof TypeError) return false;
    if (!(error instanceof Refusal) || error.status >= 500 || error.status === 429) throw error;
    return error.status !== 401;
  }
}

type Notes = { readonly application: string | null; readonly rotatedAt?: string; readonly apiKey?: string };

/** What our annotations on the Secret of the key say; the Secret is made where there is none. */
async function describeSecret(subject: Subject, { cluster }: ReconcileContext, { apiKey, ...notes }: Notes): Promise<void> {
  const { object, spec } = subject;
  const { namespace, name } = object.metadata;
  const key = { namespace, name: spec.apiKeySecretRef.name };
  const slug = slugOf(spec.applicationName);
  const wanted: Record<string, string | null> = {
    [annotations.owner]: ownerOf('SecretApplication', name),
    [annotations.application]: notes.application === null ? null : `${slug}/${notes.application}`,
    [annotations.deletionPolicy]: spec.deletionPolicy,
    ...(notes.rotatedAt !== undefined && { [annotations.rotatedAt]: notes.rotatedAt }),
  };
  const data = apiKey === undefined ? {} : { [spec.apiKeySecretRef.key]: encode(apiKey) };
  const found = await cluster.get(secretResource, key);
  if (!found) {
    const given = Object.fromEntries(Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== null));
    const created = await cluster.create(secretResource, { metadata: { ...key, annotations: given }, type: 'Opaque', data });
    if (created === 'conflict') throw new Error(`the Secret ${key.name} was made by somebody else just now`);
    return;
  }
  const isSame = Object.entries(wanted).every(([note, value]) => (found.metadata.annotations?.[note] ?? null) === value);
  if (isSame && apiKey === undefined) return;
  await cluster.patch(secretResource, key, { metadata: { resourceVersion: found.metadata.resourceVersion, annotations: wanted }, data });
}

async function storeKey(subject: Subject, context: ReconcileContext, { id, apiKey }: { id: string; apiKey: string }): Promise<Keyed> {
  const rotatedAt = context.now();
  await describeSecret(subject, context, { application: id, rotatedAt: rotatedAt.toISOString(), apiKey });
  return { id, apiKey, rotatedAt };
}

/** The description of the entries that we keep, by which those are known that are taken out of the object. */
const markOf = ({ metadata: { namespace, name } }: KubeObject) => `Kept by SecretApplication ${namespace}/${name}`;

async function keepContents(subject: Subject, { apiKey }: Keyed, context: ReconcileContext): Promise<Refused[]> {
  const { object, spec, plane } = subject;
  const slug = slugOf(spec.applicationName);
  const management = plane.management(context.signal);
  const { wanted, problems } = await readWanted(subject, context);
  const [application, environments, configuration, secrets] = await Promise.all([
    management.application(slug),
    management.environments(slug),
    management.configurations(slug),
    management.secrets(slug),
  ]);
  const consumer = plane.consumer(apiKey, context.signal);
  const values: Contents['values'][number][] = [];
  for (const { environment, secret } of wanted.secretValues) {
    const found = await unlessMissing(consumer.secret(secret, environment));
    if (found) values.push({ environment, secret, value: found.value });
  }
  const contents: Contents = {
    name: application.name,
    description: application.description,
    environments: environments.map((each) => each.slug),
    configuration: configuration.map(({ environmentSlug: environment, key, value, description }) => ({ environment, key, value, description })),
    secrets: secrets.map(({ name }) => name),
    values,
  };
  for (const action of planContents(wanted, contents, markOf(object))) {
    try {
      await perform(action, { slug, mark: markOf(object), management });
    } catch (error) {
      if (!(error instanceof Refusal) || error.status >= 500 || error.status === 429 || error.status === 401) throw error;
      problems.push({ reason: 'ValueRefused', message: `${nameOf(action)}: ${error.message}` });
    }
  }
  return problems;
}

function nameOf(action: Action): string {
  if ('key' in action) return `configuration ${action.environment} ${action.key}`;
  if ('secret' in action) return `secret ${action.secret}`;
  return 'slug' in action ? `environment ${action.slug}` : action.name;
}

/** With the values of ConfigMaps and Secrets in their places, and what is not there. */
async function readWanted({ object, spec }: Subject, { cluster }: ReconcileContext): Promise<{ wanted: Wanted; problems: Refused[] }> {
  const { namespace } = object.metadata;
  const configMap = createReader(cluster, configMapResource, namespace);
  const secret = createReader(cluster, secretResource, namespace);
  const problems: Refused[] = [];
  const missing = (kind: string, { name, key }: { name: string; key: string }) =>
    void problems.push({ reason: 'ValueMissing', message: `there is no ${kind} ${name} with a text at ${key}` });
  const configuration: Wanted['configuration'][number][] = [];
  const unread: Wanted['unread'][number][] = [];
  for (const { environment, key, value, valueFrom } of spec.configuration) {
    const ref = valueFrom?.configMapKeyRef;
    const read = ref ? configMapText(await configMap(ref.name), ref.key) : value;
    if (read !== undefined) configuration.push({ environment, key, value: read });
    else if (ref) {
      missing('ConfigMap', ref);
      unread.push({ environment, key });
    }
  }
  const secretValues: Wanted['secretValues'][number][] = [];
  for (const { environment, secret: name, valueFrom } of spec.secretValues) {
    const value = secretText(await secret(valueFrom.secretKeyRef.name), valueFrom.secretKeyRef.key);
    if (value === undefined) missing('Secret', valueFrom.secretKeyRef);
    else secretValues.push({ environment, secret: name, value });
  }
  const { description, environments, prune } = spec;
  return { wanted: { description, environments, prune, configuration, unread, secretValues }, problems };
}

type Performing = { readonly slug: string; readonly mark: string; readonly management: ManagementClient };

async function perform(action: Action, { slug, mark, management }: Performing): Promise<unknown> {
  switch (action.do) {
    case 'describe':
      return management.updateApplication(slug, { name: action.name, description: action.description });
    case 'create-environment':
      return management.createEnvironment(slug, { name: action.name });
    case 'delete-environment':
      return management.deleteEnvironment(slug, action.slug);
    case 'create-configuration':
      return management.createConfiguration(slug, { environmentSlug: action.environment, key: action.key, value: action.value, description: mark });
    case 'update-configuration':
      return management.updateConfiguration(slug, { environmentSlug: action.environment, key: action.key, value: action.value, description: mark });
    case 'delete-configuration':
      return management.deleteConfiguration(slug, { environmentSlug: action.environment, key: action.key });
    case 'create-secret':
      return management.createSecret(slug, { name: action.secret });
    case 'set-value':
      return management.setValues(slug, action.secret, [{ environmentSlug: action.environment, value: action.value }]);
  }
}
