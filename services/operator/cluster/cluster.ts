// The cluster as the controllers see it: objects by kind, without any library. `client.ts` implements it on the wire.
import type { EventReason } from '../contract.ts';

/** Times are ISO 8601. */
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

/** An object as the API server sent it; each reader parses the members beside the metadata with a schema of its own. */
export type KubeObject = { readonly apiVersion: string; readonly kind: string; readonly metadata: Metadata; readonly [member: string]: unknown };

/** The requests that the operator makes; the rules of RBAC follow from them. */
export type Resource = { readonly apiVersion: string; readonly kind: string; readonly plural: string };

/** Six digits after the point, which the API asks for in Leases and Events. */
export const microTime = (time: Date): string => time.toISOString().replace('Z', '000Z');

export type Key = { readonly namespace: string; readonly name: string };

export type Desired = {
  readonly metadata: Key & Partial<Pick<Metadata, 'labels' | 'annotations' | 'ownerReferences'>>;
  readonly [member: string]: unknown;
};

/** An empty namespace means all namespaces. `metadataOnly`: without spec, data and status. */
export type ListOptions = { readonly namespace: string; readonly labelSelector?: string; readonly fieldSelector?: string; readonly metadataOnly?: boolean };

/** @throws ClusterError for every refusal but those that are a return value */
export type Cluster = {
  get(resource: Resource, key: Key): Promise<KubeObject | undefined>;
  list(resource: Resource, options: ListOptions): Promise<readonly KubeObject[]>;
  /** Refused as `conflict` when there is one already. */
  create(resource: Resource, object: Desired): Promise<KubeObject | 'conflict'>;
  /** Server-side apply of the status subresource, forced, as our field manager: members that are left out are removed. Undefined when the object is gone. */
  applyStatus(resource: Resource, key: Key, status: object): Promise<KubeObject | undefined>;
  /** A merge patch; undefined when the object is gone. */
  patch(resource: Resource, key: Key, patch: object): Promise<KubeObject | undefined>;
  /** A dry run of a server-side apply. @throws ClusterError when the API server refuses it */
  tryApply(resource: Resource, object: Desired): Promise<void>;
  /** Deletes the object with this uid only; an object that is gone is no error. */
  remove(resource: Resource, object: Pick<Metadata, 'name' | 'namespace' | 'uid'>): Promise<void>;
  /** Records a Kubernetes Event on an object, for people. Best effort: never throws. */
  recordEvent(object: KubeObject, event: { readonly type: 'Normal' | 'Warning'; readonly reason: EventReason; readonly message: string }): Promise<void>;
};
