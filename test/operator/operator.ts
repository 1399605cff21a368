// The operator of the tests: its controllers in this process, on a namespace of the real API server.
import { setMaxListeners } from 'node:events';
import type { KubeConfig } from '@kubernetes/client-node';
import { z } from 'zod';
import { createCluster, listAll, pathOf, readObject } from '../../services/operator/cluster/client.ts';
import type { Cluster, KubeObject, Resource } from '../../services/operator/cluster/cluster.ts';
import { createTransport, type Transport } from '../../services/platform/api-server.ts';
import { Condition, group } from '../../services/operator/contract.ts';
import { type Controller, type ManagerOptions, createManager } from '../../services/operator/manager.ts';
import { definitions, type Kind } from '../../services/operator/definitions.ts';
import { createOperatorMetrics } from '../../services/operator/metrics.ts';
import { createOwnership } from '../../services/operator/ownership.ts';
import { resourceOf, secretResource } from '../../services/operator/secrets.ts';
import { createMetrics } from '../../services/platform/metrics.ts';
import { sharedApiServer } from '../support/kubernetes.ts';
import { eventually } from '../support/wait.ts';

const crd: Resource = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', plural: 'customresourcedefinitions' };
export const deployment: Resource = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' };

export type TestCluster = {
  readonly namespace: string;
  /** The path of an administrator's. */
  readonly kubeconfig: string;
  readonly transport: Transport;
  readonly cluster: Cluster;
  /** Server-side, forced, as another field manager than the operator's. @returns what was applied */
  apply(
    resource: Resource,
    object: { readonly metadata: { readonly name: string; readonly [member: string]: unknown }; readonly [member: string]: unknown },
  ): Promise<KubeObject>;
  find(resource: Resource, name: string): Promise<KubeObject | undefined>;
  /** Deletes it, and waits for nothing. */
  remove(resource: Resource, name: string): Promise<void>;
  /** Reason and message of the condition Ready, for the object as it is now. */
  readyOf(kind: Kind, name: string): Promise<Condition | undefined>;
  /** Texts by key; undefined when there is none. */
  secretData(name: string): Promise<Readonly<Record<string, string>> | undefined>;
  close(): Promise<void>;
};

const Conditions = z.object({ conditions: z.array(Condition).default([]) }).catch({ conditions: [] });
const Data = z.record(z.string(), z.string()).catch({});

/** A namespace of its own on the real API server, which knows our kinds. */
export async function createTestCluster(): Promise<TestCluster> {
  const server = await sharedApiServer();
  const { name: namespace, drop } = await server.createNamespace();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const transport = createTransport(server.config, closing.signal);
  const cluster = createCluster({ transport, identity: 'tests' });
  const applyAt = (path: string, body: object) =>
    transport.json({ method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml', query: { fieldManager: 'tests', force: 'true' } });
  for (const definition of definitions()) await applyAt(pathOf(crd, { namespace: '', name: `${definition.spec.names.plural}.${group}` }), definition);
  await eventually(() => listAll(transport, resourceOf('SyncedSecret'), { namespace }));
  const find: TestCluster['find'] = (resource, name) => cluster.get(resource, { namespace, name });
  return {
    namespace,
    kubeconfig: server.kubeconfig,
    transport,
    cluster,
    find,
    async apply(resource, object) {
      const { apiVersion, kind } = resource;
      const path = pathOf(resource, { namespace, name: object.metadata.name });
      return readObject(await applyAt(path, { ...object, apiVersion, kind, metadata: { ...object.metadata, namespace } }), resource);
    },
    async remove(resource, name) {
      const found = await find(resource, name);
      if (found) await cluster.remove(resource, found.metadata);
    },
    async readyOf(kind, name) {
      const object = await find(resourceOf(kind), name);
      return Conditions.parse(object?.['status']).conditions.find(({ observedGeneration }) => observedGeneration === object?.metadata.generation);
    },
    async secretData(name) {
      const secret = await find(secretResource, name);
      return (
        secret && Object.fromEntries(Object.entries(Data.parse(secret['data'])).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]))
      );
    },
    async close() {
      closing.abort();
      await drop();
    },
  };
}

/** The ownership of the SecretApplications of a namespace that may adopt. */
export const ownershipIn = (namespace: string, clusterName = 'tests', serviceAccounts: 'on' | 'off' = 'off') =>
  createOwnership({ clusterName, namespace, adoptNamespaces: [namespace], serviceAccounts });

export type RunningOperator = {
  /** Stops to lead, and leads again. */
  leadAgain(): Promise<void>;
  stop(): Promise<void>;
};

/** Leads at once. */
export async function runControllers(
  controllers: () => readonly Controller[],
  namespace: string,
  {
    config: given,
    ...options
  }: Pick<ManagerOptions, 'log' | 'feed' | 'timing'> & Partial<Pick<ManagerOptions, 'ownSecrets'>> & { readonly config?: KubeConfig },
): Promise<RunningOperator> {
  const config = given ?? (await sharedApiServer()).config;
  const running = createManager({ controllers, namespace, metrics: () => metrics, ownSecrets: { place: undefined, tokens: [] }, ...options });
  const metrics = createOperatorMetrics(createMetrics(), { isLeading: () => true, ...running });
  function lead() {
    const stopping = new AbortController();
    const transport = createTransport(config, stopping.signal);
    const ended = running.run({ transport, cluster: createCluster({ transport, identity: 'tests' }), signal: stopping.signal });
    return async () => {
      stopping.abort();
      await ended;
    };
  }
  let stop = lead();
  return {
    async leadAgain() {
      await stop();
      stop = lead();
    },
    stop: () => stop(),
  };
}
