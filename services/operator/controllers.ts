// Runs controllers while this process leads: watches see what changes, queues hold what is due, each key is reconciled by one worker.
import { setMaxListeners } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../platform/log.ts';
import type { Cluster, KubeObject } from './cluster/cluster.ts';
import type { Transport } from './cluster/transport.ts';
import { type ObjectChange, startWatch, type Watch, type WatchOptions } from './cluster/watch.ts';
import type { Cache, Caches, Changes, Controller, Feed } from './controller.ts';
import { kinds } from './contract.ts';
import type { ObjectCount, OperatorMetrics } from './metrics.ts';
import { createQueue, type Queue } from './queue.ts';
import { readyOf } from './status.ts';

export type Leading = { readonly transport: Transport; readonly cluster: Cluster; readonly signal: AbortSignal };
export type ControllersOptions = {
  /** Made anew each time it leads: what they remember is of what they have seen since. */
  readonly controllers: () => readonly Controller[];
  /** Empty: all. */
  readonly namespace: string;
  readonly log: Log;
  readonly metrics: () => OperatorMetrics;
  readonly feed?: Feed | undefined;
  readonly timing?: WatchOptions['timing'];
};

export function createControllers({ controllers: create, namespace, log, metrics, feed, timing = {} }: ControllersOptions) {
  const queues = new Map<string, Queue>();
  const watches = new Map<string, Watch>();

  /** Secrets are watched once, though several controllers look at them. */
  function watch(controllers: readonly Controller[], leading: Leading, caches: Record<string, Cache>): void {
    const wanted = Map.groupBy(
      controllers.flatMap((controller) => controller.watches.map((watched) => ({ controller, watched }))),
      ({ watched }) => watched.resource.kind,
    );
    for (const [kind, listeners] of wanted) {
      const first = listeners[0]?.watched;
      if (!first) continue;
      const onChange = (change: ObjectChange) => {
        for (const { controller, watched } of listeners) {
          if (watched.specOnly && isOfStatus(change)) continue;
          try {
            for (const key of watched.concerns(change.object, caches, change.isGone)) queues.get(controller.name)?.add(key);
          } catch (error) {
            // The other controllers get it all the same, and the watch goes on.
            log.error({ controller: controller.name, kind, error }, 'reading a changed object failed');
          }
        }
      };
      const onList = (outcome: 'listed' | 'failed') => metrics().lists.inc({ kind, outcome });
      const { resource, labelSelector, metadataOnly } = first;
      const options = {
        namespace,
        onChange,
        onList,
        signal: leading.signal,
        log,
        timing,
        ...(labelSelector !== undefined && { labelSelector }),
        ...(metadataOnly && { metadataOnly }),
      };
      const started = startWatch(leading.transport, resource, options);
      watches.set(kind, started);
      caches[kind] = started.cache;
    }
  }

  function createQueueOf(controller: Controller, { cluster, signal }: Leading, { caches, synced }: { caches: Caches; synced: Promise<unknown> }): Queue {
    const { name } = controller;
    const now = () => new Date();
    return createQueue({
      async work(key) {
        // Before all is known, what is not there yet looks like what is gone.
        await synced;
        if (signal.aborted) return Number.POSITIVE_INFINITY;
        const end = metrics().durations.startTimer({ controller: name });
        try {
          const { againAfterMs = Number.POSITIVE_INFINITY } = await controller.reconcile(key, { cluster, caches, signal, log, now });
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

  return {
    /** Until the signal. */
    async run(leading: Leading): Promise<void> {
      const { signal } = leading;
      setMaxListeners(0, signal);
      const controllers = create();
      const caches: Record<string, Cache> = {};
      const synced = Promise.withResolvers<void>();
      const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      for (const controller of controllers)
        queues.set(controller.name, createQueueOf(controller, leading, { caches, synced: Promise.race([synced.promise, stopped]) }));
      watch(controllers, leading, caches);
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
    },
    depths: () => Object.fromEntries([...queues].map(([name, { depth }]) => [name, depth])),
    eventAges: () => Object.fromEntries([...watches].map(([kind, { lastEventAgeSeconds }]) => [kind, lastEventAgeSeconds()])),
    objects: () => [...watches].filter(([kind]) => Object.hasOwn(kinds, kind)).flatMap(([kind, { cache }]) => countsOf(kind, cache.list())),
  };
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

/** Or of labels, which mean nothing here. An annotation that changes asks for another reconcile. */
function isOfStatus({ object: { metadata }, before, isGone }: ObjectChange): boolean {
  if (isGone || before?.metadata.uid !== metadata.uid) return false;
  return before.metadata.generation === metadata.generation && isDeepStrictEqual(before.metadata.annotations, metadata.annotations);
}
