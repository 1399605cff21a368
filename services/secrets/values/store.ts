// All SQL of secret versions on the management plane.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { SecretVersion } from '../contract.ts';
import type { Envelope } from '../encryption/envelope.ts';

const list = statement<SecretVersion, [secretId: string, environmentId: string]>(
  'versions.list',
  `
  select id, version, is_enabled as "isEnabled", expires_at as "expiresAt", not_before as "notBefore", created_at as "createdAt"
  from secret_versions where secret_id = $1 and environment_id = $2 order by version desc`,
);

const newest = statement<{ environmentId: string; version: number }, [secretId: string, environmentIds: string[]]>(
  'versions.newest',
  `
  select environment_id as "environmentId", max(version) as version
  from secret_versions where secret_id = $1 and environment_id = any($2::uuid[]) group by environment_id`,
);

export type NewVersion = SecretVersion & { readonly environmentId: string; readonly envelope: Envelope };

type InsertValues = [
  secretId: string,
  ids: string[],
  environmentIds: string[],
  versions: number[],
  areEnabled: boolean[],
  starts: (Date | null)[],
  ends: (Date | null)[],
  createdAt: Date,
  nonces: Buffer[],
  ciphertexts: Buffer[],
  tags: Buffer[],
  wrappedKeys: Buffer[],
  masterKeyIds: string[],
];
const insert = statement<unknown, InsertValues>(
  'versions.insert',
  `
  insert into secret_versions
    (secret_id, id, environment_id, version, is_enabled, not_before, expires_at, created_at, nonce, ciphertext, tag, wrapped_key, master_key_id)
  select $1, id, environment_id, version, is_enabled, not_before, expires_at, $8, nonce, ciphertext, tag, wrapped_key, master_key_id
  from unnest($2::uuid[], $3::uuid[], $4::int[], $5::boolean[], $6::timestamptz[], $7::timestamptz[],
              $9::bytea[], $10::bytea[], $11::bytea[], $12::bytea[], $13::text[])
    as v (id, environment_id, version, is_enabled, not_before, expires_at, nonce, ciphertext, tag, wrapped_key, master_key_id)`,
);

export const createVersionStore = (database: Database) => ({
  /** Newest first. */
  list: (secretId: string, environmentId: string) => database.all(list, secretId, environmentId),
  /** The highest number in each of these environments that has one. */
  newest: async (secretId: string, environmentIds: readonly string[]) => {
    const rows = await database.all(newest, secretId, [...environmentIds]);
    return new Map(rows.map(({ environmentId, version }) => [environmentId, version]));
  },
  insert(secretId: string, createdAt: Date, versions: readonly NewVersion[]) {
    const column = <K extends keyof NewVersion>(key: K) => versions.map((version) => version[key]);
    const sealed = <K extends keyof Envelope>(key: K) => versions.map(({ envelope }) => envelope[key]);
    return database.run(
      insert,
      secretId,
      column('id'),
      column('environmentId'),
      column('version'),
      column('isEnabled'),
      column('notBefore'),
      column('expiresAt'),
      createdAt,
      sealed('nonce'),
      sealed('ciphertext'),
      sealed('tag'),
      sealed('wrappedKey'),
      sealed('masterKeyId'),
    );
  },
});
