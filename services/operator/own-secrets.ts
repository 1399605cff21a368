// Which Secrets the operator reads and writes for an object: none of its own, and none of a type that Kubernetes acts on.
import type { Cluster, Key, KubeObject } from './cluster/cluster.ts';
import { isUsableType } from './contract.ts';
import { encodedData, secretResource } from './secrets.ts';
import { ObjectRefused } from './status.ts';

export type OwnSecrets = {
  /** The Secret of the administrator's token, by place: an object must not make it anew where it was deleted. */
  readonly place: Key | undefined;
  /** The administrator's tokens. */
  readonly tokens: readonly string[];
};

/** Reads a Secret that an object names. Undefined when there is none. @throws ObjectRefused for a Secret that no object may name */
export type ReadSecret = (key: Key) => Promise<KubeObject | undefined>;

export function createSecretReader(cluster: Cluster, { place, tokens }: OwnSecrets): ReadSecret {
  return async ({ namespace, name }) => {
    if (place?.namespace === namespace && place.name === name) throw new ObjectRefused(`the Secret ${name} is the operator's own`);
    const secret = await cluster.get(secretResource, { namespace, name });
    const type = secret?.['type'];
    if (typeof type === 'string' && !isUsableType(type)) throw new ObjectRefused(`the Secret ${name} has the type ${type}, which no object may use`);
    // In every namespace: the token opens every application.
    if (secret && tokens.some((token) => holds(secret, token))) throw new ObjectRefused(`the Secret ${name} holds a token of the administrator`);
    return secret;
  };
}

const holds = (secret: KubeObject, token: string): boolean =>
  Object.values(encodedData(secret)).some((value) => Buffer.from(value, 'base64').toString('utf8').includes(token));
