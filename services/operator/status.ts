// Statuses with one condition, Ready; only changes are written.
import { isDeepStrictEqual } from 'node:util';
import type { Cluster, KubeObject, Resource } from './cluster/cluster.ts';
import { ClusterError } from '../platform/api-server.ts';
import { Condition, type Reason } from './contract.ts';

export type Readiness = { readonly isReady: boolean; readonly reason: Reason; readonly message: string };

export const notReady = (reason: Reason, message: string): Readiness => ({ isReady: false, reason, message });

/** Statuses that are not caused by the object, or not for long. */
const passing = [401, 404, 409, 410, 429];

/** The operator refuses what an object asks for; trying again does not help. */
export class ObjectRefused extends Error {}

/** The readiness of an object that the operator or the API server refuses, also where the operator lacks a right; undefined for another error. */
export function refusalOf(error: unknown): Readiness | undefined {
  if (error instanceof ObjectRefused) return notReady('ValueRefused', error.message);
  if (!(error instanceof ClusterError) || error.status === undefined || error.status >= 500 || passing.includes(error.status)) return undefined;
  return notReady('ValueRefused', `Kubernetes refuses it: ${error.message}`);
}

/** Whether trying again is of no use until the object changes. */
export const isInvalid = (error: unknown): boolean => error instanceof ObjectRefused || (error instanceof ClusterError && error.status === 422);

/** Longer messages are cut. */
const longestMessage = 1000;

/** The present status, for members that are kept; `report` writes the conditions and the generation. */
export const statusOf = ({ status }: KubeObject): Readonly<Record<string, unknown>> => (typeof status === 'object' && status !== null ? { ...status } : {});

export const readyOf = (object: KubeObject): Condition | undefined => Condition.array().catch([]).parse(statusOf(object)['conditions'])[0];

export type Reporting = { readonly cluster: Cluster; readonly resource: Resource; readonly now: Date };

/** Writes the status where it differs, and an Event where Ready or its reason does. @param rest the status beside the condition */
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
  // JSON drops undefined members, as the API server does.
  const wanted: unknown = JSON.parse(JSON.stringify({ ...rest, observedGeneration, conditions: [condition] }));
  if (isDeepStrictEqual(object['status'], wanted) || typeof wanted !== 'object' || wanted === null) return;
  await cluster.applyStatus(resource, object.metadata, wanted);
  if (before?.status !== status || before.reason !== reason)
    await cluster.recordEvent(object, { type: readiness.isReady ? 'Normal' : 'Warning', reason, message });
}
