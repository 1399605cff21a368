// All SQL of the keys of applications, and of the ServiceAccounts that are bound to them, on the management plane.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { isGuid } from '../../platform/schema.ts';
import type { ApplicationKey, BoundAccount } from './contract.ts';

const listKeys = statement<ApplicationKey, [applicationId: string]>(
  'keys.list',
  `
  select id, name, encode(substring(key_hash for 8), 'hex') as fingerprint, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt"
  from application_keys where application_id = $1 and account is null order by created_at, id`,
);

type NewKeyRow = Omit<ApplicationKey, 'lastUsedAt' | 'fingerprint'> & { readonly keyHash: Buffer };
type KeyValues = [id: string, applicationId: string, name: string | null, keyHash: Buffer, createdAt: Date, expiresAt: Date | null];
const insertKey = statement<unknown, KeyValues>(
  'keys.insert',
  'insert into application_keys (id, application_id, name, key_hash, created_at, expires_at) values ($1, $2, $3, $4, $5, $6)',
);

const removeKey = statement<Pick<ApplicationKey, 'name'>, [applicationId: string, id: string]>(
  'keys.remove',
  'delete from application_keys where application_id = $1 and id = $2 and account is null returning name',
);

const removeKeys = statement<unknown, [applicationId: string]>('keys.removeAll', 'delete from application_keys where application_id = $1 and account is null');

export const keysOf = (database: Database) => ({
  /** Oldest first. */
  list: (applicationId: string) => database.all(listKeys, applicationId),
  insert: (applicationId: string, { id, name, keyHash, createdAt, expiresAt }: NewKeyRow) =>
    database.run(insertKey, id, applicationId, name, keyHash, createdAt, expiresAt),
  /** Undefined when there is none. @param id any text */
  remove: async (applicationId: string, id: string) => (isGuid(id) ? database.first(removeKey, applicationId, id) : undefined),
  removeAll: (applicationId: string) => database.run(removeKeys, applicationId),
});

const accountColumns = `id, split_part(account, '/', 1) as namespace, split_part(account, '/', 2) as name, created_at as "createdAt", last_used_at as "lastUsedAt"`;

const listAccounts = statement<BoundAccount, [applicationId: string, after: string, limit: number]>(
  'accounts.list',
  `
  select ${accountColumns} from application_keys
  where application_id = $1 and account collate "C" > $2 order by account collate "C" limit $3`,
);

const findAccount = statement<BoundAccount, [applicationId: string, account: string]>(
  'accounts.find',
  `
  select ${accountColumns} from application_keys where application_id = $1 and account = $2`,
);

const countAccounts = statement<{ count: number }, [applicationId: string]>(
  'accounts.count',
  'select count(*) as count from application_keys where application_id = $1 and account is not null',
);

const insertAccount = statement<unknown, [id: string, applicationId: string, account: string, keyHash: Buffer, createdAt: Date]>(
  'accounts.insert',
  `
  insert into application_keys (id, application_id, account, key_hash, created_at) values ($1, $2, $3, $4, $5)
  on conflict (key_hash) do nothing`,
);

const removeAccount = statement<unknown, [applicationId: string, account: string]>(
  'accounts.remove',
  'delete from application_keys where application_id = $1 and account = $2',
);

type NewAccountRow = { readonly id: string; readonly account: string; readonly keyHash: Buffer; readonly createdAt: Date };

/** An account is `<namespace>/<name>`. */
export const accountsOf = (database: Database) => ({
  /** By namespace and name, behind an account. */
  list: (applicationId: string, after: string, limit: number) => database.all(listAccounts, applicationId, after, limit),
  find: (applicationId: string, account: string) => database.first(findAccount, applicationId, account),
  count: async (applicationId: string) => (await database.first(countAccounts, applicationId))?.count ?? 0,
  /** False when an application has it already. */
  insert: async (applicationId: string, { id, account, keyHash, createdAt }: NewAccountRow) =>
    (await database.run(insertAccount, id, applicationId, account, keyHash, createdAt)) === 1,
  /** False when there is none. */
  remove: async (applicationId: string, account: string) => (await database.run(removeAccount, applicationId, account)) === 1,
});
