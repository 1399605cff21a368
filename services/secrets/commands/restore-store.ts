// All SQL of a restore: into empty tables only, a batch of rows a statement.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { Envelope } from '../encryption/envelope.ts';
import type { RowOf } from './backup-records.ts';

// Nobody writes to any table without an application in this one.
const hold = statement('restore.hold', 'lock table applications in share row exclusive mode');
const patience = statement('restore.patience', 'set local idle_in_transaction_session_timeout = 0');

const isEmpty = statement<{ isEmpty: boolean }>(
  'restore.isEmpty',
  `
  select not (exists (select 1 from applications) or exists (select 1 from environments) or exists (select 1 from secrets)
              or exists (select 1 from secret_versions) or exists (select 1 from configurations)) as "isEmpty"`,
);

type Texts = string[];
type MaybeTexts = (string | null)[];
type Times = Date[];
type MaybeTimes = (Date | null)[];

const applications = statement<unknown, [Texts, Texts, Texts, MaybeTexts, Texts, Texts, Times, Times, MaybeTimes]>(
  'restore.applications',
  `
  insert into applications (id, name, slug, description, key_hash, key_id, created_at, updated_at, deleted_at)
  select id, name, slug, description, decode(key_hash, 'base64'), key_id, created_at, updated_at, deleted_at
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::timestamptz[], $8::timestamptz[], $9::timestamptz[])
    as a (id, name, slug, description, key_hash, key_id, created_at, updated_at, deleted_at)`,
);

const environments = statement<unknown, [Texts, Texts, Texts, Texts, Times]>(
  'restore.environments',
  `
  insert into environments (id, application_id, slug, name, created_at)
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[])`,
);

const configurations = statement<unknown, [Texts, Texts, Texts, Texts, MaybeTexts, Times, Times]>(
  'restore.configurations',
  `
  insert into configurations (id, environment_id, key, value, description, created_at, updated_at)
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[])`,
);

const secrets = statement<unknown, [Texts, Texts, Texts, MaybeTexts, Times, Times]>(
  'restore.secrets',
  `
  insert into secrets (id, application_id, name, description, created_at, updated_at)
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])`,
);

type VersionColumns = [Texts, Texts, Texts, number[], boolean[], MaybeTimes, MaybeTimes, Times, Buffer[], Buffer[], Buffer[], Buffer[], Texts];
const versions = statement<unknown, VersionColumns>(
  'restore.versions',
  `
  insert into secret_versions (id, secret_id, environment_id, version, is_enabled, not_before, expires_at, created_at,
                               nonce, ciphertext, tag, wrapped_key, master_key_id)
  select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::boolean[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[],
                       $9::bytea[], $10::bytea[], $11::bytea[], $12::bytea[], $13::text[])`,
);

export type ResealedVersion = Omit<RowOf<'version'>, 'value' | 'applicationId'> & Envelope;

const columnOf =
  <Row>(rows: readonly Row[]) =>
  <K extends keyof Row>(key: K) =>
    rows.map((row) => row[key]);

export type RestoreStore = ReturnType<typeof createRestoreStore>;

export const createRestoreStore = (database: Database) => ({
  /** Holds everybody else's writes off until the transaction ends. @returns false when there is something in it */
  async holdEmpty(): Promise<boolean> {
    await database.run(patience);
    await database.run(hold);
    return (await database.first(isEmpty))?.isEmpty === true;
  },
  applications(rows: readonly RowOf<'application'>[]) {
    const of = columnOf(rows);
    const [made, changed, deleted] = [of('createdAt'), of('updatedAt'), of('deletedAt')];
    return database.run(applications, of('id'), of('name'), of('slug'), of('description'), of('keyHash'), of('keyId'), made, changed, deleted);
  },
  environments(rows: readonly RowOf<'environment'>[]) {
    const of = columnOf(rows);
    return database.run(environments, of('id'), of('applicationId'), of('slug'), of('name'), of('createdAt'));
  },
  configurations(rows: readonly RowOf<'configuration'>[]) {
    const of = columnOf(rows);
    return database.run(configurations, of('id'), of('environmentId'), of('key'), of('value'), of('description'), of('createdAt'), of('updatedAt'));
  },
  secrets(rows: readonly RowOf<'secret'>[]) {
    const of = columnOf(rows);
    return database.run(secrets, of('id'), of('applicationId'), of('name'), of('description'), of('createdAt'), of('updatedAt'));
  },
  versions(rows: readonly ResealedVersion[]) {
    const of = columnOf(rows);
    const place = [of('id'), of('secretId'), of('environmentId'), of('version')] as const;
    const activity = [of('isEnabled'), of('notBefore'), of('expiresAt'), of('createdAt')] as const;
    return database.run(versions, ...place, ...activity, of('nonce'), of('ciphertext'), of('tag'), of('wrappedKey'), of('masterKeyId'));
  },
});
