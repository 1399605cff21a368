// BrokerConnection: one file of connections for the relay of each namespace, followed by all its pods.
import { z } from 'zod';
import type { KubeObject, Resource } from '../cluster/cluster.ts';
import { type Contention, type Contest, createContention } from '../contention.ts';
import { annotations, BrokerConnectionSpec, type Reason } from '../contract.ts';
import type { Controller, ReconcileContext } from '../manager.ts';
import { annotationOf, createReader, encode, resourceOf, secretResource, secretText } from '../secrets.ts';
import { createSpecs, faultOf } from '../specs.ts';
import { notReady, ObjectRefused, type Readiness, refusalOf, report } from '../status.ts';
import {
  type Draining,
  type EmptySince,
  type Plan,
  planFile,
  type Present,
  quietPositions,
  type RelayAnswers,
  brokerOf,
  type Report,
  reportOf,
  stillEmpty,
  type Wish,
} from './reconcile.ts';
import { followers, listConnections, periodOf, type Pod, queuedMessages, readPod, usedBrokers } from './relays.ts';

const resource = resourceOf('BrokerConnection');
const pods: Resource = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' };
const specOf = createSpecs(BrokerConnectionSpec);

/** The owner annotation on the Secret of a file. */
const owner = 'BrokerConnections';
/** Pauses between reconciles: during a change, while a broker is not connected, and otherwise. */
const pausesMs = { underWay: 2000, away: 15_000, settled: 60_000 };

/** The one member that is read of a spec that the schema refuses. */
const Positioned = z.object({ position: z.int().optional().catch(undefined) }).catch({ position: undefined });

const ofNamespace = ({ metadata }: KubeObject) => [metadata.namespace];

export function createBrokerConnections(): Controller {
  const emptySince: EmptySinceOf = new Map();
  const contention = createContention();
  return {
    name: 'broker-connections',
    watches: [
      { resource, specOnly: true, concerns: ofNamespace },
      { resource: pods, labelSelector: followers, concerns: ofNamespace },
      {
        resource: secretResource,
        metadataOnly: true,
        concerns: (secret, caches) => {
          const { namespace, name } = secret.metadata;
          const isReferred = (caches['BrokerConnection']?.list(namespace) ?? []).some((object) => specOf(object)?.urlSecretRef.name === name);
          // The annotation does not decide: it may have been removed, or the Secret is older than the operator.
          const isFile = (caches['Pod']?.list(namespace) ?? []).some((pod) => readPod(pod).fileSecret === name);
          return isReferred || isFile ? [namespace] : [];
        },
      },
    ],
    async reconcile(namespace, context) {
      const objects = (context.caches['BrokerConnection']?.list(namespace) ?? []).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const found = (context.caches['Pod']?.list(namespace) ?? []).map(readPod);
      const { fileSecret, fileKey = '' } = found.find(({ isRelay, fileSecret: name }) => isRelay && name !== undefined) ?? {};
      if (fileSecret === undefined) {
        await reportAll(objects, notReady('RelayMissing', 'no relay of this namespace follows a file of connections'), context);
        return {};
      }
      const unread = objects.filter((object) => specOf(object) === undefined);
      for (const object of unread) await reportAll([object], faultOf(BrokerConnectionSpec, object), context);
      // An object that cannot be read must not look like a deleted one.
      const positions = unread.map(({ spec }) => Positioned.parse(spec).position);
      if (positions.includes(undefined)) return {};
      const held = new Set(positions.filter((position) => position !== undefined));
      const readable = objects.filter((object) => !unread.includes(object));
      const wishes = await readWishes(readable, namespace, context);
      const followersOf = found.filter((pod) => pod.fileSecret === fileSecret);
      try {
        return await keepFile({ namespace, fileSecret, fileKey, objects: readable, wishes, held, followers: followersOf, emptySince, contention }, context);
      } catch (error) {
        const readiness = refusalOf(error);
        if (readiness) await reportAll(readable, readiness, context);
        throw error;
      }
    },
  };
}

type FileOptions = {
  readonly namespace: string;
  readonly fileSecret: string;
  readonly fileKey: string;
  readonly objects: readonly KubeObject[];
  readonly wishes: readonly Wish[];
  readonly held: ReadonlySet<number>;
  readonly followers: readonly Pod[];
  readonly emptySince: EmptySinceOf;
  readonly contention: Contention;
};

/** By namespace, for one term as leader: the next leader has to find the queues empty again before a connection leaves. */
type EmptySinceOf = Map<string, EmptySince>;

