// ServiceAccounts and pods of a namespace of the real API server, and their tokens.
import { createTransport, type Transport } from '../../../../services/platform/api-server.ts';
import { sharedApiServer } from '../../../support/kubernetes.ts';
import { leakWatch } from '../leak-watch.ts';

export const audience = 'signalbox-secrets';

export type TokenWish = {
  readonly account?: string;
  readonly audience?: string;
  readonly seconds?: number;
  /** The pod that the token is bound to. */
  readonly pod?: { readonly name: string; readonly uid: string };
};

export type ClusterAccounts = {
  readonly namespace: string;
  readonly transport: Transport;
  createAccount(name: string): Promise<void>;
  /** Pending: there is no node. */
  createPod(name: string, account: string): Promise<{ readonly name: string; readonly uid: string }>;
  /** At once. */
  remove(plural: 'pods' | 'serviceaccounts', name: string): Promise<void>;
  tokenOf(wish?: TokenWish): Promise<string>;
  close(): Promise<void>;
};

const member = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);

/** The account `web` in a namespace, a new one unless given. */
export async function createClusterAccounts(given?: string): Promise<ClusterAccounts> {
  const { config, createNamespace } = await sharedApiServer();
  const created = given === undefined ? await createNamespace() : undefined;
  const namespace = given ?? created?.name ?? '';
  const closing = new AbortController();
  const transport = createTransport(config, closing.signal);
  const path = (plural: string, ...rest: readonly string[]) => ['/api/v1/namespaces', namespace, plural, ...rest].join('/');
  const post = (to: string, body: object) => transport.json({ method: 'POST', path: to, body, contentType: 'application/json' });
  const createAccount = async (name: string) => void (await post(path('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } }));
  await createAccount('web');
  return {
    namespace,
    transport,
    createAccount,
    async createPod(name, serviceAccountName) {
      const spec = { serviceAccountName, containers: [{ name: 'main', image: 'example.test/none' }] };
      const pod = await post(path('pods'), { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
      return { name, uid: String(member(member(pod, 'metadata'), 'uid')) };
    },
    async remove(plural, name) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
      await transport.json({ method: 'DELETE', path: path(plural, name), body, contentType: 'application/json' });
    },
    async tokenOf({ account = 'web', audience: wished = audience, seconds = 3600, pod } = {}) {
      const boundObjectRef = pod && { kind: 'Pod', apiVersion: 'v1', ...pod };
      const spec = { audiences: [wished], expirationSeconds: seconds, ...(boundObjectRef && { boundObjectRef }) };
      const made = await post(path('serviceaccounts', account, 'token'), { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
      const token = String(member(member(made, 'status'), 'token'));
      // Its head and claims are no secret; its signature is.
      leakWatch.hide('the token of a ServiceAccount', token.split('.')[2] ?? '');
      return token;
    },
    async close() {
      closing.abort();
      await created?.drop();
    },
  };
}
