// A Postgres server of one's own for tests of roles, which belong to a whole server, and the command as a Job runs it.
import pg from 'pg';
import { type MigrateCommand, migrateSchemas } from '../../services/install/migrate.ts';
import { deployables } from '../../services/command/deployables.ts';
import { silentLog } from '../../services/platform/log.ts';
import { type PostgresOptions, type PostgresServer, startPostgres } from '../support/postgres.ts';

export type RolesServer = PostgresServer & {
  /** Host and port. */
  readonly host: string;
  /** As its superuser. */
  asAdmin(database: string, sql: string): Promise<readonly unknown[][]>;
  /** The environment of a migrate Job, with passwords `<schema>-password`. */
  environment(database: string): Record<string, string>;
  urlOf(role: string, database: string): string;
};

export async function startRolesServer(options: PostgresOptions = {}): Promise<RolesServer> {
  const server = await startPostgres(options);
  const { host } = new URL(server.url);
  const admin = new URL(server.url);
  return {
    ...server,
    host,
    asAdmin: (database, sql) => rows(`postgres://${admin.username}:${admin.password}@${host}/${database}`, sql),
    environment: (database) => ({
      POSTGRES_URL: `postgres://${host}/${database}`,
      POSTGRES_ADMIN_USER: admin.username,
      POSTGRES_ADMIN_PASSWORD: admin.password,
      ...passwords,
    }),
    urlOf: (role, database) => `postgres://${role}:${role}-password@${host}/${database}`,
  };
}

const passwords = Object.fromEntries(
  ['relay', 'intake', 'digest', 'secrets', 'bookmarks', 'listings', 'console', 'broker'].map((role) => [
    `POSTGRES_${role.toUpperCase()}_PASSWORD`,
    `${role}-password`,
  ]),
);

/** The rows that a user gets for a statement. */
export async function rows(url: string, sql: string): Promise<readonly unknown[][]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: found } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
    return found;
  } finally {
    await client.end();
  }
}

/** The SQLSTATE of the refusal; undefined when it is not refused. */
export const refusal = (url: string, sql: string): Promise<string | undefined> =>
  rows(url, sql).then(
    () => undefined,
    (error: unknown) => (error instanceof pg.DatabaseError ? error.code : String(error)),
  );

/** Runs `signalbox migrate`. @returns what it has printed */
export async function runMigrate(environment: Record<string, string>, options: Partial<MigrateCommand> = {}, services = deployables.names): Promise<string> {
  let printed = '';
  const print = (text: string) => void (printed += text);
  const command = { environment, withBroker: true, closeOtherDatabases: false, waitMs: 0, log: silentLog, print, ...options };
  await migrateSchemas(command, await deployables.load(services));
  return printed;
}
