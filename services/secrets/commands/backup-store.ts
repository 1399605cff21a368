// All SQL of a backup: every table in the order of its ids, a page at a time, within one snapshot.
import { type Database, type Statement, statement } from '../../platform/postgres/pool.ts';
import type { StoredTime } from '../encryption/binding.ts';
import type { Envelope } from '../encryption/envelope.ts';
import type { RowOf } from './backup-records.ts';

type Page<Row> = Statement<Row, [after: string, limit: number]>;

const snapshot = statement('backup.snapshot', 'set transaction isolation level repeatable read, read only');
// Where the backup goes may be slow.
const patience = statement('backup.patience', 'set local idle_in_transaction_session_timeout = 0');

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
    await inTransaction.run(patience);
    return work(snapshotIn(inTransaction));
  });
