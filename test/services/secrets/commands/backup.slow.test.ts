import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool } from '../../../../services/platform/postgres/pool.ts';
import { createConsumerClient, createManagementClient } from '../../../../services/secrets/client.ts';
import { withSnapshot } from '../../../../services/secrets/commands/store.ts';
import { temporaryDirectory } from '../../../support/guard.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually, freePort } from '../../../support/wait.ts';
import { adminToken, consume, manage, masterKeys, migrations, newApplication, putSecret, secretValue, startService, useService } from '../service.ts';
import { begin, inWords, poll, told } from '../changes/feed.ts';
import { secretsCommand } from './command.ts';

const backupKey = randomBytes(32).toString('base64');
const otherMasterKeys = `new:${randomBytes(32).toString('base64')},unused:${randomBytes(32).toString('base64')}`;
const program = join(import.meta.dirname, '../../../../services/main.ts');
const newDatabase = () => createTestDatabase({ schema: 'secrets', migrations });
const tables = ['applications', 'application_keys', 'environments', 'configurations', 'secrets', 'secret_reads', 'secret_versions'];

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=secrets' });
  await client.connect();
  return client
    .query(sql)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}
const rowsIn = async (url: string) => Promise.all(tables.map(async (table) => Number((await query(url, `select count(*) from ${table}`))[0]?.['count'])));

