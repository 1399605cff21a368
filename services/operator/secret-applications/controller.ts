// SecretApplication: what makes one due, its status, and what happens in the service when it is gone.
import { slugOf } from '../../secrets/contract.ts';
import type { KubeObject } from '../cluster/cluster.ts';
import { SecretApplicationSpec } from '../contract.ts';
import type { Caches, Changes, Controller, ReconcileContext } from '../manager.ts';
import { type SecretsService, unlessMissing } from '../secrets-service.ts';
import { annotationOf, configMapResource, createOwnWrites, keyOf, keyText, ownerNameOf, resourceOf, secretResource } from '../secrets.ts';
import { createReferring, createSpecs, faultOf } from '../specs.ts';
import { report, statusOf } from '../status.ts';
import { applicationOf, isOriginal, writtenFor } from './key.ts';
import { keep } from './apply.ts';

const resource = resourceOf('SecretApplication');
const specOf = createSpecs(SecretApplicationSpec);
const referring = createReferring(specOf);

type Kept = { readonly slug: string; readonly id: string };

export function createSecretApplications(service: SecretsService): Controller {
  /** What is deleted with its object, by the object: its Secret may go first, as with a namespace. */
  const deletable = new Map<string, Kept>();
  const writes = createOwnWrites();

  function concernsOfSecret(secret: KubeObject, caches: Caches, isGone: boolean): readonly string[] {
    const { namespace, name } = secret.metadata;
    const owner = ownerNameOf(secret, 'SecretApplication');
    const ofOwner = owner === undefined ? [] : [keyText({ namespace, name: owner })];
    for (const key of ofOwner) if (!isGone && isOriginal(secret)) noteDeletion(key, secret);
    if (writes.isOwn(secret, isGone)) return [];
    const isNamed = ({ apiKeySecretRef, secretValues }: SecretApplicationSpec) =>
      apiKeySecretRef.name === name || secretValues.some(({ valueFrom }) => valueFrom.secretKeyRef.name === name);
    return [...ofOwner, ...referring(caches['SecretApplication']?.list(namespace), isNamed)];
  }

  function noteDeletion(key: string, secret: KubeObject): void {
    const kept = annotationOf(secret, 'deletionPolicy') === 'Delete' ? applicationOf(secret) : undefined;
    if (kept) deletable.set(key, kept);
    else deletable.delete(key);
  }

  async function removeKept(key: string, { cluster, caches, signal }: ReconcileContext): Promise<void> {
    const kept = deletable.get(key);
    if (!kept) return;
    const management = service.management(signal);
    const application = await unlessMissing(management.application(kept.slug));
    if (application?.id === kept.id) await management.deleteApplication(kept.slug);
    for (const { metadata } of writtenFor(caches, keyOf(key))) await cluster.remove(secretResource, metadata);
    deletable.delete(key);
  }

  return {
    name: 'secret-applications',
    watches: [
      {
        resource,
        specOnly: true,
        concerns: (object, caches) => [keyText(object.metadata), ...sameSlug(caches, object).map(({ metadata }) => keyText(metadata))],
      },
      { resource: secretResource, metadataOnly: true, concerns: concernsOfSecret },
      { resource: configMapResource, metadataOnly: true, concerns: concernsOfConfigMap },
    ],
    async reconcile(key, context) {
      const { caches, cluster, now } = context;
      const object = caches['SecretApplication']?.get(keyOf(key));
      if (!object) await removeKept(key, context);
      const spec = object && specOf(object);
      if (!object || object.metadata.deletionTimestamp !== undefined) return {};
      if (!spec) {
        await report({ cluster, resource, now: now() }, object, { ...statusOf(object), readiness: faultOf(SecretApplicationSpec, object) });
        return {};
      }
      if (spec.deletionPolicy === 'Retain') deletable.delete(key);
      const older = sameSlug(caches, object).find((other) => isOlder(other, object));
      const { againAfterMs, failure, ...status } = await keep({ object, spec, older: older && keyText(older.metadata), service, writes }, context);
      await report({ cluster, resource, now: now() }, object, { ...statusOf(object), ...status });
      if (failure !== undefined) throw failure;
      return { againAfterMs };
    },
    concernsOfChanges,
  };
}

function concernsOfConfigMap({ metadata: { namespace, name } }: KubeObject, caches: Caches): readonly string[] {
  return referring(caches['SecretApplication']?.list(namespace), ({ configuration }) =>
    configuration.some(({ valueFrom }) => valueFrom?.configMapKeyRef.name === name),
  );
}

function slugOfObject(object: KubeObject): string | undefined {
  const spec = specOf(object);
  return spec && slugOf(spec.applicationName);
}

const sameSlug = (caches: Caches, object: KubeObject): readonly KubeObject[] =>
  (caches['SecretApplication']?.list() ?? []).filter((other) => other.metadata.uid !== object.metadata.uid && slugOfObject(other) === slugOfObject(object));

function isOlder({ metadata: one }: KubeObject, { metadata: other }: KubeObject): boolean {
  return one.creationTimestamp === other.creationTimestamp ? one.uid < other.uid : one.creationTimestamp < other.creationTimestamp;
}

function concernsOfChanges(changes: Changes, caches: Caches): readonly string[] {
  const objects = caches['SecretApplication']?.list() ?? [];
  const slugs = changes === 'all' ? undefined : new Set(changes.map(({ application }) => application));
  return objects.filter((object) => slugs?.has(slugOfObject(object) ?? '') ?? true).map(({ metadata }) => keyText(metadata));
}
