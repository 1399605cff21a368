// Brings an application of the secrets service to what a SecretApplication says.
import { Refusal, type ManagementClient } from '../../secrets/client.ts';
import { toError } from '../../platform/errors.ts';
import { slugOf } from '../../secrets/contract.ts';
import type { Key, KubeObject } from '../cluster/cluster.ts';
import type { Contest } from '../contention.ts';
import type { KeyRef } from '../contract.ts';
import type { ReconcileContext } from '../manager.ts';
import { serviceFailure, unlessMissing } from '../secrets-service.ts';
import { configMapResource, configMapText, keyText, secretText } from '../secrets.ts';
import { isInvalid, notReady, ObjectRefused, type Readiness, refusalOf } from '../status.ts';
import { endOwnKeys, isKeyed, keepKey, type Keyed, keepWithoutKey, type Keyless, type Refused, type Subject } from './key.ts';
import { type Action, type Contents, planContents, rotatesInMs, type Wanted } from './reconcile.ts';
import { finished, type Finishing, finishRotation, isLate } from './rotation.ts';

export type Outcome = {
  readonly readiness: Readiness;
  readonly slug?: string;
  readonly applicationId?: string;
  readonly lastRotatedAt?: string | undefined;
  readonly waitsFor?: readonly string[] | undefined;
  readonly againAfterMs: number;
  /** A failure that the object did not cause; it is tried again with growing pauses. */
  readonly failure?: Error;
};

/** The longest time until an edit by hand in the service is corrected, without the change feed. */
const resyncMs = 600_000;

/** @throws ClusterError when the API server does not answer */
export async function keep(subject: Subject, context: ReconcileContext): Promise<Outcome> {
  try {
    const kept = isKeyed(subject) ? await keepKey(subject, context) : await keepWithoutKey(subject, context);
    if ('reason' in kept) return { readiness: notReady(kept.reason, kept.message), againAfterMs: kept.againAfterMs ?? resyncMs };
    const problems = await keepContents(subject, kept, context);
    const rotation = isKeyed(subject) && kept.apiKey !== undefined ? await finishRotation(subject, context, kept) : finished;
    const staying = isKeyed(subject) || problems.length > 0 ? [] : await endOwnKeys(subject, context);
    problems.push(...lateRotation(rotation, kept, context.now()));
    const readiness: Readiness = problems[0]
      ? { isReady: false, reason: problems[0].reason, message: problems.map(({ message }) => message).join('; ') }
      : { isReady: true, reason: 'InSync', message: ['the service has everything', ...notesOn(rotation, staying)].join('; ') };
    const isRotating = rotation.waitsFor.length > 0;
    const rotatesMs = isRotating ? rotation.againAfterMs : rotatesInMs(subject.spec, kept.rotatedAt, context.now());
    const againAfterMs = Math.min(resyncMs, rotatesMs, ...problems.map((problem) => problem.againAfterMs ?? resyncMs));
    return {
      readiness,
      slug: slugOf(subject.spec.applicationName),
      applicationId: kept.id,
      lastRotatedAt: kept.rotatedAt?.toISOString(),
      waitsFor: isRotating ? rotation.waitsFor : undefined,
      againAfterMs,
    };
  } catch (error) {
    const failure = serviceFailure(error) ?? refusalOf(error);
    if (!failure) throw error;
    return { readiness: { ...failure, isReady: false }, againAfterMs: resyncMs, ...(!isInvalid(error) && { failure: toError(error) }) };
  }
}

const formerKeyStays = ({ waitsFor }: Finishing) => `the former key stays valid and waits for ${waitsFor.join(', ')}`;

function notesOn(rotation: Finishing, staying: readonly string[]): string[] {
  return [
    ...(rotation.waitsFor.length > 0 ? [formerKeyStays(rotation)] : []),
    ...rotation.missing.map((name) => `there is no ${name} to roll`),
    ...(staying.length > 0 ? [`keys that the operator did not make, or whose Secret is gone, stay valid: ${staying.join(', ')}`] : []),
  ];
}

function lateRotation(rotation: Finishing, { rotatedAt }: Keyed | Keyless, now: Date): Refused[] {
  const isKept = rotation.waitsFor.length > 0 && rotatedAt !== undefined && isLate(now, rotatedAt);
  return isKept ? [{ reason: 'FormerKeyKept', message: formerKeyStays(rotation), againAfterMs: rotation.againAfterMs }] : [];
}

