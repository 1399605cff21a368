// The manager runs controllers while this process leads: watches see changes, queues hold the keys that are due, one worker reconciles a key.
import { setMaxListeners } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../platform/log.ts';
import type { Change } from '../secrets/contract.ts';
import type { Cluster, Key, KubeObject, Resource } from './cluster/cluster.ts';
import type { Transport } from '../platform/api-server.ts';
import { type ObjectChange, startWatch, type Watch, type WatchOptions } from './cluster/watch.ts';
import { kinds } from './definitions.ts';
import type { ObjectCount, OperatorMetrics } from './metrics.ts';
import { createSecretReader, type OwnSecrets, type ReadSecret } from './own-secrets.ts';
import { createQueue, type Queue } from './queue.ts';
import { readyOf } from './status.ts';

/** A cached view of a watch; metadata only where `metadataOnly` was asked for. */
export type Cache = {
  get(key: Key): KubeObject | undefined;
  list(namespace?: string): readonly KubeObject[];
};
/** By kind, of everything that the controller watches. */
export type Caches = Readonly<Record<string, Cache>>;

export type Watched = {
  readonly resource: Resource;
  readonly labelSelector?: string;
  /** Fetches and keeps names, labels, annotations and versions only: Secrets and ConfigMaps are many, and their values are not needed. */
  readonly metadataOnly?: boolean;
  /** Ignores changes of neither spec nor annotations, such as those of a status. */
  readonly specOnly?: boolean;
  /** The keys of the controller's queue that a change of this object makes due. */
  readonly concerns: (object: KubeObject, caches: Caches, isGone: boolean) => readonly string[];
};

export type Reconciled = {
  /** The key is due again after this time, though nothing has changed. */
  readonly againAfterMs?: number;
};

export type ReconcileContext = {
  readonly cluster: Cluster;
  /** Reads a Secret that an object names, instead of `cluster.get`, which reads every Secret. */
  readonly readSecret: ReadSecret;
  readonly caches: Caches;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly now: () => Date;
};

/** A kind of the operator: what makes its keys due, and what is done then. */
export type Controller = {
  readonly name: string;
  readonly watches: readonly Watched[];
  /** Brings the objects of a key to what is wanted. An exception sends the key back to the queue with a growing pause. */
  reconcile(key: string, context: ReconcileContext): Promise<Reconciled>;
  /** The keys that changes in the secrets service make due. */
  readonly concernsOfChanges?: (changes: Changes, caches: Caches) => readonly string[];
};

/** Changes in the secrets service; `all` when it is not known which. */
export type Changes = readonly Change[] | 'all';
export type FeedContext = { readonly signal: AbortSignal; readonly log: Log };
/** Reports changes until the signal. */
export type Feed = (onChanges: (changes: Changes) => void, context: FeedContext) => Promise<void>;

export type Leading = { readonly transport: Transport; readonly cluster: Cluster; readonly signal: AbortSignal };
export type ManagerOptions = {
  /** Called on each term as leader: the state of a controller covers that term only. */
  readonly controllers: () => readonly Controller[];
  /** Empty: all namespaces. */
  readonly namespace: string;
  readonly ownSecrets: OwnSecrets;
  readonly log: Log;
  readonly metrics: () => OperatorMetrics;
  readonly feed?: Feed | undefined;
  readonly timing?: WatchOptions['timing'];
};

export function createManager(options: ManagerOptions) {
  const queues = new Map<string, Queue>();
  const watches = new Map<string, Watch>();

  /** Until the signal. */
  async function run(leading: Leading): Promise<void> {
    const { signal } = leading;
    const { log, feed } = options;
    setMaxListeners(0, signal);
    const controllers = options.controllers();
    const caches: Record<string, Cache> = {};
    const synced = Promise.withResolvers<void>();
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const ready = Promise.race([synced.promise, stopped]);
    for (const controller of controllers) queues.set(controller.name, createQueueOf(controller, leading, { options, caches, ready }));
    for (const [kind, listeners] of watchedBy(controllers)) {
      const watch = startWatchOf(listeners, leading, { options, caches, queues });
      if (!watch) continue;
      watches.set(kind, watch);
      caches[kind] = watch.cache;
    }
    void Promise.all([...watches.values()].map((each) => each.synced)).then(() => synced.resolve());
    const onChanges = (changes: Changes) => {
      for (const { name, concernsOfChanges } of controllers) for (const key of concernsOfChanges?.(changes, caches) ?? []) queues.get(name)?.add(key);
    };
    const following = feed?.(onChanges, { signal, log }).catch((error: unknown) =>
      log.error({ error }, 'following the change feed failed; refresh intervals remain'),
    );
    await stopped;
    await Promise.all([...[...queues.values()].map((queue) => queue.close()), ...[...watches.values()].map(({ ended }) => ended), following]);
    queues.clear();
    watches.clear();
  }

  return {
    run,
    depths: () => Object.fromEntries([...queues].map(([name, { depth }]) => [name, depth])),
    eventAges: () => Object.fromEntries([...watches].map(([kind, { lastEventAgeSeconds }]) => [kind, lastEventAgeSeconds()])),
    objects: () => [...watches].filter(([kind]) => Object.hasOwn(kinds, kind)).flatMap(([kind, { cache }]) => countsOf(kind, cache.list())),
  };
}

