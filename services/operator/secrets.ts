// Secrets and ConfigMaps of the cluster as the controllers read and write them.
import { z } from 'zod';
import type { Key, KubeObject, Resource } from './cluster/cluster.ts';
import { annotations, apiVersion } from './contract.ts';
import { type Kind, kinds } from './definitions.ts';

export const secretResource: Resource = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' };
export const configMapResource: Resource = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' };
export const resourceOf = (kind: Kind): Resource => ({ apiVersion, kind, plural: kinds[kind].plural });

const Texts = z.record(z.string(), z.string()).catch({});

/** Undefined for what every object inherits, too: a key may be named `constructor`. */
const textAt = (texts: Readonly<Record<string, string>>, key: string): string | undefined => (Object.hasOwn(texts, key) ? texts[key] : undefined);

/** The data in base64. */
export const encodedData = (secret: KubeObject): Readonly<Record<string, string>> => Texts.parse(secret['data'] ?? {});
export const encode = (value: string): string => Buffer.from(value).toString('base64');

/** Undefined when the key is missing, empty, or not text. */
export function secretText(secret: KubeObject | undefined, key: string): string | undefined {
  const encoded = secret && textAt(encodedData(secret), key);
  if (!encoded) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  const text = bytes.toString('utf8');
  return bytes.equals(Buffer.from(text)) ? text : undefined;
}

export const configMapText = (configMap: KubeObject | undefined, key: string): string | undefined => textAt(Texts.parse(configMap?.['data'] ?? {}), key);

export const annotationOf = (object: KubeObject | undefined, name: keyof typeof annotations): string | undefined =>
  object?.metadata.annotations?.[annotations[name]];

export const keyText = ({ namespace, name }: Key): string => `${namespace}/${name}`;
export function keyOf(text: string): Key {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** The value of `annotations.owner` on a Secret that belongs to the object. */
export const ownerOf = (kind: Kind, name: string): string => `${kind}/${name}`;

/** The name of the object that a Secret belongs to by its annotation; undefined for another kind. */
export function ownerNameOf(secret: KubeObject, kind: Kind): string | undefined {
  const [owner, name] = annotationOf(secret, 'owner')?.split('/') ?? [];
  return owner === kind ? name : undefined;
}

/** Recognises events of the operator's own writes, which need no reconcile. */
export function createOwnWrites() {
  const versions = new Map<string, string>();
  return {
    note({ metadata }: KubeObject): void {
      versions.set(keyText(metadata), metadata.resourceVersion);
    },
    isOwn({ metadata }: KubeObject, isGone: boolean): boolean {
      const isOwn = !isGone && versions.get(keyText(metadata)) === metadata.resourceVersion;
      if (isGone) versions.delete(keyText(metadata));
      return isOwn;
    },
  };
}
export type OwnWrites = ReturnType<typeof createOwnWrites>;

/** Reads each object of a namespace once. */
export function createReader(get: (key: Key) => Promise<KubeObject | undefined>, namespace: string) {
  const read = new Map<string, Promise<KubeObject | undefined>>();
  return (name: string): Promise<KubeObject | undefined> => {
    const found = read.get(name) ?? get({ namespace, name });
    read.set(name, found);
    return found;
  };
}
