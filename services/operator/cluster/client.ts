// `Cluster` on the wire: objects of any kind by the paths of the Kubernetes API.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { fieldManager, group } from '../contract.ts';
import { type Cluster, type KubeObject, type ListOptions, microTime, type Resource } from './cluster.ts';
import { ClusterError, type Transport } from '../../platform/api-server.ts';

const Texts = z.record(z.string(), z.string());
const Metadata = z.looseObject({
  name: z.string(),
  namespace: z.string().default(''),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.int().optional(),
  creationTimestamp: z.string(),
  deletionTimestamp: z.string().optional(),
  labels: Texts.optional(),
  annotations: Texts.optional(),
  ownerReferences: z.array(z.looseObject({ apiVersion: z.string(), kind: z.string(), name: z.string(), uid: z.string() })).optional(),
});
const PlainObject = z.looseObject({ metadata: Metadata });
/** An empty list of metadata has null for its items. */
const Items = z
  .array(z.unknown())
  .nullish()
  .transform((items) => items ?? []);
const List = z.object({ items: Items, metadata: z.object({ resourceVersion: z.string(), continue: z.string().optional() }) });

/** Items of a list lack apiVersion and kind. Managed fields are dropped: they are unused and often the larger part of an object. */
export function readObject(value: unknown, { apiVersion, kind }: Resource): KubeObject {
  const object = PlainObject.parse(value);
  delete object.metadata['managedFields'];
  return { ...object, apiVersion, kind };
}

/** The metadata that controllers look at: annotations of others may have 256 KiB for each Secret and ConfigMap of the cluster. */
export function readMetadata(value: unknown, resource: Resource): KubeObject {
  const { apiVersion, kind, metadata } = readObject(value, resource);
  const { labels: _labels, annotations = {}, ...rest } = metadata;
  const own = Object.entries(annotations).filter(([name]) => name.startsWith(`${group}/`));
  return { apiVersion, kind, metadata: { ...rest, annotations: Object.fromEntries(own) } };
}

/** An empty namespace means all namespaces. */
export function pathOf({ apiVersion, plural }: Resource, { namespace, name }: { readonly namespace: string; readonly name?: string }, sub?: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const within = namespace === '' ? [] : ['namespaces', namespace];
  return [root, ...within, plural, ...(name === undefined ? [] : [name]), ...(sub === undefined ? [] : [sub])].join('/');
}

export type Page = { readonly objects: readonly KubeObject[]; readonly resourceVersion: string };

/** Objects may have 1 MiB each, and their metadata 256 KiB. */
const pageSize = '100';
export const acceptOf = (kind: 'PartialObjectMetadataList' | 'PartialObjectMetadata') => `application/json;as=${kind};g=meta.k8s.io;v=v1`;

/** All pages. */
export async function listAll(transport: Transport, resource: Resource, { metadataOnly = false, ...options }: ListOptions): Promise<Page> {
  const { namespace, labelSelector, fieldSelector } = options;
  const objects: KubeObject[] = [];
  let next: string | undefined;
  for (;;) {
    const accept = metadataOnly ? { accept: acceptOf('PartialObjectMetadataList') } : {};
    const query = { limit: pageSize, labelSelector, fieldSelector, continue: next };
    const { items, metadata } = List.parse(await transport.json({ method: 'GET', path: pathOf(resource, { namespace }), query, ...accept }));
    objects.push(...items.map((item) => (metadataOnly ? readMetadata : readObject)(item, resource)));
    next = metadata.continue;
    if (!next) return { objects, resourceVersion: metadata.resourceVersion };
  }
}

const unless = async <T, E>(status: number, answer: Promise<T>, otherwise: E): Promise<T | E> => {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ClusterError && error.status === status) return otherwise;
    throw error;
  }
};

type ClientOptions = { readonly transport: Transport; readonly identity: string; readonly onEventFailure?: (error: unknown) => void };

/** @param options `identity` of this process, in Events */
export function createCluster({ transport, identity, onEventFailure = () => undefined }: ClientOptions): Cluster {
  const whole = ({ apiVersion, kind }: Resource, object: object) => ({ apiVersion, kind, ...object });
  const answered = async (resource: Resource, answer: Promise<unknown>) => readObject(await answer, resource);
  return {
    get: (resource, key) => unless(404, answered(resource, transport.json({ method: 'GET', path: pathOf(resource, key) })), undefined),
    list: async (resource, options) => (await listAll(transport, resource, options)).objects,
    create: (resource, object) => {
      const path = pathOf(resource, { namespace: object.metadata.namespace });
      const call = { method: 'POST', path, body: whole(resource, object), contentType: 'application/json', query: { fieldManager } } as const;
      return unless(409, answered(resource, transport.json(call)), 'conflict' as const);
    },
    applyStatus: (resource, { namespace, name }, status) => {
      const path = pathOf(resource, { namespace, name }, 'status');
      const body = whole(resource, { metadata: { namespace, name }, status });
      const call = { method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml', query: { fieldManager, force: 'true' } } as const;
      return unless(404, answered(resource, transport.json(call)), undefined);
    },
    patch: (resource, key, patch) => {
      const call = { method: 'PATCH', path: pathOf(resource, key), body: patch, contentType: 'application/merge-patch+json', query: { fieldManager } } as const;
      return unless(404, answered(resource, transport.json(call)), undefined);
    },
    async tryApply(resource, object) {
      const query = { fieldManager, force: 'true', dryRun: 'All' };
      const path = pathOf(resource, object.metadata);
      await transport.json({ method: 'PATCH', path, body: whole(resource, object), contentType: 'application/apply-patch+yaml', query });
    },
    async remove(resource, { uid, ...key }) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
      const call = { method: 'DELETE', path: pathOf(resource, key), body, contentType: 'application/json' } as const;
      // 409: there is another one by that name.
      await unless(409, unless(404, transport.json(call), undefined), undefined);
    },
    async recordEvent(object, event) {
      try {
        const path = pathOf(events, { namespace: object.metadata.namespace });
        await transport.json({ method: 'POST', path, body: whole(events, eventOn(object, event, identity)), contentType: 'application/json' });
      } catch (error) {
        onEventFailure(error);
      }
    },
  };
}

const events: Resource = { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events' };
const longestNote = 1000;

function eventOn(object: KubeObject, { type, reason, message }: Parameters<Cluster['recordEvent']>[1], identity: string) {
  const { apiVersion, kind } = object;
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return {
    metadata: { namespace, name: `${name.slice(0, 200)}.${randomUUID()}` },
    eventTime: microTime(new Date()),
    reportingController: 'signalbox.dev/operator',
    reportingInstance: identity.slice(0, 128),
    action: 'Reconcile',
    reason,
    type,
    note: message.slice(0, longestNote),
    regarding: { apiVersion, kind, namespace, name, uid, resourceVersion },
  };
}
