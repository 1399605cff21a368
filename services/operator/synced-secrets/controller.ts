// SyncedSecret: what makes an object due, and its status.
import { slugOf } from '../../secrets/contract.ts';
import type { Caches, Changes, Controller } from '../manager.ts';
import type { KubeObject } from '../cluster/cluster.ts';
import { createContention } from '../contention.ts';
import { SecretApplicationSpec, SyncedSecretSpec } from '../contract.ts';
import type { Ownership } from '../ownership.ts';
import type { SecretsService } from '../secrets-service.ts';
import { createOwnWrites, keyOf, keyText, ownerNameOf, resourceOf, secretResource } from '../secrets.ts';
import { createReferring, createSpecs, faultOf } from '../specs.ts';
import { readyOf, report, statusOf } from '../status.ts';
import { sync } from './apply.ts';
import { targetName } from './target.ts';

const resource = resourceOf('SyncedSecret');
const specOf = createSpecs(SyncedSecretSpec);
const referring = createReferring(specOf);
const applicationSpec = createSpecs(SecretApplicationSpec);

export function createSyncedSecrets(service: SecretsService, ownership: Ownership): Controller {
  const writes = createOwnWrites();
  const contention = createContention();

  /** The objects whose target the Secret is or should be, by its annotation even after its deletion, and the objects that read with the key in it. */
  function concernsOfSecret(secret: KubeObject, caches: Caches, isGone: boolean): readonly string[] {
    if (writes.isOwn(secret, isGone)) return [];
    const { namespace, name } = secret.metadata;
    const owner = ownerNameOf(secret, 'SyncedSecret');
    const application = ownerNameOf(secret, 'SecretApplication');
    const concerned = (caches['SyncedSecret']?.list(namespace) ?? []).filter((object) => {
      const spec = specOf(object);
      if (!spec) return false;
      const reads = application === undefined ? spec.apiKeySecretRef?.name === name : spec.applicationRef?.name === application;
      return reads || object.metadata.name === owner || targetName(object, spec) === name;
    });
    return concerned.map(({ metadata }) => keyText(metadata));
  }

  return {
    name: 'synced-secrets',
    watches: [
      { resource, specOnly: true, concerns: (object) => [keyText(object.metadata)] },
      {
        resource: resourceOf('SecretApplication'),
        specOnly: true,
        concerns: ({ metadata }, caches) =>
          referring(caches['SyncedSecret']?.list(metadata.namespace), ({ applicationRef }) => applicationRef?.name === metadata.name),
      },
      { resource: secretResource, metadataOnly: true, concerns: concernsOfSecret },
    ],
    async reconcile(key, context) {
      const object = context.caches['SyncedSecret']?.get(keyOf(key));
      if (!object || object.metadata.deletionTimestamp !== undefined) {
        contention.forget(key);
        return {};
      }
      // Each change of the other writer leads here; reading the values each time would load the service.
      const contest = contention.contestOf(key, context.now());
      const ready = readyOf(object);
      const isTold = ready?.reason === 'Contested' && ready.observedGeneration === object.metadata.generation;
      if (contest && isTold) return { againAfterMs: contest.pauseMs };
      const spec = specOf(object);
      if (!spec) {
        await report({ cluster: context.cluster, resource, now: context.now() }, object, { ...statusOf(object), readiness: faultOf(SyncedSecretSpec, object) });
        return {};
      }
      const { againAfterMs, failure, ...status } = await sync({ object, spec, service, ownership, applicationSpec, writes, contention }, context);
      // The status of the last content stays.
      const before = status.readiness.isReady ? {} : statusOf(object);
      await report({ cluster: context.cluster, resource, now: context.now() }, object, { ...before, ...status });
      if (failure !== undefined) throw failure;
      return { againAfterMs };
    },
    concernsOfChanges,
  };
}

/** Keys of the objects that may read the changed values. The application of an object with `apiKeySecretRef` is unknown, so every change concerns it. */
function concernsOfChanges(changes: Changes, caches: Caches): readonly string[] {
  const objects = caches['SyncedSecret']?.list() ?? [];
  const isDue = (object: KubeObject, spec: SyncedSecretSpec) => {
    if (changes === 'all') return true;
    const { applicationRef, environment } = spec;
    const application = applicationRef && caches['SecretApplication']?.get({ namespace: object.metadata.namespace, name: applicationRef.name });
    const applicationName = application && applicationSpec(application)?.applicationName;
    const slug = applicationName === undefined ? undefined : slugOf(applicationName);
    return changes.some((change) => (slug === undefined || change.application === slug) && (change.environment === null || change.environment === environment));
  };
  return objects.flatMap((object) => {
    const spec = specOf(object);
    return spec && isDue(object, spec) ? [keyText(object.metadata)] : [];
  });
}
