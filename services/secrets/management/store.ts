// All SQL of the management plane, but for keys and accounts.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { insertRows } from '../../platform/postgres/rows.ts';
import type { Application, Configuration, Environment, Secret } from '../contract.ts';
import type { AadFields, Envelope } from '../encryption/envelope.ts';
import type { SecretVersion } from './contract.ts';
import { accountsOf, keysOf } from './key-store.ts';

const applicationColumns = 'id, name, slug, description, owner, created_at as "createdAt", updated_at as "updatedAt"';
type ApplicationRow = Omit<Application, 'owner'> & { readonly owner: string | null };
const applicationOf = ({ owner, ...rest }: ApplicationRow): Application => (owner === null ? rest : { ...rest, owner });

/** The rows behind a position; without a limit all of them. */
export type ListPage<Position> = { readonly after?: Position | undefined; readonly limit?: number | undefined };

const listApplications = statement<ApplicationRow, [after: string | undefined, limit: number | undefined]>(
  'applications.list',
  `select ${applicationColumns} from applications where deleted_at is null and ($1::text is null or slug > $1) order by slug limit $2`,
);

const findApplication = statement<ApplicationRow, [slug: string]>(
  'applications.find',
  `
  select ${applicationColumns} from applications where slug = $1 and deleted_at is null`,
);

// Writes to an application and to what belongs to it take turns; reads and foreign keys do not wait.
const lockApplication = statement<{ id: string }, [slug: string]>(
  'applications.lock',
  `
  select id from applications where slug = $1 and deleted_at is null for no key update`,
);

export type NewApplicationRow = Omit<Application, 'updatedAt'>;

type ApplicationValues = [id: string, name: string, slug: string, description: string | null, owner: string | null, createdAt: Date];
const insertApplication = statement<unknown, ApplicationValues>(
  'applications.insert',
  `
  insert into applications (id, name, slug, description, owner, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $6)
  on conflict (slug) where deleted_at is null do nothing`,
);

type ApplicationChange = { readonly name: string; readonly description: string | null; readonly owner?: string | null | undefined };
type ChangeValues = [id: string, name: string, description: string | null, now: Date, changesOwner: boolean, owner: string | null];
const updateApplication = statement<ApplicationRow, ChangeValues>(
  'applications.update',
  `
  update applications set name = $2, description = $3, updated_at = $4, owner = case when $5 then $6 else owner end
  where id = $1 and (owner is null or $6::text is null or owner = $6) returning ${applicationColumns}`,
);

// Its ServiceAccounts can be bound to another application at once.
const removeApplication = statement<unknown, [id: string, now: Date]>(
  'applications.remove',
  `
  with unbound as (delete from application_keys where application_id = $1 and account is not null)
  update applications set deleted_at = $2 where id = $1`,
);

const applicationsOf = (database: Database) => ({
  /** By slug. */
  list: async ({ after, limit }: ListPage<string> = {}) => (await database.all(listApplications, after, limit)).map(applicationOf),
  find: async (slug: string) => {
    const found = await database.first(findApplication, slug);
    return found && applicationOf(found);
  },
  /** Holds the application until the transaction ends; undefined when there is none. */
  lock: async (slug: string) => (await database.first(lockApplication, slug))?.id,
  /** False when the slug is taken. */
  insert: async ({ id, name, slug, description, owner, createdAt }: NewApplicationRow) =>
    (await database.run(insertApplication, id, name, slug, description, owner ?? null, createdAt)) === 1,
  /** Undefined when it has another owner than the one that is given. */
  update: async (id: string, { name, description, owner }: ApplicationChange, now: Date) => {
    const updated = await database.first(updateApplication, id, name, description, now, owner !== undefined, owner ?? null);
    return updated && applicationOf(updated);
  },
  remove: (id: string, now: Date) => database.run(removeApplication, id, now),
});

type EnvironmentRow = Omit<Environment, 'inherits'> & { readonly inherits: string | null };
const environmentOf = ({ inherits, ...rest }: EnvironmentRow): Environment => (inherits === null ? rest : { ...rest, inherits });