/** The description of the object's entries in the service; it tells entries that were taken out of the object from those of others. */
const markOf = ({ metadata: { namespace, name } }: KubeObject) => `Kept by SecretApplication ${namespace}/${name}`;

async function readContents(
  { object, spec, service }: Subject,
  { apiKey }: Keyed | Keyless,
  { wanted, signal }: { readonly wanted: Wanted; readonly signal: AbortSignal },
): Promise<Contents> {
  const slug = slugOf(spec.applicationName);
  const management = service.management(signal);
  const [application, environments, configuration, secrets, accounts] = await Promise.all([
    management.application(slug),
    management.environments(slug),
    management.configurations(slug),
    management.secrets(slug),
    wanted.accounts ? management.accounts(slug) : [],
  ]);
  // Values go with a key: the schema refuses them without one.
  const consumer = apiKey === undefined ? undefined : service.consumer(apiKey, signal);
  const values: Contents['values'][number][] = [];
  for (const { environment, secret } of wanted.secretValues) {
    const found = consumer && (await unlessMissing(consumer.secret(secret, environment)));
    if (found) values.push({ environment, secret, value: found.value });
  }
  return {
    name: application.name,
    description: application.description,
    environments: environments.map((each) => each.slug),
    configuration: configuration.map(({ environmentSlug: environment, key, value, description }) => ({ environment, key, value, description })),
    secrets: secrets.map(({ name }) => name),
    values,
    accounts: accounts.filter(({ namespace }) => namespace === object.metadata.namespace).map(({ name }) => name),
  };
}

async function keepContents(subject: Subject, kept: Keyed | Keyless, context: ReconcileContext): Promise<Refused[]> {
  const { object, spec, service } = subject;
  const slug = slugOf(spec.applicationName);
  const management = service.management(context.signal);
  const { wanted, problems } = await readWanted(subject, context);
  const contents = await readContents(subject, kept, { wanted, signal: context.signal });
  const actions = planContents(wanted, contents, markOf(object));
  const contest = contestOf(subject, actions, context.now());
  if (contest) {
    const message = `another writer changes ${nameOfFirst(actions)}, which was put right ${contest.count} times; it is written once a minute at most`;
    return [{ reason: 'Contested', message, againAfterMs: contest.pauseMs }, ...problems];
  }
  const refused = new Set<string>();
  for (const action of actions) {
    try {
      await apply(action, { slug, namespace: object.metadata.namespace, mark: markOf(object), management });
    } catch (error) {
      if (!(error instanceof Refusal) || error.status >= 500 || error.status === 429 || error.status === 401) throw error;
      refused.add(JSON.stringify(action));
      problems.push({ reason: error.status === 404 ? 'NotFound' : 'ValueRefused', message: `${nameOf(action)}: ${error.message}` });
    }
  }
  subject.refused.set(keyText(object.metadata), refused);
  return problems;
}

/** The same actions again are a restoration, unless the service refused them the last time. */
function contestOf({ object, contention, refused }: Subject, actions: readonly Action[], now: Date): Contest | undefined {
  const key = keyText(object.metadata);
  const done = actions.map((action) => JSON.stringify(action)).filter((action) => !refused.get(key)?.has(action));
  if (done.length === 0) return void contention.settle(`${key} contents`, now);
  return contention.admit(`${key} contents`, done.join(), now);
}

const nameOfFirst = ([first]: readonly Action[]): string => (first ? nameOf(first) : 'the contents');

function nameOf(action: Action): string {
  if ('key' in action) return `configuration ${action.environment} ${action.key}`;
  if ('secret' in action) return `secret ${action.secret}`;
  if ('account' in action) return `ServiceAccount ${action.account}`;
  return 'slug' in action ? `environment ${action.slug}` : action.name;
}

const notBound = 'serviceAccounts are not bound: Operator__ServiceAccounts of the operator is off';

