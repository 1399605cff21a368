// Decides what to do for a SecretApplication, from its spec and the present state. Nothing here reads or writes the cluster or the service.
import { slugOf } from '../../secrets/contract.ts';
import type { KeyedSpec, Reason, SecretApplicationSpec } from '../contract.ts';
import { durationMs } from '../specs.ts';

/** The Secret of the application's key. Any writer of Secrets may have written it: it proves nothing but its key. */
export type KeySecret = {
  /** Undefined for a Secret of another program. */
  readonly owner: string | undefined;
  readonly apiKey: string | undefined;
  readonly rotatedAt: Date | undefined;
  /** Set while the key is being replaced. */
  readonly formerKey: string | undefined;
};

export type ObservedApplication = {
  /** The owner of the object's application in the service. */
  readonly owner: string;
  readonly mayAdopt: boolean;
  /** In the service, by the slug. */
  readonly application: { readonly id: string; readonly owner?: string | undefined } | undefined;
};
export type Observed = ObservedApplication & {
  /** The annotation `owner` of the object's Secrets. */
  readonly secretOwner: string;
  readonly keySecret: KeySecret | undefined;
  readonly isKeyAccepted: boolean;
};

type Refuse = { readonly step: 'refuse'; readonly reason: Reason; readonly message: string };
export type ApplicationStep = Refuse | { readonly step: 'create' | 'adopt' | 'keep' };
/** `replace` adds a key beside the former one; `rotate` ends every former one at once. */
export type KeyStep = ApplicationStep | { readonly step: 'replace' | 'rotate' };

export function decideKey(spec: KeyedSpec, observed: Observed, now: Date): KeyStep {
  const { secretOwner, keySecret, isKeyAccepted } = observed;
  const step = decideApplication(spec, observed);
  if (step.step !== 'refuse' && keySecret && keySecret.owner !== secretOwner)
    return { step: 'refuse', reason: 'TargetNotOwned', message: `the Secret ${spec.apiKeySecretRef.name} does not belong to this object and is left as it is` };
  if (step.step !== 'keep') return step;
  if (keySecret?.apiKey === undefined || !isKeyAccepted) return { step: 'rotate' };
  // One rotation at a time: there are two keys at most.
  const isDue = keySecret.formerKey === undefined && rotatesInMs(spec, keySecret.rotatedAt, now) <= 0;
  return isDue ? { step: 'replace' } : step;
}

/** Whether the object may have the application. */
export function decideApplication(spec: SecretApplicationSpec, { owner, mayAdopt, application }: ObservedApplication): ApplicationStep {
  const slug = slugOf(spec.applicationName);
  if (slug === '') return { step: 'refuse', reason: 'ValueRefused', message: 'applicationName must hold a letter a–z or a digit' };
  if (!application) return { step: 'create' };
  if (application.owner === undefined) return decideAdoption(slug, spec, mayAdopt);
  if (application.owner !== owner) {
    const message = `the application ${slug} of the service belongs to another object or cluster; choose another applicationName, or have its owner taken away`;
    return { step: 'refuse', reason: 'Conflict', message };
  }
  return { step: 'keep' };
}

function decideAdoption(slug: string, { existing, apiKeySecretRef }: SecretApplicationSpec, mayAdopt: boolean): ApplicationStep {
  const found = `the service has an application ${slug} without an owner`;
  if (existing === 'Fail')
    return { step: 'refuse', reason: 'Conflict', message: `${found}; existing: Adopt takes it${apiKeySecretRef ? ' and rotates its key' : ''}` };
  if (mayAdopt) return { step: 'adopt' };
  return { step: 'refuse', reason: 'Conflict', message: `${found}, and Operator__AdoptNamespaces of the operator does not have this namespace` };
}

/** Infinity without a time to rotate at. */
export function rotatesInMs({ rotateEvery }: SecretApplicationSpec, rotatedAt: Date | undefined, now: Date): number {
  const everyMs = rotateEvery === undefined ? 0 : durationMs(rotateEvery);
  if (everyMs === 0) return Number.POSITIVE_INFINITY;
  return rotatedAt === undefined ? 0 : rotatedAt.getTime() + everyMs - now.getTime();
}

type Entry = { readonly environment: string; readonly key: string; readonly value: string };
type SecretValue = { readonly environment: string; readonly secret: string; readonly value: string };