type EnvironmentPlace = readonly [createdAt: Date, id: string];
const listEnvironments = statement<
  EnvironmentRow,
  [applicationId: string, afterTime: Date | undefined, afterId: string | undefined, limit: number | undefined]
>(
  'environments.list',
  `
  select e.id, e.slug, e.name, parent.slug as inherits, e.created_at as "createdAt"
  from environments e left join environments parent on parent.id = e.inherits_id
  where e.application_id = $1 and ($2::timestamptz is null or (e.created_at, e.id) > ($2, $3::uuid)) order by e.created_at, e.id limit $4`,
);

const findEnvironment = statement<{ id: string }, [applicationId: string, slug: string]>(
  'environments.find',
  `
  select id from environments where application_id = $1 and slug = $2`,
);

const inherit = statement<unknown, [id: string, inheritsId: string | null]>('environments.inherit', 'update environments set inherits_id = $2 where id = $1');

const environmentHeirs = statement<{ slug: string }, [applicationId: string, slugs: string[]]>(
  'environments.heirs',
  `
  select e.slug from environments e join environments parent on parent.id = e.inherits_id
  where parent.application_id = $1 and parent.slug = any($2::text[]) order by e.slug collate "C"`,
);

const insertEnvironment = statement<unknown, [id: string, applicationId: string, slug: string, name: string, createdAt: Date]>(
  'environments.insert',
  `
  insert into environments (id, application_id, slug, name, created_at) values ($1, $2, $3, $4, $5)
  on conflict (application_id, slug) do nothing`,
);

const removeEnvironment = statement<unknown, [applicationId: string, slug: string]>(
  'environments.remove',
  `
  delete from environments where application_id = $1 and slug = $2`,
);

const environmentsOf = (database: Database) => ({
  /** Oldest first. */
  list: async (applicationId: string, { after, limit }: ListPage<EnvironmentPlace> = {}) =>
    (await database.all(listEnvironments, applicationId, after?.[0], after?.[1], limit)).map(environmentOf),
  find: async (applicationId: string, slug: string) => (await database.first(findEnvironment, applicationId, slug))?.id,
  /** False when the slug is taken. */
  insert: async (applicationId: string, { id, slug, name, createdAt }: Environment) =>
    (await database.run(insertEnvironment, id, applicationId, slug, name, createdAt)) === 1,
  inherit: (id: string, inheritsId: string | null) => database.run(inherit, id, inheritsId),
  /** Slugs of the environments that inherit from one of these. */
  heirs: async (applicationId: string, slugs: readonly string[]) => (await database.all(environmentHeirs, applicationId, [...slugs])).map(({ slug }) => slug),
  /** With its versions and entries. False when there is none. */
  remove: async (applicationId: string, slug: string) => (await database.run(removeEnvironment, applicationId, slug)) === 1,
});

const secretColumns = 'id, name, description, created_at as "createdAt", updated_at as "updatedAt"';

const listSecrets = statement<Secret, [applicationId: string, after: string | undefined, limit: number | undefined]>(
  'secrets.list',
  `
  select ${secretColumns} from secrets where application_id = $1 and ($2::text is null or name > $2) order by name limit $3`,
);

const findSecret = statement<Secret, [applicationId: string, name: string]>(
  'secrets.find',
  `
  select ${secretColumns} from secrets where application_id = $1 and name = $2`,
);

type SecretValues = [id: string, applicationId: string, name: string, description: string | null, createdAt: Date];
const insertSecret = statement<unknown, SecretValues>(
  'secrets.insert',
  `
  insert into secrets (id, application_id, name, description, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)
  on conflict (application_id, name) do nothing`,
);

const touchSecret = statement<unknown, [id: string, now: Date]>('secrets.touch', 'update secrets set updated_at = $2 where id = $1');

const removeSecret = statement<unknown, [applicationId: string, name: string]>(
  'secrets.remove',
  `
  delete from secrets where application_id = $1 and name = $2`,
);

