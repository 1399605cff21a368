// Creates or patches the target of a SyncedSecret, unless it belongs to another owner or is contested.
import { randomBytes } from 'node:crypto';
import type { KubeObject } from '../cluster/cluster.ts';
import type { Contention, Contest } from '../contention.ts';
import { annotations, apiVersion, type SyncedSecretSpec } from '../contract.ts';
import type { ReconcileContext } from '../manager.ts';
import { annotationOf, encodedData, keyText, ownerNameOf, ownerOf, type OwnWrites, secretResource } from '../secrets.ts';
import { statusOf } from '../status.ts';
import { contentHash, planTarget } from './reconcile.ts';

export type Subject = {
  readonly object: KubeObject;
  readonly spec: SyncedSecretSpec;
  readonly writes: OwnWrites;
  readonly contention: Contention;
};
type Data = Readonly<Record<string, string>>;

export const targetName = (object: KubeObject, { target }: SyncedSecretSpec) => target.name ?? object.metadata.name;

/** A salt for comparisons within the process; its hashes are not stored. */
const processSalt = randomBytes(16).toString('hex');

function admit({ object, contention }: Subject, data: Data, { isWritten, now }: { readonly isWritten: boolean; readonly now: Date }): Contest | undefined {
  const key = keyText(object.metadata);
  if (isWritten) return contention.admit(key, `${object.metadata.generation ?? 1}/${contentHash(data, processSalt)}`, now);
  contention.settle(key, now);
  return undefined;
}

export type Written = { readonly hash: string; readonly changedAt: Date | undefined; readonly writtenAt: string };

/** @returns 'not owned' for a Secret that does not belong to the object or has another type, a contest while another writer keeps changing it */
export async function writeTarget(subject: Subject, data: Data, context: ReconcileContext): Promise<Written | Contest | 'not owned'> {
  const { object, spec, writes } = subject;
  const { cluster, readSecret, now } = context;
  const key = { namespace: object.metadata.namespace, name: targetName(object, spec) };
  const owner = ownerOf('SyncedSecret', object.metadata.name);
  const { labels, annotations: noted, type, mergePolicy } = spec.target;
  const found = await readSecret(key);
  if (!found) return createTarget(subject, data, context);
  if (annotationOf(found, 'owner') !== owner || found['type'] !== type) return 'not owned';
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
    {
      data,
      mergePolicy,
      hash,
      labels,
      annotations: { ...noted, [annotations.owner]: owner, [annotations.salt]: salt },
      ownerReference: ownerReferenceOf(subject),
    },
    now(),
  );
  const contest = admit(subject, data, { isWritten: patch !== undefined, now: now() });
  if (contest) return contest;
  const written = patch ? await cluster.patch(secretResource, key, patch) : found;
  if (written && patch) writes.note(written);
  const changed = annotationOf(written, 'contentChangedAt');
  return { hash, changedAt: changed === undefined ? undefined : new Date(changed), writtenAt: changed ?? metadata.creationTimestamp };
}

/** The reference by which the Secret is deleted with the object; undefined when the Secret stays. */
function ownerReferenceOf({ object: { metadata }, spec }: Subject) {
  const { name, uid } = metadata;
  return spec.target.deletionPolicy === 'Delete' ? { apiVersion, kind: 'SyncedSecret', name, uid, controller: true } : undefined;
}

async function createTarget(subject: Subject, data: Data, { cluster, now }: ReconcileContext): Promise<Written | Contest | 'not owned'> {
  const { object, spec, writes } = subject;
  const { labels, annotations: noted, type } = spec.target;
  const key = { namespace: object.metadata.namespace, name: targetName(object, spec) };
  const owner = ownerOf('SyncedSecret', object.metadata.name);
  const ownerReference = ownerReferenceOf(subject);
  const salt = randomBytes(16).toString('hex');
  const hash = contentHash(data, salt);
  // The Secret that was deleted may have held something else: its users are rolled.
  const changedAt = statusOf(object)['target'] === key.name ? now() : undefined;
  const stamp = changedAt && { [annotations.contentChangedAt]: changedAt.toISOString() };
  const notes = { ...noted, [annotations.owner]: owner, [annotations.salt]: salt, [annotations.contentHash]: hash, ...stamp };
  const contest = admit(subject, data, { isWritten: true, now: now() });
  if (contest) return contest;
  // Created, not applied: an apply would change a Secret that another writer has just made.
  const created = await cluster.create(secretResource, {
    metadata: { ...key, labels, annotations: notes, ownerReferences: ownerReference ? [ownerReference] : [] },
    type,
    data,
  });
  if (created === 'conflict') return 'not owned';
  writes.note(created);
  return { hash, changedAt, writtenAt: changedAt?.toISOString() ?? created.metadata.creationTimestamp };
}

/** Deletes a target that the object named before, as it would be deleted with the object. */
export async function removeFormer({ object, spec }: Subject, { cluster, caches }: ReconcileContext): Promise<void> {
  const { namespace, name, uid } = object.metadata;
  for (const secret of caches['Secret']?.list(namespace) ?? []) {
    const isOurs = ownerNameOf(secret, 'SyncedSecret') === name && secret.metadata.ownerReferences?.some((reference) => reference.uid === uid);
    if (isOurs && secret.metadata.name !== targetName(object, spec)) await cluster.remove(secretResource, secret.metadata);
  }
}
