// All SQL beside migrations that an installation asks a Postgres server: as its administrator, and as a role that may not be there yet.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { hasCode } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { withVerifiedTls } from '../platform/postgres/pool.ts';
import { createDatabaseSql, passwordParameter, rolesSql, type RolesWanted } from './roles-sql.ts';

const connectMs = 5000;

async function asking<T>(url: string, work: (client: pg.Client) => Promise<T>, log?: Log): Promise<T> {
  const client = new pg.Client({
    connectionString: withVerifiedTls(url),
    application_name: 'signalbox-migrate',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
  });
  // The statement in progress rejects with the error.
  client.on('error', () => undefined);
  // Such as: an administrator who does not own the database could take nothing from PUBLIC.
  client.on('notice', ({ severity, message }) => severity === 'WARNING' && log?.warn({ reason: message }, 'the database server warns'));
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** @param url of the administrator, with the database that shall be there */
export async function createDatabase(url: string, database: string): Promise<'created' | 'kept'> {
  const isThere = await asking(url, () => Promise.resolve(true)).catch((error: unknown) => {
    if (hasCode(error, '3D000')) return false;
    throw error;
  });
  if (isThere) return 'kept';
  const maintenance = new URL(url);
  maintenance.pathname = 'postgres';
  return asking(maintenance.href, async (client) => {
    try {
      await client.query(createDatabaseSql(database));
      return 'created';
    } catch (error) {
      // Another one at the same moment: found when it began, or by the unique index when it was to be written.
      if (hasCode(error, '42P04', '23505')) return 'kept';
      throw error;
    }
  });
}

/** @param url of the administrator, with the database; @param passwords by schema */
export const createRoles = (url: string, wanted: RolesWanted, { passwords, log }: { passwords: ReadonlyMap<string, string>; log: Log }): Promise<void> =>
  asking(
    url,
    async (client) => {
      for (const [schema, password] of passwords) await client.query('select set_config($1, $2, false)', [passwordParameter(schema), scramVerifier(password)]);
      // Several statements in one message are one transaction.
      await client.query(rolesSql(wanted));
    },
    log,
  );

/** Wrong password, no such user, or no rule of the server (pg_hba.conf) that lets this user in from here. */
export const isLoginRefused = (error: unknown): boolean => hasCode(error, '28P01', '28000');

const usable = `select to_regnamespace($1) is not null and has_schema_privilege(to_regnamespace($1)::oid, 'create') as usable`;
// no such role or password, no right to log in, no such database, no right to connect to it
const notYet = ['28P01', '28000', '3D000', '42501'];

/** The missing right that an administrator must grant to a role; undefined when the role can keep its schema. @throws when the server cannot be asked */
export async function lacking(url: string, schema: string): Promise<string | undefined> {
  try {
    const isUsable = await asking(url, async (client) => (await client.query<{ usable: boolean }>(usable, [schema])).rows[0]?.usable === true);
    return isUsable ? undefined : `role ${schema} may not create tables in a schema ${schema}`;
  } catch (error) {
    if (hasCode(error, ...notYet) && error instanceof Error) return `role ${schema} cannot log in: ${error.message}`;
    throw error;
  }
}

const iterations = 4096;

/** The verifier that Postgres stores for a password (RFC 5803), as `\password` of psql sends it, so that no log of the server has the password. @param password of printable ASCII, which SASLprep (RFC 4013) leaves as it is */
function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyed('Server Key').toString('base64')}`;
}
