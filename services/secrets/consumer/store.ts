// The SQL of reads. Keys of applications are kept as hashes only; each statement checks the key: no row means that no application has it.
import { hash } from 'node:crypto';
import { createBatcher, sharedReads } from '../../platform/batches.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { AadFields, Envelope } from '../encryption/envelope.ts';

/** A fast hash is enough: 160 random bits cannot be guessed. */
export const hashOfKey = (plain: string): Buffer => hash('sha256', plain, 'buffer');

/** A ServiceAccount, as `<namespace>/<name>`, is found like a key. By another function: no text that is sent as a key has this hash. */
export const hashOfAccount = (account: string): Buffer => hash('sha512-256', account, 'buffer');

/** The application that has the key. */
type Holder = { readonly applicationId: string; readonly application: string; readonly keyId: string; /** Null of a key. */ readonly account: string | null };

/** An active version of a secret, ready to be opened. */
export type ActiveVersion = AadFields &
  Envelope &
  Inherited & { /** The environment that was asked, which may inherit the version. */ readonly askedId: string };
/** Null where the environment has it itself. */
type Inherited = { readonly inheritedFrom: string | null };
/** A part that was not found is null. */
export type NothingFound = { readonly environmentId: string | null; readonly secretId: string | null; readonly versionId: null; readonly version: null };

export type SecretRow = Holder & (ActiveVersion | NothingFound);

/** @param version undefined: the newest that is active */
type Question = readonly [keyHash: Buffer, environment: string, name: string, version: number | undefined];

/**
 * The newest active version of a secret `s` in the environment whose id is `source`, as one row of `v`: joined by itself, so that the index of
 * versions is walked from the newest down to the first active one. Times come as Postgres stores them: they are bound to the ciphertext to the microsecond.
 */
export const activeVersion = (source: string, now: string, further = '') => `
    select v.id as "versionId", v.environment_id as "sourceId", v.version, v.is_enabled as "isEnabled", timestamptz_send(v.not_before) as "notBefore",
           timestamptz_send(v.expires_at) as "expiresAt", timestamptz_send(v.created_at) as "createdAt",
           v.nonce, v.ciphertext, v.tag, v.wrapped_key as "wrappedKey", v.master_key_id as "masterKeyId"
    from secret_versions v
    where v.secret_id = s.id and v.environment_id = ${source} ${further}
      and v.is_enabled and (v.not_before is null or v.not_before <= ${now}) and (v.expires_at is null or v.expires_at >= ${now})
    order by v.version desc limit 1`;

// A version of its own, active or not, hides those that are inherited: what is disabled must not be replaced by another environment's value.
export const ownOrInherited = `case when e.inherits_id is null then e.id
        when exists (select from secret_versions own where own.secret_id = s.id and own.environment_id = e.id) then e.id else e.inherits_id end`;
export const inheritedSlug = (id: string) => `case when ${id} <> e.id then (select slug from environments where id = ${id}) end as "inheritedFrom"`;

type Columns = [keyHashes: Buffer[], environments: string[], names: string[], versions: (number | undefined)[], now: Date];

const findSecretsIn = (name: string, source: string, columns: string) =>
  statement<SecretRow & { readonly place: number; readonly inherits: boolean }, Columns>(
    name,
    `
  select q.place, a.id as "applicationId", a.slug as application, k.id as "keyId", k.account, s.id as "secretId", e.id as "askedId", e.inherits_id is not null as inherits, v.*,
         ${columns}
  from unnest($1::bytea[], $2::text[], $3::text[], $4::int[]) with ordinality as q (key_hash, environment, name, version, place)
  join application_keys k on k.key_hash = q.key_hash and (k.expires_at is null or k.expires_at >= $5)
  join applications a on a.id = k.application_id and a.deleted_at is null
  left join environments e on e.application_id = a.id and e.slug = q.environment
  left join secrets s on s.application_id = a.id and s.name = q.name
  left join lateral (${activeVersion(source, '$5', 'and (q.version is null or v.version = q.version)')}
  ) v on true`,
  );

const findSecrets = findSecretsIn('consumer.findSecrets', 'e.id', 'e.id as "environmentId", null as "inheritedFrom"');
// By itself: its plan costs an eighth more, and few environments inherit.
const findInherited = findSecretsIn(
  'consumer.findInherited',
  ownOrInherited,
  `coalesce(v."sourceId", e.id) as "environmentId", ${inheritedSlug('v."sourceId"')}`,
);

/** A page of secrets with an active version, by name. */
export type ListQuestion = {
  readonly keyHash: Buffer;
  readonly environment: string;
  /** The name that the page begins behind, '' for the first. */
  readonly after: string;
  /** Only names that begin so. */
  readonly prefix: string;
  readonly limit: number;
  readonly withValues: boolean;
};
/** Null where nothing is listed: one row then says that the key is valid. */
export type ListedRow = Holder & { readonly environmentId: string | null } & (
    | { readonly name: null }
    | (ActiveVersion & { readonly name: string; /** False for one that the page has no room for; it has no value then. */ readonly fits: boolean })
  );

