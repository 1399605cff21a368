// A real Kubernetes API server for tests: found or started, with a namespace of one's own for each who asks.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CoreV1Api, KubeConfig, V1Namespace, V1ObjectMeta } from '@kubernetes/client-node';
import { atEndOfRun } from './end-of-run.ts';
import type { Need } from './need.ts';
import { findProgram } from './programs.ts';

export type ApiServer = {
  /** The path of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly config: KubeConfig;
  /** A new namespace; the labels say what it enforces. It is gone at the end of the run at the latest. */
  createNamespace(labels?: Readonly<Record<string, string>>): Promise<Namespace>;
};

export type Namespace = { readonly name: string; drop(): Promise<void> };

const outside = process.env['TEST_KUBECONFIG'];
const builder = findProgram('api-server', [join(import.meta.dirname, '../../../shared/tools')]);
// Building one takes minutes, which no test may: it must have been started once.
const cache = process.env['SIGNALBOX_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'signalbox');
const built = findProgram('kube-apiserver', [join(cache, 'bin')]);

/** For `describeWith`. */
export const kubernetes: Need = {
  name: 'Kubernetes API server',
  missing: outside || (builder && built) ? undefined : 'no TEST_KUBECONFIG, no API server built by `../shared/tools/api-server up`',
};

let shared: Promise<ApiServer> | undefined;

/** The API server of `TEST_KUBECONFIG`, or that of this machine: found running, or started and left running, so that runs beside each other share it. */
export const sharedApiServer = (): Promise<ApiServer> => (shared ??= findApiServer());

async function findApiServer(): Promise<ApiServer> {
  const kubeconfig = outside ?? (await startApiServer());
  const config = new KubeConfig();
  config.loadFromString(readFileSync(kubeconfig, 'utf8'));
  const core = config.makeApiClient(CoreV1Api);
  return {
    kubeconfig,
    config,
    async createNamespace(labels = {}) {
      const name = `signalbox-test-${randomBytes(4).toString('hex')}`;
      const metadata = Object.assign(new V1ObjectMeta(), { name, labels });
      await core.createNamespace({ body: Object.assign(new V1Namespace(), { metadata }) });
      let dropped = false;
      const drop = async () => {
        if (dropped) return;
        dropped = true;
        await core.deleteNamespace({ name });
      };
      atEndOfRun(drop);
      return { name, drop };
    },
  };
}

async function startApiServer(): Promise<string> {
  if (builder === undefined) throw new Error('there is no ../shared/tools/api-server');
  const { stdout } = await promisify(execFile)(builder, ['up']);
  const path = stdout.trim().split('\n').at(-1);
  if (!path) throw new Error('the API server did not tell its kubeconfig');
  return path;
}
