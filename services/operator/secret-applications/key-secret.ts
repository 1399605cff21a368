// The Secret of an application's key: what is read from it, the annotations that the operator writes, and their seal.
import { hash } from 'node:crypto';
import { slugOf } from '../../secrets/contract.ts';
import type { Key, KubeObject } from '../cluster/cluster.ts';
import { annotations, type KeyedSpec } from '../contract.ts';
import type { Caches, ReconcileContext } from '../manager.ts';
import type { SecretsService } from '../secrets-service.ts';
import { annotationOf, encode, ownerNameOf, ownerOf, type OwnWrites, secretResource, secretText } from '../secrets.ts';
import type { KeySecret } from './reconcile.ts';

export type SecretSubject = {
  readonly object: KubeObject;
  readonly spec: KeyedSpec;
  readonly service: SecretsService;
  readonly writes: OwnWrites;
};

/** The value of the annotation `formerKey` where no former key is left to be deleted, and workloads are still to be rolled. */
export const noFormerKey = 'none';

export function readKeySecret(service: SecretsService, secret: KubeObject, key: string): KeySecret {
  const rotatedAt = annotationOf(secret, 'rotatedAt');
  return {
    owner: annotationOf(secret, 'owner'),
    apiKey: secretText(secret, key),
    rotatedAt: rotatedAt === undefined ? undefined : new Date(rotatedAt),
    formerKey: formerKeyOf(service, secret),
  };
}

/** Only a seal proves which key may be deleted. */
function formerKeyOf(service: SecretsService, secret: KubeObject): string | undefined {
  const noted = annotationOf(secret, 'formerKey');
  return noted === undefined || isSealed(service, secret) ? noted : noFormerKey;
}

/** As the service shows it beside each key. */
export const fingerprintOf = (apiKey: string): string => hash('sha256', apiKey).slice(0, 16);

/** The application that the annotation on the Secret of its key names; only `isSealed` proves it. */
export function applicationOf(secret: KubeObject): { readonly slug: string; readonly id: string } | undefined {
  const [slug, id] = annotationOf(secret, 'application')?.split('/') ?? [];
  return slug === undefined || id === undefined ? undefined : { slug, id };
}

type Notes = {
  /** The Secret as it was read; undefined: it is created. */
  readonly secret: KubeObject | undefined;
  readonly application: string | null;
  readonly rotatedAt?: Date;
  readonly apiKey?: string;
  /** Null: there is none any more; undefined: as before. */
  readonly formerKey?: string | null;
  /** A new one makes every write fail that is based on the Secret of before. */
  readonly rotation?: string;
};

/** Writes the annotations of the Secret, and its key. @returns the Secret after the write */
export async function describeSecret(subject: SecretSubject, context: ReconcileContext, notes: Notes): Promise<KubeObject> {
  const { object, spec, service, writes } = subject;
  const { cluster } = context;
  const { namespace, name } = object.metadata;
  const { secret, application, rotatedAt, apiKey, rotation } = notes;
  const key = { namespace, name: spec.apiKeySecretRef.name };
  if (!secret) {
    const noted = { [annotations.owner]: ownerOf('SecretApplication', name) };
    const created = await cluster.create(secretResource, { metadata: { ...key, annotations: noted }, type: 'Opaque' });
    if (created === 'conflict') throw new Error(`the Secret ${key.name} has just been made by another writer`);
    return describeSecret(subject, context, { ...notes, secret: created });
  }
  const formerKey = notes.formerKey === undefined ? formerKeyOf(service, secret) : (notes.formerKey ?? undefined);
  const sealed = {
    [annotations.owner]: ownerOf('SecretApplication', name),
    [annotations.application]: application === null ? '' : `${slugOf(spec.applicationName)}/${application}`,
    [annotations.deletionPolicy]: spec.deletionPolicy,
    ...(formerKey !== undefined && { [annotations.formerKey]: formerKey }),
  };
  const wanted: Readonly<Record<string, string | null>> = {
    ...sealed,
    [annotations.formerKey]: formerKey ?? null,
    [annotations.seal]: service.seal(sealedParts(secret, sealed)),
    ...(rotatedAt !== undefined && { [annotations.rotatedAt]: rotatedAt.toISOString() }),
    ...(rotation !== undefined && { [annotations.rotation]: rotation }),
  };
  const isSame = Object.entries(wanted).every(([note, value]) => (secret.metadata.annotations?.[note] ?? null) === value);
  if (isSame && apiKey === undefined) return secret;
  const data = apiKey === undefined ? {} : { [spec.apiKeySecretRef.key]: encode(apiKey) };
  const patched = await cluster.patch(secretResource, key, { metadata: { resourceVersion: secret.metadata.resourceVersion, annotations: wanted }, data });
  if (!patched) throw new Error(`the Secret ${key.name} was deleted just now`);
  writes.note(patched);
  return patched;
}

function sealedParts({ metadata: { namespace, uid } }: KubeObject, noted: Readonly<Record<string, string>>): string[] {
  const texts = [annotations.owner, annotations.application, annotations.deletionPolicy, annotations.formerKey].map((name) => noted[name] ?? '');
  return [namespace, uid, ...texts];
}

/**
 * Whether this operator wrote these annotations for this Secret: every writer of Secrets can write any annotation.
 * Another token of the administrator that does not name the former one behind it breaks all seals; the next reconcile of an object seals its Secret anew, since the owner in the service decides.
 */
export const isSealed = (service: SecretsService, secret: KubeObject): boolean =>
  service.isSeal(annotationOf(secret, 'seal'), sealedParts(secret, secret.metadata.annotations ?? {}));

/** The Secrets that this operator wrote for an object. */
export const writtenFor = (service: SecretsService, caches: Caches, { namespace, name }: Key): readonly KubeObject[] =>
  (caches['Secret']?.list(namespace) ?? []).filter((secret) => ownerNameOf(secret, 'SecretApplication') === name && isSealed(service, secret));

/** Where the object names another Secret than before, the former one holds a dead key. */
export async function removeFormer({ object, spec, service }: SecretSubject, { cluster, caches }: ReconcileContext): Promise<void> {
  for (const { metadata } of writtenFor(service, caches, object.metadata))
    if (metadata.name !== spec.apiKeySecretRef.name) await cluster.remove(secretResource, metadata);
}
