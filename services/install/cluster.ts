// Reads and writes one Secret of a cluster, and describes the errors of the API server.
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

/** True when the API server cannot answer now: the same request may succeed later. */
export const isClusterUnavailable = (error: unknown): boolean =>
  error instanceof ApiException ? busy.has(error.code) : error instanceof Error && (error.message === 'fetch failed' || error.name === 'TimeoutError');

const Status = z.object({ message: z.string() });

/** One line: the message of the API server, or why it could not be reached. */
export function describeClusterError(error: unknown): string {
  if (error instanceof ApiException)
    return statusMessage(error.body) ?? (error.code === 401 ? 'the API server does not accept the token' : `the API server answers ${error.code}`);
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

// The body is text when the library's API description does not list the status.
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

/** Conflicts with other clients are return values. @throws the library's errors; `describeClusterError` explains them */
export function createClusterSecret(config: KubeConfig, { name, namespace }: { name: string; namespace: string }) {
  const core = config.makeApiClient(CoreV1Api);
  return {
    /** Undefined when there is none. `keys`: each key → whether its value is not empty. */
    async find() {
      const secret = await undefinedFor([404], core.readNamespacedSecret({ name, namespace }, timeoutOptions));
      return secret && { keys: keysOf(secret), resourceVersion: secret.metadata?.resourceVersion ?? '' };
    },
    /** False when there is one already. */
    async create(values: Values, marks: { readonly labels: Values; readonly annotations: Values }): Promise<boolean> {
      const body = Object.assign(new V1Secret(), { metadata: { name, ...marks }, type: 'Opaque', stringData: values });
      return (await undefinedFor([409], core.createNamespacedSecret({ namespace, body }, timeoutOptions))) !== undefined;
    },
    /** Keeps the other keys. False when the Secret has changed since `find`, or is gone. */
    async add(values: Values, { resourceVersion }: { readonly resourceVersion: string }): Promise<boolean> {
      // A merge patch that names a version is refused when the Secret has changed: a key that was added meanwhile is not overwritten.
      const body = { metadata: { resourceVersion }, stringData: values };
      const patched = core.patchNamespacedSecret({ name, namespace, body }, asMergePatch);
      return (await undefinedFor([404, 409], patched)) !== undefined;
    },
  };
}

const keysOf = ({ data = {} }: V1Secret) => new Map(Object.entries(data).map(([key, value]) => [key, value !== '']));

/** Settles with undefined for these refusals. */
async function undefinedFor<T>(codes: readonly number[], answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiException && codes.includes(error.code)) return undefined;
    throw error;
  }
}

const answerMs = 10_000;

/** The library itself has no timeout. */
const timeoutOptions: ConfigurationOptions = {
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
/** The library's default is JSON Patch. */
const asMergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch, timeoutOptions);
