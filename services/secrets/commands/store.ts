// All SQL of backup, restore and rewrap.
import { type Columns, type Database, type Statement, statement, toColumns } from '../../platform/postgres/pool.ts';
import type { Envelope, StoredTime } from '../encryption/envelope.ts';
import { createManagementStore } from '../management/store.ts';
import type { RowOf } from './backup-file.ts';

// Backup: every table in the order of its ids, a page at a time, within one snapshot.

type Page<Row> = Statement<Row, [after: string, limit: number]>;

const snapshot = statement('backup.snapshot', 'set transaction isolation level repeatable read, read only');
// What reads or writes the file may be slow.
const noIdleTimeout = statement('backup.noIdleTimeout', 'set local idle_in_transaction_session_timeout = 0');

const applications: Page<RowOf<'application'>> = statement(
  'backup.applications',
  `
  select id, name, slug, description, encode(key_hash, 'base64') as "keyHash", key_id as "keyId",
         created_at as "createdAt", updated_at as "updatedAt", deleted_at as "deletedAt"
  from applications where id > $1 order by id limit $2`,
);

const environments: Page<RowOf<'environment'>> = statement(
  'backup.environments',
  `
  select id, application_id as "applicationId", slug, name, created_at as "createdAt" from environments where id > $1 order by id limit $2`,
);

const configurations: Page<RowOf<'configuration'>> = statement(
  'backup.configurations',
  `
  select id, environment_id as "environmentId", key, value, description, created_at as "createdAt", updated_at as "updatedAt"
  from configurations where id > $1 order by id limit $2`,
);

const secrets: Page<RowOf<'secret'>> = statement(
  'backup.secrets',
  `
  select id, application_id as "applicationId", name, description, created_at as "createdAt", updated_at as "updatedAt"
  from secrets where id > $1 order by id limit $2`,
);

type Places = 'id' | 'applicationId' | 'secretId' | 'environmentId' | 'version' | 'isEnabled';
export type SealedVersion = Pick<RowOf<'version'>, Places> &
  Envelope & { readonly notBefore: StoredTime | null; readonly expiresAt: StoredTime | null; readonly createdAt: StoredTime };

// Times as Postgres stores them: they are bound to the ciphertext to the microsecond.
const versions: Page<SealedVersion> = statement(
  'backup.versions',
  `
  select v.id, s.application_id as "applicationId", v.secret_id as "secretId", v.environment_id as "environmentId", v.version,
         v.is_enabled as "isEnabled", timestamptz_send(v.not_before) as "notBefore", timestamptz_send(v.expires_at) as "expiresAt",
         timestamptz_send(v.created_at) as "createdAt", v.nonce, v.ciphertext, v.tag, v.wrapped_key as "wrappedKey", v.master_key_id as "masterKeyId"
  from secret_versions v join secrets s on s.id = v.secret_id
  where v.id > $1 order by v.id limit $2`,
);

const firstId = '00000000-0000-0000-0000-000000000000';
/** A page of versions holds at most some 13 MiB. */
const pageSize = 200;

async function* pages<Row extends { readonly id: string }>(database: Database, page: Page<Row>): AsyncGenerator<Row> {
  for (let after: string | undefined = firstId; after !== undefined;) {
    const rows: Row[] = await database.all(page, after, pageSize);
    yield* rows;
    after = rows.length === pageSize ? rows.at(-1)?.id : undefined;
  }
}

export type Snapshot = ReturnType<typeof snapshotIn>;

const snapshotIn = (database: Database) => ({
  applications: () => pages(database, applications),
  environments: () => pages(database, environments),
  configurations: () => pages(database, configurations),
  secrets: () => pages(database, secrets),
  versions: () => pages(database, versions),
});

/** Everything that `work` reads is of the same moment, whatever is written meanwhile. */
export const withSnapshot = <T>(database: Database, work: (snapshot: Snapshot) => Promise<T>): Promise<T> =>
  database.transaction(async (inTransaction) => {
    await inTransaction.run(snapshot);
    await inTransaction.run(noIdleTimeout);
    return work(snapshotIn(inTransaction));
  });

// Restore: into empty tables only, a batch of rows a statement.

// Every write to another table needs an application in this one.
const lockAll = statement('restore.lockAll', 'lock table applications in share row exclusive mode');

const isEmpty = statement<{ isEmpty: boolean }>(
  'restore.isEmpty',
  `
  select not (exists (select 1 from applications) or exists (select 1 from environments) or exists (select 1 from secrets)
              or exists (select 1 from secret_versions) or exists (select 1 from configurations)) as "isEmpty"`,
);

