// The database of a command, which works beside running services or without them: opened and checked for it, and closed after it.
import type { Secret } from '../config/secret.ts';
import { silentLog } from '../log.ts';
import { describeDatabaseFault, isUnavailable } from './errors.ts';
import { createSchemaCheck, type MigrationSource, requireSchema } from './migrations.ts';
import { createPool, type Database, statement } from './pool.ts';

/** A statement over the whole of a large table may take its time. */
const statementMs = 600_000;

// A role without the right to use a schema sees none of its tables, as if they did not exist.
const isClosed = statement<{ isClosed: boolean }, [schema: string]>(
  'command.isClosed',
  `select not has_schema_privilege(oid, 'usage') as "isClosed" from pg_namespace where nspname = $1`,
);

/** @throws Error in words for the terminal when it cannot be reached, or its schema is older than this release */
export async function withDatabase<T>(url: Secret, migrations: MigrationSource, work: (database: Database) => Promise<T>): Promise<T> {
  const { schema } = migrations;
  const database = createPool(url.reveal(), { schema, log: silentLog, maxConnections: 2, statementMs, answerMs: statementMs + 10_000 });
  try {
    if ((await database.first(isClosed, schema))?.isClosed) throw new Error(`the user of DATABASE_URL may not read the schema ${schema}`);
    await requireSchema(await createSchemaCheck(database, migrations));
    return await work(database);
  } catch (error) {
    const fault =
      describeDatabaseFault(error, 'DATABASE_URL') ??
      (isUnavailable(error) ? 'the connection to the database was lost; the same command may be given again' : undefined);
    if (fault === undefined) throw error;
    throw new Error(fault, { cause: error });
  } finally {
    await database.close();
  }
}
