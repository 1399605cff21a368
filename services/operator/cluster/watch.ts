// What there is of a resource, kept by a list and a watch. Whatever ends a watch, the next one goes on where it was; and now and then all is listed anew,
// so that nothing that was missed, came twice or in another order stays wrong.
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { backOffMs, sleepUntil } from '../../platform/time.ts';
import type { Log } from '../../platform/log.ts';
import type { KubeObject, Resource } from './cluster.ts';
import { acceptOf, listAll, type ListOptions, pathOf, readObject } from './client.ts';
import { ClusterError, type Transport } from './transport.ts';

export type ObjectChange = { readonly object: KubeObject; readonly before: KubeObject | undefined; readonly isGone: boolean };

export type WatchOptions = ListOptions & {
  /** With what is new, changed or gone, after the cache has it. */
  readonly onChange: (change: ObjectChange) => void;
  readonly onList?: (outcome: 'listed' | 'failed') => void;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly timing?: Partial<typeof defaults> | undefined;
};

export type Watch = ReturnType<typeof startWatch>;

/** `silenceMs`: bookmarks come about once a minute, so that one that says nothing for longer is cut, and goes on anew. */
const defaults = { silenceMs: 75_000, relistMs: 600_000, backOff: { firstMs: 500, longestMs: 10_000 } };

const Event = z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']), object: z.unknown() });
const Bookmark = z.object({ metadata: z.object({ resourceVersion: z.string() }) });
const Failure = z.object({ code: z.int().optional(), message: z.string().optional() });

const keyOf = ({ metadata: { namespace, name } }: KubeObject) => `${namespace}/${name}`;
const gone = 410;

export function startWatch(transport: Transport, resource: Resource, options: WatchOptions) {
  const { onChange, onList = () => undefined, signal, log, namespace, labelSelector, metadataOnly = false } = options;
  const timing = { ...defaults, ...options.timing };
  const objects = new Map<string, KubeObject>();
  const synced = Promise.withResolvers<void>();
  let lastEventAt = performance.now();

  function keep(object: KubeObject): void {
    const before = objects.get(keyOf(object));
    if (before && isNotNewer(object, before)) return;
    objects.set(keyOf(object), object);
    onChange({ object, before, isGone: false });
  }
  function drop(object: KubeObject): void {
    const before = objects.get(keyOf(object));
    if (objects.delete(keyOf(object))) onChange({ object, before, isGone: true });
  }

  async function list(): Promise<string> {
    const page = await listAll(transport, resource, options);
    const present = new Set(page.objects.map(keyOf));
    for (const object of page.objects) keep(object);
    for (const object of [...objects.values()]) if (!present.has(keyOf(object))) drop(object);
    lastEventAt = performance.now();
    synced.resolve();
    onList('listed');
    return page.resourceVersion;
  }

  /** The version to go on at; undefined where all has to be listed anew. */
  let version: string | undefined;

  async function follow(from: string, until: AbortSignal): Promise<void> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), timing.silenceMs);
    const query = {
      watch: 'true',
      resourceVersion: from,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(240 + Math.round(Math.random() * 60)),
      labelSelector,
    };
    const accept = metadataOnly ? { accept: acceptOf('PartialObjectMetadata') } : {};
    try {
      const ends = AbortSignal.any([until, silence.signal]);
      const answer = await transport.stream({ method: 'GET', path: pathOf(resource, { namespace }), query, ...accept }, ends);
      const lines = createInterface({ input: answer });
      // Also after the last line that is read.
      lines.on('error', () => undefined);
      // Nobody else tells the lines of it.
      answer.on('error', () => lines.close()).on('close', () => lines.close());
      for await (const line of lines) {
        lastEventAt = performance.now();
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), timing.silenceMs);
        const { type, object } = Event.parse(JSON.parse(line));
        const next = type === 'ERROR' ? readError(object) : Bookmark.parse(object).metadata.resourceVersion;
        // Out of order: what is late may be of an object that is gone.
        const isLate = next !== undefined && version !== undefined && isOlder(next, version);
        version = isLate ? undefined : next;
        if (version === undefined) return;
        if (type === 'DELETED') drop(readObject(object, resource));
        else if (type !== 'BOOKMARK') keep(readObject(object, resource));
      }
    } catch (error) {
      if (silence.signal.aborted) throw new Error(`nothing was heard for ${timing.silenceMs} ms`, { cause: error });
      if (!(error instanceof ClusterError) || error.status !== gone) throw error;
      version = undefined;
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  async function run(): Promise<void> {
    let failures = 0;
    let listedAt = 0;
    while (!signal.aborted) {
      const begun = performance.now();
      try {
        if (version === undefined || begun - listedAt > timing.relistMs) {
          version = await list();
          listedAt = performance.now();
        }
        await follow(version, signal);
        // One that ends at once, again and again, is no better than one that fails.
        failures = performance.now() - begun > timing.backOff.longestMs ? 0 : failures + 1;
      } catch (error) {
        if (signal.aborted) return;
        failures = performance.now() - begun > timing.backOff.longestMs ? 1 : failures + 1;
        // Whatever cannot be read or gone on with is not met for ever.
        if (failures > 3) version = undefined;
        onList('failed');
        log.warn({ kind: resource.kind, error }, 'watch failed; retrying');
      }
      if (failures > 0) await sleepUntil(signal, backOffMs(Math.min(failures, 20), timing.backOff));
    }
  }

  const ended = run();
  return {
    cache: {
      get: ({ namespace: within, name }: { readonly namespace: string; readonly name: string }) => objects.get(`${within}/${name}`),
      list: (within?: string) => [...objects.values()].filter(({ metadata }) => within === undefined || metadata.namespace === within),
    },
    /** When all has been listed once. */
    synced: synced.promise,
    lastEventAgeSeconds: () => (performance.now() - lastEventAt) / 1000,
    /** When it has stopped, by the signal. */
    ended,
  };
}

/** 410 inside of a watch means: list anew; all else: go on. */
function readError(object: unknown): undefined {
  const { code, message } = Failure.catch({}).parse(object);
  if (code === gone) return undefined;
  throw new ClusterError(message ?? 'the watch failed', code);
}

/** An event that came twice or late. Versions are numbers that grow, which Kubernetes promises from 1.35 on and has always kept. */
function isNotNewer(object: KubeObject, before: KubeObject): boolean {
  const [now, then] = [object, before].map(({ metadata }) => metadata.resourceVersion);
  if (object.metadata.uid !== before.metadata.uid || now === undefined || then === undefined) return false;
  return now === then || isOlder(now, then);
}

const isOlder = (now: string, then: string) => /^\d+$/.test(now) && /^\d+$/.test(then) && BigInt(now) < BigInt(then);
