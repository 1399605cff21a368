import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { printRoles } from '../../services/install/migrate.ts';
import { deployables } from '../../services/command/deployables.ts';
import { describeWith } from '../support/need.ts';
import { commandLine } from '../support/programs.ts';
import { eventually } from '../support/wait.ts';
import { refusal, type RolesServer, runMigrate, startRolesServer } from './server.ts';

// As `postgres.external.createRoles: false` of the chart leaves it: the migrate Job has no administrator's password.
describeWith(commandLine('psql'), 'the SQL of --print-roles', () => {
  const database = 'signalbox';
  const roles = ['relay', 'intake', 'digest', 'secrets', 'bookmarks', 'listings', 'console', 'broker'];
  let server: RolesServer;
  before(async () => {
    server = await startRolesServer();
  });
  after(() => server.close());
  afterEach(async () => {
    await server.asAdmin('postgres', `drop database if exists ${database} with (force)`);
    await server.asAdmin('postgres', `drop role if exists ${roles.join(', ')}`);
  });

  const withoutAdmin = () => {
    const { POSTGRES_ADMIN_USER: _user, POSTGRES_ADMIN_PASSWORD: _password, ...rest } = server.environment(database);
    return rest;
  };

  async function printed(): Promise<string> {
    let sql = '';
    const command = { environment: withoutAdmin(), withBroker: true, closeOtherDatabases: false, waitMs: 0, print: (line: string) => void (sql += line) };
    printRoles(command, await deployables.loadAll());
    return sql;
  }

  async function psql(sql: string, environment: Record<string, string> = server.environment(database)): Promise<{ code: number | null; stderr: string }> {
    const child = spawn('psql', ['--no-psqlrc', '--quiet', server.url], {
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    child.stdin.end(sql);
    const stderr = await text(child.stderr);
    return { code: await ended, stderr };
  }

  const state = async () => [
    await server.asAdmin(database, 'select nspname, nspowner::regrole::text, nspacl::text from pg_namespace order by 1'),
    await server.asAdmin(database, `select datacl::text, pg_encoding_to_char(encoding) from pg_database where datname = '${database}'`),
    await server.asAdmin(
      database,
      `select rolname, rolsuper, rolinherit, rolcanlogin, shobj_description(oid, 'pg_authid') from pg_roles where oid >= 16384 order by 1`,
    ),
    await server.asAdmin(database, 'select roleid::regrole::text, member::regrole::text from pg_auth_members order by 1, 2'),
  ];

  it('does what the command does as an administrator, and no harm when it is run again', async () => {
    await runMigrate(server.environment(database));
    const byCommand = await state();
    await server.asAdmin('postgres', `drop database ${database} with (force)`);
    await server.asAdmin('postgres', `drop role ${roles.join(', ')}`);

    for (let run = 0; run < 2; run++) expect(await psql(await printed())).to.deep.equal({ code: 0, stderr: '' });
    await runMigrate(withoutAdmin(), { withBackup: true });
    expect(await state()).to.deep.equal(byCommand);
    for (const role of roles) expect(await refusal(server.urlOf(role, database), 'select 1')).to.equal(undefined);
  });

  it('holds no password', async () => {
    expect(await printed()).not.to.contain('relay-password');
  });

  it('changes nothing without the passwords, and names what is not set', async () => {
    const { POSTGRES_SECRETS_PASSWORD: _secrets, ...rest } = server.environment(database);
    const { code, stderr } = await psql(await printed(), rest);
    expect(code).to.equal(3);
    expect(stderr).to.contain('there is no password for role secrets').and.to.contain('set POSTGRES_SECRETS_PASSWORD');
    expect(await server.asAdmin('postgres', `select rolname from pg_roles where rolname = 'relay'`)).to.deep.equal([]);
  });

  it('is printed by a migration that finds no roles, which goes on when they are there', async () => {
    let output = '';
    const migrated = runMigrate(withoutAdmin(), { waitMs: 60_000, print: (line) => void (output += line) });
    await eventually(() => output.includes('commit;'));
    expect(await psql(output)).to.deep.equal({ code: 0, stderr: '' });
    await migrated;
    expect(output.match(/version/g)).to.have.length(7);
    expect(output.match(/commit;/g)).to.have.length(1);
  });

  it('is waited for no longer than told, and the end says what is missing', async () => {
    const failure = await runMigrate(withoutAdmin()).catch((error: unknown) => error);
    expect(String(failure)).to.match(/^Error: roles on 127\.0\.0\.1:\d+: role relay cannot log in: password authentication failed for user "relay"$/);
  });

  for (const [what, sql, reason] of [
    ['no schema', `create role relay login password 'relay-password'`, 'role relay may not create tables in a schema relay'],
    [
      'no right to create in its schema',
      `create role relay login password 'relay-password'; create schema relay; grant usage on schema relay to relay`,
      'role relay may not create tables in a schema relay',
    ],
    [
      'no right to connect',
      `create role relay login password 'relay-password'; create schema relay authorization relay; revoke connect on database ${database} from public`,
      `role relay cannot log in: permission denied for database "${database}"`,
    ],
  ] as const)
    it(`is still waited for when a role has ${what}`, async () => {
      await server.asAdmin('postgres', `create database ${database}`);
      await server.asAdmin(database, sql);
      const failure = await runMigrate(withoutAdmin()).catch((error: unknown) => error);
      expect(String(failure)).to.contain(reason);
    });
});