/** The spec with the values of ConfigMaps and Secrets in their places, and a problem for each value that is missing. */
async function readWanted(
  { object, spec, bindsAccounts }: Subject,
  { cluster, readSecret }: ReconcileContext,
): Promise<{ wanted: Wanted; problems: Refused[] }> {
  const { namespace } = object.metadata;
  const configMapRefs = spec.configuration.flatMap(({ valueFrom }) => valueFrom?.configMapKeyRef ?? []);
  const inConfigMaps = await readTexts(configMapRefs, namespace, { get: (key) => cluster.get(configMapResource, key), textOf: configMapText });
  const secretRefs = spec.secretValues.map(({ valueFrom }) => valueFrom.secretKeyRef);
  const inSecrets = await readTexts(secretRefs, namespace, { get: readSecret, textOf: secretText });
  const problems: Refused[] = [];
  const missing = (kind: string, { name, key }: KeyRef) =>
    void problems.push({ reason: 'ValueMissing', message: `there is no ${kind} ${name} with a text at ${key}` });
  const configuration: Wanted['configuration'][number][] = [];
  const unread: Wanted['unread'][number][] = [];
  for (const { environment, key, value, valueFrom } of spec.configuration) {
    const ref = valueFrom?.configMapKeyRef;
    const read = ref ? inConfigMaps.get(placeOf(ref)) : value;
    if (read !== undefined) configuration.push({ environment, key, value: read });
    else if (ref) {
      missing('ConfigMap', ref);
      unread.push({ environment, key });
    }
  }
  const secretValues: Wanted['secretValues'][number][] = [];
  for (const { environment, secret: name, valueFrom } of spec.secretValues) {
    const value = inSecrets.get(placeOf(valueFrom.secretKeyRef));
    if (value === undefined) missing('Secret', valueFrom.secretKeyRef);
    else secretValues.push({ environment, secret: name, value });
  }
  const { description, environments, prune, serviceAccounts } = spec;
  if (!bindsAccounts && serviceAccounts !== undefined && serviceAccounts.length > 0) problems.push({ reason: 'ValueRefused', message: notBound });
  const accounts = bindsAccounts ? serviceAccounts : undefined;
  return { wanted: { description, environments, prune, configuration, unread, secretValues, accounts }, problems };
}

/** An object can name 1000 ConfigMaps of 1 MiB each. */
const maxTextBytes = 4 * 1024 * 1024;
const placeOf = ({ name, key }: KeyRef) => `${name}/${key}`;

type Reading = {
  readonly get: (key: Key) => Promise<KubeObject | undefined>;
  readonly textOf: (object: KubeObject | undefined, key: string) => string | undefined;
};

/** Texts by `placeOf`; each object is read once, one after the other, and not kept. @throws ObjectRefused above the limit */
async function readTexts(refs: readonly KeyRef[], namespace: string, { get, textOf }: Reading): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  let bytes = 0;
  for (const [name, named] of Map.groupBy(refs, (ref) => ref.name)) {
    const object = await get({ namespace, name });
    for (const ref of named) {
      const text = textOf(object, ref.key);
      if (text === undefined || texts.has(placeOf(ref))) continue;
      texts.set(placeOf(ref), text);
      bytes += Buffer.byteLength(text);
    }
    if (bytes > maxTextBytes) throw new ObjectRefused(`the values that it names hold more than ${maxTextBytes} bytes`);
  }
  return texts;
}

type Applying = { readonly slug: string; readonly namespace: string; readonly mark: string; readonly management: ManagementClient };

async function apply(action: Action, { slug, namespace, mark, management }: Applying): Promise<unknown> {
  switch (action.do) {
    case 'describe':
      return management.updateApplication(slug, { name: action.name, description: action.description });
    case 'create-environment':
      return management.createEnvironment(slug, { name: action.name });
    case 'delete-environment':
      return management.deleteEnvironment(slug, action.slug);
    case 'create-configuration':
      return management.createConfiguration(slug, { environmentSlug: action.environment, key: action.key, value: action.value, description: mark });
    case 'update-configuration':
      return management.updateConfiguration(slug, { environmentSlug: action.environment, key: action.key, value: action.value, description: mark });
    case 'delete-configuration':
      return management.deleteConfiguration(slug, { environmentSlug: action.environment, key: action.key });
    case 'create-secret':
      return management.createSecret(slug, { name: action.secret });
    case 'set-value':
      return management.setValues(slug, action.secret, [{ environmentSlug: action.environment, value: action.value }]);
    case 'bind-account':
      return management.bindAccount(slug, { namespace, name: action.account });
    case 'unbind-account':
      return unlessMissing(management.unbindAccount(slug, { namespace, name: action.account }));
  }
}