async function keepFile(options: FileOptions, context: ReconcileContext): Promise<{ againAfterMs: number }> {
  const { namespace, fileSecret, fileKey, objects, wishes, held, followers: all, emptySince, contention } = options;
  const secret = await context.cluster.get(secretResource, { namespace, name: fileSecret });
  const isOwned = annotationOf(secret, 'owner') === owner;
  if (!isOwned && objects.length === 0) return { againAfterMs: Infinity };
  if (secret && !isOwned) {
    await reportAll(objects, notReady('TargetNotOwned', `the Secret ${fileSecret} does not belong to the operator and is left as it is`), context);
    return { againAfterMs: pausesMs.settled };
  }
  const relays = all.filter(({ isRelay }) => isRelay);
  const draining = readDraining(secret);
  const answers = await askRelays(relays, { namespace, isDraining: Object.keys(draining).length > 0 }, context);
  const present: Present = {
    text: secretText(secret, fileKey),
    draining,
    empty: await drained(relays, { namespace, draining, answers, emptySince }, context),
    given: new Set(relays.flatMap(({ given }) => given)),
    held,
  };
  const plan = planFile(wishes, present, context.now());
  logLeaving(options, { present, plan }, context);
  const written = await writeFile({ namespace, name: fileSecret, fileKey, secret, plan, contention }, context);
  if ('contest' in written) {
    const { count, pauseMs } = written.contest;
    const message = `another writer changes the Secret ${fileSecret}, which was restored ${count} times; it is written once a minute at most`;
    await reportAll(objects, notReady('Contested', message), context);
    return { againAfterMs: pauseMs };
  }
  for (const { object } of all) await remind(object, written.secret, context);
  const reasons = await reportEach(options, { plan, answers }, context);
  if (Object.keys(plan.draining).length > 0 || reasons.has('NotFollowed')) return { againAfterMs: pausesMs.underWay };
  return { againAfterMs: reasons.has('NotConnected') || reasons.has('RelayUnreachable') ? pausesMs.away : pausesMs.settled };
}

function logLeaving(
  { namespace, wishes }: FileOptions,
  { present, plan }: { readonly present: Present; readonly plan: Plan },
  { log }: ReconcileContext,
): void {
  for (const position of Object.keys(present.draining)) {
    if (Object.hasOwn(plan.draining, position) || wishes.some((wish) => wish.position === Number(position))) continue;
    const isEmpty = present.empty.has(Number(position));
    log[isEmpty ? 'info' : 'warn']({ namespace, position, isEmpty }, 'drained connection leaves the file');
  }
}

/** @returns the reasons that were reported */
async function reportEach(
  { objects, wishes }: FileOptions,
  { plan, answers }: { readonly plan: Plan; readonly answers: RelayAnswers },
  context: ReconcileContext,
): Promise<ReadonlySet<Reason>> {
  const reasons = new Set<Reason>();
  for (const wish of wishes) {
    const refusal = plan.refused.get(wish.name);
    const status: Report = refusal ? { readiness: notReady(refusal.reason, refusal.message) } : reportOf(wish, answers);
    reasons.add(status.readiness.reason);
    const object = objects.find(({ metadata }) => metadata.name === wish.name);
    if (object) await report({ cluster: context.cluster, resource, now: context.now() }, object, status);
  }
  return reasons;
}

async function reportAll(objects: readonly KubeObject[], readiness: Readiness, { cluster, now }: ReconcileContext): Promise<void> {
  for (const object of objects) await report({ cluster, resource, now: now() }, object, { readiness });
}

async function readWishes(objects: readonly KubeObject[], namespace: string, { readSecret }: ReconcileContext): Promise<Wish[]> {
  const secret = createReader((key) => readSecret(key).catch(unlessRefused), namespace);
  const wishes: Wish[] = [];
  for (const object of objects) {
    const { name, uid, creationTimestamp: createdAt } = object.metadata;
    const spec = specOf(object);
    if (!spec) continue;
    const { position, monthlyLimit: limit, urlSecretRef } = spec;
    const url = secretText(await secret(urlSecretRef.name), urlSecretRef.key)?.trim();
    wishes.push({ name, uid, createdAt, position, limit, url, source: urlSecretRef });
  }
  return wishes;
}

