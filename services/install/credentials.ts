// `signalbox credentials`: creates the credentials of an installation in a Secret of the cluster. Existing values are never changed.
import { stringify } from 'yaml';
import type { Deployable } from '../platform/process/deployable.ts';
import { generators, randomCredential } from '../platform/config/settings.ts';
import { retryUntil } from '../platform/time.ts';
import { type ClusterSecret, createClusterSecret, describeClusterError, isClusterUnavailable, isForbidden } from './cluster.ts';
import { findCluster } from '../platform/kubernetes.ts';

type Labels = Readonly<Record<string, string>>;

type CredentialsCommand = {
  /** The Secret's name. */
  readonly secret: string;
  /** Default: the namespace of the pod, or of the kubeconfig's context. */
  readonly namespace?: string;
  /** For a Secret that is created. */
  readonly labels: Labels;
  readonly print: (text: string) => void;
  readonly writeError: (text: string) => void;
};

/** How long an API server that does not answer is asked again. */
const waitMs = 60_000;

/** Prints a line for each key, never a value. @throws Error that says in words what the cluster refuses */
export async function credentials(command: CredentialsCommand, deployables: readonly Deployable[]): Promise<void> {
  const { config, namespace: home } = findCluster();
  const { secret: name, namespace = home, labels, print, writeError } = command;
  const secret = createClusterSecret(config, { name, namespace });
  const makers = generatedCredentials(deployables);
  try {
    const onWait = (reason: string) => writeError(`waiting for the API server: ${reason}`);
    const retry = { timeoutMs: waitMs, isTemporary: isClusterUnavailable, describe: describeClusterError, onWait };
    const states = await retryUntil(retry, () => complete(secret, makers, labels));
    for (const [key, state] of states) print(`${state.padEnd(8)} ${key}\n`);
  } catch (error) {
    const needs = `needed in namespace ${namespace}: create for secrets; get and patch for secret ${name}`;
    const reason = `${describeClusterError(error)}${isForbidden(error) ? `\n${needs}` : ''}`;
    throw new Error(`the credentials are not in Secret ${name} of namespace ${namespace}: ${reason}`, { cause: error });
  }
}

/** Tools that remove objects without a manifest (Helm, a pruned or deleted application of Argo CD) keep the Secret: the master keys would be lost with it. */
const kept = {
  'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
  'helm.sh/resource-policy': 'keep',
};

type Manifest = Pick<CredentialsCommand, 'secret' | 'namespace' | 'labels'>;

/** The Secret as YAML with new values, for a repository that seals it: another one each time. Asks no cluster. */
export function credentialsManifest({ secret: name, namespace, labels }: Manifest, deployables: readonly Deployable[]): string {
  const metadata = { name, ...(namespace !== undefined && { namespace }), labels, annotations: kept };
  const stringData = Object.fromEntries([...generatedCredentials(deployables)].map(([key, make]) => [key, make()]));
  return stringify({ apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', stringData });
}

type State = 'created' | 'kept' | 'EMPTY';
type Makers = ReadonlyMap<string, () => string>;

const attempts = 20;

/** Two at once end with the same values: the one that comes later finds what the other one has written. */
async function complete(secret: ClusterSecret, makers: Makers, labels: Labels): Promise<[key: string, State][]> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const found = await secret.find();
    const missing = [...makers].filter(([key]) => !found?.keys.has(key));
    const made = Object.fromEntries(missing.map(([key, make]) => [key, make()]));
    const isWritten = missing.length === 0 || (found ? await secret.add(made, found) : await secret.create(made, { labels, annotations: kept }));
    if (isWritten) return [...makers.keys()].map((key) => [key, key in made ? 'created' : found?.keys.get(key) === true ? 'kept' : 'EMPTY']);
  }
  throw new Error(`another client changed it ${attempts} times while keys were to be added`);
}

const rabbitmqUsers = ['rabbitmq-password', 'rabbitmq-relay-password', 'rabbitmq-intake-password', 'rabbitmq-digest-password'];
/** The servers' own, made whatever is switched on: what is switched on later finds them. */
const ofServers = [
  'postgres-admin-password',
  'postgres-backup-password',
  'postgres-broker-password',
  ...rabbitmqUsers,
  'rabbitmq-erlang-cookie',
  'redis-password',
];

/** Which credentials a fresh installation needs: key → its maker. Every value is of A–Z, a–z, 0–9, - and _ unless a setting has a shape of its own: it may stand in a URL. */
export function generatedCredentials(deployables: readonly Pick<Deployable, 'settings' | 'migrations'>[]): ReadonlyMap<string, () => string> {
  const passwords = [...ofServers, ...deployables.map(({ migrations }) => `postgres-${migrations.schema}-password`)];
  return new Map([...passwords.map((name) => [name, randomCredential] as const), ...generators(deployables.map(({ settings }) => settings))]);
}
