// The objects of a resource, kept current by a list and a watch. After an interruption the next watch continues at the same version. A full list every ten minutes
// corrects the effect of events that were missed, repeated or out of order.
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { backOffMs, sleepUntil } from '../../platform/time.ts';
import type { Log } from '../../platform/log.ts';
import type { KubeObject, ListOptions, Resource } from './cluster.ts';
import { acceptOf, listAll, pathOf, readMetadata, readObject } from './client.ts';
import { ClusterError, type Transport } from '../../platform/api-server.ts';

export type ObjectChange = { readonly object: KubeObject; readonly before: KubeObject | undefined; readonly isGone: boolean };

export type WatchOptions = ListOptions & {
  /** Called for each object that is new, changed or gone, after the cache was updated. */
  readonly onChange: (change: ObjectChange) => void;
  readonly onList?: (outcome: 'listed' | 'failed') => void;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly timing?: Partial<typeof defaults> | undefined;
};

export type Watch = ReturnType<typeof startWatch>;

/** `silenceMs`: bookmarks come about once a minute, so a watch that is silent for longer is cut and started again. */
const defaults = { silenceMs: 75_000, relistMs: 600_000, backOff: { firstMs: 500, longestMs: 10_000 } };

const Event = z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']), object: z.unknown() });
const Bookmark = z.object({ metadata: z.object({ resourceVersion: z.string() }) });
const Failure = z.object({ code: z.int().optional(), message: z.string().optional() });

const keyOf = ({ metadata: { namespace, name } }: KubeObject) => `${namespace}/${name}`;
const gone = 410;

export function startWatch(transport: Transport, resource: Resource, options: WatchOptions) {
  const { onList = () => undefined, signal, log } = options;
  const timing = { ...defaults, ...options.timing };
  const objects = createObjects(options.onChange);
  const read = options.metadataOnly ? readMetadata : readObject;
  const synced = Promise.withResolvers<void>();
  let lastEventAt = performance.now();
  /** The version that the next watch continues from; undefined: everything has to be listed anew. */
  let version: string | undefined;

  async function list(): Promise<string> {
    const page = await listAll(transport, resource, options);
    objects.replace(page.objects);
    lastEventAt = performance.now();
    synced.resolve();
    onList('listed');
    return page.resourceVersion;
  }

  function take(line: string): void {
    lastEventAt = performance.now();
    const { type, object } = Event.parse(JSON.parse(line));
    const next = type === 'ERROR' ? readError(object) : Bookmark.parse(object).metadata.resourceVersion;
    // Out of order: a late event may be of an object that is gone.
    const isLate = next !== undefined && version !== undefined && isOlder(next, version);
    version = isLate ? undefined : next;
    if (version === undefined || type === 'BOOKMARK') return;
    const changed = read(object, resource);
    if (type === 'DELETED') objects.drop(changed);
    else objects.keep(changed);
  }

  async function follow(from: string): Promise<void> {
    try {
      for await (const line of streamLines({ transport, resource, options, silenceMs: timing.silenceMs }, from)) {
        take(line);
        if (version === undefined) return;
      }
    } catch (error) {
      if (!(error instanceof ClusterError) || error.status !== gone) throw error;
      version = undefined;
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
        await follow(version);
        // A watch that ends at once, again and again, counts as one that fails.
        failures = performance.now() - begun > timing.backOff.longestMs ? 0 : failures + 1;
      } catch (error) {
        if (signal.aborted) return;
        failures = performance.now() - begun > timing.backOff.longestMs ? 1 : failures + 1;
        // An event that cannot be read would come again for ever.
        if (failures > 3) version = undefined;
        onList('failed');
        log.warn({ kind: resource.kind, error }, 'watch failed; retrying');
      }
      if (failures > 0) await sleepUntil(signal, backOffMs(Math.min(failures, 20), timing.backOff));
    }
  }

  const ended = run();
  return {
    cache: objects.cache,
    /** Resolves when everything has been listed once. */
    synced: synced.promise,
    lastEventAgeSeconds: () => (performance.now() - lastEventAt) / 1000,
    /** Resolves when the watch has stopped, by the signal. */
    ended,
  };
}

/** The objects that a watch has seen. */
function createObjects(onChange: WatchOptions['onChange']) {
  const objects = new Map<string, KubeObject>();

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
  return {
    keep,
    drop,
    replace(listed: readonly KubeObject[]): void {
      const present = new Set(listed.map(keyOf));
      for (const object of listed) keep(object);
      for (const object of [...objects.values()]) if (!present.has(keyOf(object))) drop(object);
    },
    cache: {
      get: ({ namespace, name }: { readonly namespace: string; readonly name: string }) => objects.get(`${namespace}/${name}`),
      list: (namespace?: string) => [...objects.values()].filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
    },
  };
}

type Streaming = { readonly transport: Transport; readonly resource: Resource; readonly options: WatchOptions; readonly silenceMs: number };

/** The lines of a watch from a version on. @throws Error after a silence, ClusterError when the API server refuses */
async function* streamLines({ transport, resource, options, silenceMs }: Streaming, from: string): AsyncGenerator<string> {
  const { namespace, labelSelector, metadataOnly = false, signal } = options;
  const silence = new AbortController();
  const heard = setTimeout(() => silence.abort(), silenceMs);
  const timeoutSeconds = String(240 + Math.round(Math.random() * 60));
  const query = { watch: 'true', resourceVersion: from, allowWatchBookmarks: 'true', timeoutSeconds, labelSelector };
  const accept = metadataOnly ? { accept: acceptOf('PartialObjectMetadata') } : {};
  try {
    const ends = AbortSignal.any([signal, silence.signal]);
    const answer = await transport.stream({ method: 'GET', path: pathOf(resource, { namespace }), query, ...accept }, ends);
    const lines = createInterface({ input: answer });
    // An error may come after the last line that is read, and readline does not see the end of its input by itself.
    lines.on('error', () => undefined);
    answer.on('error', () => lines.close()).on('close', () => lines.close());
    for await (const line of lines) {
      heard.refresh();
      yield line;
    }
  } catch (error) {
    if (silence.signal.aborted) throw new Error(`nothing was heard for ${silenceMs} ms`, { cause: error });
    throw error;
  } finally {
    clearTimeout(heard);
    silence.abort();
  }
}

/** 410 within a watch asks for a new list; after any other error the watch continues. */
function readError(object: unknown): undefined {
  const { code, message } = Failure.catch({}).parse(object);
  if (code === gone) return undefined;
  throw new ClusterError(message ?? 'the watch failed', code);
}

/** Whether an event came twice or late. Versions are growing numbers, which Kubernetes promises from 1.35 on and has always kept. */
function isNotNewer(object: KubeObject, before: KubeObject): boolean {
  const [now, then] = [object, before].map(({ metadata }) => metadata.resourceVersion);
  if (object.metadata.uid !== before.metadata.uid || now === undefined || then === undefined) return false;
  return now === then || isOlder(now, then);
}

const isOlder = (now: string, then: string) => /^\d+$/.test(now) && /^\d+$/.test(then) && BigInt(now) < BigInt(then);
