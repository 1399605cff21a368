// Rolls workloads for a changed Secret: which ones, when, and whether their old pods are gone.
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Cluster, KubeObject, Resource } from './cluster/cluster.ts';
import { group, type WorkloadRef } from './contract.ts';
import type { ReconcileContext } from './manager.ts';

/** Changes within this time roll a workload once. */
const settleMs = 3000;
const longestPart = 63;

/** An annotation on the pod template of a workload, one for each object, since several objects may name the same workload. */
export function rolloutAnnotation(name: string, what: 'content-hash' | 'key'): string {
  const part = `${what}-${name}`;
  return `${group}/${part.length <= longestPart ? part : `${what}-${createHmac('sha256', '').update(name).digest('hex').slice(0, 12)}`}`;
}

export type Workload = { readonly createdAt: Date; readonly rolledFor: string | undefined };
/** The content of a Secret; `changedAt` is undefined until its first change. */
export type Content = { readonly hash: string; readonly changedAt: Date | undefined };

/** A workload that was never rolled runs with the content of its start. */
export function planRollout({ createdAt, rolledFor }: Workload, { hash, changedAt }: Content, now: Date): 'roll' | 'keep' | { readonly againAfterMs: number } {
  if (rolledFor === hash || changedAt === undefined) return 'keep';
  if (rolledFor === undefined && createdAt >= changedAt) return 'keep';
  const waitMs = changedAt.getTime() + settleMs - now.getTime();
  return waitMs > 0 ? { againAfterMs: waitMs } : 'roll';
}

const plurals = { Deployment: 'deployments', StatefulSet: 'statefulsets', DaemonSet: 'daemonsets' };
const resourceOf = (kind: WorkloadRef['kind']): Resource => ({ apiVersion: 'apps/v1', kind, plural: plurals[kind] });
const podResource: Resource = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' };

const Count = z.number().default(0);
const Expression = z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).default([]) });
/** The members of a workload that are read. */
const WorkloadSpec = z.object({
  replicas: z.number().optional(),
  selector: z.object({ matchLabels: z.record(z.string(), z.string()).default({}), matchExpressions: z.array(Expression).default([]) }).optional(),
  template: z.object({ metadata: z.object({ annotations: z.record(z.string(), z.string()).optional() }).optional(), spec: z.unknown() }),
});
type WorkloadSpec = z.output<typeof WorkloadSpec>;
const WorkloadStatus = z.object({
  observedGeneration: Count,
  replicas: Count,
  updatedReplicas: Count,
  readyReplicas: Count,
  availableReplicas: Count,
  desiredNumberScheduled: Count,
  updatedNumberScheduled: Count,
  numberAvailable: Count,
});

export type Rolling = {
  /** The object that an Event is recorded on. */
  readonly object: KubeObject;
  readonly workloads: readonly WorkloadRef[];
  readonly annotation: string;
  readonly content: Content;
};
export type Rolled = {
  /** As `Deployment shop`; there is none of that name. */
  readonly missing: readonly string[];
  /** Not rolled yet, or still with pods that may hold the former content. */
  readonly unfinished: readonly string[];
  readonly againAfterMs: number;
};

const nameOf = ({ kind, name }: WorkloadRef) => `${kind} ${name}`;

/** Rolls each workload once for a content. */
export async function rollOut({ object, workloads, annotation, content }: Rolling, { cluster, now }: ReconcileContext): Promise<Rolled> {
  const { namespace } = object.metadata;
  const missing: string[] = [];
  const unfinished: string[] = [];
  let againAfterMs = Number.POSITIVE_INFINITY;
  for (const ref of workloads) {
    const resource = resourceOf(ref.kind);
    const found = await cluster.get(resource, { namespace, name: ref.name });
    const spec = WorkloadSpec.safeParse(found?.['spec']).data;
    if (!found || !spec) {
      missing.push(nameOf(ref));
      continue;
    }
    const rolledFor = spec.template.metadata?.annotations?.[annotation];
    const plan = planRollout({ createdAt: new Date(found.metadata.creationTimestamp), rolledFor }, content, now());
    if (plan === 'roll') {
      await cluster.patch(resource, found.metadata, { spec: { template: { metadata: { annotations: { [annotation]: content.hash } } } } });
      await cluster.recordEvent(object, { type: 'Normal', reason: 'RolledOut', message: `rolled ${nameOf(ref)}` });
    } else if (plan !== 'keep') againAfterMs = Math.min(againAfterMs, plan.againAfterMs);
    if (plan !== 'keep' || (rolledFor !== undefined && !isRolledOut(ref, found, spec))) unfinished.push(nameOf(ref));
  }
  return { missing, unfinished, againAfterMs };
}

