// Reads Secrets that objects name, except the operator's own, releases of Helm, and those of types that Kubernetes acts on.
import type { Cluster, Key, KubeObject } from './cluster/cluster.ts';
import { isHelmRelease, isUsableType } from './secret-types.ts';
import { encodedData, secretResource } from './secrets.ts';
import { ObjectRefused } from './status.ts';

export type OwnSecrets = {
  /** The place of the Secret with the administrator's token: an object must not create it again after a deletion. */
  readonly place: Key | undefined;
  /** The administrator's tokens. */
  readonly tokens: readonly string[];
};

/** Reads a Secret that an object names. Undefined when there is none. @throws ObjectRefused for a Secret that no object may name */
export type ReadSecret = (key: Key) => Promise<KubeObject | undefined>;

export function createSecretReader(cluster: Cluster, { place, tokens }: OwnSecrets): ReadSecret {
  return async ({ namespace, name }) => {
    if (place?.namespace === namespace && place.name === name) throw new ObjectRefused(`the Secret ${name} is the operator's own`);
    if (isHelmRelease(name)) throw new ObjectRefused(`the Secret ${name} would be a release of Helm`);
    const secret = await cluster.get(secretResource, { namespace, name });
    const type = secret?.['type'];
    if (typeof type === 'string' && !isUsableType(type)) throw new ObjectRefused(`the Secret ${name} has the type ${type}, which no object may use`);
    // Checked in every namespace: the token opens every application.
    if (secret && tokens.some((token) => holds(secret, token))) throw new ObjectRefused(`the Secret ${name} holds a token of the administrator`);
    return secret;
  };
}

const holds = (secret: KubeObject, token: string): boolean =>
  Object.values(encodedData(secret)).some((value) => Buffer.from(value, 'base64').toString('utf8').includes(token));
