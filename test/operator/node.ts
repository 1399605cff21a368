// A node for the real API server, which has none: it takes the pods of a namespace, gives each the key that its Secret holds at its start, and lets it read until it is gone.
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { listAll, pathOf } from '../../services/operator/cluster/client.ts';
import type { KubeObject, Resource } from '../../services/operator/cluster/cluster.ts';
import type { TestCluster } from './operator.ts';

const podResource: Resource = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' };
const nodeResource: Resource = { apiVersion: 'v1', kind: 'Node', plural: 'nodes' };

export type NodeOptions = {
  /** The key of the Secret `<name>` that the pods of a Deployment take. */
  readonly readKey: () => Promise<string>;
  /** One read with a key. @returns the status of the answer */
  readonly read: (key: string) => Promise<number>;
};

export type TestNode = {
  /** How many reads had which status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Keys of the pods that run or stop now. */
  keys(): readonly string[];
  /** Whether pods that start from now on become ready. */
  setReadiness(isReady: boolean): void;
  stop(): Promise<void>;
};

const everyMs = 50;
/** A pod that stops reads on for so long, as one that finishes its work. */
const drainMs = 1500;
const Bound = z.object({ nodeName: z.string().optional() });

type Running = { readonly key: string; readonly startedAt: number; stopsAt: number; isReady: boolean };

export async function startNode({ namespace, transport }: TestCluster, { readKey, read }: NodeOptions): Promise<TestNode> {
  const name = `node-of-${namespace}`;
  const statuses = new Map<number, number>();
  const pods = new Map<string, Running>();
  let makesReady = true;
  let isStopping = false;
  const path = (pod: string, sub?: string) => pathOf(podResource, { namespace, name: pod }, sub);
  const patch = (at: string, body: object) => transport.json({ method: 'PATCH', path: at, body, contentType: 'application/merge-patch+json' });

  async function beat(): Promise<void> {
    const time = `${new Date().toISOString().slice(0, 19)}Z`;
    const condition = { type: 'Ready', status: 'True', reason: 'Test', message: '', lastHeartbeatTime: time, lastTransitionTime: time };
    await patch(pathOf(nodeResource, { namespace: '', name }, 'status'), { status: { conditions: [condition] } });
  }

  async function start({ metadata }: KubeObject): Promise<void> {
    const target = { apiVersion: 'v1', kind: 'Node', name };
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: metadata.name }, target };
    await transport.json({ method: 'POST', path: path(metadata.name, 'binding'), body, contentType: 'application/json' });
    const running: Running = { key: await readKey(), startedAt: performance.now(), stopsAt: Number.POSITIVE_INFINITY, isReady: false };
    pods.set(metadata.uid, running);
    void readUntilStopped(running);
  }

  async function readUntilStopped(running: Running): Promise<void> {
    while (!isStopping && performance.now() < running.stopsAt) {
      const status = await read(running.key);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await pause(10);
    }
  }

  async function makeReady({ metadata }: KubeObject, running: Running): Promise<void> {
    running.isReady = true;
    const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({ type, status: 'True' }));
    await patch(path(metadata.name, 'status'), { status: { phase: 'Running', conditions } });
  }

  async function tend(pod: KubeObject): Promise<void> {
    const { name: podName, uid, deletionTimestamp } = pod.metadata;
    const running = pods.get(uid);
    if (!running) {
      if (Bound.parse(pod['spec']).nodeName === undefined && deletionTimestamp === undefined) await start(pod);
    } else if (deletionTimestamp !== undefined) {
      if (running.stopsAt === Number.POSITIVE_INFINITY) running.stopsAt = performance.now() + drainMs;
      if (performance.now() < running.stopsAt) return;
      await transport.json({ method: 'DELETE', path: path(podName), body: { gracePeriodSeconds: 0 }, contentType: 'application/json' });
      pods.delete(uid);
    } else if (!running.isReady && makesReady) await makeReady(pod, running);
  }

  await transport.json({
    method: 'POST',
    path: pathOf(nodeResource, { namespace: '' }),
    body: { apiVersion: 'v1', kind: 'Node', metadata: { name } },
    contentType: 'application/json',
  });
  await beat();
  let beatAt = performance.now();
  const tending = (async () => {
    while (!isStopping) {
      if (performance.now() - beatAt > 5000) {
        await beat();
        beatAt = performance.now();
      }
      const { objects } = await listAll(transport, podResource, { namespace });
      // A controller may change a pod at the same moment; the next look sees it again.
      for (const pod of objects) await tend(pod).catch(() => undefined);
      await pause(everyMs);
    }
  })();
  return {
    statuses,
    keys: () => [...pods.values()].map(({ key }) => key),
    setReadiness: (isReady) => void (makesReady = isReady),
    async stop() {
      isStopping = true;
      await tending;
      await transport.json({ method: 'DELETE', path: pathOf(nodeResource, { namespace: '', name }) });
    },
  };
}
