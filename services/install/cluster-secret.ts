// One Secret of the cluster: it is found, created, given further keys. What somebody else did meanwhile is a return value.
import {
  ApiException,
  CoreV1Api,
  type KubeConfig,
  Observable,
  PatchStrategy,
  type RequestContext,
  type ResponseContext,
  V1ObjectMeta,
  V1Secret,
} from '@kubernetes/client-node';

/** By key, as plain text. */
type Values = Readonly<Record<string, string>>;

/** Keys → whether they hold anything. */
export type FoundSecret = { readonly keys: ReadonlyMap<string, boolean>; readonly resourceVersion: string };

export type ClusterSecret = {
  find(): Promise<FoundSecret | undefined>;
  /** False when there is one already. */
  create(values: Values, labels: Readonly<Record<string, string>>): Promise<boolean>;
  /** Leaves all else as it is. False when the Secret is not the one that was found any more. */
  add(values: Values, found: FoundSecret): Promise<boolean>;
};

/** @throws what the library throws; cluster.ts tells what it means */
export function createClusterSecret(config: KubeConfig, { name, namespace }: { name: string; namespace: string }): ClusterSecret {
  const core = config.makeApiClient(CoreV1Api);
  return {
    async find() {
      const secret = await unless(404, core.readNamespacedSecret({ name, namespace }, request()));
      return secret && { keys: keysOf(secret), resourceVersion: secret.metadata?.resourceVersion ?? '' };
    },
    async create(values, labels) {
      const metadata = Object.assign(new V1ObjectMeta(), { name, labels });
      const body = Object.assign(new V1Secret(), { metadata, type: 'Opaque', stringData: values });
      return (await unless(409, core.createNamespacedSecret({ namespace, body }, request()))) !== undefined;
    },
    async add(values, { resourceVersion }) {
      // With the version in it a merge patch is refused when anything has changed: a key that came meanwhile is never overwritten.
      const body = { metadata: { resourceVersion }, stringData: values };
      const patched = core.patchNamespacedSecret({ name, namespace, body }, request(PatchStrategy.MergePatch));
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

// The library waits for an answer without end, and sends JSON Patch unless told otherwise.
const request = (contentType?: PatchStrategy) => ({
  middleware: [
    {
      pre(context: RequestContext) {
        context.setSignal(AbortSignal.timeout(answerMs));
        if (contentType !== undefined) context.setHeaderParam('Content-Type', contentType);
        return new Observable(Promise.resolve(context));
      },
      post: (context: ResponseContext) => new Observable(Promise.resolve(context)),
    },
  ],
  middlewareMergeStrategy: 'append' as const,
});
