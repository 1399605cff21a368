// The files that a failed scenario leaves: what happened in its namespace from the start, and how it ended.
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApiStreams } from './api-stream.ts';
import { describeEndpoints, describePod, type EndpointSlice, type ChangedPod } from './changes.ts';
import type { Kubectl } from './kubectl.ts';
import { createPodLogs } from './pod-logs.ts';

export type Evidence = {
  /** Adds how everything is now. @returns the folder, below `.signalbox/`, which no repository keeps */
  keep(): Promise<string>;
  /** Ends writing; the folder goes unless it is kept. */
  close(): Promise<void>;
};

const kinds =
  'pods,deployments,statefulsets,jobs,cronjobs,services,endpointslices,ingresses,httproutes.gateway.networking.k8s.io,networkpolicies,persistentvolumeclaims';

/** Begins with a namespace that is empty: what pods said that are gone by the end is not to be had later. */
export async function gatherEvidence(kubectl: Kubectl): Promise<Evidence> {
  const { namespace } = kubectl;
  const folder = join(import.meta.dirname, '../../.signalbox/test-cluster', `${new Date().toISOString().replaceAll(':', '-')}-${namespace}`);
  await mkdir(folder, { recursive: true });
  const ending = new AbortController();
  const streams = createApiStreams(ending.signal);
  const logs = createPodLogs({ streams, namespace, folder, ended: ending.signal });
  const write = createChangeWriter(folder);

  streams.watch(`/api/v1/namespaces/${namespace}/pods`, (type, object) => {
    const pod = object as ChangedPod;
    if (pod.metadata?.name === undefined) return; // the server's word that the watch is over
    write('pods.changes.txt', pod.metadata.name, `${type} ${describePod(pod)}`);
    logs.see(pod.metadata.name, [...(pod.status.initContainerStatuses ?? []), ...(pod.status.containerStatuses ?? [])]);
  });
  streams.watch(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, (type, object) => {
    const slice = object as EndpointSlice;
    if (slice.metadata?.name !== undefined) write('endpoints.changes.txt', slice.metadata.name, `${type} ${describeEndpoints(slice)}`);
  });

  let isKept = false;
  return {
    async keep() {
      isKept = true;
      await keepState(kubectl, folder);
      return folder;
    },
    async close() {
      ending.abort();
      await logs.over();
      if (!isKept) await rm(folder, { recursive: true });
    },
  };
}

/** Writes a line with the time for each change of a description. */
function createChangeWriter(folder: string): (file: string, name: string, description: string) => void {
  const last = new Map<string, string>();
  let written = Promise.resolve();
  return (file, name, description) => {
    if (last.get(`${file} ${name}`) === description) return;
    last.set(`${file} ${name}`, description);
    const line = `${new Date().toISOString()} ${name} ${description}\n`;
    written = written.then(() => appendFile(join(folder, file), line)).catch(() => undefined); // the folder is gone
  };
}

async function keepState(kubectl: Kubectl, folder: string): Promise<void> {
  const keep = async (file: string, args: readonly string[]) => {
    const { stdout, stderr } = await kubectl.tryRun(args);
    if (stdout + stderr !== '') await writeFile(join(folder, file), stdout + stderr);
  };
  await keep('objects.txt', ['get', kinds, '--output', 'wide']);
  await keep('objects.yaml', ['get', kinds, '--output', 'yaml']);
  await keep('events.txt', ['get', 'events', '--sort-by', '.lastTimestamp']);
  await keep('pods.txt', ['describe', 'pods']);
}
