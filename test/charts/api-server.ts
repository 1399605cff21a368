// Renderings before the real API server: with kubectl, as a person applies them.
import { join } from 'node:path';
import { temporaryDirectory } from '../support/guard.ts';
import { kubernetes, sharedApiServer } from '../support/kubernetes.ts';
import type { Need } from '../support/need.ts';
import { type Answer, runTool, tools } from '../support/tools.ts';
import { helm } from './chart.ts';

/** For `describeWith`. */
export const apiServer: Need = { name: 'API server', missing: helm.missing ?? kubernetes.missing ?? tools('kubectl').missing };

export type TestNamespace = {
  /** Strict: unknown members are refused. Warnings of kubectl are on its standard error. */
  apply(manifests: readonly object[]): Promise<Answer>;
  /** The same, and nothing is changed. */
  dryRun(manifests: readonly object[]): Promise<Answer>;
  drop(): Promise<void>;
};

/** The API server has no definitions of these; custom-resources.test.ts has. */
export const isKnown = (manifest: object): boolean => !('kind' in manifest && (manifest.kind === 'ServiceMonitor' || manifest.kind === 'PrometheusRule'));

/** Rendered for the namespace `signalbox`, as for all tests, and so once. */
const inNamespace = (manifest: object, namespace: string): object =>
  'metadata' in manifest && typeof manifest.metadata === 'object' ? { ...manifest, metadata: { ...manifest.metadata, namespace } } : manifest;

/** It enforces, and warns by, the restricted Pod Security Standard. */
export async function createTestNamespace(): Promise<TestNamespace> {
  const { kubeconfig, createNamespace } = await sharedApiServer();
  const modes = ['enforce', 'warn', 'audit'].map((mode): [string, string] => [`pod-security.kubernetes.io/${mode}`, 'restricted']);
  const { name, drop } = await createNamespace(Object.fromEntries(modes));
  const cache = join(temporaryDirectory('kubectl'), 'cache');
  const run = (manifests: readonly object[], ...options: readonly string[]) => {
    const args = ['apply', '--server-side', '--validate=strict', ...options, '--namespace', name, '--cache-dir', cache, '--filename', '-'];
    // Each a document of its own: a List would be validated by kubectl, by less than the server knows.
    const input = manifests
      .filter(isKnown)
      .map((manifest) => `---\n${JSON.stringify(inNamespace(manifest, name))}\n`)
      .join('');
    return runTool('kubectl', args, { input, env: { KUBECONFIG: kubeconfig } });
  };
  return { apply: (manifests) => run(manifests), dryRun: (manifests) => run(manifests, '--dry-run=server'), drop };
}
