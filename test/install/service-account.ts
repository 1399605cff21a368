// A service account with the rights that it is given and no others, as a kubeconfig.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  AuthenticationV1TokenRequest,
  AuthorizationV1Api,
  CoreV1Api,
  KubernetesObjectApi,
  V1ResourceAttributes,
  V1SubjectAccessReview,
  V1SubjectAccessReviewSpec,
  V1TokenRequestSpec,
} from '@kubernetes/client-node';
import { temporaryDirectory } from '../support/guard.ts';
import type { ApiServer } from '../support/kubernetes.ts';
import { eventually } from '../support/wait.ts';

export type Rule = { readonly verbs: readonly string[]; readonly resourceNames?: readonly string[] };

export type Account = {
  /** The path of its kubeconfig, whose context has the namespace. */
  readonly kubeconfig: string;
  /** The same, by way of another address or with another token. */
  kubeconfigWith(other: { readonly url?: string; readonly token?: string }): Promise<string>;
};

let count = 0;

/** @param rules on Secrets of the namespace */
export async function createAccount(server: ApiServer, namespace: string, rules: readonly Rule[]): Promise<Account> {
  const { config } = server;
  const name = `account-${++count}`;
  const objects = KubernetesObjectApi.makeApiClient(config);
  const metadata = { name, namespace };
  const rbac = 'rbac.authorization.k8s.io';
  for (const object of [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules: rules.map((rule) => ({ apiGroups: [''], resources: ['secrets'], ...rule })) },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ])
    await objects.create(object);
  await granted(server, { user: `system:serviceaccount:${namespace}:${name}`, namespace, rules });
  const spec = Object.assign(new V1TokenRequestSpec(), { audiences: [], expirationSeconds: 3600 });
  const body = Object.assign(new AuthenticationV1TokenRequest(), { spec });
  const { status } = await config.makeApiClient(CoreV1Api).createNamespacedServiceAccountToken({ name, namespace, body });

  const kubeconfigWith: Account['kubeconfigWith'] = async ({ url, token = status?.token }) => {
    const { caFile, caData, server } = config.getCurrentCluster() ?? {};
    const cluster = { server: url ?? server, ...(caData !== undefined ? { 'certificate-authority-data': caData } : { 'certificate-authority': caFile }) };
    const path = join(temporaryDirectory('kubeconfig'), 'config');
    const content = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster }],
      users: [{ name, user: { token } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: name, namespace } }],
      'current-context': 'test',
    };
    await writeFile(path, JSON.stringify(content), { mode: 0o600 });
    return path;
  };
  return { kubeconfig: await kubeconfigWith({}), kubeconfigWith };
}

type Grant = { readonly user: string; readonly namespace: string; readonly rules: readonly Rule[] };

/** The API server stores a role before its authorizer knows of it. */
async function granted({ config }: ApiServer, { user, namespace, rules }: Grant): Promise<void> {
  const authorization = config.makeApiClient(AuthorizationV1Api);
  const asked = rules.flatMap(({ verbs, resourceNames: [name] = [] }) =>
    verbs.map((verb) => ({ namespace, verb, resource: 'secrets', ...(name !== undefined && { name }) })),
  );
  for (const attributes of asked) {
    const resourceAttributes = Object.assign(new V1ResourceAttributes(), attributes);
    const spec = Object.assign(new V1SubjectAccessReviewSpec(), { user, resourceAttributes });
    const body = Object.assign(new V1SubjectAccessReview(), { spec });
    await eventually(async () => (await authorization.createSubjectAccessReview({ body })).status?.allowed === true);
  }
}
