// Dumps and restores as the chart's CronJobs make them: their scripts, from one Postgres into an empty installation on another one.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { adminToken, consume, masterKeys, newApplication, putSecret, secretValue, type TestApplication } from '../services/secrets/service.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { eventually, freePort } from '../support/wait.ts';
import { createForge, examplePayload, loggedDeliveries } from '../system/flow.ts';
import { refusal, type RolesServer, rows, runMigrate, startRolesServer } from './server.ts';

const installed = '/usr/lib/postgresql';
const scripts = join(import.meta.dirname, '../../charts/signalbox/files/backup');
const database = 'signalbox';
/** The newest version of Debian's package. */
const programs = join(installed, existsSync(installed) ? (readdirSync(installed).sort().at(-1) ?? '') : '', 'bin');
const debian = {
  name: 'Postgres with pg_dump',
  missing:
    existsSync(join(programs, 'pg_dump')) && existsSync(join(programs, 'initdb'))
      ? undefined
      : `no pg_dump and initdb in ${programs}; Debian's package postgresql has them`,
};

type Ran = { readonly code: number; readonly output: string };

/** As a pod of the CronJob runs it; with `isPiped` as docs/backup.md runs it in the pod of Postgres. */
function run(script: string, server: RolesServer, environment: Readonly<Record<string, string>>, isPiped = false): Promise<Ran> {
  const { hostname: PGHOST, port: PGPORT } = new URL(server.url);
  const env = { PATH: `${programs}:/usr/bin:/bin`, PGHOST, PGPORT, PGDATABASE: database, ...environment };
  const text = readFileSync(join(scripts, script), 'utf8');
  return new Promise((resolve) => {
    const child = execFile('sh', isPiped ? ['-s'] : ['-c', text], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
    child.stdin?.end(isPiped ? text : '');
  });
}

/** Each table of each schema, with a digest of its rows. */
async function contents(server: RolesServer): Promise<Readonly<Record<string, string>>> {
  const tables = await server.asAdmin(
    database,
    `select format('%I.%I', schemaname, tablename) from pg_tables where schemaname not like 'pg\\_%' and schemaname <> 'information_schema' order by 1`,
  );
  const digests = tables.map(async ([table]) => {
    const [[digest] = []] = await server.asAdmin(
      database,
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '') from ${String(table)} t`,
    );
    return [String(table), String(digest)] as const;
  });
  return Object.fromEntries(await Promise.all(digests));
}

describeWith(debian, 'backup and restore of an installation', function () {
  this.timeout(180_000);
  const directory = temporaryDirectory('backups');
  const environment = (server: RolesServer) => ({ ...server.environment(database), POSTGRES_BACKUP_PASSWORD: 'backup-password' });
  const backup = (server: RolesServer) =>
    run('backup.sh', server, { PGUSER: 'backup', PGPASSWORD: 'backup-password', BACKUP_DIRECTORY: directory, BACKUP_KEEP: '2' });
  const restore = (more: Readonly<Record<string, string>> = {}, isPiped = false) => {
    const { username, password } = new URL(target.url);
    return run('restore.sh', target, { PGUSER: username, PGPASSWORD: password, BACKUP_DIRECTORY: directory, ...more }, isPiped);
  };
  let source: RolesServer;
  let target: RolesServer;
  let application: TestApplication;
  let deliveryId: string;
  let stored: Readonly<Record<string, string>>;
  const value = secretValue('in a dump');
  const running = new Set<RunningProcess>();

  async function start(server: RolesServer, role: string, args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> {
    const port = String(await freePort());
    const urls = { DATABASE_URL: server.urlOf(role, database), BROKER_URL_1: server.urlOf('broker', database) };
    const credentials = {
      Forge__WebhookSecrets: 'the secret of the forge',
      Broker__AuthToken: 'the token of the broker',
      Intake__AccessTokens: 'the token of the dashboard',
      Management__AdminApiKey: adminToken,
      Encryption__MasterKeys: masterKeys,
    };
    const process = startProcess(args, { env: { APP_ENV: 'development', PORT: port, METRICS_PORT: '0', ...credentials, ...urls, ...more } });
    running.add(process);
    await process.waitForLine(/"msg":"ready"/);
    return `http://127.0.0.1:${port}`;
  }
  const stopAll = async () => {
    for (const process of running) process.signal('SIGTERM');
    await Promise.all([...running].map(({ exited }) => exited));
    running.clear();
  };

  before(async () => {
    // The Postgres of npm has no pg_dump, and lacks lz4, in which this one keeps large columns.
    const debians = { initdb: join(programs, 'initdb'), pg_ctl: join(programs, 'pg_ctl') };
    [source, target] = await Promise.all([startRolesServer({ programs: debians }), startRolesServer({ programs: debians })]);
    for (const server of [source, target]) await runMigrate(environment(server), { withBackup: true });
    const [relay, secrets] = await Promise.all([
      start(source, 'relay', ['serve', 'webhook-relay'], { FailedPayloads__Directory: temporaryDirectory('spool') }),
      start(source, 'secrets', ['serve', 'secrets']),
      start(source, 'intake', ['worker', 'service', '--loop']),
    ]);
    application = await newApplication(secrets);
    await putSecret(secrets, application.slug, 'password', { value });
    const forge = createForge([relay]);
    ({ deliveryId } = await forge.deliver(examplePayload(1)));
    forge.close();
    await eventually(async () => (await loggedDeliveries(source.urlOf('intake', database))).get(deliveryId) === 1);
  });
  after(async () => {
    await stopAll();
    await Promise.all([source.close(), target.close()]);
  });

  it('is made by a role that reads everything and writes nothing', async () => {
    const url = source.urlOf('backup', database);
    expect(await rows(url, 'select count(*)::int > 0 from secrets.secret_versions')).to.deep.equal([[true]]);
    for (const change of ['delete from intake.events', 'create table intake.mine ()', 'create schema mine', 'create role mine'])
      expect(await refusal(url, `begin read write; ${change}`), change).to.equal('42501');
    expect(await refusal(url, 'delete from intake.events')).to.be.oneOf(['25006', '42501']);
  });

  it('is made while services run, keeps the newest, and leaves nothing half done', async () => {
    for (const year of [2024, 2025]) writeFileSync(join(directory, `${database}-${year}0101T000000Z.dump`), 'of long ago');
    writeFileSync(join(directory, `${database}-20250202T000000Z.dump.part`), 'of a run that was killed');
    const { code, output } = await backup(source);
    expect(code, output).to.equal(0);
    const [oldest, newest, ...others] = readdirSync(directory).sort();
    expect(oldest).to.equal(`${database}-20250101T000000Z.dump`);
    expect(newest).to.match(/^signalbox-20\d{6}T\d{6}Z\.dump$/);
    expect(others).to.deep.equal([]);
  });

  it('fails when the server is away, and leaves the dumps that there are', async () => {
    const there = readdirSync(directory);
    const { code } = await run('backup.sh', source, { PGPORT: String(await freePort()), PGUSER: 'backup', BACKUP_DIRECTORY: directory, BACKUP_KEEP: '1' });
    expect(code).to.not.equal(0);
    expect(readdirSync(directory).filter((name) => !name.endsWith('.part'))).to.deep.equal(there);
  });

  it('is refused while a service is connected', async () => {
    await start(target, 'secrets', ['serve', 'secrets']);
    const empty = await contents(target);
    const { code, output } = await restore();
    expect(code).to.equal(1);
    expect(output).to.include('still connected, and to be stopped first: signalbox-secrets');
    await stopAll();
    const after = await contents(target);
    expect(after['secrets.secret_versions']).to.equal(empty['secrets.secret_versions']);
    // The service may have made a partition ahead.
    expect(Object.keys(after)).to.include.members(Object.keys(empty));
  });

  it('is done whole or not at all', async () => {
    // All services have been stopped: nothing changes from here on.
    stored = await contents(source);
    expect((await backup(source)).code).to.equal(0);
    const dump = readFileSync(join(directory, readdirSync(directory).sort().at(-1) ?? ''));
    const cut = join(temporaryDirectory('cut'), 'cut.dump');
    writeFileSync(cut, dump.subarray(0, dump.length * 0.9));
    const empty = await contents(target);
    // A dump that ends early, though everything in it is right.
    const failing = temporaryDirectory('failing');
    writeFileSync(join(failing, 'pg_restore'), `#!/bin/sh\n${join(programs, 'pg_restore')} "$@"\n[ "$1" = --list ]\n`);
    chmodSync(join(failing, 'pg_restore'), 0o755);
    for (const fault of [{ RESTORE_FILE: cut }, { PATH: `${failing}:${programs}:/usr/bin:/bin` }]) {
      const { code, output } = await restore(fault);
      expect(code, output).to.not.equal(0);
      expect(await contents(target)).to.deep.equal(empty);
    }
  });

  for (const time of ['an empty installation', 'one that was restored before']) {
    it(`finds everything again in ${time}`, async () => {
      // As the partitions of a later month: not in the dump.
      await target.asAdmin(database, `create table intake.of_a_later_month (id int); alter table intake.of_a_later_month owner to intake`);
      const { code, output } = await restore();
      expect(code, output).to.equal(0);
      expect(await contents(target)).to.deep.equal(stored);
    });

    it(`serves from ${time} again: a secret, the log, new deliveries`, async () => {
      await runMigrate(environment(target), { withBackup: true });
      const [relay, secrets] = await Promise.all([
        start(target, 'relay', ['serve', 'webhook-relay'], { FailedPayloads__Directory: temporaryDirectory('spool') }),
        start(target, 'secrets', ['serve', 'secrets']),
        start(target, 'intake', ['worker', 'service', '--loop']),
      ]);
      expect((await consume(secrets, application.key, '/secrets/password?environment=local')).text).to.include(value);
      expect((await loggedDeliveries(target.urlOf('intake', database))).get(deliveryId)).to.equal(1);
      const forge = createForge([relay]);
      const delivered = await forge.deliver(examplePayload(2));
      forge.close();
      await eventually(async () => (await loggedDeliveries(target.urlOf('intake', database))).get(delivered.deliveryId) === 1);
      await stopAll();
    });
  }

  it('brings back one schema alone, while services of others go on', async () => {
    const of = (schema: string, all: Readonly<Record<string, string>>) => Object.entries(all).filter(([table]) => table.startsWith(`${schema}.`));
    await start(target, 'intake', ['worker', 'service', '--loop']);
    await start(target, 'secrets', ['serve', 'secrets']);
    const refused = await restore({ RESTORE_SCHEMAS: 'secrets' }, true);
    expect(refused.output).to.include('to be stopped first: signalbox-secrets').and.not.to.include('intake');
    await stopAll();
    await start(target, 'intake', ['worker', 'service', '--loop']);
    await target.asAdmin(database, 'delete from secrets.secret_versions');
    const before = await contents(target);
    const { code, output } = await restore({ RESTORE_SCHEMAS: 'secrets' }, true);
    expect(code, output).to.equal(0);
    const after = await contents(target);
    expect(of('secrets', after)).to.deep.equal(of('secrets', stored));
    expect(of('intake', after)).to.deep.equal(of('intake', before));
    expect((await restore({ RESTORE_SCHEMAS: 'nobody' })).output).to.include('has no schema nobody');
    await stopAll();
  });
});
