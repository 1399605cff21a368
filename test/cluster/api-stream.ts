// Answers of the API server that go on: watches, and logs that are followed.
import type { IncomingMessage } from 'node:http';
import { get, type RequestOptions } from 'node:https';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';

export type ApiStreams = {
  /**
   * The body of an answer, which goes on until the server ends it or `ended` is aborted.
   * @throws what the server says instead
   */
  open(path: string): Promise<IncomingMessage>;
  /** Tells each change of the objects at a path, at first those that are there, until `ended` is aborted. */
  watch(path: string, changed: (type: string, object: unknown) => void): void;
};

/** On the cluster of KUBECONFIG. kubectl would do, but is a process of 50 MiB for each container whose log is followed. */
export function createApiStreams(ended: AbortSignal): ApiStreams {
  const config = new KubeConfig();
  config.loadFromDefault();
  const server = config.getCurrentCluster()?.server ?? '';

  async function open(path: string): Promise<IncomingMessage> {
    const options: RequestOptions = { signal: ended };
    await config.applyToHTTPSOptions(options);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${server}${path}`, options, resolve).on('error', reject);
    });
    if (answer.statusCode === 200) return answer;
    throw new Error(`${answer.statusCode}: ${(await answer.setEncoding('utf8').toArray()).join('').slice(0, 500)}`);
  }

  async function watchOnce(path: string, changed: (type: string, object: unknown) => void): Promise<void> {
    for await (const line of createInterface(await open(`${path}?watch=true`))) {
      const { type, object } = JSON.parse(line) as { type: string; object: unknown };
      changed(type, object);
    }
  }

  return {
    open,
    watch(path, changed) {
      const watching = async () => {
        while (!ended.aborted) {
          // The server ends every watch after a while; the next one reports the changes in between.
          await watchOnce(path, changed).catch(() => undefined);
          await pause(500, undefined, { signal: ended }).catch(() => undefined); // the end ends the wait
        }
      };
      void watching();
    },
  };
}
