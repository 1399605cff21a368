// The SQL of a role for each schema: plain text that this command runs and that an administrator may read first, or run by psql.

export type RolesWanted = {
  readonly database: string;
  /** A role of the same name owns each. */
  readonly schemas: readonly string[];
  /** Whether there is a role that reads everything and writes nothing. */
  readonly withBackup?: boolean;
  /** Extensions of Postgres, each once: creating one needs the right to create in the database, and every role may use those in public. */
  readonly extensions: readonly string[];
  /** The server is Signalbox's alone: PUBLIC is kept out of its other databases, too. */
  readonly isServerOurs: boolean;
};

// Names are our own and the administrator's; quoted all the same.
export const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`;
export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** A setting of the session that holds the password, or what Postgres keeps of it, while this runs. */
export const passwordParameter = (schema: string) => `signalbox.${schema}_password`;

/** The role of `pg_dump`. */
export const backupRole = 'backup';

/** Runs in one transaction in the database of its name; doing it again changes nothing but passwords to those given. */
export function rolesSql({ database, schemas, extensions, isServerOurs, withBackup }: RolesWanted): string {
  const closed = [database, ...(isServerOurs ? ['postgres', 'template1'] : [])];
  return [
    '-- One at a time.',
    `do $$ begin perform pg_advisory_xact_lock(hashtextextended('signalbox.roles', 0)); end $$;`,
    '-- Only the roles below may connect or create temporary tables, and none may create objects in schema public.',
    ...closed.filter((name, index) => closed.indexOf(name) === index).map((name) => `revoke all on database ${identifier(name)} from public;`),
    'revoke create on schema public from public;',
    ...schemas.flatMap((schema) => [
      '',
      roleSql(schema, database),
      `grant connect on database ${identifier(database)} to ${identifier(schema)};`,
      schemaSql(schema),
    ]),
    ...extensions.map(extensionSql),
    ...(withBackup ? ['', roleSql(backupRole, database), backupSql(database)] : []),
    '',
    limitsSql(schemas, database),
    '',
  ].join('\n');
}

/** The comment of a role that this has made. */
const markOf = (database: string) => `Signalbox, database ${database}`;

// A role of that name may belong to another application or another Signalbox, whose password must not change.
function roleSql(schema: string, database: string): string {
  const [role, name, mark] = [identifier(schema), literal(schema), markOf(database)];
  return `-- ${schema}: its role
do $$
declare
  password text := current_setting(${literal(passwordParameter(schema))}, true);
  mark text;
begin
  if coalesce(password, '') = '' then
    raise exception ${literal(`there is no password for role ${schema}`)} using hint = ${literal(`set ${passwordVariable(schema)}`)};
  end if;
  if not exists (select from pg_roles where rolname = ${name}) then
    create role ${role};
    comment on role ${role} is ${literal(mark)};
  end if;
  mark := shobj_description(to_regrole(${literal(role)}), 'pg_authid');
  if mark is distinct from ${literal(mark)} and (mark like 'Signalbox, database %' or exists (
    select from pg_shdepend where refclassid = 'pg_authid'::regclass and refobjid = to_regrole(${literal(role)}) and deptype = 'o'
      and dbid not in (0, (select oid from pg_database where datname = current_database())))) then
    raise exception ${literal(`role ${schema} is used by another database of this server already`)}
      using hint = 'Signalbox needs a server where its roles are its own.';
  end if;
  if exists (select from pg_roles where rolname = ${name} and (rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls)) then
    raise exception ${literal(`role ${schema} exists and may do more than a service may: superuser, createrole, createdb, replication or bypassrls`)};
  end if;
  execute format(${literal(`alter role ${role} login password %L`)}, password);
end $$;`;
}

// An administrator who is no superuser may give a schema only to a role that he belongs to: for this moment.
function schemaSql(schema: string): string {
  const role = identifier(schema);
  return `-- ${schema}: its schema
