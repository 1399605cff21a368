// SecretApplication: what makes an object due, its status, and what happens in the service when it is gone.
import { slugOf } from '../../secrets/contract.ts';
import type { KubeObject } from '../cluster/cluster.ts';
import { createContention } from '../contention.ts';
import { SecretApplicationSpec } from '../contract.ts';
import type { Caches, Changes, Controller, ReconcileContext } from '../manager.ts';
import { type SecretsService, unlessMissing } from '../secrets-service.ts';
import { annotationOf, configMapResource, createOwnWrites, keyOf, keyText, ownerNameOf, resourceOf, secretResource } from '../secrets.ts';
import { createReferring, createSpecs, faultOf } from '../specs.ts';
import { report, statusOf } from '../status.ts';
import { keep, type Outcome } from './apply.ts';
import { applicationOf, isSealed, writtenFor } from './key-secret.ts';
import type { Ownership } from '../ownership.ts';
import { rotationTiming } from './rotation.ts';

const resource = resourceOf('SecretApplication');
const specOf = createSpecs(SecretApplicationSpec);
const referring = createReferring(specOf);

type Kept = { readonly slug: string; readonly id: string };

export function createSecretApplications(service: SecretsService, ownership: Ownership, timing = rotationTiming): Controller {
  /** Applications that are deleted with their object, by its key: the Secret may go before the object, as with a namespace. */
  const deletable = new Map<string, Kept>();
  const writes = createOwnWrites();
  const contention = createContention();
  const refused = new Map<string, ReadonlySet<string>>();

  function concernsOfSecret(secret: KubeObject, caches: Caches, isGone: boolean): readonly string[] {
    const { namespace, name } = secret.metadata;
    const owner = ownerNameOf(secret, 'SecretApplication');
    const ofOwner = owner === undefined ? [] : [keyText({ namespace, name: owner })];
    for (const key of ofOwner) if (!isGone && isSealed(service, secret)) noteDeletion(key, secret);
    if (writes.isOwn(secret, isGone)) return [];
    const isNamed = ({ apiKeySecretRef, secretValues }: SecretApplicationSpec) =>
      apiKeySecretRef?.name === name || secretValues.some(({ valueFrom }) => valueFrom.secretKeyRef.name === name);
    return [...ofOwner, ...referring(caches['SecretApplication']?.list(namespace), isNamed)];
  }

  function noteDeletion(key: string, secret: KubeObject): void {
    const kept = annotationOf(secret, 'deletionPolicy') === 'Delete' ? applicationOf(secret) : undefined;
    if (kept) deletable.set(key, kept);
    else deletable.delete(key);
  }

  /** Without a key there is no Secret with a seal that outlives the operator: what is noted here ends with its term as leader. */
  function noteKeyless(key: string, { deletionPolicy, apiKeySecretRef }: SecretApplicationSpec, { slug, applicationId: id }: Partial<Outcome>): void {
    if (deletionPolicy === 'Delete' && !apiKeySecretRef && slug !== undefined && id !== undefined) deletable.set(key, { slug, id });
  }

  async function removeKept(key: string, { cluster, caches, signal }: ReconcileContext): Promise<void> {
    const kept = deletable.get(key);
    if (!kept) return;
    const management = service.management(signal);
    const application = await unlessMissing(management.application(kept.slug));
    const isOurs = application?.id === kept.id && application.owner === (await ownership.ownerOf(cluster, keyOf(key)));
    if (isOurs) await management.deleteApplication(kept.slug);
    for (const { metadata } of writtenFor(service, caches, keyOf(key))) await cluster.remove(secretResource, metadata);
    deletable.delete(key);
  }

  return {
    name: 'secret-applications',
    watches: [
      {
        resource,
        specOnly: true,
        concerns: (object) => [keyText(object.metadata)],
      },
      { resource: secretResource, metadataOnly: true, concerns: concernsOfSecret },
      { resource: configMapResource, metadataOnly: true, concerns: concernsOfConfigMap },
    ],
    async reconcile(key, context) {
      const { caches, cluster, now } = context;
      const object = caches['SecretApplication']?.get(keyOf(key));
      if (!object) {
        await removeKept(key, context);
        for (const part of [key, `${key} contents`]) contention.forget(part);
        refused.delete(key);
      }
      const spec = object && specOf(object);
      if (!object || object.metadata.deletionTimestamp !== undefined) return {};
      if (!spec) {
        await report({ cluster, resource, now: now() }, object, { ...statusOf(object), readiness: faultOf(SecretApplicationSpec, object) });
        return {};
      }
      if (spec.deletionPolicy === 'Retain') deletable.delete(key);
      const owner = await ownership.ownerOf(cluster, object.metadata);
      const mayAdopt = ownership.mayAdopt(object.metadata.namespace);
      const subject = { object, spec, owner, mayAdopt, bindsAccounts: ownership.bindsAccounts, service, writes, contention, refused, timing };
      const { againAfterMs, failure, ...status } = await keep(subject, context);
      noteKeyless(key, spec, status);
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

function concernsOfChanges(changes: Changes, caches: Caches): readonly string[] {
  const objects = caches['SecretApplication']?.list() ?? [];
  const slugs = changes === 'all' ? undefined : new Set(changes.map(({ application }) => application));
  return objects.filter((object) => slugs?.has(slugOfObject(object) ?? '') ?? true).map(({ metadata }) => keyText(metadata));
}
