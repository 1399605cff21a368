// A database of the intake for a test file: its tables by raw SQL, so that what is written is seen with other eyes.
import type pg from 'pg';
import { silentLog } from '../../../services/platform/log.ts';
import { createPool, type Pool } from '../../../services/platform/postgres/pool.ts';
import { createTestDatabase } from '../../support/postgres.ts';

export const schema = 'intake';
export const migrations = new URL('../../../services/webhook-intake/migrations/', import.meta.url);

export type IntakeDatabase = {
  readonly url: string;
  readonly pool: Pool;
  rows<Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  count(table: string): Promise<number>;
  empty(): Promise<void>;
  close(): Promise<void>;
};

export async function createIntakeDatabase(): Promise<IntakeDatabase> {
  const database = await createTestDatabase({ schema, migrations });
  const pool = createPool(database.url, { schema, log: silentLog });
  const rows = async <Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []) => (await pool.driver.query<Row>(sql, [...values])).rows;
  return {
    url: database.url,
    pool,
    rows,
    async count(table) {
      const [row] = await rows<{ count: number }>(`select count(*) as count from ${table}`);
      return row?.count ?? NaN;
    },
    async empty() {
      const tables = await rows<{ name: string }>(
        `select c.relname as name from pg_class c where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'migrations'`,
        [schema],
      );
      await rows(`truncate ${tables.map(({ name }) => name).join(', ')}`);
    },
    async close() {
      await pool.close();
      await database.drop();
    },
  };
}
