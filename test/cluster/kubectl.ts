// kubectl on the cluster of KUBECONFIG, within one namespace.
import { type Answer, type Running, runTool } from '../support/tools.ts';
import { eventually } from '../support/wait.ts';

export type Pod = {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly kind: string }[];
  };
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly image: string }[] };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly name: string; readonly restartCount: number }[];
  };
};

export type Kubectl = {
  readonly namespace: string;
  /** @returns its standard output; throws with what it said when it fails */
  run(args: readonly string[], running?: Running): Promise<string>;
  /** Whatever its exit code. */
  tryRun(args: readonly string[], running?: Running): Promise<Answer>;
  get<T>(args: readonly string[]): Promise<T>;
  /** Values of a Secret, decoded. */
  secret(name: string): Promise<Record<string, string>>;
  /** The long-running pods by labels: none of a Job, none that is terminating or has completed. */
  pods(selector?: string): Promise<Pod[]>;
  deletePod(name: string): Promise<void>;
  /** As `kubectl drain` asks for it. @returns whether it was granted: a disruption budget may refuse it for now */
  evict(name: string): Promise<boolean>;
};

export function createKubectl(namespace: string): Kubectl {
  const tryRun = (args: readonly string[], running: Running = {}) => runTool('kubectl', ['--namespace', namespace, ...args], { withinMs: 300_000, ...running });
  const run = async (args: readonly string[], running?: Running) => {
    const { code, stdout, stderr } = await tryRun(args, running);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr || stdout}`);
    return stdout;
  };
  const get = async <T>(args: readonly string[]): Promise<T> => JSON.parse(await run(['get', ...args, '--output', 'json'])) as T;
  return {
    namespace,
    run,
    tryRun,
    get,
    secret: async (name) => {
      const { data } = await get<{ data: Record<string, string> }>(['secret', name]);
      return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
    },
    pods: async (selector) => {
      const { items } = await get<{ items: Pod[] }>(['pods', ...(selector === undefined ? [] : ['--selector', selector])]);
      const isJob = ({ metadata }: Pod) => metadata.ownerReferences?.some(({ kind }) => kind === 'Job') ?? false;
      return items.filter((pod) => pod.metadata.deletionTimestamp === undefined && pod.status.phase !== 'Succeeded' && !isJob(pod));
    },
    deletePod: async (name) => void (await run(['delete', 'pod', name, '--wait=false'])),
    evict: async (name) => {
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
      const { code, stderr } = await tryRun(['create', '--raw', path, '--filename', '-'], { input: JSON.stringify(eviction) });
      if (code === 0) return true;
      if (stderr.includes('disruption budget')) return false;
      throw new Error(`the eviction of ${name}: ${stderr}`);
    },
  };
}

export const isReady = (pod: Pod): boolean => pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

/** Until there are so many pods of the selector, all of them ready. */
export const allReady = (kubectl: Kubectl, selector: string, count: number, withinMs = 180_000): Promise<Pod[]> =>
  eventually(
    async () => {
      const pods = await kubectl.pods(selector);
      if (pods.length === count && pods.every(isReady)) return pods;
      throw new Error(
        `of ${count} pods with ${selector} there are ${pods.map((pod) => `${pod.metadata.name} ${isReady(pod) ? 'ready' : 'not ready'}`).join(', ') || 'none'}`,
      );
    },
    { withinMs, everyMs: 500 },
  );
