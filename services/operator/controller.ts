// What a kind of the operator is made of; `controllers.ts` runs them: watches, queue, one worker a key.
import type { Log } from '../platform/log.ts';
import type { Change } from '../secrets/contract.ts';
import type { Cluster, Key, KubeObject, Resource } from './cluster/cluster.ts';

/** A cached view of what a watch has seen; metadata only where `metadataOnly` was asked for. */
export type Cache = {
  get(key: Key): KubeObject | undefined;
  list(namespace?: string): readonly KubeObject[];
};

export type Watched = {
  readonly resource: Resource;
  readonly labelSelector?: string;
  /** Only names, labels, annotations and versions are fetched and kept: Secrets and ConfigMaps are many, and hold what we need not hold. */
  readonly metadataOnly?: boolean;
  /** What changes neither spec nor annotations, such as a status, concerns nobody. */
  readonly specOnly?: boolean;
  /** The keys of the controller's queue that a change of this object concerns. */
  readonly concerns: (object: KubeObject, caches: Caches, isGone: boolean) => readonly string[];
};
/** By kind, of all that the controller watches. */
export type Caches = Readonly<Record<string, Cache>>;

export type Reconciled = {
  /** Once more after this time, though nothing has changed. */
  readonly againAfterMs?: number;
};

export type Controller = {
  readonly name: string;
  readonly watches: readonly Watched[];
  /** Brings what belongs to a key to what is wanted. What it throws sends the key back to the queue with a growing pause. */
  reconcile(key: string, context: ReconcileContext): Promise<Reconciled>;
  /** The keys that changes in the secrets service concern. */
  readonly concernsOfChanges?: (changes: Changes, caches: Caches) => readonly string[];
};

/** Of the secrets service; all when which is not known. */
export type Changes = readonly Change[] | 'all';
export type FeedContext = { readonly signal: AbortSignal; readonly log: Log };
/** Tells of changes while it leads, until the signal. */
export type Feed = (onChanges: (changes: Changes) => void, context: FeedContext) => Promise<void>;
export type ReconcileContext = {
  readonly cluster: Cluster;
  readonly caches: Caches;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly now: () => Date;
};
