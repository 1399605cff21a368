// All SQL of the consumer plane. Keys of applications are kept as hashes only; each statement checks the key: no row means that no application has it.
import { hash } from 'node:crypto';
import { createBatcher, sharedReads } from '../../platform/batches.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { AadFields, Envelope } from '../encryption/envelope.ts';

/** A fast hash is enough: 160 random bits cannot be guessed. */
export const hashOfKey = (plain: string): Buffer => hash('sha256', plain, 'buffer');

/** The application that has the key. */
type Holder = { readonly applicationId: string; readonly application: string; readonly keyId: string };

/** A secret's newest active version, ready to be opened. */
export type ActiveVersion = AadFields & Envelope & Inherited;
/** Null where the environment has it itself. */
type Inherited = { readonly inheritedFrom: string | null };
/** A part that was not found is null. */
export type NothingFound = { readonly environmentId: string | null; readonly secretId: string | null; readonly versionId: null; readonly version: null };

export type SecretRow = Holder & (ActiveVersion | NothingFound);

type Question = readonly [keyHash: Buffer, environment: string, name: string];

// Times come as Postgres stores them: they are bound to the ciphertext to the microsecond.
// The versions are joined last and by themselves, so that their index is walked from the newest down to the first active one.
const findSecrets = statement<SecretRow & { readonly place: number }, [keyHashes: Buffer[], environments: string[], names: string[], now: Date]>(
  'consumer.findSecrets',
  `
  select q.place, a.id as "applicationId", a.slug as application, k.id as "keyId", s.id as "secretId", v.*,
         coalesce(v."sourceId", e.id) as "environmentId",
         case when v."sourceId" <> e.id then (select slug from environments where id = v."sourceId") end as "inheritedFrom"
  from unnest($1::bytea[], $2::text[], $3::text[]) with ordinality as q (key_hash, environment, name, place)
  join application_keys k on k.key_hash = q.key_hash and (k.expires_at is null or k.expires_at >= $4)
  join applications a on a.id = k.application_id and a.deleted_at is null
  left join environments e on e.application_id = a.id and e.slug = q.environment
  left join secrets s on s.application_id = a.id and s.name = q.name
  left join lateral (
    select v.id as "versionId", v.environment_id as "sourceId", v.version, v.is_enabled as "isEnabled", timestamptz_send(v.not_before) as "notBefore",
           timestamptz_send(v.expires_at) as "expiresAt", timestamptz_send(v.created_at) as "createdAt",
           v.nonce, v.ciphertext, v.tag, v.wrapped_key as "wrappedKey", v.master_key_id as "masterKeyId"
    from secret_versions v
    where v.secret_id = s.id
      -- A version of its own, active or not, hides those that are inherited: what is disabled must not be replaced by another environment's value.
      and v.environment_id = case when e.inherits_id is null then e.id
        when exists (select 1 from secret_versions own where own.secret_id = s.id and own.environment_id = e.id) then e.id else e.inherits_id end
      and v.is_enabled and (v.not_before is null or v.not_before <= $4) and (v.expires_at is null or v.expires_at >= $4)
    order by v.version desc limit 1
  ) v on true`,
);

/** One entry, or the one row without any that says that the key is valid. */
type ConfigurationRow = Inherited & {
  readonly keyId: string;
  readonly environmentId: string | null;
  readonly key: string | null;
  readonly value: string | null;
};

const inheritedFrom = 'case when c.environment_id <> e.id then (select slug from environments where id = c.environment_id) end as "inheritedFrom"';

const listConfigurations = statement<ConfigurationRow, [keyHash: Buffer, environment: string, now: Date]>(
  'consumer.listConfigurations',
  `
  select k.id as "keyId", e.id as "environmentId", c.key, c.value, ${inheritedFrom}
  from application_keys k join applications a on a.id = k.application_id
  left join environments e on e.application_id = a.id and e.slug = $2
  left join lateral (
    select distinct on (c.key collate "C") c.key, c.value, c.environment_id
    from configurations c where c.environment_id in (e.id, e.inherits_id)
    order by c.key collate "C", c.environment_id = e.id desc
  ) c on true
  where k.key_hash = $1 and (k.expires_at is null or k.expires_at >= $3) and a.deleted_at is null
  order by c.key collate "C"`,
);

const findConfiguration = statement<ConfigurationRow, [keyHash: Buffer, environment: string, key: string, now: Date]>(
  'consumer.findConfiguration',
  `
  select k.id as "keyId", e.id as "environmentId", c.key, c.value, ${inheritedFrom}
  from application_keys k join applications a on a.id = k.application_id
  left join environments e on e.application_id = a.id and e.slug = $2
  left join lateral (
    select c.key, c.value, c.environment_id from configurations c
    where c.environment_id in (e.id, e.inherits_id) and c.key = $3
    order by c.environment_id = e.id desc limit 1
  ) c on true
  where k.key_hash = $1 and (k.expires_at is null or k.expires_at >= $4) and a.deleted_at is null`,
);

const keyIdOf = statement<{ id: string }, [keyHash: Buffer, now: Date]>(
  'consumer.keyIdOf',
  `
  select k.id from application_keys k join applications a on a.id = k.application_id
  where k.key_hash = $1 and (k.expires_at is null or k.expires_at >= $2) and a.deleted_at is null`,
);

export type ConsumerStore = ReturnType<typeof createConsumerStore>;

export function createConsumerStore(database: Database, clock: () => Date) {
  async function findTogether(questions: readonly Question[]): Promise<(SecretRow | undefined)[]> {
    const column = <I extends 0 | 1 | 2>(index: I) => questions.map((question) => question[index]);
    const rows = await database.all(findSecrets, column(0), column(1), column(2), clock());
    const byPlace = new Map(rows.map((row) => [row.place, row]));
    return questions.map((_, index) => byPlace.get(index + 1));
  }
  const findSecret = createBatcher(findTogether, sharedReads);

  return {
    /** Undefined when no application has the key. */
    findSecret: (...question: Question) => findSecret(question),
    /** By key; no row when no application has the key. */
    listConfigurations: (keyHash: Buffer, environment: string) => database.all(listConfigurations, keyHash, environment, clock()),
    /** Undefined when no application has the key. */
    findConfiguration: (keyHash: Buffer, environment: string, key: string) => database.first(findConfiguration, keyHash, environment, key, clock()),
    /** Undefined when no application has the key. */
    keyIdOf: async (keyHash: Buffer) => (await database.first(keyIdOf, keyHash, clock()))?.id,
  };
}
