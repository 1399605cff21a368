// SecretApplication and SyncedSecret without a secrets service: each reports that, and keeps the rest of its status.
import type { Controller } from './manager.ts';
import type { Kind } from './definitions.ts';
import { keyOf, keyText, resourceOf } from './secrets.ts';
import { notReady, report, statusOf } from './status.ts';

const readiness = notReady('ServiceUnavailable', 'the operator has no secrets service: set secrets.url of its chart, or Secrets__BaseUrl of its process');

export function createWithoutService(kind: Exclude<Kind, 'BrokerConnection'>): Controller {
  const resource = resourceOf(kind);
  return {
    name: resource.plural,
    watches: [{ resource, specOnly: true, concerns: ({ metadata }) => [keyText(metadata)] }],
    async reconcile(key, { cluster, caches, now }) {
      const object = caches[kind]?.get(keyOf(key));
      if (object && object.metadata.deletionTimestamp === undefined)
        await report({ cluster, resource, now: now() }, object, { ...statusOf(object), readiness });
      return {};
    },
  };
}