describe('signalbox secrets backup and restore', () => {
  const running = useService();
  const folder = temporaryDirectory('backup');
  const file = join(folder, 'secrets.backup');
  const values = {
    plain: secretValue('a plain marker'),
    unicode: secretValue('größe 🔑\n'),
    nul: secretValue('a\0b'),
    long: secretValue('long') + 'x"\\\u0001'.repeat(16_000),
  };
  const keys: string[] = [];
  /** The last read and the last use of a key, before the backup. */
  let uses: readonly Record<string, unknown>[] = [];
  const usesIn = (url: string) =>
    query(
      url,
      `select id, last_read_at as at from secret_reads union all select id, last_used_at from application_keys where last_used_at is not null order by at, id`,
    );
  const targets: TestDatabase[] = [];

  const settings = (databaseUrl: string, more: Readonly<Record<string, string>> = {}) => ({
    env: { DATABASE_URL: databaseUrl, Encryption__MasterKeys: masterKeys, Backup__Key: backupKey, ...more },
  });
  const restore = (databaseUrl: string, from: string, more: Readonly<Record<string, string>> = {}) =>
    secretsCommand(['restore', from], settings(databaseUrl, { Encryption__MasterKeys: otherMasterKeys, ...more }));
  async function newTarget(): Promise<TestDatabase> {
    const target = await newDatabase();
    targets.push(target);
    return target;
  }

  before(async () => {
    const { url } = running;
    for (const name of ['Orders', 'Bills']) {
      const { slug, key } = await newApplication(url, name);
      keys.push(key);
      await manage(url, 'POST', `/${slug}/environments`, { name: 'Production' });
      await manage(url, 'PUT', `/${slug}/environments/local`, { inherits: 'production' });
      for (const [secret, value] of Object.entries(values)) await putSecret(url, slug, secret, { value: `${name} ${value}` });
      await putSecret(url, slug, 'plain', { value: secretValue('of production'), environmentSlug: 'production' });
      await putSecret(url, slug, 'plain', { value: secretValue('of a disabled version'), isEnabled: false });
      await putSecret(url, slug, 'times', { value: secretValue('always'), notBefore: '2020-01-01T00:00:00.123Z', expiresAt: '2999-12-31T23:59:59.999Z' });
      await putSecret(url, slug, 'times', { value: secretValue('over'), expiresAt: '2020-01-01T00:00:00Z' });
      await manage(url, 'POST', `/${slug}/configurations`, { environmentSlug: 'local', key: 'a:b', value: '$1 — €', description: 'd' });
      await manage(url, 'PUT', `/${slug}/service-accounts/${slug}/web`);
    }
    // Deleted, with its slug taken again.
    const { slug, key } = await newApplication(url, 'Gone');
    keys.push(key);
    await putSecret(url, slug, 'plain', { value: secretValue('of a deleted one') });
    await manage(url, 'DELETE', '/gone');
    keys.push((await newApplication(url, 'Gone')).key);
    await consume(url, keys[0] ?? '', '/secrets/plain?environment=local');
    await eventually(async () => expect((uses = await usesIn(running.databaseUrl))).to.have.length(2));
    expect((await secretsCommand(['backup', '--output', file], settings(running.databaseUrl))).err).to.match(/^backed up: 4 /);
  });
  after(() => Promise.all(targets.map(({ drop }) => drop())));

  /** All that administrators and applications can see. */
  async function seen(baseUrl: string) {
    const management = createManagementClient({ baseUrl, credential: adminToken });
    const applications = await management.applications();
    const consumers = keys.map((credential) => createConsumerClient({ baseUrl, credential }));
    const outcome = async (work: Promise<unknown>) => work.catch((error: unknown) => Reflect.get(Object(error), 'status') as unknown);
    return {
      applications,
      managed: await Promise.all(
        applications.map(async ({ slug }) => ({
          environments: await management.environments(slug),
          accounts: await management.accounts(slug),
          secrets: await management.secrets(slug),
          configurations: await management.configurations(slug),
          versions: await Promise.all(Object.keys({ ...values, times: 0 }).map((name) => outcome(management.versions(slug, name, 'local')))),
        })),
      ),
      consumed: await Promise.all(
        consumers.map(async (consumer) => ({
          configurations: await outcome(consumer.configurations('local')),
          secrets: await Promise.all(Object.keys({ ...values, times: 0 }).map((name) => outcome(consumer.secret(name, 'local')))),
          production: await outcome(consumer.secret('plain', 'production')),
        })),
      ),
    };
  }

  it('make clients that polled the empty database see a change of every application', async () => {
    const target = await newTarget();
    const service = await startService({ databaseUrl: target.url });
    try {
      const cursor = await begin(service.url);
      const polling = told(poll(service.url, cursor));
      expect((await restore(target.url, file)).code).to.equal(0);
      expect(inWords((await polling).changes)).to.deep.equal(['bills', 'gone', 'orders'].map((slug) => `backup.restore ${slug} * *`));
    } finally {
      await service.close();
    }
  });

  it('bring everything to an empty database under other master keys: values, versions, times and keys are the same', async () => {
    const target = await newTarget();
    const restored = await restore(target.url, file);
    expect(restored).to.deep.equal({
      code: 0,
      signal: null,
      out: '',
      err: 'restored: 4 applications, 4 keys, 2 bound ServiceAccounts, 6 environments, 2 configuration entries, 11 secrets, 17 versions\n',
    });
    const service = await startService({ databaseUrl: target.url, environment: { Encryption__MasterKeys: otherMasterKeys } });
    try {
      const [was, is] = [await seen(running.url), await seen(service.url)];
      expect(is).to.deep.equal(was);
      expect(is.consumed[0]?.secrets[0]).to.have.property('value', `Orders ${values.plain}`);
      expect(is.consumed[2]).to.deep.include({ configurations: 401, production: 401 });
      await putSecret(service.url, 'orders', 'plain', { value: secretValue('next') });
      const orders = createConsumerClient({ baseUrl: service.url, credential: keys[0] ?? '' });
      expect(await orders.secret('plain', 'local')).to.have.nested.property('properties.version', 3);
      expect(await query(target.url, 'select distinct master_key_id from secret_versions')).to.deep.equal([{ master_key_id: 'new' }]);
    } finally {
      await service.close();
    }
  });

  it('keep every column but those of the seal and the last use of keys, deleted applications among them', async () => {
    const target = await newTarget();
    await restore(target.url, file);
    // The last use of a key goes on with the reads of the other tests.
    const others = ['nonce', 'ciphertext', 'tag', 'wrapped_key', 'master_key_id', 'last_used_at'];
    // The last reads go on with them, too.
    for (const table of tables.filter((name) => name !== 'secret_reads')) {
      const sql = `select to_jsonb(t) - array[${others.map((name) => `'${name}'`).join()}] as row from ${table} t order by id`;
      expect(await query(target.url, sql), table).to.deep.equal(await query(running.databaseUrl, sql));
    }
  });

  it('keep when keys were last used and secrets last read', async () => {
    const target = await newTarget();
    await restore(target.url, file);
    expect(await usesIn(target.url)).to.deep.equal(uses);
  });

  it('leave a file that its owner alone may read, whole, with nothing in it to be read', () => {
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(readdirSync(folder)).to.deep.equal(['secrets.backup']);
    const text = readFileSync(file, 'latin1');
    const decoded = text.split('\n').map((line) => Buffer.from(line, 'base64').toString('latin1'));
    for (const hidden of ['marker', 'Orders', 'orders', ...keys, backupKey]) {
      expect(text).not.to.include(hidden).and.not.include(Buffer.from(hidden).toString('hex'));
      expect(decoded.join('')).not.to.include(hidden);
    }
  });

  it('work through standard output and input', async () => {
    const { code, out, err } = await secretsCommand(['backup'], settings(running.databaseUrl));
    expect([code, err]).to.deep.equal([
      0,
      'backed up: 4 applications, 4 keys, 2 bound ServiceAccounts, 6 environments, 2 configuration entries, 11 secrets, 17 versions\n',
    ]);
    const target = await newTarget();
    expect((await secretsCommand(['restore'], { ...settings(target.url), input: out })).code).to.equal(0);
    const restored = await rowsIn(target.url);
    expect(restored.filter((_, index) => tables[index] !== 'secret_reads')).to.deep.equal([4, 6, 6, 2, 11, 17]);
  });

  it('work on a service that holds nothing', async () => {
    const [source, target] = [await newTarget(), await newTarget()];
    const { out } = await secretsCommand(['backup'], settings(source.url));
    expect((await secretsCommand(['restore'], { ...settings(target.url), input: out })).err).to.equal(
      'restored: 0 applications, 0 keys, 0 bound ServiceAccounts, 0 environments, 0 configuration entries, 0 secrets, 0 versions\n',
    );
  });

  it('replace an older backup only by a whole one', async () => {
    const kept = join(folder, 'kept');
    writeFileSync(kept, 'older');
    const failed = await secretsCommand(['backup', '--output', kept], settings(running.databaseUrl, { Encryption__MasterKeys: `other:${backupKey}` }));
    expect(failed.code).to.equal(1);
    expect(readFileSync(kept, 'utf8')).to.equal('older');
    expect(existsSync(`${kept}.partial`)).to.equal(false);
    await secretsCommand(['backup', '--output', kept], settings(running.databaseUrl));
    expect(readFileSync(kept, 'utf8')).to.match(/^\{"format":"signalbox secrets backup"/);
  });

  it('write through a link and into a pipe, and put no file in their place', async () => {
    const [link, linked, pipe] = [join(folder, 'link'), join(folder, 'linked'), join(folder, 'pipe')];
    writeFileSync(linked, 'older');
    symlinkSync(linked, link);
    execFileSync('mkfifo', [pipe]);
    const reading = readFile(pipe, 'utf8');
    for (const output of [link, pipe]) expect((await secretsCommand(['backup', '--output', output], settings(running.databaseUrl))).code).to.equal(0);
    for (const text of [readFileSync(linked, 'utf8'), await reading]) expect(text).to.match(/^\{"format":"signalbox secrets backup"/);
    expect(lstatSync(link).isSymbolicLink()).to.equal(true);
    expect(lstatSync(pipe).isFIFO()).to.equal(true);
  });

  describe('backup to a standard output that takes nothing', () => {
    const shell = (script: string) =>
      spawnSync('sh', ['-c', script, 'sh', process.execPath, program, 'secrets', 'backup'], {
        encoding: 'utf8',
        timeout: 120_000,
        env: { ...process.env, ...settings(running.databaseUrl).env },
      });
    const lastActs = async () =>
      (await query(running.databaseUrl, "select action, outcome from audit_entries where plane = 'command' order by id desc limit 2")).map(Object.values);

    const cases = {
      'a full disk': ['"$@" > /dev/full', 'standard output cannot be written: its disk is full (ENOSPC)'],
      'a reader that has gone': ['exec 3>&2; { "$@" 2>&3 3>&-; } | true', 'standard output cannot be written: its reader has closed it (EPIPE)'],
    } as const;
    for (const [what, [script, said]] of Object.entries(cases)) {
      it(`says so and records that it failed: ${what}`, async () => {
        const { stderr } = shell(script);
        expect(stderr.trimEnd()).to.equal(said);
        expect(await lastActs()).to.deep.equal([
          ['backup.end', 'failed'],
          ['backup.begin', 'done'],
        ]);
      });
    }
  });

  describe('restore refuses, and changes nothing,', () => {
    const lines = () => readFileSync(file, 'utf8').split(/(?<=\n)/);
    const changedNear = (line: string) => line.slice(0, 30) + (line[30] === 'A' ? 'B' : 'A') + line.slice(31);
    const damaged = {
      'a backup whose last line was changed': () => [...lines().slice(0, -1), changedNear(lines().at(-1) ?? '')],
      'a backup without its last line': () => lines().slice(0, -1),
      'a backup cut within its last line': () => [...lines().slice(0, -1), lines().at(-1)?.slice(0, -9) ?? ''],
      'a backup with two versions swapped': () => [...lines().slice(0, -4), ...lines().slice(-3, -2), ...lines().slice(-4, -3), ...lines().slice(-2)],
      'a backup with a line too many': () => [...lines(), lines().at(-1) ?? ''],
    };
    for (const [what, make] of Object.entries(damaged)) {
      it(what, async () => {
        const target = await newTarget();
        const path = join(folder, 'damaged');
        writeFileSync(path, make().join(''));
        const { code, out, err } = await restore(target.url, path);
        expect([code, out]).to.deep.equal([1, '']);
        expect(err).to.match(/^the backup (is refused at line \d+: it was changed, put in another order or cut short|is cut short within a line)\n$/);
        expect(await rowsIn(target.url)).to.deep.equal(tables.map(() => 0));
      });
    }

    it('another backup key', async () => {
      const target = await newTarget();
      const { code, err } = await restore(target.url, file, { Backup__Key: randomBytes(32).toString('base64') });
      expect(code).to.equal(1);
      expect(err).to.match(/^the backup is refused at line 2: Backup__Key is not its key/);
      expect(await rowsIn(target.url)).to.deep.equal(tables.map(() => 0));
    });

    it('a database that is not empty', async () => {
      const before = await rowsIn(running.databaseUrl);
      const { code, err } = await restore(running.databaseUrl, file, { Encryption__MasterKeys: masterKeys });
      expect([code, err]).to.deep.equal([1, 'the database is not empty: a backup is restored into an empty one only, and nothing was changed\n']);
      expect(await rowsIn(running.databaseUrl)).to.deep.equal(before);
    });

    it('a database without the schema, or none at all', async () => {
      const target = await createTestDatabase();
      targets.push(target);
      expect((await restore(target.url, file)).err).to.match(/^schema secrets is at version 0, version \d+ is needed: run signalbox migrate\n$/);
      const nowhere = `postgres://u:hidden@127.0.0.1:${await freePort()}/x`;
      expect((await restore(nowhere, file)).err).to.equal(
        'the database of DATABASE_URL cannot be reached: nothing listens there; is Postgres running, and are host and port right (ECONNREFUSED)\n',
      );
    });

    it('a file that is not there', async () => {
      const { code, err } = await restore((await newTarget()).url, join(folder, 'nothing'));
      expect(code).to.equal(1);
      expect(err).to.equal(`${join(folder, 'nothing')} cannot be read: there is no such file or folder (ENOENT)\n`);
      expect((await restore((await newTarget()).url, folder)).err).to.equal(`${folder} cannot be read: it is a folder (EISDIR)\n`);
    });
  });

  describe('backup refuses', () => {
    const refusal = async (more: Readonly<Record<string, string>>, databaseUrl = running.databaseUrl) => {
      const { code, err } = await secretsCommand(['backup'], settings(databaseUrl, more));
      expect(code).to.equal(1);
      return err;
    };

    it('a master key that is missing, or another one of its id', async () => {
      expect(await refusal({ Encryption__MasterKeys: otherMasterKeys })).to.match(
        /^master key 'first' is not configured, and version [0-9a-f-]{36} needs it\n$/,
      );
      expect(await refusal({ Encryption__MasterKeys: `first:${randomBytes(32).toString('base64')}` })).to.match(
        /^version [0-9a-f-]{36} of secret [0-9a-f-]{36} does not open: it was changed, or master key 'first' is not the one of that id\n$/,
      );
    });

    it('a file in a folder that is not there', async () => {
      const output = join(folder, 'no', 'backup');
      const { code, err } = await secretsCommand(['backup', '--output', output], settings(running.databaseUrl));
      expect([code, err]).to.deep.equal([1, `${output} cannot be written: there is no such file or folder (ENOENT)\n`]);
    });

    it('a database whose name, host or password is wrong, in words', async () => {
      const changed = (change: (url: URL) => void) => {
        const url = new URL(running.databaseUrl);
        change(url);
        return refusal({}, url.href);
      };
      expect(await changed((url) => (url.pathname = '/nowhere'))).to.match(
        /^the database of DATABASE_URL cannot be reached: the server has no database of this name; .*\(3D000\)\n$/,
      );
      expect(await changed((url) => (url.hostname = 'nowhere.invalid'))).to.match(
        /^the database of DATABASE_URL cannot be reached: there is no such host; |its name cannot be looked up/,
      );
    });

    it('to go on without its settings, naming all that are missing', async () => {
      expect(await refusal({ Backup__Key: '', Encryption__MasterKeys: '' })).to.equal(
        'The configuration is not usable:\n  Encryption__MasterKeys is required and not set\n  Backup__Key is required and not set\n',
      );
      expect(await refusal({ Backup__Key: secretValue('no base64') })).to.equal('Backup__Key must be the base64 of 32 bytes\n');
    });

    it('a value that was changed', async () => {
      const target = await newTarget();
      await restore(target.url, file, { Encryption__MasterKeys: masterKeys });
      await query(target.url, `update secret_versions set is_enabled = not is_enabled where id = (select max(id::text)::uuid from secret_versions)`);
      expect(await refusal({}, target.url)).to.match(/does not open: it was changed/);
    });
  });

  for (const subcommand of ['backup', 'restore']) {
    it(`${subcommand} explains itself`, async () => {
      const { code, out } = await secretsCommand([subcommand, '--help']);
      expect(code).to.equal(0);
      for (const name of ['DATABASE_URL', 'Encryption__MasterKeys', 'Backup__Key']) expect(out).to.include(name);
    });
  }
});

describe('withSnapshot', () => {
  const running = useService();
  const slugOf = (row: unknown): unknown => Reflect.get(Object(row), 'slug');

  it('reads every table as of one moment, however long the reading takes', async () => {
    await newApplication(running.url, 'Before');
    const pool = createPool(running.databaseUrl, { schema: 'secrets', log: silentLog });
    const read = await withSnapshot(pool, async (snapshot) => {
      const found: unknown[] = [];
      for await (const { row } of snapshot.rows('applications')) found.push(row);
      await newApplication(running.url, 'Meanwhile');
      for await (const { row } of snapshot.rows('applications')) found.push(row);
      for await (const { row } of snapshot.rows('environments')) found.push(row);
      return found.map(slugOf);
    });
    expect(read).to.deep.equal(['before', 'before', 'local']);
    await pool.close();
  });

  it('reads on over more rows than a page has', async () => {
    const insert = `insert into environments select gen_random_uuid(), (select id from applications where slug = 'before'), 'e' || n, 'E', now() from generate_series(1, 450) n`;
    await query(running.databaseUrl, insert);
    const pool = createPool(running.databaseUrl, { schema: 'secrets', log: silentLog });
    const slugs = await withSnapshot(pool, async (snapshot) => {
      const found = new Set<unknown>();
      for await (const { row } of snapshot.rows('environments')) found.add(slugOf(row));
      return found;
    });
    expect(slugs.size).to.equal(451);
    await pool.close();
  });
});