/** The spec, with the values of ConfigMaps and Secrets in their places. */
export type Wanted = {
  readonly description: string | undefined;
  /** Names. */
  readonly environments: readonly string[];
  readonly prune: boolean;
  readonly configuration: readonly Entry[];
  readonly secretValues: readonly SecretValue[];
  /** Names of ServiceAccounts of the object's namespace; undefined where they are left as they are. */
  readonly accounts: readonly string[] | undefined;
  /** Entries whose value could not be read; they stay in the service. */
  readonly unread: readonly { readonly environment: string; readonly key: string }[];
};

/** The state in the service. */
export type Contents = {
  readonly name: string;
  readonly description: string | null;
  /** Slugs. */
  readonly environments: readonly string[];
  readonly configuration: readonly (Entry & { readonly description: string | null })[];
  readonly secrets: readonly string[];
  /** The active values of the wanted secrets. */
  readonly values: readonly SecretValue[];
  /** Names of the ServiceAccounts of the object's namespace that are bound to the application. */
  readonly accounts: readonly string[];
};

export type Action =
  | { readonly do: 'describe'; readonly name: string; readonly description: string }
  | { readonly do: 'create-environment'; readonly name: string }
  | { readonly do: 'delete-environment'; readonly slug: string }
  | ({ readonly do: 'create-configuration' | 'update-configuration' } & Entry)
  | { readonly do: 'delete-configuration'; readonly environment: string; readonly key: string }
  | { readonly do: 'create-secret'; readonly secret: string }
  | ({ readonly do: 'set-value' } & SecretValue)
  | { readonly do: 'bind-account' | 'unbind-account'; readonly account: string };

const isSamePlace = (one: { environment: string; key: string }, other: { environment: string; key: string }) =>
  one.environment === other.environment && one.key === other.key;
const isSameValue = (one: SecretValue, other: SecretValue) => one.environment === other.environment && one.secret === other.secret && one.value === other.value;

/** Actions in their order. @param mark the description of the entries that belong to the object */
export function planContents(wanted: Wanted, contents: Contents, mark: string): Action[] {
  const slugs = new Set(['local', ...wanted.environments.map(slugOf)]);
  const present = new Set(contents.environments);
  const secrets = new Set(contents.secrets);
  const missing = wanted.secretValues.filter((each) => !contents.values.some((value) => isSameValue(value, each)));
  return [
    ...describing(wanted, contents),
    ...wanted.environments
      .filter(isFirstOfItsSlug)
      .filter((name) => !present.has(slugOf(name)))
      .map((name): Action => ({ do: 'create-environment', name })),
    ...(wanted.prune ? contents.environments.filter((slug) => !slugs.has(slug)) : []).map((slug): Action => ({ do: 'delete-environment', slug })),
    ...planConfiguration(wanted, contents, mark),
    ...[...new Set(missing.map(({ secret }) => secret))].filter((name) => !secrets.has(name)).map((secret): Action => ({ do: 'create-secret', secret })),
    ...missing.map((each): Action => ({ do: 'set-value', ...each })),
    ...planAccounts(wanted, contents),
  ];
}

function planAccounts({ accounts }: Wanted, { accounts: bound }: Contents): Action[] {
  if (!accounts) return [];
  const [added, left] = [accounts.filter((account) => !bound.includes(account)), bound.filter((account) => !accounts.includes(account))];
  return [...left.map((account): Action => ({ do: 'unbind-account', account })), ...added.map((account): Action => ({ do: 'bind-account', account }))];
}

const isFirstOfItsSlug = (name: string, index: number, names: readonly string[]) => names.findIndex((other) => slugOf(other) === slugOf(name)) === index;

function describing({ description }: Wanted, contents: Contents): Action[] {
  return description === undefined || description === contents.description ? [] : [{ do: 'describe', name: contents.name, description }];
}

function planConfiguration({ configuration, unread }: Wanted, contents: Contents, mark: string): Action[] {
  const writes = configuration.flatMap((entry): Action[] => {
    const found = contents.configuration.find((each) => isSamePlace(each, entry));
    if (!found) return [{ do: 'create-configuration', ...entry }];
    return found.value === entry.value && found.description === mark ? [] : [{ do: 'update-configuration', ...entry }];
  });
  const kept = [...configuration, ...unread];
  const ours = contents.configuration.filter(({ description }) => description === mark);
  const removals = ours.filter((entry) => !kept.some((each) => isSamePlace(each, entry)));
  return [...writes, ...removals.map(({ environment, key }): Action => ({ do: 'delete-configuration', environment, key }))];
}
