// The log of every container of a namespace, followed from its start into a file: what it said outlives its pod.
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiStreams } from './api-stream.ts';

type State = { readonly running?: object; readonly terminated?: { readonly containerID?: string } };

export type ContainerStatus = {
  readonly name: string;
  readonly restartCount: number;
  readonly containerID?: string;
  readonly ready: boolean;
  readonly state?: State;
  readonly lastState?: State;
};

export type PodLogs = {
  /** Follows the containers of a pod that have started and are not followed yet. */
  see(pod: string, statuses: readonly ContainerStatus[]): void;
  /** Settles when no log is followed any more, which the end of the streams brings about. */
  over(): Promise<void>;
};

export type PodLogsParts = { readonly streams: Pick<ApiStreams, 'open'>; readonly namespace: string; readonly folder: string; readonly ended: AbortSignal };

const attempts = 5;

/** Files `<pod>/<container>.<how often it was started before>.log`. */
export function createPodLogs({ streams, namespace, folder, ended }: PodLogsParts): PodLogs {
  const seen = new Set<string>();
  const following = new Set<Promise<void>>();

  async function copy(path: string, file: string): Promise<void> {
    const log = await streams.open(path);
    const written = createWriteStream(file);
    try {
      for await (const chunk of log) written.write(chunk);
    } finally {
      await new Promise((resolve) => written.end(resolve));
    }
  }

  // From the beginning again when it breaks off: a kubelet that starves does that.
  async function follow(path: string, file: string): Promise<void> {
    let failure: unknown;
    for (let attempt = 1; attempt <= attempts && !ended.aborted; attempt++) {
      try {
        return await copy(path, file);
      } catch (error) {
        failure = error;
        await pause(500, undefined, { signal: ended }).catch(() => undefined); // the end ends the wait
      }
    }
    if (!ended.aborted) await writeFile(`${file}.broken`, `${String(failure)}\n`);
  }

  function begin(id: string, pod: string, { name, start, query }: { name: string; start: number; query: string }): void {
    if (seen.has(id)) return;
    seen.add(id);
    const log = mkdir(join(folder, pod), { recursive: true }).then(() =>
      follow(`/api/v1/namespaces/${namespace}/pods/${pod}/log?container=${name}&timestamps=true&${query}`, join(folder, pod, `${name}.${start}.log`)),
    );
    following.add(log);
    void log.finally(() => following.delete(log));
  }

  return {
    see(pod, statuses) {
      for (const { name, restartCount, containerID, state, lastState } of statuses) {
        // A container that ended before it was seen running.
        const previous = lastState?.terminated?.containerID;
        if (previous !== undefined) begin(previous, pod, { name, start: restartCount - 1, query: 'previous=true' });
        const hasStarted = state?.running !== undefined || state?.terminated !== undefined;
        if (containerID !== undefined && hasStarted) begin(containerID, pod, { name, start: restartCount, query: 'follow=true' });
      }
    },
    over: async () => void (await Promise.all(following)),
  };
}
