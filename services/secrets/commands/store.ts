// All SQL of backup, restore and rewrap.
import { NIL } from 'uuid';
import { type Database, type Statement, statement } from '../../platform/postgres/pool.ts';
import { rowsStatement } from '../../platform/postgres/rows.ts';
import { createManagementStore, sealedColumns, type SealedVersion } from '../management/store.ts';
import type { PlainTable } from './backup-file.ts';

/** A table in the order of its ids, some rows at a time. */
type Page<Row> = Statement<Row, [after: string, limit: number]>;

type PlainRow = { readonly id: string; readonly row: unknown };
const pageOf = (table: PlainTable): Page<PlainRow> =>
  statement(`backup.${table}`, `select id, to_jsonb(t) as row from ${table} t where id > $1 order by id limit $2`);

const versions: Page<SealedVersion> = statement(
  'backup.secret_versions',
  `
  select ${sealedColumns}
  from secret_versions v join secrets s on s.id = v.secret_id
  where v.id > $1 order by v.id limit $2`,
);

/** A page of versions holds at most some 13 MiB. */
const pageSize = 200;

async function* pages<Row extends { readonly id: string }>(database: Database, page: Page<Row>): AsyncGenerator<Row> {
  for (let after: string | undefined = NIL; after !== undefined;) {
    const rows: Row[] = await database.all(page, after, pageSize);
    yield* rows;
    after = rows.length === pageSize ? rows.at(-1)?.id : undefined;
  }
}

const snapshot = statement('backup.snapshot', 'set transaction isolation level repeatable read, read only');
// The file may be read or written slowly.
const noIdleTimeout = statement('backup.noIdleTimeout', 'set local idle_in_transaction_session_timeout = 0');

export type Snapshot = ReturnType<typeof snapshotIn>;

const snapshotIn = (database: Database) => ({
  rows: (table: PlainTable) => pages(database, pageOf(table)),
  versions: () => pages(database, versions),
});

/** Everything that `work` reads is of the same moment, whatever is written meanwhile. */
export const withSnapshot = <T>(database: Database, work: (snapshot: Snapshot) => Promise<T>): Promise<T> =>
  database.transaction(async (inTransaction) => {
    await inTransaction.run(snapshot);
    await inTransaction.run(noIdleTimeout);
    return work(snapshotIn(inTransaction));
  });

// Every write to another table needs an application in this one.
const lockAll = statement('restore.lockAll', 'lock table applications in share row exclusive mode');

const isEmpty = statement<{ isEmpty: boolean }>(
  'restore.isEmpty',
  `
  select not (exists (select 1 from applications) or exists (select 1 from environments) or exists (select 1 from secrets)
              or exists (select 1 from secret_versions) or exists (select 1 from configurations)) as "isEmpty"`,
);

const insertInto = (table: PlainTable): Statement<unknown, [rowsAsJson: string]> =>
  statement(`restore.${table}`, `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`);

export type RestoreStore = ReturnType<typeof createRestoreStore>;

export const createRestoreStore = (database: Database) => ({
  /** Locks out all other writes until the transaction ends. @returns false when there is something in it */
  async lockEmpty(): Promise<boolean> {
    await database.run(noIdleTimeout);
    await database.run(lockAll);
    return (await database.first(isEmpty))?.isEmpty === true;
  },
  insert: (table: PlainTable, rows: readonly unknown[]) => database.run(insertInto(table), JSON.stringify(rows)),
  insertVersions: createManagementStore(database).versions.insert,
});

const left = statement<{ readonly versions: number }, [activeId: string]>(
  'rewrap.left',
  'select count(*) as versions from secret_versions where master_key_id <> $1',
);

type WrappedKey = { readonly id: string; readonly wrappedKey: Buffer };

// Rows that another rewrap has locked are skipped, so that two share the work.
const claim = statement<WrappedKey & { readonly masterKeyId: string }, [activeId: string, after: string, limit: number]>(
  'rewrap.claim',
  `
  select id, wrapped_key as "wrappedKey", master_key_id as "masterKeyId" from secret_versions
  where master_key_id <> $1 and id > $2 order by id limit $3 for no key update skip locked`,
);

const move = rowsStatement<unknown, [activeId: string, keys: readonly WrappedKey[]]>(
  'rewrap.move',
  ['text', { id: 'uuid', wrappedKey: 'bytea' }],
  (activeId, keys) => `
  update secret_versions v set wrapped_key = moved.wrapped_key, master_key_id = ${activeId}
  from ${keys} as moved where v.id = moved.id`,
);

export const createRewrapStore = (database: Database) => ({
  /** How many versions are under another key than the active one. */
  left: async (activeId: string) => (await database.first(left, activeId))?.versions ?? 0,
  /** Some of those, locked until the transaction ends; reads go on. */
  claim: (activeId: string, after: string, limit: number) => database.all(claim, activeId, after, limit),
  move: (activeId: string, keys: readonly WrappedKey[]) => database.run(move, activeId, keys),
});
