// The database and the master keys of commands that work on the whole store.
import type { Secret } from '../../platform/config/secret.ts';
import { withDatabase } from '../../platform/postgres/command-database.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { type Keyring, readMasterKeys } from '../encryption/master-keys.ts';

const migrations = { schema: 'secrets', directory: new URL('../migrations/', import.meta.url) };

/** @throws Error when it cannot be reached, or its schema is older than this release */
export const withStore = <T>(url: Secret, work: (database: Database) => Promise<T>) => withDatabase(url, migrations, work);

/** @throws Error with what is wrong with the master keys */
export function requireKeyring(configured: Secret): Keyring {
  const keyring = readMasterKeys(configured);
  if (keyring.fault !== undefined) throw new Error(keyring.fault);
  return keyring;
}
