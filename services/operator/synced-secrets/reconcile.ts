// Decides the content of a SyncedSecret's target, and the patch of the target. Nothing here reads or writes the cluster or the service.
import { createHmac } from 'node:crypto';
import { annotations, type SyncedSecretSpec } from '../contract.ts';
import { encode } from '../secrets.ts';
import { fill, parseTemplate, type Placeholder, placeholdersOf, TemplateError } from './template.ts';

/** Values of the secrets service, by name. */
export type Read = {
  readonly secrets: ReadonlyMap<string, { readonly value: string; readonly version: number }>;
  readonly configuration: ReadonlyMap<string, string>;
};

/** A key of the target, and the parts of its value. */
type Source = { readonly key: string; readonly parts: ReturnType<typeof parseTemplate>; readonly decode?: 'Base64' | undefined };

/** Each is a read, and templates of 1 MiB can name a hundred thousand. */
const maxSecrets = 1000;

/** @throws TemplateError naming the template and its line */
export function sourcesOf({ data, template }: SyncedSecretSpec): Source[] {
  const direct = data.map(({ key, secret, configuration, decode }): Source => {
    const place: Placeholder = secret === undefined ? { kind: 'configuration', name: configuration ?? '' } : { kind: 'secret', name: secret };
    return { key, parts: [place], decode };
  });
  const filled = Object.entries(template).map(([key, text]): Source => {
    try {
      return { key, parts: parseTemplate(text) };
    } catch (error) {
      throw error instanceof TemplateError ? new TemplateError(`template ${key}, ${error.message}`) : error;
    }
  });
  const twice = filled.find(({ key }) => data.some((entry) => entry.key === key));
  if (twice) throw new TemplateError(`${twice.key} stands in data and in template`);
  const sources = [...direct, ...filled];
  const count = namesIn(sources, 'secret').length;
  if (count > maxSecrets) throw new TemplateError(`data and template name ${count} secrets, more than ${maxSecrets}`);
  return sources;
}

/** Names, each once. */
export const namesIn = (sources: readonly Source[], kind: Placeholder['kind']): string[] => [
  ...new Set(sources.flatMap(({ parts }) => placeholdersOf(parts).filter((place) => place.kind === kind)).map(({ name }) => name)),
];

/** Kubernetes takes no larger Secret. */
export const maxTargetBytes = 1024 * 1024;

export type Composed =
  | { readonly data: Readonly<Record<string, string>> }
  | { readonly missing: readonly string[] }
  | { readonly bytes: number }
  | { readonly undecodable: readonly string[] };

/** The target's data in base64; else the names that are not in the service, the size where that is above the limit, or the keys that are not base64. */
export function compose(sources: readonly Source[], { secrets, configuration }: Read): Composed {
  const missing = [
    ...namesIn(sources, 'secret').filter((name) => !secrets.has(name)),
    ...namesIn(sources, 'configuration')
      .filter((name) => !configuration.has(name))
      .map((name) => `configuration ${name}`),
  ];
  if (missing.length > 0) return { missing };
  const value = ({ kind, name }: Placeholder) => (kind === 'secret' ? secrets.get(name)?.value : configuration.get(name)) ?? '';
  // A template of 18 KB can name a value of 64 KB 1500 times: its size is known before it is filled.
  const bytesOf = new Map<string, number>();
  const sizeOf = (part: string | Placeholder): number => {
    if (typeof part === 'string') return Buffer.byteLength(part);
    const name = `${part.kind} ${part.name}`;
    const known = bytesOf.get(name) ?? Buffer.byteLength(value(part));
    bytesOf.set(name, known);
    return known;
  };
  const bytes = sources.reduce((sum, { parts }) => sum + parts.reduce((size, part) => size + sizeOf(part), 0), 0);
  if (bytes > maxTargetBytes) return { bytes };
  const encoded = sources.map(({ key, parts, decode }) => {
    const text = fill(parts, value);
    return [key, decode === 'Base64' ? readBase64(text) : encode(text)] as const;
  });
  const undecodable = encoded.flatMap(([key, text]) => (text === undefined ? [key] : []));
  if (undecodable.length > 0) return { undecodable };
  return { data: Object.fromEntries(encoded.flatMap(([key, text]) => (text === undefined ? [] : [[key, text]]))) };
}

/** Base64 without white space, as a Secret holds it; undefined for another text, which Node would decode as far as it can. */
function readBase64(text: string): string | undefined {
  const plain = text.replace(/\s+/g, '');
  return Buffer.from(plain, 'base64').toString('base64').replace(/=+$/, '') === plain.replace(/=+$/, '')
    ? Buffer.from(plain, 'base64').toString('base64')
    : undefined;
}

/** A hash from which a value cannot be guessed without the salt. */
export const contentHash = (data: Readonly<Record<string, string>>, salt: string): string =>
  createHmac('sha256', salt)
    .update(JSON.stringify(Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1))))
    .digest('hex')
    .slice(0, 32);

type Texts = Readonly<Record<string, string>>;
export type Target = {
  readonly resourceVersion: string;
  readonly data: Texts;
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly isOwnedBy: boolean;
};
type Wished = {
  readonly data: Texts;
  readonly mergePolicy: SyncedSecretSpec['target']['mergePolicy'];
  readonly hash: string;
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly ownerReference: object | undefined;
};

const differs = (present: Texts, wished: Texts) => Object.entries(wished).some(([key, value]) => present[key] !== value);

/** A merge patch after which the Secret holds the data, and with `Replace` nothing else; undefined when it does already. A newer version of another writer makes the API server refuse it. */
export function planTarget(target: Target, { data, mergePolicy, hash, labels, annotations: noted, ownerReference }: Wished, now: Date): object | undefined {
  const hasChanged = target.annotations[annotations.contentHash] !== hash;
  const stamps = { [annotations.contentHash]: hash, ...(hasChanged && { [annotations.contentChangedAt]: now.toISOString() }) };
  const extra = mergePolicy === 'Merge' ? [] : Object.keys(target.data).filter((key) => !Object.hasOwn(data, key));
  const wishedNotes = { ...noted, ...stamps };
  const isAsWished =
    !differs(target.data, data) &&
    extra.length === 0 &&
    !differs(target.labels, labels) &&
    !differs(target.annotations, wishedNotes) &&
    target.isOwnedBy === (ownerReference !== undefined);
  if (isAsWished) return undefined;
  const { resourceVersion } = target;
  const metadata = { resourceVersion, labels, annotations: wishedNotes, ownerReferences: ownerReference ? [ownerReference] : [] };
  return { metadata, data: { ...data, ...Object.fromEntries(extra.map((key) => [key, null])) } };
}
