// Brings the target of a SyncedSecret to the values of the secrets service, and rolls the workloads that use it.
import { toError } from '../../platform/errors.ts';
import type { ConsumerClient } from '../../secrets/client.ts';
import type { Contest } from '../contention.ts';
import type { SyncedSecretSpec } from '../contract.ts';
import type { ReconcileContext } from '../manager.ts';
import { rollOut, rolloutAnnotation } from '../rollout.ts';
import { serviceFailure, unlessMissing } from '../secrets-service.ts';
import { keyText, secretText } from '../secrets.ts';
import { durationMs } from '../specs.ts';
import { isInvalid, notReady, ObjectRefused, type Readiness, refusalOf } from '../status.ts';
import { generatedOf, generateValues, type GenerateSubject } from './generate.ts';
import { compose, maxTargetBytes, namesIn, type Read, sourcesOf } from './reconcile.ts';
import { removeFormer, type Subject as TargetSubject, targetName, writeTarget } from './target.ts';
import { TemplateError } from './template.ts';

export type Outcome = {
  readonly readiness: Readiness;
  readonly target?: string;
  readonly contentHash?: string;
  readonly versions?: Readonly<Record<string, number>>;
  /** The time of the last change of the content. */
  readonly lastSyncedAt?: string;
  readonly againAfterMs: number;
  /** A failure that the object did not cause; it is tried again with growing pauses. */
  readonly failure?: Error;
};

export type Subject = TargetSubject & GenerateSubject;

const refreshMs = ({ refreshInterval }: SyncedSecretSpec) => Math.max(durationMs(refreshInterval), 1000);

/** @throws ClusterError when the API server does not answer */
export async function sync(subject: Subject, context: ReconcileContext): Promise<Outcome> {
  const fail = (readiness: Readiness, failure?: Error): Outcome => ({ readiness, againAfterMs: refreshMs(subject.spec), ...(failure && { failure }) });
  try {
    const read = await readValues(subject, context);
    if ('readiness' in read) return fail(read.readiness, read.failure);
    return await write(subject, read, context);
  } catch (error) {
    const readiness = refusalOf(error);
    if (!readiness) throw error;
    return fail(readiness, isInvalid(error) ? undefined : toError(error));
  }
}

type Values = { readonly data: Readonly<Record<string, string>>; readonly versions: Readonly<Record<string, number>> };
type Unread = { readonly readiness: Readiness; readonly failure?: Error };

/** The values for the target, or the reason why they are unknown. */
async function readValues(subject: Subject, context: ReconcileContext): Promise<Values | Unread> {
  const { spec, service } = subject;
  const key = await findKey(subject, context);
  if (typeof key !== 'string') return { readiness: key };
  let sources: ReturnType<typeof sourcesOf>;
  let read: Read;
  try {
    sources = sourcesOf(spec);
    const consumer = service.consumer(key, context.signal);
    read = await readService(consumer, sources, spec.environment);
    const without = generatedOf(spec, read.secrets.has.bind(read.secrets));
    if (without.length > 0) {
      const refused = await generateValues(subject, context, without);
      if (refused) return { readiness: refused };
      read = await readService(consumer, sources, spec.environment);
    }
  } catch (error) {
    if (error instanceof TemplateError) return { readiness: notReady('InvalidTemplate', error.message) };
    const failure = serviceFailure(error);
    if (!failure) throw error;
    const readiness = notReady(failure.reason, `${failure.message}; nothing is written to the Secret`);
    return failure.reason === 'ServiceUnavailable' ? { readiness, failure: toError(error) } : { readiness };
  }
  const composed = compose(sources, read);
  if ('bytes' in composed) throw tooLarge(composed.bytes);
  if ('undecodable' in composed)
    return { readiness: notReady('ValueRefused', `the value of ${composed.undecodable.join(', ')} is not base64; nothing is written to the Secret`) };
  if ('missing' in composed)
    return { readiness: notReady('NotFound', `${spec.environment} has no active value of ${composed.missing.join(', ')}; nothing is written to the Secret`) };
  return { data: composed.data, versions: Object.fromEntries([...read.secrets].map(([name, { version }]) => [name, version])) };
}

