// Fills tables in minutes: their secondary indexes are built behind the rows.
import type pg from 'pg';

/** Does the work while the tables of the search path have no indexes but those of constraints; then vacuums and analyzes. */
export async function withoutIndexes(client: Pick<pg.Client, 'query'> | pg.Pool, tables: readonly string[], work: () => Promise<void>): Promise<void> {
  await client.query(`set maintenance_work_mem = '512MB'`);
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = any ($1::regclass[]) and not indisprimary and not exists (select from pg_constraint where conindid = indexrelid)`,
    [tables],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  await work();
  // The definition of a partitioned table says ON ONLY, which would leave its partitions out.
  for (const { definition } of rows) await client.query(definition.replace(' ON ONLY ', ' ON '));
  await client.query('vacuum analyze');
}