const applicationColumns = ['id', 'name', 'slug', 'description', 'keyHash', 'keyId', 'createdAt', 'updatedAt', 'deletedAt'] as const;
const insertApplications = statement<unknown, Columns<RowOf<'application'>, typeof applicationColumns>>(
  'restore.applications',
  `
  insert into applications (id, name, slug, description, key_hash, key_id, created_at, updated_at, deleted_at)
  select id, name, slug, description, decode(key_hash, 'base64'), key_id, created_at, updated_at, deleted_at
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::timestamptz[], $8::timestamptz[], $9::timestamptz[])
    as a (id, name, slug, description, key_hash, key_id, created_at, updated_at, deleted_at)`,
);

const environmentColumns = ['id', 'applicationId', 'slug', 'name', 'createdAt'] as const;
const insertEnvironments = statement<unknown, Columns<RowOf<'environment'>, typeof environmentColumns>>(
  'restore.environments',
  `
  insert into environments (id, application_id, slug, name, created_at)
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[])`,
);

const configurationColumns = ['id', 'environmentId', 'key', 'value', 'description', 'createdAt', 'updatedAt'] as const;
const insertConfigurations = statement<unknown, Columns<RowOf<'configuration'>, typeof configurationColumns>>(
  'restore.configurations',
  `
  insert into configurations (id, environment_id, key, value, description, created_at, updated_at)
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[])`,
);

const secretColumns = ['id', 'applicationId', 'name', 'description', 'createdAt', 'updatedAt'] as const;
const insertSecrets = statement<unknown, Columns<RowOf<'secret'>, typeof secretColumns>>(
  'restore.secrets',
  `
  insert into secrets (id, application_id, name, description, created_at, updated_at)
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])`,
);

export type RestoreStore = ReturnType<typeof createRestoreStore>;

export const createRestoreStore = (database: Database) => ({
  /** Locks out all other writes until the transaction ends. @returns false when there is something in it */
  async lockEmpty(): Promise<boolean> {
    await database.run(noIdleTimeout);
    await database.run(lockAll);
    return (await database.first(isEmpty))?.isEmpty === true;
  },
  applications: (rows: readonly RowOf<'application'>[]) => database.run(insertApplications, ...toColumns(rows, applicationColumns)),
  environments: (rows: readonly RowOf<'environment'>[]) => database.run(insertEnvironments, ...toColumns(rows, environmentColumns)),
  configurations: (rows: readonly RowOf<'configuration'>[]) => database.run(insertConfigurations, ...toColumns(rows, configurationColumns)),
  secrets: (rows: readonly RowOf<'secret'>[]) => database.run(insertSecrets, ...toColumns(rows, secretColumns)),
  versions: createManagementStore(database).versions.insert,
});

// Rewrap.

export type WrappedKey = { readonly id: string; readonly wrappedKey: Buffer };

const waiting = statement<{ readonly masterKeyId: string; readonly versions: number }, [activeId: string]>(
  'rewrap.waiting',
  `
  select master_key_id as "masterKeyId", count(*) as versions
  from secret_versions where master_key_id <> $1 group by master_key_id order by master_key_id`,
);

// Rows that another rewrap has locked are skipped, so that two share the work.
const claim = statement<WrappedKey, [masterKeyId: string, after: string, limit: number]>(
  'rewrap.claim',
  `
  select id, wrapped_key as "wrappedKey" from secret_versions
  where master_key_id = $1 and id > $2 order by id limit $3 for no key update skip locked`,
);

const move = statement<unknown, [activeId: string, ids: string[], wrappedKeys: Buffer[]]>(
  'rewrap.move',
  `
  update secret_versions v set wrapped_key = moved.wrapped_key, master_key_id = $1
  from unnest($2::uuid[], $3::bytea[]) as moved (id, wrapped_key) where v.id = moved.id`,
);

export const createRewrapStore = (database: Database) => ({
  /** By master key, what is not under the active one. */
  waiting: (activeId: string) => database.all(waiting, activeId),
  /** Locked until the transaction ends; reads go on. */
  claim: (masterKeyId: string, after: string, limit: number) => database.all(claim, masterKeyId, after, limit),
  move: (activeId: string, keys: readonly WrappedKey[]) => database.run(move, activeId, ...toColumns(keys, ['id', 'wrappedKey'])),
});