/** Undefined for a refused Secret: its object must not hold up the others of the namespace. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof ObjectRefused)) throw error;
}

const DrainingText = z.record(z.string(), z.string()).catch({});

function readDraining(secret: KubeObject | undefined): Draining {
  try {
    return DrainingText.parse(JSON.parse(annotationOf(secret, 'draining') ?? '{}'));
  } catch {
    return {};
  }
}

type Leaving = { readonly namespace: string; readonly draining: Draining; readonly answers: RelayAnswers; readonly emptySince: EmptySinceOf };

/** Positions whose connection may leave: their queues have been empty for long enough, or nothing was ever published to them. */
async function drained(
  relays: readonly Pod[],
  { namespace, draining, answers, emptySince }: Leaving,
  { signal, now }: ReconcileContext,
): Promise<ReadonlySet<number>> {
  const positions = Object.keys(draining).map(Number);
  if (positions.length === 0) {
    emptySince.delete(namespace);
    return new Set();
  }
  const left = positions.filter((position) => hasLeft(position, answers));
  const counts = await Promise.all(relays.flatMap(({ metricsUrl }) => metricsUrl ?? []).map((url) => queuedMessages(url, signal)));
  const queued = (position: number) => counts.map((count) => count.get(brokerOf(position)));
  const empty = left.filter((position) => counts.length > 0 && queued(position).every((count) => count === 0));
  const since = stillEmpty(new Set(empty), emptySince.get(namespace), now());
  emptySince.set(namespace, since);
  // Its broker may never have been reached, and so has no count.
  const unused = left.filter((position) => answers.used?.has(brokerOf(position)) === false && queued(position).every((count = 0) => count === 0));
  return new Set([...quietPositions(since, now()), ...unused]);
}

/** Whether no relay publishes to the connection any more. */
const hasLeft = (position: number, { lists, faults }: RelayAnswers): boolean =>
  faults.length === 0 &&
  lists.length > 0 &&
  lists.every(({ connections }) => connections.some(({ name, monthlyLimit }) => name === brokerOf(position) && monthlyLimit === 0));

type Writing = {
  readonly namespace: string;
  readonly name: string;
  readonly fileKey: string;
  readonly secret: KubeObject | undefined;
  readonly plan: Plan;
  readonly contention: Contention;
};

/** @returns the Secret after the write, or the contest that forbids the write */
async function writeFile(
  { namespace, name, fileKey, secret, plan, contention }: Writing,
  { cluster, now }: ReconcileContext,
): Promise<{ readonly secret: KubeObject } | { readonly contest: Contest }> {
  const draining = Object.keys(plan.draining).length > 0 ? JSON.stringify(plan.draining) : null;
  const data = { [fileKey]: encode(plan.text) };
  const isSame = secret !== undefined && secretText(secret, fileKey) === plan.text && (annotationOf(secret, 'draining') ?? null) === draining;
  if (isSame) {
    contention.settle(namespace, now());
    return { secret };
  }
  const contest = contention.admit(namespace, plan.text + (draining ?? ''), now());
  if (contest) return { contest };
  if (!secret) {
    const created = await cluster.create(secretResource, { metadata: { namespace, name, annotations: { [annotations.owner]: owner } }, type: 'Opaque', data });
    if (created === 'conflict') throw new Error(`the Secret ${name} has just been made by another writer`);
    return { secret: created };
  }
  const { resourceVersion } = secret.metadata;
  const patched = await cluster.patch(
    secretResource,
    { namespace, name },
    { metadata: { resourceVersion, annotations: { [annotations.draining]: draining } }, data },
  );
  if (!patched) throw new Error(`the Secret ${name} is gone`);
  return { secret: patched };
}

/** The kubelet brings a changed pod its changed Secret within a second, any other pod within a minute or two. */
async function remind(pod: KubeObject, { metadata: { resourceVersion } }: KubeObject, { cluster }: ReconcileContext): Promise<void> {
  if (annotationOf(pod, 'brokersChanged') === resourceVersion) return;
  await cluster.patch(pods, pod.metadata, { metadata: { annotations: { [annotations.brokersChanged]: resourceVersion } } });
}

async function askRelays(
  relays: readonly Pod[],
  { namespace, isDraining }: { readonly namespace: string; readonly isDraining: boolean },
  { cluster, signal }: ReconcileContext,
): Promise<RelayAnswers> {
  const secret = createReader((key) => cluster.get(secretResource, key), namespace);
  const answers = await Promise.all(
    relays.flatMap(({ object, url, token: given }) => {
      if (url === undefined) return [];
      const asked = async () => {
        const token = typeof given === 'object' ? secretText(await secret(given.name), given.key) : given;
        const [first] = token?.split(',') ?? [];
        if (first === undefined) return { answer: { fault: `the operator finds no Broker__AuthToken of pod ${object.metadata.name}` } };
        const asking = { token: first.trim(), signal };
        const used = isDraining ? await usedBrokers(url, asking) : undefined;
        return { answer: await listConnections(url, asking), period: await periodOf(url, asking), used };
      };
      return [asked()];
    }),
  );
  return {
    lists: answers.flatMap(({ answer }) => ('list' in answer ? [answer.list] : [])),
    faults: answers.flatMap(({ answer }) => ('fault' in answer ? [answer.fault] : [])),
    period: answers.find(({ period }) => period !== undefined)?.period,
    used: answers.find(({ used }) => used !== undefined)?.used,
  };
}