const secretsOf = (database: Database) => ({
  /** By name. */
  list: (applicationId: string, { after, limit }: ListPage<string> = {}) => database.all(listSecrets, applicationId, after, limit),
  find: (applicationId: string, name: string) => database.first(findSecret, applicationId, name),
  /** False when the name is taken. */
  insert: async (applicationId: string, { id, name, description, createdAt }: Secret) =>
    (await database.run(insertSecret, id, applicationId, name, description, createdAt)) === 1,
  touch: (id: string, now: Date) => database.run(touchSecret, id, now),
  /** With all its versions. False when there is none. */
  remove: async (applicationId: string, name: string) => (await database.run(removeSecret, applicationId, name)) === 1,
});

type VersionsValues = [secretId: string, environmentId: string, version: number | undefined, after: number | undefined, limit: number | undefined];
const listVersions = statement<SecretVersion, VersionsValues>(
  'versions.list',
  `
  select id, version, is_enabled as "isEnabled", expires_at as "expiresAt", not_before as "notBefore", created_at as "createdAt"
  from secret_versions
  where secret_id = $1 and environment_id = $2 and ($3::int is null or version = $3) and ($4::int is null or version < $4) order by version desc limit $5`,
);

export type SealedVersion = Omit<AadFields, 'versionId'> & Envelope & { readonly id: string };

// Times as Postgres stores them: they are bound to the ciphertext to the microsecond.
/** The columns of a SealedVersion, of the tables `secret_versions v` and `secrets s`. */
export const sealedColumns = `v.id, s.application_id as "applicationId", v.secret_id as "secretId", v.environment_id as "environmentId", v.version,
         v.is_enabled as "isEnabled", timestamptz_send(v.not_before) as "notBefore", timestamptz_send(v.expires_at) as "expiresAt",
         timestamptz_send(v.created_at) as "createdAt", v.nonce, v.ciphertext, v.tag, v.wrapped_key as "wrappedKey", v.master_key_id as "masterKeyId"`;

const lockVersion = statement<SealedVersion, [secretId: string, environmentId: string, version: number]>(
  'versions.lock',
  `
  select ${sealedColumns}
  from secret_versions v join secrets s on s.id = v.secret_id
  where v.secret_id = $1 and v.environment_id = $2 and v.version = $3 for no key update of v`,
);

type Resealed = [id: string, isEnabled: boolean, nonce: Buffer, ciphertext: Buffer, tag: Buffer, wrappedKey: Buffer, masterKeyId: string];
const resealVersion = statement<unknown, Resealed>(
  'versions.reseal',
  `
  update secret_versions set is_enabled = $2, nonce = $3, ciphertext = $4, tag = $5, wrapped_key = $6, master_key_id = $7 where id = $1`,
);

const newestVersions = statement<{ environmentId: string; version: number }, [secretId: string, environmentIds: string[]]>(
  'versions.newest',
  `
  select environment_id as "environmentId", max(version) as version
  from secret_versions where secret_id = $1 and environment_id = any($2::uuid[]) group by environment_id`,
);

export type NewVersion = SecretVersion & Envelope & { readonly secretId: string; readonly environmentId: string };

const insertVersions = insertRows<NewVersion>('versions.insert', {
  into: 'secret_versions',
  columns: {
    secretId: 'uuid',
    id: 'uuid',
    environmentId: 'uuid',
    version: 'int',
    isEnabled: 'boolean',
    notBefore: 'timestamptz',
    expiresAt: 'timestamptz',
    createdAt: 'timestamptz',
    nonce: 'bytea',
    ciphertext: 'bytea',
    tag: 'bytea',
    wrappedKey: 'bytea',
    masterKeyId: 'text',
  },
});

