// Reads of secrets for an application, whatever the wire form: the key is checked, the value is opened, and each read is counted and recorded.
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { Common } from '../../platform/problem.ts';
import { type Action, type Audit, createEntry, type Outcome } from '../audit.ts';
import { unkept } from '../contract.ts';
import type { ConsumerSecret, SecretProperties } from './contract.ts';
import { dateOf, openValue, SealBroken } from '../encryption/envelope.ts';
import type { KeyCheck } from '../encryption/key-check.ts';
import type { Keyring } from '../encryption/master-keys.ts';
import { type AccountTokens, isToken } from './account-tokens.ts';
import { type ActiveVersion, type ConsumerStore, hashOfAccount, hashOfKey, type ListedRow, type NothingFound, type SecretRow } from './store.ts';
import type { KeyUses } from './uses.ts';

export type ReaderParts = {
  readonly store: ConsumerStore;
  /** Undefined where applications have keys only. */
  readonly tokens: AccountTokens | undefined;
  readonly keyUses: Pick<KeyUses, 'note' | 'noteRead'>;
  readonly keyring: Keyring;
  readonly keyCheck: Pick<KeyCheck, 'state'>;
  readonly audit: Pick<Audit, 'record' | 'hasRoom'>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: () => Date;
};

type Asked = { readonly keyHash: Buffer; readonly environment: string; readonly requestId: string };
export type SecretAsked = Asked & { readonly name: string; /** Default: the newest that is active. */ readonly version?: number };
export type PageAsked = Asked & {
  /** The name that the page begins behind. */
  readonly after?: string;
  /** Only names that begin so. */
  readonly prefix?: string;
  readonly limit: number;
  readonly withValues: boolean;
};

export type ListedSecret = { readonly name: string; readonly value?: string; readonly properties: SecretProperties };
export type SecretPage = {
  readonly items: readonly ListedSecret[];
  /** The name to go on behind; undefined on the last page. */
  readonly next: string | undefined;
};

// A cache may keep a 404 by itself, RFC 9110 section 15.5.5, and would answer it after the value is there, to others, too.
export const notFound = () => Common.notFound({ headers: unkept });
const unavailable = () => Common.unavailable({ headers: { 'Retry-After': '5' } });

/** The reason for the audit; the application gets one 404 for all of them. */
function missingOf({ environmentId, secretId }: NothingFound): string {
  if (environmentId === null) return 'No such environment';
  return secretId === null ? 'No such secret' : 'No active version';
}

export type SecretReader = ReturnType<typeof createSecretReader>;

