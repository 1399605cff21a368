// A real Kubernetes API server for tests, found or started, with a namespace for each suite.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CoreV1Api, KubeConfig, V1Namespace, V1ObjectMeta } from '@kubernetes/client-node';
import { atEndOfRun } from './end-of-run.ts';
import type { Need } from './need.ts';
import { findProgram, toolsCache } from './programs.ts';

export type ApiServer = {
  /** The path of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly config: KubeConfig;
  /** Creates a namespace whose labels say what it enforces. It is deleted at the end of the run at the latest. */
  createNamespace(labels?: Readonly<Record<string, string>>): Promise<Namespace>;
};

export type Namespace = { readonly name: string; drop(): Promise<void> };

const outside = process.env['TEST_KUBECONFIG'];
const command = join(import.meta.dirname, '../../scripts/tools/api-server');
// The first `up` builds the server, which takes minutes: no test does that.
const isBuilt = findProgram('kube-apiserver', [join(toolsCache, 'bin')]) !== undefined;

/** For `describeWith`. */
export const kubernetes: Need = {
  name: 'Kubernetes API server',
  missing: outside || isBuilt ? undefined : 'no TEST_KUBECONFIG, no API server built by `scripts/tools/api-server up`',
};

let shared: Promise<ApiServer> | undefined;

/** The API server of `TEST_KUBECONFIG`, else the one of this machine, which is started if needed and left running: runs at the same time share it. */
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
  const { stdout } = await promisify(execFile)(command, ['up']);
  const path = stdout.trim().split('\n').at(-1);
  if (!path) throw new Error('api-server up printed no path of a kubeconfig');
  return path;
}
