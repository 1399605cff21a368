// What a failed scenario leaves for whoever asks why: objects, events and the logs of every container.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kubectl } from './kubectl.ts';

const kinds =
  'pods,deployments,statefulsets,jobs,cronjobs,services,endpointslices,ingresses,httproutes.gateway.networking.k8s.io,networkpolicies,persistentvolumeclaims';

/** @returns the folder, below `.signalbox/`, which no repository keeps */
export async function keepEvidence(kubectl: Kubectl, scenario: string): Promise<string> {
  const folder = join(import.meta.dirname, '../../.signalbox/test-cluster', `${new Date().toISOString().replaceAll(':', '-')}-${scenario}`);
  await mkdir(folder, { recursive: true });
  const keep = async (file: string, args: readonly string[]) => {
    const { stdout, stderr } = await kubectl.tryRun(args);
    if (stdout + stderr !== '') await writeFile(join(folder, file), stdout + stderr);
  };
  await keep('objects.txt', ['get', kinds, '--output', 'wide']);
  await keep('objects.yaml', ['get', kinds, '--output', 'yaml']);
  await keep('events.txt', ['get', 'events', '--sort-by', '.lastTimestamp']);
  await keep('pods.txt', ['describe', 'pods']);
  const { items } = await kubectl.get<{ items: readonly { metadata: { name: string } }[] }>(['pods']);
  for (const { metadata } of items) {
    await keep(`${metadata.name}.log`, ['logs', metadata.name, '--all-containers', '--prefix', '--timestamps']);
    await keep(`${metadata.name}.previous.log`, ['logs', metadata.name, '--all-containers', '--prefix', '--previous']);
  }
  return folder;
}
