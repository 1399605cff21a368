// The Kubernetes cluster that is meant.
import { KubeConfig } from '@kubernetes/client-node';
import { codeOf } from './errors.ts';

/** As kubectl finds a cluster: `KUBECONFIG`, `~/.kube/config`, the service account of the pod. */
export function findCluster(): { readonly config: KubeConfig; readonly namespace: string } {
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
  } catch (cause) {
    // The parser's message quotes the file, and so its token.
    throw new Error(`the kubeconfig cannot be read (${codeOf(cause) ?? 'it is no kubeconfig'})`, { cause });
  }
  // The library's last resort, where nothing listens.
  if (config.getCurrentCluster()?.server === 'http://localhost:8080')
    throw new Error('there is no cluster: no KUBECONFIG, no ~/.kube/config, and no service account token (automountServiceAccountToken of the pod)');
  return { config, namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default' };
}
