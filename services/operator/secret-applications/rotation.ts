// Replaces the key of an application without a gap: a second key, workloads that are rolled, then the end of the former one. Each step can be the last before a crash.
import { randomBytes } from 'node:crypto';
import type { ManagementClient } from '../../secrets/client.ts';
import { slugOf } from '../../secrets/contract.ts';
import type { KubeObject } from '../cluster/cluster.ts';
import type { ReconcileContext } from '../manager.ts';
import { rollOut, rolloutAnnotation, type Rolling, withOldPods, workloadsWith } from '../rollout.ts';
import { unlessMissing } from '../secrets-service.ts';
import { describeSecret, fingerprintOf, readKeySecret, type SecretSubject } from './key-secret.ts';

export type ApplicationKey = Awaited<ReturnType<ManagementClient['keys']>>[number];

export type RotationTiming = {
  /** A former key that was read with in this time stays valid. The service notes a use after a minute at the latest. */
  readonly formerKeyMs: number;
  /** Between two looks at workloads and keys. */
  readonly lookMs: number;
};
export const rotationTiming: RotationTiming = { formerKeyMs: 120_000, lookMs: 5000 };

export type RotationSubject = SecretSubject & { readonly timing: RotationTiming };

export type Replacement = {
  /** The id of the application. */
  readonly id: string;
  readonly secret: KubeObject | undefined;
  readonly apiKey: string;
};

/** The name of a key that the operator adds in the service, so that it never deletes one of others. */
const ownName = /^signalbox-operator [0-9a-f]{16}$/;
export const isOwnKey = ({ name }: ApplicationKey): boolean => ownName.test(name ?? '');

/** Adds a key and writes it into the Secret; the former one stays valid. */
export async function replaceKey(subject: RotationSubject, context: ReconcileContext, { id, secret, apiKey }: Replacement): Promise<NewKey> {
  const { spec, service } = subject;
  const slug = slugOf(spec.applicationName);
  const management = service.management(context.signal);
  const rotation = randomBytes(8).toString('hex');
  const claimed = await describeSecret(subject, context, { secret, application: id, rotation });
  const keys = await management.keys(slug);
  const current = keys.find(({ fingerprint }) => fingerprint === fingerprintOf(apiKey));
  if (!current) throw new Error('the service lists no key with the fingerprint of the key in the Secret');
  // After a crash between the creation of a key and the write of its Secret no program has that key.
  for (const key of keys.slice(keys.indexOf(current) + 1)) if (isOwnKey(key) && key.lastUsedAt === null) await removeKey(management, slug, key);
  const { plainApiKey } = await management.createKey(slug, { name: `signalbox-operator ${rotation}` });
  const rotatedAt = context.now();
  const written = await describeSecret(subject, context, { secret: claimed, application: id, apiKey: plainApiKey, rotatedAt, formerKey: current.id });
  return { id, apiKey: plainApiKey, rotatedAt, secret: written };
}

export type NewKey = { readonly id: string; readonly apiKey: string; readonly rotatedAt: Date; readonly secret: KubeObject };

export const removeKey = (management: ManagementClient, slug: string, { id }: ApplicationKey) => unlessMissing(management.deleteKey(slug, id));

export type Finishing = {
  /** Workloads, such as `Deployment shop`, or `the former key`; empty when the rotation is finished. */
  readonly waitsFor: readonly string[];
  /** Workloads that are named and do not exist. */
  readonly missing: readonly string[];
  readonly againAfterMs: number;
};

export const finished: Finishing = { waitsFor: [], missing: [], againAfterMs: Number.POSITIVE_INFINITY };

/** Rolls the workloads for a replaced key, and deletes the former one when no pod has it and no program reads with it. */
export async function finishRotation(subject: RotationSubject, context: ReconcileContext, { id, secret, apiKey }: Replacement): Promise<Finishing> {
  const { object, spec, service } = subject;
  const { formerKey, rotatedAt } = secret ? readKeySecret(service, secret, spec.apiKeySecretRef.key) : {};
  if (!secret || formerKey === undefined || rotatedAt === undefined) return finished;
  const workloads = spec.rollout ?? (await workloadsWith(secret.metadata.name, object.metadata.namespace, context.cluster));
  const annotation = rolloutAnnotation(object.metadata.name, 'key');
  const rolling: Rolling = { object, workloads, annotation, content: { hash: fingerprintOf(apiKey), changedAt: rotatedAt } };
  const { unfinished, missing, againAfterMs } = await rollOut(rolling, context);
  const wait = (waitsFor: readonly string[]): Finishing => ({
    waitsFor,
    missing,
    againAfterMs: Math.min(againAfterMs, isLate(context.now(), rotatedAt) ? lateLookMs : subject.timing.lookMs),
  });
  if (unfinished.length > 0) return wait(unfinished);
  const old = await withOldPods(rolling, context);
  if (old.length > 0) return wait(old);
  if (!(await deleteFormer(subject, context, { formerKey, rotatedAt, apiKey }))) return wait(['the former key']);
  await describeSecret(subject, context, { secret, application: id, formerKey: null });
  return finished;
}

/** As long as a Deployment has for its progress by default. */
const lateAfterMs = 600_000;
const lateLookMs = 60_000;
/** Whether a rotation takes longer than it should. */
export const isLate = (now: Date, rotatedAt: Date): boolean => now.getTime() - rotatedAt.getTime() > lateAfterMs;

type Former = { readonly formerKey: string; readonly rotatedAt: Date; readonly apiKey: string };

/** False while one is still in use. */
async function deleteFormer(subject: RotationSubject, { signal, now, cluster }: ReconcileContext, { formerKey, rotatedAt, apiKey }: Former): Promise<boolean> {
  const { object, spec, service, timing } = subject;
  const slug = slugOf(spec.applicationName);
  const management = service.management(signal);
  const others = (await management.keys(slug)).filter(({ fingerprint }) => fingerprint !== fingerprintOf(apiKey));
  const former = others.filter((key) => key.id === formerKey || isOwnKey(key));
  const isUnused = ({ lastUsedAt }: ApplicationKey) => now().getTime() - Math.max(rotatedAt.getTime(), lastUsedAt?.getTime() ?? 0) >= timing.formerKeyMs;
  const unused = former.filter(isUnused);
  for (const key of unused) {
    await removeKey(management, slug, key);
    await cluster.recordEvent(object, { type: 'Normal', reason: 'FormerKeyDeleted', message: `deleted the former key ${key.id}` });
  }
  return unused.length === former.length;
}
