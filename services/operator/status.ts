// Statuses: one condition, Ready, and writing only what has changed.
import { isDeepStrictEqual } from 'node:util';
import type { Cluster, KubeObject, Resource } from './cluster/cluster.ts';
import { ClusterError } from './cluster/transport.ts';
import { Condition, type Reason } from './contract.ts';

export type Readiness = { readonly isReady: boolean; readonly reason: Reason; readonly message: string };

export const notReady = (reason: Reason, message: string): Readiness => ({ isReady: false, reason, message });

/** Of an object that the schema refuses: it was written before a definition changed. */
export const unreadable = notReady('ValueRefused', 'the operator does not understand its spec; write it anew as the definition says');

/** Of these the object is not the reason, or not for long. */
const passing = [401, 404, 409, 410, 429];

/** What the API server refuses for what the object says, or for what the operator may do; undefined for all else. */
export function clusterRefusal(error: unknown): Readiness | undefined {
  if (!(error instanceof ClusterError) || error.status === undefined || error.status >= 500 || passing.includes(error.status)) return undefined;
  return notReady('ValueRefused', `Kubernetes refuses it: ${error.message}`);
}

/** The same is refused however often it is tried: only another object helps. */
export const isInvalid = (error: unknown): boolean => error instanceof ClusterError && error.status === 422;

/** Longer ones are cut: what the definitions take. */
const longestMessage = 1000;

/** What stays where it cannot be read anew; the conditions and the generation are written by `report`. */
export const statusOf = ({ status }: KubeObject): Readonly<Record<string, unknown>> => (typeof status === 'object' && status !== null ? { ...status } : {});

export const readyOf = (object: KubeObject): Condition | undefined => Condition.array().catch([]).parse(statusOf(object)['conditions'])[0];

export type Reporting = { readonly cluster: Cluster; readonly resource: Resource; readonly now: Date };

/** Writes the status where it differs, and an Event where Ready or its reason does. @param rest of the status beside the condition */
export async function report(
  { cluster, resource, now }: Reporting,
  object: KubeObject,
  { readiness, ...rest }: { readonly readiness: Readiness },
): Promise<void> {
  const before = readyOf(object);
  const { reason } = readiness;
  const observedGeneration = object.metadata.generation ?? 1;
  const message = readiness.message.slice(0, longestMessage);
  const status = readiness.isReady ? 'True' : 'False';
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : `${now.toISOString().slice(0, 19)}Z`;
  const condition: Condition = { type: 'Ready', status, reason, message, lastTransitionTime, observedGeneration };
  // Without what is undefined, as it comes back.
  const wanted: unknown = JSON.parse(JSON.stringify({ ...rest, observedGeneration, conditions: [condition] }));
  if (isDeepStrictEqual(object['status'], wanted) || typeof wanted !== 'object' || wanted === null) return;
  await cluster.applyStatus(resource, object.metadata, wanted);
  if (before?.status !== status || before.reason !== reason)
    await cluster.recordEvent(object, { type: readiness.isReady ? 'Normal' : 'Warning', reason, message });
}