async function write(subject: Subject, { data, versions }: Values, context: ReconcileContext): Promise<Outcome> {
  const { object, spec } = subject;
  const target = targetName(object, spec);
  const written = await writeTarget(subject, data, context);
  if (written === 'not owned') {
    const message = `the Secret ${target} does not belong to this object or is not of the type ${spec.target.type}, and is left as it is`;
    return { readiness: notReady('TargetNotOwned', message), againAfterMs: refreshMs(spec) };
  }
  if ('pauseMs' in written) return { readiness: contested(target, written), againAfterMs: written.pauseMs };
  await removeFormer(subject, context);
  const { hash, changedAt, writtenAt } = written;
  const annotation = rolloutAnnotation(object.metadata.name, 'content-hash');
  const rolled = await rollOut({ object, workloads: spec.rollout, annotation, content: { hash, changedAt } }, context);
  const count = Object.keys(data).length;
  const message = [`${count} ${count === 1 ? 'key' : 'keys'}`, ...rolled.missing.map((name) => `there is no ${name} to roll`)].join('; ');
  // After a write during a contest: only the pause shows whether the other writer has stopped.
  const contest = subject.contention.contestOf(keyText(object.metadata), context.now());
  const readiness: Readiness = contest ? contested(target, contest) : { isReady: true, reason: 'Synced', message };
  const againAfterMs = contest ? contest.pauseMs : Math.min(refreshMs(spec), rolled.againAfterMs);
  return { readiness, target, contentHash: hash, versions, lastSyncedAt: writtenAt, againAfterMs };
}

/** The message leaves out the time of the next write, which would change the status at each reconcile. */
const contested = (target: string, { count }: Contest) =>
  notReady('Contested', `another writer changes the Secret ${target}, which was restored ${count} times; it is written once a minute at most`);

async function findKey({ object, spec, applicationSpec }: Subject, { readSecret, caches }: ReconcileContext): Promise<string | Readiness> {
  const { namespace } = object.metadata;
  const { applicationRef, apiKeySecretRef } = spec;
  const application = applicationRef && caches['SecretApplication']?.get({ namespace, name: applicationRef.name });
  if (applicationRef && !application) return notReady('ApplicationNotReady', `there is no SecretApplication ${applicationRef.name}`);
  const named = application && applicationSpec(application);
  if (named && !named.apiKeySecretRef)
    return notReady('ApplicationNotReady', `SecretApplication ${application.metadata.name} has no apiKeySecretRef, so no key reads its values`);
  const ref = apiKeySecretRef ?? named?.apiKeySecretRef;
  const key = ref && secretText(await readSecret({ namespace, name: ref.name }), ref.key);
  if (key !== undefined) return key;
  if (applicationRef) return notReady('ApplicationNotReady', `SecretApplication ${applicationRef.name} has no key yet`);
  return notReady('SecretMissing', `there is no Secret ${ref?.name ?? ''} with a text at ${ref?.key ?? ''}`);
}

/** Secrets that are read at once. */
const questions = 8;

/** @param bytes the size at which it was refused */
const tooLarge = (bytes: number) =>
  new ObjectRefused(`the target would hold ${bytes} bytes or more, and a Secret holds ${maxTargetBytes} at most; nothing is written to the Secret`);

/** @throws ObjectRefused as soon as the values are larger than the target can be */
async function readService(client: ConsumerClient, sources: ReturnType<typeof sourcesOf>, environment: string): Promise<Read> {
  const secrets = new Map<string, { value: string; version: number }>();
  let bytes = 0;
  const names = namesIn(sources, 'secret');
  for (let from = 0; from < names.length; from += questions) {
    const batch = names.slice(from, from + questions);
    const answers = await Promise.all(batch.map((name) => unlessMissing(client.secret(name, environment))));
    answers.forEach((answer, index) => answer && secrets.set(batch[index] ?? '', { value: answer.value, version: answer.properties.version }));
    bytes += answers.reduce((sum, answer) => sum + Buffer.byteLength(answer?.value ?? ''), 0);
    if (bytes > maxTargetBytes) throw tooLarge(bytes);
  }
  const keys = new Set(namesIn(sources, 'configuration'));
  const entries = keys.size > 0 ? ((await unlessMissing(client.configurations(environment))) ?? []) : [];
  return { secrets, configuration: new Map(entries.filter(({ key }) => keys.has(key)).map(({ key, value }) => [key, value])) };
}