type Listener = { readonly controller: Controller; readonly watched: Watched };

/** By kind: Secrets are watched once, though several controllers look at them. */
const watchedBy = (controllers: readonly Controller[]): Map<string, Listener[]> =>
  Map.groupBy(
    controllers.flatMap((controller) => controller.watches.map((watched) => ({ controller, watched }))),
    ({ watched }) => watched.resource.kind,
  );

type Watching = { readonly options: ManagerOptions; readonly caches: Caches; readonly queues: ReadonlyMap<string, Queue> };

function startWatchOf(listeners: readonly Listener[], { transport, signal }: Leading, { options, caches, queues }: Watching): Watch | undefined {
  const { namespace, log, metrics, timing = {} } = options;
  const first = listeners[0]?.watched;
  if (!first) return undefined;
  const { resource, labelSelector, metadataOnly } = first;
  const { kind } = resource;
  const onChange = (change: ObjectChange) => {
    for (const { controller, watched } of listeners) {
      if (watched.specOnly && isOfStatus(change)) continue;
      try {
        for (const key of watched.concerns(change.object, caches, change.isGone)) queues.get(controller.name)?.add(key);
      } catch (error) {
        // The other controllers get the change all the same, and the watch goes on.
        log.error({ controller: controller.name, kind, error }, 'reading a changed object failed');
      }
    }
  };
  return startWatch(transport, resource, {
    namespace,
    onChange,
    onList: (outcome) => metrics().lists.inc({ kind, outcome }),
    signal,
    log,
    timing,
    ...(labelSelector !== undefined && { labelSelector }),
    ...(metadataOnly && { metadataOnly }),
  });
}

type Queueing = { readonly options: ManagerOptions; readonly caches: Caches; readonly ready: Promise<unknown> };

function createQueueOf(controller: Controller, { cluster, signal }: Leading, { options, caches, ready }: Queueing): Queue {
  const { log, metrics, ownSecrets } = options;
  const { name } = controller;
  const readSecret = createSecretReader(cluster, ownSecrets);
  const now = () => new Date();
  return createQueue({
    async work(key) {
      // Until every kind is listed, an object that is not listed yet looks deleted.
      await ready;
      if (signal.aborted) return Number.POSITIVE_INFINITY;
      const end = metrics().durations.startTimer({ controller: name });
      try {
        const { againAfterMs = Number.POSITIVE_INFINITY } = await controller.reconcile(key, { cluster, readSecret, caches, signal, log, now });
        metrics().reconciles.inc({ controller: name, outcome: 'done' });
        return againAfterMs;
      } finally {
        end();
      }
    },
    onFailure(key, error) {
      if (signal.aborted) return;
      metrics().reconciles.inc({ controller: name, outcome: 'failed' });
      log.warn({ controller: name, key, error }, 'reconcile failed; retrying');
    },
  });
}

function countsOf(kind: string, objects: readonly KubeObject[]): ObjectCount[] {
  const alike = Map.groupBy(objects.map(readyOf), (condition) => `${condition?.status}/${condition?.reason}`);
  return [...alike.values()].map((conditions) => ({
    kind,
    ready: conditions[0]?.status ?? 'Unknown',
    reason: conditions[0]?.reason ?? '',
    count: conditions.length,
  }));
}

/** Whether only the status or labels changed. An annotation that changes asks for another reconcile. */
function isOfStatus({ object: { metadata }, before, isGone }: ObjectChange): boolean {
  if (isGone || before?.metadata.uid !== metadata.uid) return false;
  return before.metadata.generation === metadata.generation && isDeepStrictEqual(before.metadata.annotations, metadata.annotations);
}
