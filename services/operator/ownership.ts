// The owner of an application in the secrets service: a SecretApplication, by cluster, namespace and name.
import type { Cluster, Key, Resource } from './cluster/cluster.ts';

const namespaces: Resource = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces' };

export type OwnershipOptions = {
  /** The name of the cluster among those that share a secrets service; undefined: the uid of a namespace that lives as long as the cluster. */
  readonly clusterName: string | undefined;
  /** The only namespace that is reconciled; empty: all. */
  readonly namespace: string;
  /** Namespaces whose objects may adopt an application that has no owner; `*`: all. */
  readonly adoptNamespaces: readonly string[];
  /** Whether the secrets service checks tokens of this cluster: else a binding would be one of another cluster's account of the same name. */
  readonly serviceAccounts?: 'on' | 'off';
};

export type Ownership = ReturnType<typeof createOwnership>;

export function createOwnership({ clusterName, namespace, adoptNamespaces, serviceAccounts = 'off' }: OwnershipOptions) {
  let known = clusterName;

  async function clusterOf(cluster: Cluster): Promise<string> {
    if (known !== undefined) return known;
    // A Role can grant the reading of its own namespace only.
    const name = namespace === '' ? 'kube-system' : namespace;
    const found = await cluster.get(namespaces, { namespace: '', name });
    if (!found) throw new Error(`there is no namespace ${name}, whose uid names the cluster`);
    known = found.metadata.uid;
    return known;
  }

  return {
    ownerOf: async (cluster: Cluster, key: Key): Promise<string> => `${await clusterOf(cluster)}/${key.namespace}/${key.name}`,
    bindsAccounts: serviceAccounts === 'on',
    mayAdopt: (within: string): boolean => adoptNamespaces.includes(within) || adoptNamespaces.includes('*'),
  };
}
