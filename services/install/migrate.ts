// `signalbox migrate`: brings the schemas of services to this release, and on a server of roles makes a role for each first.
import { describeError } from '../platform/errors.ts';
import type { Environment } from '../platform/config/config.ts';
import type { Deployable } from '../platform/process/deployable.ts';
import type { Log } from '../platform/log.ts';
import { migrate } from '../platform/postgres/migrations.ts';
import { describeDatabaseFault, isUnavailable } from '../platform/postgres/errors.ts';
import { retryUntil } from '../platform/time.ts';
import { rolesScript, type RolesWanted } from './roles-sql.ts';
import { readDatabaseName, readTarget, type RolesTarget } from './settings.ts';
import { createDatabase, createRoles, isLoginRefused, lacking } from './store.ts';

export type MigrateCommand = {
  readonly environment: Environment;
  /** Whether the embedded broker has a role of its own, too. */
  readonly withBroker: boolean;
  /** Whether there is a role for dumps of everything. */
  readonly withBackup?: boolean;
  /** Whether the server is Signalbox's alone. */
  readonly closeOtherDatabases: boolean;
  /** The longest wait for a server, or for a role that an administrator creates. */
  readonly waitMs: number | undefined;
  readonly log: Log;
  readonly print: (text: string) => void;
};

type Migrated = Pick<Deployable, 'migrations'>;

// pg-boss makes its tables by itself, in a schema that is there.
const schemasOf = (services: readonly Migrated[], { withBroker }: Pick<MigrateCommand, 'withBroker'>) => [
  ...services.map(({ migrations }) => migrations.schema),
  ...(withBroker ? ['broker'] : []),
];

const extensionsOf = (services: readonly Migrated[]) => [...new Set(services.flatMap(({ migrations: { extensions = [] } }) => extensions))];

/** Prints the SQL that `migrateSchemas` runs as an administrator, for psql. */
export function printRoles(command: Omit<MigrateCommand, 'log'>, services: readonly Migrated[]): void {
  const { environment, withBackup = false, closeOtherDatabases: isServerOurs, print } = command;
  const extensions = extensionsOf(services);
  print(rolesScript({ database: readDatabaseName(environment), schemas: schemasOf(services, command), extensions, isServerOurs, withBackup }));
}

/** In a cluster everything starts at once; a person at a terminal wants to see a wrong address immediately. */
const waitMs = { roles: 300_000, 'one user': 0 };

/** Prints the version of each schema. @throws Error that says in words what is in the way */
export async function migrateSchemas(command: MigrateCommand, services: readonly Migrated[]): Promise<void> {
  const { environment, withBackup = false, closeOtherDatabases: isServerOurs, log, print } = command;
  const schemas = schemasOf(services, command);
  const target = await readTarget(environment, { schemas, withBackup });
  const setting = target.kind === 'roles' ? 'POSTGRES_URL' : 'DATABASE_URL';
  const retry = {
    timeoutMs: command.waitMs ?? waitMs[target.kind],
    isTemporary: (error: unknown) => error instanceof RoleMissing || isUnavailable(error),
    describe: describeError,
    onWait: (reason: string) => log.warn({ reason }, 'waiting for Postgres'),
  };
  const during = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await retryUntil(retry, work);
    } catch (cause) {
      throw new Error(`${what}: ${causes(cause, setting)}`, { cause });
    }
  };
  if (target.kind === 'roles') {
    const wanted = { database: target.database, schemas, extensions: extensionsOf(services), isServerOurs, withBackup };
    const { adminUrl } = target;
    const rolesStep = adminUrl === undefined ? awaitRoles(target, wanted, print) : () => makeRoles({ ...target, adminUrl }, wanted, log);
    await during(`roles on ${target.server}`, rolesStep);
  }
  for (const { migrations } of services) {
    const url = target.kind === 'roles' ? target.urlOf(migrations.schema) : target.url;
    const reached = await during(`schema ${migrations.schema}`, () => migrate(url, migrations, log));
    print(`${migrations.schema}: version ${reached}\n`);
  }
}

/** The error and its causes, down to the server's own message. @param setting that has the server's address */
function causes(error: unknown, setting: string): string {
  const reason = describeDatabaseFault(error, setting) ?? describeError(error);
  return error instanceof Error && error.cause !== undefined ? `${reason}: ${causes(error.cause, setting)}` : reason;
}

/** An administrator has not run the printed SQL yet. */
class RoleMissing extends Error {}

/** After it has run, every schema has a role that can keep it; it may be run again. */
async function makeRoles({ adminUrl, passwords, server }: RolesTarget & { readonly adminUrl: string }, wanted: RolesWanted, log: Log): Promise<void> {
  try {
    const outcome = await createDatabase(adminUrl, wanted.database);
    await createRoles(adminUrl, wanted, { passwords, log });
    log.info({ server, database: `${wanted.database}: ${outcome}`, roles: wanted.schemas }, 'each schema has its role');
  } catch (cause) {
    if (!isLoginRefused(cause)) throw cause;
    const user = decodeURIComponent(new URL(adminUrl).username);
    throw new Error(`administrator ${user} is refused (a server keeps the password that it was first started with, whatever a Secret says later)`, { cause });
  }
}

/** @returns a step that throws RoleMissing until an administrator has created the roles; it prints the SQL for that once */
function awaitRoles({ urlOf }: RolesTarget, wanted: RolesWanted, print: (text: string) => void): () => Promise<void> {
  let isTold = false;
  return async () => {
    for (const schema of wanted.schemas) {
      const lack = await lacking(urlOf(schema), schema);
      if (lack === undefined) continue;
      if (!isTold) print(`-- ${lack}. An administrator must run this; it is waited for.\n${rolesScript(wanted)}`);
      isTold = true;
      throw new RoleMissing(lack);
    }
  };
}
