// `signalbox migrate`: brings the schemas of services to this release, and on a server of roles makes a role for each first.
import { describeError } from '../platform/errors.ts';
import type { Environment } from '../platform/config/config.ts';
import type { Deployable } from '../platform/process/deployable.ts';
import type { Log } from '../platform/log.ts';
import { migrate } from '../platform/postgres/migrations.ts';
import { isUnavailable } from '../platform/postgres/errors.ts';
import { describeDatabaseFault } from '../platform/postgres/fault.ts';
import { patiently } from './patience.ts';
import { createRolesStep, RoleMissing } from './roles.ts';
import { rolesScript } from './roles-sql.ts';
import { readDatabaseName, readTarget } from './settings.ts';

export type MigrateCommand = {
  readonly environment: Environment;
  /** Whether the embedded broker has a role of its own, too. */
  readonly withBroker: boolean;
  /** Whether the server is Signalbox's alone. */
  readonly closeOtherDatabases: boolean;
  /** How long a server, or a role that somebody else makes, is waited for. */
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

/** What `migrateSchemas` does as an administrator, for psql. */
export function printRoles(command: Omit<MigrateCommand, 'log'>, services: readonly Migrated[]): void {
  const { environment, closeOtherDatabases: isServerOurs, print } = command;
  print(rolesScript({ database: readDatabaseName(environment), schemas: schemasOf(services, command), isServerOurs }));
}

/** On a server of roles everything starts at once; at a desk a wrong address is told at once. */
const waitMs = { roles: 300_000, 'one user': 0 };

/** Prints the version of each schema. @throws Error that says in words what is in the way */
export async function migrateSchemas(command: MigrateCommand, services: readonly Migrated[]): Promise<void> {
  const { environment, closeOtherDatabases: isServerOurs, log, print } = command;
  const target = readTarget(environment, schemasOf(services, command));
  const patience = {
    waitMs: command.waitMs ?? waitMs[target.kind],
    isTemporary: (error: unknown) => error instanceof RoleMissing || isUnavailable(error),
    describe: describeError,
    say: (reason: string) => log.warn({ reason }, 'waiting for Postgres'),
  };
  const during = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await patiently(patience, work);
    } catch (cause) {
      throw new Error(`${what}: ${causes(cause)}`, { cause });
    }
  };
  if (target.kind === 'roles') await during(`roles on ${target.server}`, createRolesStep(target, { isServerOurs, log, print }));
  for (const { migrations } of services) {
    const url = target.kind === 'roles' ? target.urlOf(migrations.schema) : target.url;
    const reached = await during(`schema ${migrations.schema}`, () => migrate(url, migrations, log));
    print(`${migrations.schema}: version ${reached}\n`);
  }
}

/** What went wrong and why, down to what the server says. */
function causes(error: unknown): string {
  const reason = describeDatabaseFault(error) ?? describeError(error);
  return error instanceof Error && error.cause !== undefined ? `${reason}: ${causes(error.cause)}` : reason;
}
