// The cluster that is meant, and what its refusals mean in words.
import { ApiException, KubeConfig } from '@kubernetes/client-node';
import { z } from 'zod';

/** As kubectl finds a cluster: `KUBECONFIG`, `~/.kube/config`, the service account of the pod. */
export function findCluster(): { readonly config: KubeConfig; readonly namespace: string } {
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
  } catch (cause) {
    // What the parser says quotes the file, and so its token.
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'it is no kubeconfig';
    throw new Error(`the kubeconfig cannot be read (${code})`, { cause });
  }
  // The library's last resort, where nothing listens.
  if (config.getCurrentCluster()?.server === 'http://localhost:8080')
    throw new Error('there is no cluster: no KUBECONFIG, no ~/.kube/config, and no service account token (automountServiceAccountToken of the pod)');
  return { config, namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default' };
}

const busy = new Set([429, 500, 502, 503, 504]);

/** True when the API server could not be asked, so that the same request may succeed later. */
export const isClusterUnavailable = (error: unknown): boolean =>
  error instanceof ApiException ? busy.has(error.code) : error instanceof Error && (error.message === 'fetch failed' || error.name === 'TimeoutError');

const Status = z.object({ message: z.string() });

/** One line: what the API server says, or what is between us and it. */
export function describeClusterError(error: unknown): string {
  if (error instanceof ApiException)
    return statusMessage(error.body) ?? (error.code === 401 ? 'the API server does not accept the token' : `the API server answers ${error.code}`);
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

// The library hands on the text of an answer that its description of the API does not list.
function statusMessage(body: unknown): string | undefined {
  try {
    return Status.parse(typeof body === 'string' ? JSON.parse(body) : body).message;
  } catch {
    return undefined;
  }
}

export const isForbidden = (error: unknown): boolean => error instanceof ApiException && error.code === 403;
