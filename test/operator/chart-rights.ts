// The operator under the rights that its chart gives it: the chart's roles in the namespace of a test, and requests in the name of its ServiceAccount.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import type { Resource } from '../../services/operator/cluster/cluster.ts';
import { render, operatorChart } from '../charts/chart.ts';
import { type Manifest, ofKind } from '../charts/manifests.ts';
import { adminToken } from '../services/secrets/service.ts';
import { createFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { sharedApiServer } from '../support/kubernetes.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import type { TestCluster } from './operator.ts';

const ofRights = (kind: string, plural: string): Resource => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, plural });
const accounts: Resource = { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' };

export type ChartRights = {
  readonly roles: readonly Manifest[];
  /** The name of the ServiceAccount. */
  readonly account: string;
  /** An administrator's kubeconfig in the name of that account. */
  readonly config: KubeConfig;
};

/** Roles, bindings and the account of the chart for the one namespace. */
export async function applyChartRights({ namespace, apply }: TestCluster, secretsUrl: string): Promise<ChartRights> {
  const manifests = await render({ watchNamespace: namespace, secrets: { url: secretsUrl } }, { folder: operatorChart, namespace });
  const roles = ofKind(manifests, 'Role');
  for (const role of roles) await apply(ofRights('Role', 'roles'), { ...role });
  for (const binding of ofKind(manifests, 'RoleBinding')) await apply(ofRights('RoleBinding', 'rolebindings'), { ...binding });
  const [found] = ofKind(manifests, 'ServiceAccount');
  const account = found?.metadata.name ?? '';
  await apply(accounts, { metadata: { name: account } });
  return { roles, account, config: actingAs(`system:serviceaccount:${namespace}:${account}`, (await sharedApiServer()).config) };
}

/** The administrator in the name of another. */
function actingAs(impersonateUser: string, administrator: KubeConfig): KubeConfig {
  const [cluster, user] = [administrator.getCurrentCluster(), administrator.getCurrentUser()];
  if (!cluster || !user) throw new Error('the kubeconfig has no user or no cluster');
  const config = new KubeConfig();
  config.loadFromClusterAndUser(cluster, { ...user, impersonateUser });
  return config;
}

export type OperatorProcess = { readonly process: RunningProcess; readonly proxy: FaultProxy; stop(): Promise<void> };
export type ProcessSettings = { readonly env?: Readonly<Record<string, string>>; readonly memoryBytes?: number };

/** A real operator process under these rights, for the one namespace. */
export async function startOperator(
  { namespace }: TestCluster,
  { account, config }: ChartRights,
  secretsUrl: string,
  { env = {}, memoryBytes }: ProcessSettings = {},
): Promise<OperatorProcess> {
  const proxy = await createFaultProxy(config);
  const kubeconfig = join(temporaryDirectory('rights'), 'kubeconfig');
  await writeFile(kubeconfig, proxy.config.exportConfig());
  const process = startProcess(['operator'], {
    memoryBytes,
    env: {
      KUBECONFIG: kubeconfig,
      METRICS_PORT: '0',
      Operator__Namespace: namespace,
      Operator__LeaseNamespace: namespace,
      Operator__LeaseName: account,
      Operator__TokenSecret: 'signalbox-credentials',
      Secrets__BaseUrl: secretsUrl,
      Management__AdminApiKey: adminToken,
      ...env,
    },
  });
  const stop = async () => {
    await process.kill();
    await proxy.close();
  };
  return { process, proxy, stop };
}