do $$
declare
  owner text := (select nspowner::regrole::text from pg_namespace where nspname = ${literal(schema)});
  is_superuser boolean := (select rolsuper from pg_roles where rolname = current_user);
begin
  if owner is null then
    if not is_superuser then grant ${role} to current_user; end if;
    create schema ${role} authorization ${role};
    if not is_superuser then revoke ${role} from current_user; end if;
  elsif owner <> to_regrole(${literal(role)})::text then
    raise exception ${literal(`schema ${schema} belongs to role %, not to role ${schema}`)}, owner
      using hint = ${literal(`As its owner: "reassign owned by … to ${schema}" for what is in it, "alter schema ${schema} owner to ${schema}".`)};
  end if;
end $$;`;
}

// Postgres 14 has the role of those who read. Two connections: a dump, and one that is being given up.
const backupSql = (database: string) => `grant connect on database ${identifier(database)} to ${backupRole};
grant pg_read_all_data to ${backupRole};
alter role ${backupRole} set default_transaction_read_only = on;
alter role ${backupRole} connection limit 2;`;

// `if not exists` would tell of one that is there already at each run.
function extensionSql(name: string): string {
  return `-- Extension ${name}
do $$
begin
  if not exists (select from pg_extension where extname = ${literal(name)}) then
    create extension ${identifier(name)} with schema public;
  end if;
end $$;`;
}

// A share of max_connections when this runs; a tenth is left to administrators, backups and exporters. The intake has the most processes: a service and four workers.
function limitsSql(schemas: readonly string[], database: string): string {
  return `-- Nine tenths of the server's connections in equal parts, two of them to the intake: no role can take those of another.
do $$
declare
  roles name[] := array(select rolname from pg_roles
    where rolname = any (array[${schemas.map(literal).join(', ')}]) or shobj_description(oid, 'pg_authid') = ${literal(markOf(database))} and rolname <> ${literal(backupRole)});
  role name;
  part int := current_setting('max_connections')::int * 9 / 10 / (cardinality(roles) + ('intake' = any (roles))::int);
begin
  foreach role in array roles loop
    execute format('alter role %I connection limit %s', role, case role when 'intake' then 2 else 1 end * part);
  end loop;
end $$;`;
}

/** The environment variable of a role's password. */
export const passwordVariable = (schema: string) => `POSTGRES_${schema.toUpperCase()}_PASSWORD`;

/** The setting with the role's name, for a role that an administrator creates. */
export const userVariable = (schema: string) => `POSTGRES_${schema.toUpperCase()}_USER`;

/** The roles that have a password. */
export const rolesOf = ({ schemas, withBackup }: Pick<RolesWanted, 'schemas' | 'withBackup'>): readonly string[] => [
  ...schemas,
  ...(withBackup ? [backupRole] : []),
];

/** All of it for psql 14 and newer, as an administrator, in any database; passwords come from the environment of psql. */
export function rolesScript(wanted: RolesWanted): string {
  const { database } = wanted;
  const roles = rolesOf(wanted);
  return [
    `-- Creates database ${database} with a role and a schema for each service of Signalbox; running it again does no harm.`,
    `-- Run it by psql (14 or newer) as an administrator, with these in its environment: ${roles.map(passwordVariable).join(', ')}.`,
    '\\set ON_ERROR_STOP on',
    `select ${literal(createDatabaseSql(database))} where not exists (select from pg_database where datname = ${literal(database)}) \\gexec`,
    `\\connect ${identifier(database)}`,
    ...roles.flatMap((schema) => [`\\set password ''`, `\\getenv password ${passwordVariable(schema)}`, `set ${passwordParameter(schema)} = :'password';`]),
    'begin;',
    rolesSql(wanted),
    'commit;',
    '',
  ].join('\n');
}

/** The database is encoded in UTF-8, whatever the server's default. */
export const createDatabaseSql = (database: string) => `create database ${identifier(database)} encoding 'UTF8' template template0`;
