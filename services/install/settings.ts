// The settings of `signalbox migrate`: one URL for everything, or a server with a role for each schema.
import { ConfigError, type Environment, InvalidSetting, isGiven, readAll, readSettings, type Setting } from '../platform/config/config.ts';
import { Secret } from '../platform/config/secret.ts';
import { commonSettings, optional, secret, text, url } from '../platform/config/settings.ts';
import { passwordVariable, rolesOf, type RolesWanted, userVariable } from './roles-sql.ts';

const protocols = ['postgres', 'postgresql'];
const databaseUrl = optional(commonSettings.databaseUrl);
const serverUrl = url('POSTGRES_URL', protocols, {
  summary: 'Instead of `DATABASE_URL`: server and database without a user; each schema is kept by a role of its own',
});
const postgresUrl = optional({ ...serverUrl, parse: parseServer });
const admin = {
  adminUser: text('POSTGRES_ADMIN_USER', { summary: 'The administrator who creates database, roles and schemas', default: 'postgres' }),
  adminPassword: optional(secret('POSTGRES_ADMIN_PASSWORD', { summary: 'Without it nothing is created: the SQL to run is printed, and waited for' })),
};

/** For the settings table. */
export const migrateSettings = { databaseUrl, postgresUrl, ...admin };
export const roleFamilies = [
  { name: passwordVariable('<schema>'), shape: 'secret', summary: 'The password of each role' },
  { name: userVariable('<schema>'), shape: 'text', summary: 'The name of a role that an administrator creates; default: that of the schema' },
];

// Anything else would have to be normalised as the server does (SASLprep) before it is hashed here.
function parsePassword(value: string): Secret {
  if (/^[\x20-\x7e]+$/.test(value)) return new Secret(value);
  throw new InvalidSetting('must be of printable ASCII characters');
}

const rolePassword = (schema: string): Setting<Secret> => ({
  ...secret(passwordVariable(schema), { summary: 'The password of this role' }),
  parse: parsePassword,
});

const roleUser = (schema: string) => text(userVariable(schema), { summary: 'The name of this role', default: schema });

/** A server with a role for each schema. */
export type RolesTarget = {
  readonly kind: 'roles';
  /** `host:port`, for people. */
  readonly server: string;
  readonly database: string;
  /** Undefined when an administrator creates the roles. */
  readonly adminUrl: string | undefined;
  /** By role, for the roles that log in here or are created here. */
  readonly passwords: ReadonlyMap<string, string>;
  readonly urlOf: (schema: string) => string;
};

type Target = RolesTarget | { readonly kind: 'one user'; readonly url: string };

/** @throws ConfigError with every fault */
export async function readTarget(environment: Environment, wanted: Pick<RolesWanted, 'schemas' | 'withBackup'>): Promise<Target> {
  const { databaseUrl: direct, postgresUrl: server = '' } = readSettings(environment, { databaseUrl, postgresUrl }, chooseOne);
  if (direct) return { kind: 'one user', url: direct.reveal() };
  // The role of dumps does not log in here: its password is needed to create it.
  const names = isGiven(environment, admin.adminPassword.name) ? rolesOf(wanted) : wanted.schemas;
  const [{ adminUser, adminPassword }, roles, users] = await readAll(
    () => readSettings(environment, admin),
    () => readSettings(environment, Object.fromEntries(names.map((name) => [name, rolePassword(name)]))),
    () => readSettings(environment, Object.fromEntries(names.map((name) => [name, roleUser(name)]))),
  );
  const renamed = names.filter((name) => users[name] !== name).map(userVariable);
  if (adminPassword && renamed.length > 0) throw new ConfigError([`${renamed.join(', ')}: roles that are made here have the names of their schemas`]);
  const passwords = new Map(Object.entries(roles).map(([name, password]) => [name, password.reveal()]));
  return {
    kind: 'roles',
    server: new URL(server).host,
    database: databaseOf(server),
    adminUrl: adminPassword && withUser(server, adminUser, adminPassword.reveal()),
    passwords,
    urlOf: (schema) => withUser(server, users[schema] ?? schema, passwords.get(schema) ?? ''),
  };
}

/** The database that `POSTGRES_URL` names; `signalbox` without it. */
export function readDatabaseName(environment: Environment): string {
  const { postgresUrl: server } = readSettings(environment, { postgresUrl });
  return server === undefined ? 'signalbox' : databaseOf(server);
}

function chooseOne({ databaseUrl: direct, postgresUrl: server }: { databaseUrl: Secret | undefined; postgresUrl: string | undefined }): string[] {
  if (direct && server !== undefined) return ['DATABASE_URL and POSTGRES_URL are both set; leave one'];
  return direct || server !== undefined ? [] : ['DATABASE_URL or POSTGRES_URL is required and not set'];
}

function parseServer(value: string): string {
  const { username, password, hostname } = new URL(serverUrl.parse(value));
  if (username !== '' || password !== '') throw new InvalidSetting('must name no user: users have settings of their own');
  if (hostname === '' || databaseOf(value) === '') throw new InvalidSetting('must name a host and a database, as in postgres://host:5432/signalbox');
  return value;
}

const databaseOf = (server: string) => decodeURIComponent(new URL(server).pathname.slice(1));

function withUser(server: string, user: string, password: string): string {
  const url = new URL(server);
  url.username = encodeURIComponent(user);
  url.password = encodeURIComponent(password);
  return url.href;
}