/** As `kubectl rollout status` has it. */
function isRolledOut({ kind }: WorkloadRef, { metadata, status }: KubeObject, { replicas = 1 }: WorkloadSpec): boolean {
  const seen = WorkloadStatus.parse(status ?? {});
  if (seen.observedGeneration < (metadata.generation ?? 0)) return false;
  switch (kind) {
    case 'Deployment':
      return seen.updatedReplicas >= replicas && seen.replicas <= seen.updatedReplicas && seen.availableReplicas >= seen.updatedReplicas;
    case 'StatefulSet':
      return seen.updatedReplicas >= replicas && seen.readyReplicas >= replicas;
    case 'DaemonSet':
      return seen.updatedNumberScheduled >= seen.desiredNumberScheduled && seen.numberAvailable >= seen.desiredNumberScheduled;
  }
}

/** The names of the workloads that still have a pod of before the rollout, such as one that is stopping: it may use the former content until it is gone. */
export async function withOldPods({ object, workloads, annotation, content }: Rolling, { cluster }: ReconcileContext): Promise<string[]> {
  const { namespace } = object.metadata;
  const old: string[] = [];
  for (const ref of workloads) {
    const found = await cluster.get(resourceOf(ref.kind), { namespace, name: ref.name });
    const spec = WorkloadSpec.safeParse(found?.['spec']).data;
    // A workload without the annotation was made after the change.
    if (!spec?.selector || spec.template.metadata?.annotations?.[annotation] === undefined) continue;
    const query = { namespace, labelSelector: selectorOf(spec.selector), fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed', metadataOnly: true };
    const pods = (await cluster.list(podResource, query)).filter((pod) => isOf(ref, pod));
    if (pods.some(({ metadata }) => metadata.annotations?.[annotation] !== content.hash)) old.push(nameOf(ref));
  }
  return old;
}

/** Whether the pod is one of the workload; a Deployment has its pods by ReplicaSets. */
const isOf = ({ kind, name }: WorkloadRef, { metadata: { ownerReferences = [] } }: KubeObject) =>
  ownerReferences.some((owner) =>
    kind === 'Deployment' ? owner.kind === 'ReplicaSet' && owner.name.startsWith(`${name}-`) : owner.kind === kind && owner.name === name,
  );

function selectorOf({ matchLabels, matchExpressions }: NonNullable<WorkloadSpec['selector']>): string {
  const words: Readonly<Record<string, string>> = { In: 'in', NotIn: 'notin' };
  const expressions = matchExpressions.map(({ key, operator, values }) =>
    operator in words ? `${key} ${words[operator] ?? ''} (${values.join()})` : `${operator === 'Exists' ? '' : '!'}${key}`,
  );
  return [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...expressions].join();
}

/** The workloads of a namespace whose pods take the Secret by a variable or a volume. */
export async function workloadsWith(secretName: string, namespace: string, cluster: Cluster): Promise<WorkloadRef[]> {
  const users: WorkloadRef[] = [];
  for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet'] as const)
    for (const { metadata, spec } of await cluster.list(resourceOf(kind), { namespace }))
      if (names(WorkloadSpec.safeParse(spec).data?.template.spec, secretName)) users.push({ kind, name: metadata.name });
  return users;
}

const Reference = z.object({ name: z.string() });
const Container = z.object({
  env: z.array(z.object({ valueFrom: z.object({ secretKeyRef: Reference.optional() }).optional() })).default([]),
  envFrom: z.array(z.object({ secretRef: Reference.optional() })).default([]),
});
const PodSpec = z.object({
  containers: z.array(Container).default([]),
  initContainers: z.array(Container).default([]),
  volumes: z
    .array(
      z.object({
        secret: z.object({ secretName: z.string().optional() }).optional(),
        projected: z.object({ sources: z.array(z.object({ secret: Reference.optional() })).default([]) }).optional(),
      }),
    )
    .default([]),
});

function names(podSpec: unknown, secretName: string): boolean {
  const { data } = PodSpec.safeParse(podSpec);
  if (!data) return false;
  const inContainers = [...data.containers, ...data.initContainers].flatMap(({ env, envFrom }) => [
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ...envFrom.map(({ secretRef }) => secretRef?.name),
  ]);
  const inVolumes = data.volumes.flatMap(({ secret, projected }) => [secret?.secretName, ...(projected?.sources ?? []).map((source) => source.secret?.name)]);
  return [...inContainers, ...inVolumes].includes(secretName);
}
