// What the controllers know of a cluster: objects by kind, without any library. `client.ts` speaks it on the wire.
import type { EventReason } from '../contract.ts';

/** `lastSyncedAt` and times of the like are ISO 8601. */
export type Metadata = {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number | undefined;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly ownerReferences?: readonly { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string }[] | undefined;
};

/** As the API server gave it; what is beside the metadata is read by a schema of whoever uses it. */
export type KubeObject = { readonly apiVersion: string; readonly kind: string; readonly metadata: Metadata; readonly [member: string]: unknown };

/** What the operator speaks to; the table of RBAC follows from it. */
export type Resource = { readonly apiVersion: string; readonly kind: string; readonly plural: string };

/** Six digits after the point, which the API asks for in Leases and Events. */
export const microTime = (time: Date): string => time.toISOString().replace('Z', '000Z');

export type Key = { readonly namespace: string; readonly name: string };

export type Desired = {
  readonly metadata: Key & Partial<Pick<Metadata, 'labels' | 'annotations' | 'ownerReferences'>>;
  readonly [member: string]: unknown;
};

/** @throws ClusterError for every refusal but those that are a return value */
export type Cluster = {
  get(resource: Resource, key: Key): Promise<KubeObject | undefined>;
  /** Refused as `conflict` when there is one already. */
  create(resource: Resource, object: Desired): Promise<KubeObject | 'conflict'>;
  /** Server-side apply of the status subresource, forced, as our field manager: what is not given any more goes. Undefined when the object is gone. */
  applyStatus(resource: Resource, key: Key, status: object): Promise<KubeObject | undefined>;
  /** A merge patch; undefined when the object is gone. */
  patch(resource: Resource, key: Key, patch: object): Promise<KubeObject | undefined>;
  /** Nothing is changed. @throws ClusterError where the API server would not take a server-side apply of the object */
  tryApply(resource: Resource, object: Desired): Promise<void>;
  /** Only the very object; it is no fault when it is gone. */
  remove(resource: Resource, object: Pick<Metadata, 'name' | 'namespace' | 'uid'>): Promise<void>;
  /** A Kubernetes Event on an object: what people care about. Best effort: never throws. */
  recordEvent(object: KubeObject, event: { readonly type: 'Normal' | 'Warning'; readonly reason: EventReason; readonly message: string }): Promise<void>;
};
