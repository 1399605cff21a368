// Monthly range partitions: made ahead, with a DEFAULT partition as a net, dropped whole when their time is over.
import { type Database, statement } from './pool.ts';

const list = statement<{ name: string }, [table: string]>(
  'partitions.list',
  `
  select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = to_regclass($1) order by c.relname`,
);

const monthStart = (date: Date, offset: number) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1));
const monthOf = (date: Date) => date.toISOString().slice(0, 7).replace('-', '_');

// Data definition takes no parameters; names are the caller's own identifiers, never input.
const identifier = /^[a-z_][a-z0-9_]*$/;
function requireIdentifier(table: string): void {
  if (!identifier.test(table)) throw new TypeError(`table must be a plain identifier, got ${table}`);
}

// Not by name: a prepared statement for every month would stay on each connection.
const ddl = (database: Database, text: string) => database.select({ toSQL: () => ({ toNative: () => ({ sql: text, bindings: [] }) }) });

/** The partition of the month of a date and those of the months after it, two unless said otherwise; those that exist are left alone. */
export async function makePartitions(database: Database, table: string, months: Date | { from: Date; ahead: number }): Promise<void> {
  requireIdentifier(table);
  const { from, ahead } = months instanceof Date ? { from: months, ahead: 2 } : months;
  const existing = new Set((await database.all(list, table)).map(({ name }) => name));
  if (!existing.has(`${table}_default`)) await ddl(database, `create table if not exists ${table}_default partition of ${table} default`);
  for (let month = 0; month <= ahead; month++) {
    const start = monthStart(from, month);
    const name = `${table}_${monthOf(start)}`;
    if (!existing.has(name)) await makePartition(database, table, { name, from: start, to: monthStart(start, 1) });
  }
}

// Rows that the net has caught meanwhile move into the new partition, else it could not be attached.
async function makePartition(database: Database, table: string, { name, from, to }: { name: string; from: Date; to: Date }): Promise<void> {
  const [column] = await database.all(keyColumn, table);
  if (!column) throw new TypeError(`${table} is not partitioned by a column`);
  const [start, end] = [`'${from.toISOString()}'`, `'${to.toISOString()}'`];
  await database.transaction(async (inTransaction) => {
    // Writers wait until the partition is there; readers go on. Without it, a row on its
    // way into the net is refused when the partition comes between. A writer that takes long is not waited for: next round.
    await ddl(inTransaction, `set local lock_timeout = '5s'`);
    await ddl(inTransaction, `lock table ${table} in share row exclusive mode`);
    // Another process has made it since it was looked for.
    if ((await inTransaction.all(list, table)).some((partition) => partition.name === name)) return;
    // A partition takes numbers from its parent's identity column and may have none of its own.
    await ddl(inTransaction, `create table ${name} (like ${table} including all excluding identity)`);
    const columns = (await inTransaction.all(writtenColumns, table)).map((one) => one.name).join(', ');
    await ddl(
      inTransaction,
      `with moved as (delete from ${table}_default where ${column.name} >= ${start} and ${column.name} < ${end} returning ${columns})
       insert into ${name} (${columns}) overriding system value select ${columns} from moved`,
    );
    await ddl(inTransaction, `alter table ${table} attach partition ${name} for values from (${start}) to (${end})`);
  });
}

const keyColumn = statement<{ name: string }, [table: string]>(
  'partitions.key',
  `
  select a.attname as name from pg_partitioned_table p
  join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
  where p.partrelid = to_regclass($1)`,
);

/** The columns that are not generated from others. */
const writtenColumns = statement<{ name: string }, [table: string]>(
  'partitions.columns',
  `
  select quote_ident(attname) as name from pg_attribute
  where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
);

/** Drops the partitions whose whole month lies before `limit`; one that readers hold for long is left to the next time. @returns their names */
export async function dropPartitionsBefore(database: Database, table: string, limit: Date): Promise<string[]> {
  requireIdentifier(table);
  const names = (await database.all(list, table)).map(({ name }) => name);
  const isOld = (month: string) => /^\d{4}_\d{2}$/.test(month) && month < monthOf(limit);
  const old = names.filter((name) => isOld(name.slice(table.length + 1)));
  for (const name of old) {
    await database.transaction(async (inTransaction) => {
      // It locks the whole table for a moment, and other statements wait behind it.
      await ddl(inTransaction, `set local lock_timeout = '5s'`);
      await ddl(inTransaction, `drop table ${name}`);
    });
  }
  return old;
}
