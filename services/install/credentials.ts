// `signalbox credentials`: what a fresh installation needs once, in a Secret of the cluster. What is there is never changed.
import type { Deployable } from '../platform/process/deployable.ts';
import { describeClusterError, findCluster, isClusterUnavailable, isForbidden } from './cluster.ts';
import { type ClusterSecret, createClusterSecret } from './cluster-secret.ts';
import { generatedCredentials } from './generated.ts';
import { patiently } from './patience.ts';

type Labels = Readonly<Record<string, string>>;

export type CredentialsCommand = {
  /** The Secret's name. */
  readonly secret: string;
  /** That of the pod, or of the kubeconfig's context, unless given. */
  readonly namespace?: string;
  /** For a Secret that is created. */
  readonly labels: Labels;
  /** How long an API server that does not answer is asked again. */
  readonly waitMs: number;
  readonly print: (text: string) => void;
  readonly writeError: (text: string) => void;
};

/** Prints a line for each key, never a value. @throws Error that says in words what the cluster refuses */
export async function credentials(command: CredentialsCommand, deployables: readonly Deployable[]): Promise<void> {
  const { config, namespace: home } = findCluster();
  const { secret: name, namespace = home, labels, waitMs, print, writeError } = command;
  const secret = createClusterSecret(config, { name, namespace });
  const makers = generatedCredentials(deployables);
  try {
    const say = (reason: string) => writeError(`waiting for the API server: ${reason}`);
    const patience = { waitMs, isTemporary: isClusterUnavailable, describe: describeClusterError, say };
    const states = await patiently(patience, () => complete(secret, makers, labels));
    for (const [key, state] of states) print(`${state.padEnd(8)} ${key}\n`);
  } catch (error) {
    const needs = `needed in namespace ${namespace}: create for secrets; get and patch for secret ${name}`;
    const reason = `${describeClusterError(error)}${isForbidden(error) ? `\n${needs}` : ''}`;
    throw new Error(`the credentials are not in Secret ${name} of namespace ${namespace}: ${reason}`, { cause: error });
  }
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
    const isWritten = missing.length === 0 || (found ? await secret.add(made, found) : await secret.create(made, labels));
    if (isWritten) return [...makers.keys()].map((key) => [key, key in made ? 'created' : found?.keys.get(key) === true ? 'kept' : 'EMPTY']);
  }
  throw new Error(`it was changed by somebody else ${attempts} times while keys were to be added`);
}