const versionsOf = (database: Database) => ({
  /** Newest first. */
  list: (secretId: string, environmentId: string, { after, limit }: ListPage<number> = {}) =>
    database.all(listVersions, secretId, environmentId, undefined, after, limit),
  find: (secretId: string, environmentId: string, version: number) => database.first(listVersions, secretId, environmentId, version, undefined, 1),
  /** Holds the version until the transaction ends; undefined when there is none. */
  lock: (secretId: string, environmentId: string, version: number) => database.first(lockVersion, secretId, environmentId, version),
  reseal: (id: string, isEnabled: boolean, { nonce, ciphertext, tag, wrappedKey, masterKeyId }: Envelope) =>
    database.run(resealVersion, id, isEnabled, nonce, ciphertext, tag, wrappedKey, masterKeyId),
  /** The highest number in each of these environments that has one. */
  newest: async (secretId: string, environmentIds: readonly string[]) => {
    const rows = await database.all(newestVersions, secretId, [...environmentIds]);
    return new Map(rows.map(({ environmentId, version }) => [environmentId, version]));
  },
  insert: (versions: readonly NewVersion[]) => database.run(insertVersions, versions),
});

const configurationColumns = `c.id, e.slug as "environmentSlug", c.key, c.value, c.description, c.created_at as "createdAt", c.updated_at as "updatedAt"`;

type ConfigurationPlace = readonly [environment: string, key: string];
type ConfigurationsValues = [applicationId: string, afterEnvironment: string | undefined, afterKey: string | undefined, limit: number | undefined];
const listConfigurations = statement<Configuration, ConfigurationsValues>(
  'configurations.list',
  `
  select ${configurationColumns} from configurations c join environments e on e.id = c.environment_id
  where e.application_id = $1 and ($2::text is null or (e.slug, c.key) > ($2, $3)) order by e.slug, c.key limit $4`,
);

type ConfigurationValues = [id: string, environmentId: string, key: string, value: string, description: string | null, createdAt: Date];
const insertConfiguration = statement<unknown, ConfigurationValues>(
  'configurations.insert',
  `
  insert into configurations (id, environment_id, key, value, description, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $6)
  on conflict (environment_id, key) do nothing`,
);

type ConfigurationUpdate = [
  applicationId: string,
  environment: string,
  key: string,
  value: string,
  keepsDescription: boolean,
  description: string | null,
  now: Date,
];
const updateConfiguration = statement<Configuration, ConfigurationUpdate>(
  'configurations.update',
  `
  update configurations c set value = $4, description = case when $5 then c.description else $6 end, updated_at = $7
  from environments e
  where e.id = c.environment_id and e.application_id = $1 and e.slug = $2 and c.key = $3
  returning ${configurationColumns}`,
);

const removeConfiguration = statement<unknown, [applicationId: string, environment: string, key: string]>(
  'configurations.remove',
  `
  delete from configurations c using environments e
  where e.id = c.environment_id and e.application_id = $1 and e.slug = $2 and c.key = $3`,
);

const configurationsOf = (database: Database) => ({
  /** By environment, then key. */
  list: (applicationId: string, { after, limit }: ListPage<ConfigurationPlace> = {}) =>
    database.all(listConfigurations, applicationId, after?.[0], after?.[1], limit),
  /** False when the key is taken. */
  insert: async (environmentId: string, { id, key, value, description, createdAt }: Configuration) =>
    (await database.run(insertConfiguration, id, environmentId, key, value, description, createdAt)) === 1,
  /** @param description undefined leaves it. @returns undefined when there is no such entry */
  update: (place: readonly [applicationId: string, environment: string, key: string], value: string, description: string | null | undefined, now: Date) =>
    database.first(updateConfiguration, ...place, value, description === undefined, description ?? null, now),
  /** False when there is none. */
  remove: async (applicationId: string, environment: string, key: string) => (await database.run(removeConfiguration, applicationId, environment, key)) === 1,
});

export type ManagementStore = ReturnType<typeof createManagementStore>;

/** @param database a transaction's, for a write */
export const createManagementStore = (database: Database) => ({
  applications: applicationsOf(database),
  keys: keysOf(database),
  accounts: accountsOf(database),
  environments: environmentsOf(database),
  secrets: secretsOf(database),
  versions: versionsOf(database),
  configurations: configurationsOf(database),
});
