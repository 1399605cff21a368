// Makes random values in the secrets service where there are none, for the application of a SecretApplication that allows it.
import { Refusal } from '../../secrets/client.ts';
import { slugOf } from '../../secrets/contract.ts';
import type { KubeObject } from '../cluster/cluster.ts';
import type { SecretApplicationSpec, SyncedSecretSpec } from '../contract.ts';
import type { ReconcileContext } from '../manager.ts';
import type { Ownership } from '../ownership.ts';
import { type SecretsService, unlessMissing } from '../secrets-service.ts';
import { notReady, type Readiness } from '../status.ts';

export type GenerateSubject = {
  readonly object: KubeObject;
  readonly spec: SyncedSecretSpec;
  readonly service: SecretsService;
  readonly ownership: Ownership;
  readonly applicationSpec: (object: KubeObject) => SecretApplicationSpec | undefined;
};

/** The entries of `data` that generate a value and have none. */
export const generatedOf = ({ data }: SyncedSecretSpec, isThere: (secret: string) => boolean) =>
  data.flatMap(({ secret, generate }) => (secret !== undefined && generate && !isThere(secret) ? [{ secret, generate }] : []));

/** Leaves an environment that has a version of the secret as it is, also one that is not served. @returns the reason why nothing was made */
export async function generateValues(
  subject: GenerateSubject,
  context: ReconcileContext,
  entries: ReturnType<typeof generatedOf>,
): Promise<Readiness | undefined> {
  const { object, spec, service, ownership, applicationSpec } = subject;
  const { caches, cluster, signal } = context;
  const key = { namespace: object.metadata.namespace, name: spec.applicationRef?.name ?? '' };
  const found = caches['SecretApplication']?.get(key);
  const allowing = found && applicationSpec(found);
  if (allowing?.generate !== 'Allow') return notReady('ValueRefused', `SecretApplication ${key.name} does not say generate: Allow`);
  const slug = slugOf(allowing.applicationName);
  const management = service.management(signal);
  const application = await unlessMissing(management.application(slug));
  // The name in the object proves nothing: the service says whose application it is.
  if (application?.owner !== (await ownership.ownerOf(cluster, key)))
    return notReady('Conflict', `SecretApplication ${key.name} does not own the application ${slug} of the service`);
  for (const { secret, generate } of entries) {
    await unlessThere(management.createSecret(slug, { name: secret }));
    // A version that is there and not served, since it was disabled or has expired, stays as it is.
    const isNew = await unlessThere(management.setValues(slug, secret, [{ environmentSlug: spec.environment, generate, expectedVersion: 0 }]));
    if (isNew) await cluster.recordEvent(object, { type: 'Normal', reason: 'Generated', message: `generated a value of ${secret} in ${spec.environment}` });
  }
  return undefined;
}

/** A secret of that name may exist, with versions in other environments. @returns whether it was made now */
async function unlessThere(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.status === 409) return false;
    throw error;
  }
}
