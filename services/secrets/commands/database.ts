// The database for commands that work on all of it, beside running services or without them.
import { silentLog } from '../../platform/log.ts';
import { createSchemaCheck } from '../../platform/postgres/migrations.ts';
import { createPool, type Database } from '../../platform/postgres/pool.ts';
import { describeDatabaseFault, isUnavailable } from '../../platform/postgres/errors.ts';
import type { Secret } from '../../platform/config/secret.ts';
import { type Keyring, readMasterKeys } from '../encryption/master-keys.ts';

const migrations = { schema: 'secrets', directory: new URL('../migrations/', import.meta.url) };
/** A statement over the whole of a large table may take its time. */
const statementMs = 600_000;

/** @throws Error when it cannot be reached, or its schema is older than this release */
export async function withDatabase<T>(url: Secret, work: (database: Database) => Promise<T>): Promise<T> {
  const database = createPool(url.reveal(), { schema: migrations.schema, log: silentLog, maxConnections: 2, statementMs });
  try {
    const { ok, detail } = await (await createSchemaCheck(database, migrations))();
    if (!ok) throw new Error(detail);
    return await work(database);
  } catch (error) {
    const fault =
      describeDatabaseFault(error) ?? (isUnavailable(error) ? 'the connection to the database was lost; the same command may be given again' : undefined);
    if (fault === undefined) throw error;
    throw new Error(fault, { cause: error });
  } finally {
    await database.close();
  }
}

/** @throws Error with what is wrong with the master keys */
export function requireKeyring(configured: Secret): Keyring {
  const keyring = readMasterKeys(configured);
  if (keyring.fault !== undefined) throw new Error(keyring.fault);
  return keyring;
}
