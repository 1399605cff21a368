// One Secret of a cluster, and what the refusals of its API server mean in words.
import {
  ApiException,
  type ConfigurationOptions,
  CoreV1Api,
  type KubeConfig,
  Observable,
  PatchStrategy,
  setHeaderOptions,
  V1Secret,
} from '@kubernetes/client-node';
import { z } from 'zod';

const busy = new Set([429, 500, 502, 503, 504]);

/** True when the API server could not be asked, so that the same request may succeed later. */
export const isClusterUnavailable = (error: unknown): boolean =>
  error instanceof ApiException ? busy.has(error.code) : error instanceof Error && (error.message === 'fetch failed' || error.name === 'TimeoutError');

const Status = z.object({ message: z.string() });

/** One line: what the API server says, or what is between us and it. */
export function describeClusterError(error: unknown): string {
  if (error instanceof ApiException)
    return statusMessage(error.body) ?? (error.code === 401 ? 'the API server does not accept the token' : `the API server answers ${error.code}`);
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

// The library hands on the text of an answer that its description of the API does not list.
function statusMessage(body: unknown): string | undefined {
  try {
    return Status.parse(typeof body === 'string' ? JSON.parse(body) : body).message;
  } catch {
    return undefined;
  }
}

export const isForbidden = (error: unknown): boolean => error instanceof ApiException && error.code === 403;

/** By name, as plain text. */
type Values = Readonly<Record<string, string>>;

export type ClusterSecret = ReturnType<typeof createClusterSecret>;

/** A change by another client in the meantime is a return value. @throws the library's errors; `describeClusterError` explains them */
export function createClusterSecret(config: KubeConfig, { name, namespace }: { name: string; namespace: string }) {
  const core = config.makeApiClient(CoreV1Api);
  return {
    /** `keys` → whether they hold anything. */
    async find() {
      const secret = await unless(404, core.readNamespacedSecret({ name, namespace }, timely));
      return secret && { keys: keysOf(secret), resourceVersion: secret.metadata?.resourceVersion ?? '' };
    },
    /** False when there is one already. */
    async create(values: Values, marks: { readonly labels: Values; readonly annotations: Values }): Promise<boolean> {
      const body = Object.assign(new V1Secret(), { metadata: { name, ...marks }, type: 'Opaque', stringData: values });
      return (await unless(409, core.createNamespacedSecret({ namespace, body }, timely))) !== undefined;
    },
    /** Leaves all else as it is. False when the Secret is not the one that was found any more. */
    async add(values: Values, { resourceVersion }: { readonly resourceVersion: string }): Promise<boolean> {
      // With the version in it a merge patch is refused when anything has changed: a key that came meanwhile is never overwritten.
      const body = { metadata: { resourceVersion }, stringData: values };
      const patched = core.patchNamespacedSecret({ name, namespace, body }, asMergePatch);
      return (await unless(404, unless(409, patched))) !== undefined;
    },
  };
}

const keysOf = ({ data = {} }: V1Secret) => new Map(Object.entries(data).map(([key, value]) => [key, value !== '']));

async function unless<T>(code: number, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiException && error.code === code) return undefined;
    throw error;
  }
}

const answerMs = 10_000;

/** The library waits for an answer without end. */
const timely: ConfigurationOptions = {
  middleware: [
    {
      pre(context) {
        context.setSignal(AbortSignal.timeout(answerMs));
        return new Observable(Promise.resolve(context));
      },
      post: (context) => new Observable(Promise.resolve(context)),
    },
  ],
  middlewareMergeStrategy: 'append',
};
/** It sends JSON Patch unless told otherwise. */
const asMergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch, timely);