/** Bytes of the values of a page; its first value may be larger. */
const maxPageBytes = 2 * 1024 * 1024;

type ListValues = [keyHash: Buffer, environment: string, after: string, prefix: string, limit: number, withValues: boolean, now: Date];
const listSecrets = statement<ListedRow, ListValues>(
  'consumer.listSecrets',
  `
  select a.id as "applicationId", a.slug as application, k.id as "keyId", k.account, e.id as "askedId",
         l."secretId", l.name, l.fits, l."versionId", l.version, l."isEnabled", l."notBefore", l."expiresAt", l."createdAt",
         l.nonce, l.tag, l."wrappedKey", l."masterKeyId", case when $6 and l.fits then l.ciphertext end as ciphertext,
         coalesce(l."sourceId", e.id) as "environmentId", ${inheritedSlug('l."sourceId"')}
  from application_keys k join applications a on a.id = k.application_id
  left join environments e on e.application_id = a.id and e.slug = $2
  left join lateral (
    select found.*, not $6 or found.before < ${maxPageBytes} as fits
    from (
      select s.id as "secretId", s.name, v.*,
             coalesce(sum(octet_length(v.ciphertext)) over (order by s.name rows between unbounded preceding and 1 preceding), 0) as before
      from secrets s cross join lateral (${activeVersion(ownOrInherited, '$7')}
      ) v
      where s.application_id = a.id and s.name > $3 and s.name >= $4 and starts_with(s.name, $4)
      order by s.name limit $5
    ) found
  ) l on true
  where k.key_hash = $1 and (k.expires_at is null or k.expires_at >= $7) and a.deleted_at is null
  order by l.name`,
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

const environmentsOf = statement<{ slug: string | null }, [keyHash: Buffer, now: Date]>(
  'consumer.environmentsOf',
  `
  select e.slug from application_keys k join applications a on a.id = k.application_id left join environments e on e.application_id = a.id
  where k.key_hash = $1 and (k.expires_at is null or k.expires_at >= $2) and a.deleted_at is null
  order by e.slug`,
);

export type ConsumerStore = ReturnType<typeof createConsumerStore>;

export function createConsumerStore(database: Database, clock: () => Date) {
  async function ask(question: typeof findSecrets, questions: readonly Question[]) {
    const column = <I extends 0 | 1 | 2 | 3>(index: I) => questions.map((one) => one[index]);
    const rows = await database.all(question, column(0), column(1), column(2), column(3), clock());
    const byPlace = new Map(rows.map((row) => [row.place, row]));
    return questions.map((_, index) => byPlace.get(index + 1));
  }

  async function findTogether(questions: readonly Question[]): Promise<(SecretRow | undefined)[]> {
    const found = await ask(findSecrets, questions);
    const open = questions.flatMap((question, place) => (found[place]?.inherits && found[place].versionId === null ? [{ question, place }] : []));
    if (open.length === 0) return found;
    // Whole questions again, with the key: both its answer and the environment may have changed since.
    const inherited = await ask(
      findInherited,
      open.map(({ question }) => question),
    );
    open.forEach(({ place }, index) => (found[place] = inherited[index]));
    return found;
  }
  const findSecret = createBatcher(findTogether, sharedReads);

  return {
    /** Undefined when no application has the key. */
    findSecret: (keyHash: Buffer, environment: string, name: string, version?: number) => findSecret([keyHash, environment, name, version]),
    /** By name; no row when no application has the key. */
    listSecrets: ({ keyHash, environment, after, prefix, limit, withValues }: ListQuestion) =>
      database.all(listSecrets, keyHash, environment, after, prefix, limit, withValues, clock()),
    /** By key; no row when no application has the key. */
    listConfigurations: (keyHash: Buffer, environment: string) => database.all(listConfigurations, keyHash, environment, clock()),
    /** Undefined when no application has the key. */
    findConfiguration: (keyHash: Buffer, environment: string, key: string) => database.first(findConfiguration, keyHash, environment, key, clock()),
    /** Undefined when no application has the key. */
    keyIdOf: async (keyHash: Buffer) => (await database.first(keyIdOf, keyHash, clock()))?.id,
    /** Their slugs; undefined when no application has the key. */
    async environmentsOf(keyHash: Buffer): Promise<readonly string[] | undefined> {
      const rows = await database.all(environmentsOf, keyHash, clock());
      return rows.length === 0 ? undefined : rows.flatMap(({ slug }) => slug ?? []);
    },
  };
}