export function createSecretReader(parts: ReaderParts) {
  const { store, tokens, keyUses, audit, metrics, clock } = parts;
  const counted = metrics.counter({
    name: 'signalbox_secrets_reads_total',
    help: 'Reads of a secret by an application, by outcome',
    labels: ['outcome'],
    series: [{ outcome: 'refused' }],
  });
  const reveal = createRevealer(parts);

  type Recorded = {
    readonly action: Action;
    readonly subject: string | null;
    readonly version: number | null;
    readonly outcome: Outcome;
    readonly detail?: string;
  };
  function record(row: SecretRow | ListedRow, asked: Asked, { action, subject, ...ending }: Recorded): void {
    if (action === 'secret.read') counted.inc({ outcome: ending.outcome });
    const keyId = row.account === null ? row.keyId : `account ${row.account}`;
    const actor = { plane: 'consumer', keyId, requestId: asked.requestId } as const;
    const target = { action, application: row.application, environment: asked.environment, subject } as const;
    audit.record(createEntry(actor, target, { occurredAt: clock(), applicationId: row.applicationId, ...ending }));
  }

  /** @throws Problem 503 or 500, and records that */
  async function open(name: string, row: SecretRow & ActiveVersion, asked: Asked): Promise<string> {
    const revealed = await reveal(row);
    if ('value' in revealed) return revealed.value;
    record(row, asked, { action: 'secret.read', subject: name, version: row.version, outcome: revealed.outcome });
    throw revealed.outcome === 'unavailable' ? unavailable() : Common.failure();
  }

  function recordServed(name: string, row: SecretRow & ActiveVersion, asked: Asked): void {
    record(row, asked, { action: 'secret.read', subject: name, version: row.version, outcome: 'done' });
    keyUses.noteRead(row.secretId, row.askedId, clock());
  }

  return {
    takesTokens: tokens !== undefined,

    hashOf: createHashOf(tokens),

    /** Undefined when no application has the key. */
    async keyIdOf(keyHash: Buffer): Promise<string | undefined> {
      const id = await store.keyIdOf(keyHash);
      if (id !== undefined) keyUses.note(id, clock());
      return id;
    },

    /** The slugs of its environments. Undefined when no application has the key. */
    environmentsOf: store.environmentsOf,

    /** Undefined when no application has the key. @throws Problem 404, whatever is missing */
    async read(asked: SecretAsked): Promise<ConsumerSecret | undefined> {
      const { keyHash, environment, name, version } = asked;
      const row = await store.findSecret(keyHash, environment, name, version);
      if (!row) return undefined;
      keyUses.note(row.keyId, clock());
      if (!audit.hasRoom) throw unavailable();
      if (row.versionId === null) {
        record(row, asked, { action: 'secret.read', subject: name, version: null, outcome: 'not-found', detail: missingOf(row) });
        throw notFound();
      }
      const value = await open(name, row, asked);
      recordServed(name, row, asked);
      return { name, value, properties: propertiesOf(row) };
    },

    /** Secrets that are served in an environment, by name. Undefined when no application has the key. @throws Problem 404 where there is no such environment */
    async page(asked: PageAsked): Promise<SecretPage | undefined> {
      const { after = '', prefix = '', limit } = asked;
      const rows = await store.listSecrets({ ...asked, after, prefix, limit: limit + 1 });
      const [first] = rows;
      if (!first) return undefined;
      keyUses.note(first.keyId, clock());
      if (!audit.hasRoom) throw unavailable();
      if (first.environmentId === null) {
        record(first, asked, { action: 'secret.list', subject: null, version: null, outcome: 'not-found', detail: 'No such environment' });
        throw notFound();
      }
      const found = rows.filter((row) => row.name !== null);
      const served = found.slice(0, limit).filter(({ fits }) => fits);
      if (!asked.withValues) record(first, asked, { action: 'secret.list', subject: null, version: null, outcome: 'done' });
      const items: ListedSecret[] = [];
      for (const row of served) {
        const { name } = row;
        items.push({ name, ...(asked.withValues && { value: await open(name, row, asked) }), properties: propertiesOf(row) });
      }
      // Where one value is broken none is answered, and none was read.
      if (asked.withValues) for (const row of served) recordServed(row.name, row, asked);
      return { items, next: served.length < found.length ? served.at(-1)?.name : undefined };
    },
  };
}

/**
 * The hash that a key, or the ServiceAccount of a token, is found by. Undefined for no credential, and for a token that is not valid.
 * @throws Problem 503 when a token cannot be checked
 */
const createHashOf =
  (tokens: AccountTokens | undefined) =>
  async (credential: string): Promise<Buffer | undefined> => {
    if (credential === '') return undefined;
    if (!tokens || !isToken(credential)) return hashOfKey(credential);
    const account = await tokens.accountOf(credential);
    return account === undefined ? undefined : hashOfAccount(account);
  };

/** Opens values: gives the value, or why it is not served. */
function createRevealer({ keyring, keyCheck, log }: Pick<ReaderParts, 'keyring' | 'keyCheck' | 'log'>) {
  return async (found: ActiveVersion): Promise<{ value: string } | { outcome: 'unavailable' | 'refused' }> => {
    const master = keyring.byId.get(found.masterKeyId);
    if (!master) return { outcome: 'unavailable' };
    try {
      return { value: openValue(found, found, master) };
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      // Under a wrong master key every seal is broken; that is no tampering.
      const { ok } = await keyCheck.state();
      if (!ok) return { outcome: 'unavailable' };
      log.error({ versionId: found.versionId }, 'stored value failed authentication, not served: it was changed or moved');
      return { outcome: 'refused' };
    }
  };
}

export const inherited = (inheritedFrom: string | null) => inheritedFrom !== null && { inheritedFrom };

const propertiesOf = ({ isEnabled, expiresAt, notBefore, version, createdAt, inheritedFrom }: ActiveVersion): SecretProperties => ({
  enabled: isEnabled,
  expiresOn: expiresAt && dateOf(expiresAt),
  notBefore: notBefore && dateOf(notBefore),
  version,
  createdOn: dateOf(createdAt),
  // Neither the value nor the times of a version change.
  updatedOn: null,
  ...inherited(inheritedFrom),
});
