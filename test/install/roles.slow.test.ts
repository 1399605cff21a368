import { expect } from 'chai';
import pg from 'pg';
import { createLog } from '../../services/platform/log.ts';
import { startSilentServer } from '../support/silent-server.ts';
import { eventually } from '../support/wait.ts';
import { refusal, type RolesServer, runMigrate, startRolesServer } from './server.ts';

const denied = '42501';

describe('signalbox migrate on a server of roles', () => {
  let server: RolesServer;
  before(async () => {
    server = await startRolesServer();
  });
  after(() => server.close());

  let count = 0;
  let database: string;
  beforeEach(() => {
    database = `signalbox_${++count}`;
  });
  afterEach(async () => {
    await server.asAdmin('postgres', `drop database if exists ${database} with (force)`);
    await server.asAdmin('postgres', 'drop role if exists relay, intake, digest, secrets, bookmarks, listings, console, broker');
  });

  const as = (role: string) => server.urlOf(role, database);

  it('creates the database, and migrates each schema as the role that owns it', async () => {
    expect(await runMigrate(server.environment(database))).to.match(
      /^relay: version \d+\nintake: version \d+\ndigest: version \d+\nsecrets: version \d+\nbookmarks: version \d+\nlistings: version \d+\nconsole: version \d+\n$/,
    );
    const owners = `select distinct n.nspname, c.relowner::regrole::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('relay', 'intake', 'digest', 'secrets', 'bookmarks', 'listings', 'console') order by 1`;
    expect(await server.asAdmin(database, owners)).to.deep.equal(
      ['bookmarks', 'console', 'digest', 'intake', 'listings', 'relay', 'secrets'].map((name) => [name, name]),
    );
  });

  it('lets a role do anything in its own schema', async () => {
    await runMigrate(server.environment(database));
    for (const role of ['relay', 'intake', 'digest', 'secrets', 'bookmarks', 'listings', 'console', 'broker'])
      expect(await refusal(as(role), `create table ${role}.t (id int); insert into ${role}.t values (1); drop table ${role}.t`)).to.equal(undefined);
  });

  for (const [what, sql] of [
    ['read a schema that is not its own', 'select * from secrets.migrations'],
    ['write to a schema that is not its own', 'insert into intake.events default values'],
    ['create tables in a schema that is not its own', 'create table secrets.mine (id int)'],
    ['create tables in schema public', 'create table public.mine (id int)'],
    ['create schemas', 'create schema mine'],
    ['create temporary tables', 'create temporary table mine (id int)'],
    ['create roles', 'create role mine'],
    ['create databases', 'create database mine'],
    ['become another role', 'set role secrets'],
    ['read files of the server', "copy (select 1) to program 'true'"],
  ] as const)
    it(`does not let role relay ${what}`, async () => {
      await runMigrate(server.environment(database));
      expect(await refusal(as('relay'), sql)).to.equal(denied);
    });

  it('takes what Postgres before 15 gave to everybody: to create tables in schema public', async () => {
    await server.asAdmin('postgres', `create database ${database}`);
    await server.asAdmin(database, 'grant create on schema public to public');
    await runMigrate(server.environment(database));
    expect(await refusal(as('relay'), 'create table public.mine (id int)')).to.equal(denied);
  });

  it('lets no role in without a right of its own', async () => {
    await runMigrate(server.environment(database));
    await server.asAdmin('postgres', "create role stranger login password 'stranger-password'");
    expect(await refusal(as('stranger'), 'select 1')).to.equal(denied);
    await server.asAdmin('postgres', 'drop role stranger');
  });

  it("keeps roles out of the server's other databases when the server is its own", async () => {
    await runMigrate(server.environment(database));
    expect(await refusal(server.urlOf('relay', 'postgres'), 'select 1')).to.equal(undefined);
    await runMigrate(server.environment(database), { closeOtherDatabases: true });
    for (const other of ['postgres', 'template1']) expect(await refusal(server.urlOf('relay', other), 'select 1')).to.equal(denied);
    await server.asAdmin('postgres', 'grant connect, temporary on database postgres to public; grant connect on database template1 to public');
  });

  it('changes nothing when it runs again', async () => {
    await runMigrate(server.environment(database));
    const before = await catalogue();
    await runMigrate(server.environment(database));
    expect(await catalogue()).to.deep.equal(before);
    expect(await refusal(as('relay'), 'select 1')).to.equal(undefined);
  });

  const catalogue = async () => [
    await server.asAdmin(database, 'select nspname, nspowner::regrole::text, nspacl::text from pg_namespace order by 1'),
    await server.asAdmin(database, 'select datname, datacl::text from pg_database order by 1'),
    await server.asAdmin(
      database,
      `select rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls, rolconnlimit, shobj_description(oid, 'pg_authid') from pg_roles order by 1`,
    ),
    await server.asAdmin(database, 'select oid::regclass::text, relowner::regrole::text, relacl::text from pg_class order by 1'),
    await server.asAdmin(database, 'select roleid::regrole::text, member::regrole::text from pg_auth_members order by 1, 2'),
  ];

  it('sets a password that has changed, and leaves no password in the text that the server logs', async () => {
    await runMigrate(server.environment(database));
    await server.asAdmin('postgres', "alter system set log_statement = 'all'");
    await server.asAdmin('postgres', 'select pg_reload_conf()');
    const changed = `changed '"%L $$ password`;
    await runMigrate({ ...server.environment(database), POSTGRES_RELAY_PASSWORD: changed });
    const log = String((await server.asAdmin('postgres', `select pg_read_file(current_setting('data_directory') || '/../postgres.log')`))[0]);
    await server.asAdmin('postgres', 'alter system reset log_statement');
    await server.asAdmin('postgres', 'select pg_reload_conf()');
    expect(await refusal(as('relay'), 'select 1')).to.equal('28P01');
    expect(await refusal(`postgres://relay:${encodeURIComponent(changed)}@${server.host}/${database}`, 'select 1')).to.equal(undefined);
    expect(log).to.contain('set_config').and.not.to.contain("changed '").and.not.to.contain('intake-password');
  });

  it('is run by several at once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => runMigrate(server.environment(database))));
    for (const role of ['relay', 'intake', 'digest', 'secrets', 'bookmarks', 'listings', 'console', 'broker'])
      expect(await refusal(as(role), 'select 1')).to.equal(undefined);
  });

  it('needs no superuser: a role that may create roles and databases will do', async () => {
    await server.asAdmin('postgres', "create role boss login createrole createdb password 'boss-password'");
    const environment = { ...server.environment(database), POSTGRES_ADMIN_USER: 'boss', POSTGRES_ADMIN_PASSWORD: 'boss-password' };
    await runMigrate(environment);
    await runMigrate(environment);
    expect(await refusal(as('relay'), 'select * from relay.migrations')).to.equal(undefined);
    expect(await refusal(as('relay'), 'select * from secrets.migrations')).to.equal(denied);
    expect(await refusal(server.urlOf('boss', database), 'select * from secrets.migrations')).to.equal(denied);
    await server.asAdmin('postgres', `drop database ${database} with (force)`);
    await server.asAdmin('postgres', 'drop role relay, intake, digest, secrets, bookmarks, listings, console, broker');
    await server.asAdmin('postgres', 'drop role boss');
  });

  it('makes roles for the services that are named only, and those of another one later', async () => {
    await runMigrate(server.environment(database), { withBroker: false }, ['secrets']);
    const roles = `select rolname from pg_roles where rolname in ('relay', 'intake', 'digest', 'secrets', 'bookmarks', 'listings', 'console', 'broker') order by 1`;
    expect(await server.asAdmin('postgres', roles)).to.deep.equal([['secrets']]);
    await runMigrate(server.environment(database), { withBroker: false }, ['webhook-relay']);
    expect(await server.asAdmin('postgres', roles)).to.deep.equal([['relay'], ['secrets']]);
    expect(await refusal(as('secrets'), 'select * from secrets.migrations')).to.equal(undefined);
  });

  describe('limits connections, so that', () => {
    const limits = async () => {
      const found = await server.asAdmin(
        'postgres',
        `select rolname, rolconnlimit from pg_roles where rolname in ('relay', 'intake', 'digest', 'secrets', 'bookmarks', 'listings', 'console', 'broker')`,
      );
      return new Map(found.map(([role, limit]) => [String(role), Number(limit)]));
    };

    it('all roles together leave some to an administrator, also when one is made later', async () => {
      const max = Number((await server.asAdmin('postgres', `select current_setting('max_connections')`))[0]);
      await runMigrate(server.environment(database), { withBroker: false }, ['secrets']);
      await runMigrate(server.environment(database));
      const found = await limits();
      expect([...found.keys()].sort()).to.deep.equal(['bookmarks', 'broker', 'console', 'digest', 'intake', 'listings', 'relay', 'secrets']);
      const part = found.get('relay') ?? 0;
      expect(part).to.be.at.least(Math.floor((max * 0.9) / (found.size + 1)) - 1);
      for (const [role, limit] of found) expect(limit, role).to.equal(role === 'intake' ? 2 * part : part);
      expect([...found.values()].reduce((sum, limit) => sum + limit)).to.be.at.most(max * 0.9);
    });

    it('a role that takes all it gets leaves the others theirs', async () => {
      await runMigrate(server.environment(database));
      const limit = (await limits()).get('relay') ?? 0;
      const greedy = Array.from({ length: limit }, () => new pg.Client(as('relay')));
      await Promise.all(greedy.map((client) => client.connect()));
      expect(await refusal(as('relay'), 'select 1')).to.equal('53300');
      expect(await refusal(as('intake'), 'select 1')).to.equal(undefined);
      await Promise.all(greedy.map((client) => client.end()));
    });
  });

  describe('refuses', () => {
    const failure = (environment = server.environment(database)) =>
      runMigrate(environment).then(
        () => 'nothing failed',
        (error: unknown) => (error instanceof Error ? error.message : ''),
      );

    it('a role that another Signalbox on this server uses', async () => {
      await runMigrate(server.environment(database));
      const other = { ...server.environment('second'), POSTGRES_RELAY_PASSWORD: 'of-the-second' };
      expect(await failure(other)).to.contain('role relay is used by another database of this server already');
      expect(await refusal(as('relay'), 'select 1')).to.equal(undefined);
      await server.asAdmin('postgres', 'drop database second');
    });

    it('a role that owns something in another database', async () => {
      await server.asAdmin('postgres', "create role relay login password 'relay-password'; create schema theirs authorization relay");
      expect(await failure()).to.contain('role relay is used by another database of this server already');
      await server.asAdmin('postgres', 'drop schema theirs');
    });

    it('a role that may do more than a service may', async () => {
      await server.asAdmin('postgres', 'create role secrets superuser');
      expect(await failure()).to.contain('role secrets exists and may do more than a service may');
    });

    it('a schema that belongs to another role', async () => {
      await server.asAdmin('postgres', `create database ${database}`);
      await server.asAdmin(database, 'create schema relay');
      expect(await failure()).to.contain('schema relay belongs to role signalbox, not to role relay');
    });

    it('a wrong password of the administrator, and says whose', async () => {
      const message = await failure({ ...server.environment(database), POSTGRES_ADMIN_PASSWORD: 'wrong' });
      expect(message).to.match(/^roles on 127\.0\.0\.1:\d+: administrator signalbox is refused .*\(28P01\)$/);
    });

    it('to wait longer than its limit', async () => {
      const message = await failure({ ...server.environment(database), POSTGRES_URL: 'postgres://127.0.0.1:1/signalbox' });
      expect(message).to.equal(
        'roles on 127.0.0.1:1: the database of POSTGRES_URL cannot be reached: nothing listens there; is Postgres running, and are host and port right (ECONNREFUSED)',
      );
    });
  });

  it('waits for a server that takes the connection and does not answer', async () => {
    const silent = await startSilentServer();
    const lines: string[] = [];
    const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } });
    const migrated = runMigrate({ ...server.environment(database), POSTGRES_URL: `postgres://127.0.0.1:${silent.port}/${database}` }, { waitMs: 11_000, log });
    await eventually(() => lines.some((line) => line.includes('waiting for Postgres') && line.includes('timeout')));
    expect(String(await migrated.catch((error: unknown) => error))).to.contain('the database of POSTGRES_URL cannot be reached: it does not answer');
    silent.close();
  });

  it('waits for a server that is not up yet, and says so in the log', async () => {
    await server.stop();
    const lines: string[] = [];
    const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } });
    const migrated = runMigrate(server.environment(database), { waitMs: 60_000, log });
    await eventually(() => lines.some((line) => line.includes('waiting for Postgres') && line.includes('ECONNREFUSED')));
    await server.start();
    expect(await migrated).to.contain('relay: version');
  });
});
