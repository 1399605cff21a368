// A missing, malformed or wrong master key: unready with the reason, nothing written, nothing served, and no crash.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { consume, manage, member, migrations, newApplication, putSecret, secretValue, startService, type TestService } from '../service.ts';

const backupPage = join(import.meta.dirname, '../../../../docs/backup.md');
const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;

describe('master keys', () => {
  let database: TestDatabase;
  const services: TestService[] = [];
  const start = async (masterKeys: string, more: Readonly<Record<string, string>> = {}) => {
    const service = await startService({ databaseUrl: database.url, environment: { Encryption__MasterKeys: masterKeys, ...more } });
    services.push(service);
    return service;
  };
  beforeEach(async () => {
    database = await createTestDatabase({ schema: 'secrets', migrations });
  });
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
    await database.drop();
  });
  const readiness = async ({ health }: TestService) => (await health.readiness()).checks['master keys'];

  /** Everything in the database but the audit, which may tell of refusals. */
  async function everything({ database: pool }: TestService): Promise<string> {
    const tables = ['applications', 'environments', 'secrets', 'secret_versions', 'configurations', 'master_keys'];
    const contents = await Promise.all(
      tables.map((table) => pool.driver.query<{ all: string }>(`select coalesce(string_agg(t::text, ';' order by t::text), '') as all from ${table} t`)),
    );
    return contents.map(({ rows }) => rows[0]?.all).join('\n');
  }

  async function refusesEveryWrite(service: TestService, slug: string): Promise<void> {
    const before = await everything(service);
    const secret = `/${slug}/secrets/password`;
    const writes: readonly (readonly [string, string, unknown?])[] = [
      ['POST', '', { name: 'new' }],
      ['PUT', `/${slug}`, { name: 'changed' }],
      ['DELETE', `/${slug}`],
      ['POST', `/${slug}/rotate-key`],
      ['POST', `/${slug}/environments`, { name: 'new' }],
      ['DELETE', `/${slug}/environments/local`],
      ['POST', `/${slug}/secrets`, { name: 'new' }],
      ['POST', `${secret}/values`, [{ environmentSlug: 'local', value: secretValue('refused') }]],
      ['DELETE', secret],
      ['POST', `/${slug}/configurations`, { environmentSlug: 'local', key: 'new', value: 'x' }],
      ['PUT', `/${slug}/configurations/local/key`, { value: 'changed' }],
      ['DELETE', `/${slug}/configurations/local/key`],
    ];
    for (const [method, path, body] of writes) {
      const refused = await manage(service.url, method, path, body);
      expect(refused.status, `${method} ${path}`).to.equal(503);
      expect(refused.body).to.include({ type: 'urn:signalbox:problem:master-keys-unusable' });
      expect(member(refused, 'detail')).to.equal((await readiness(service))?.detail);
    }
    expect(await everything(service)).to.equal(before);
  }

  async function withData(masterKeys: string) {
    const service = await start(masterKeys);
    const application = await newApplication(service.url, 'app');
    const value = secretValue('open sesame');
    await putSecret(service.url, 'app', 'password', { value });
    await manage(service.url, 'POST', '/app/configurations', { environmentSlug: 'local', key: 'key', value: 'value' });
    return { ...application, value, read: (from: TestService) => consume(from.url, application.key, '/secrets/password?environment=local') };
  }

  it('that are right make the service ready', async () => {
    const service = await start(key('a', 1));
    expect(await readiness(service)).to.deep.equal({ ok: true });
    expect((await service.health.readiness()).status).to.equal('ready');
  });

  for (const [what, masterKeys, reason] of [
    ['are missing', '', 'Encryption__MasterKeys is not set'],
    ['are malformed', `${key('a', 1)},b:no base64 of 32 bytes`, 'Encryption__MasterKeys: entry 2 must be the base64 of 32 bytes after its id'],
    ['are wrong', key('a', 2), "master key 'a' is not the one of that id that this database was sealed with"],
    ['lack one that stored values need', key('b', 2), "master key 'a' is not configured, and stored values need it"],
    ['have one right and one wrong', `${key('b', 3)},${key('a', 2)}`, "master key 'a' is not the one of that id that this database was sealed with"],
  ] as const)
    it(`that ${what} make it unready with the reason; it writes nothing and serves no value, until they are right again`, async () => {
      const { slug, key: applicationKey, read, value } = await withData(key('a', 1));
      const service = await start(masterKeys);
      expect(await readiness(service)).to.deep.equal({ ok: false, detail: reason });
      await refusesEveryWrite(service, slug);

      const refused = await read(service);
      expect(refused.status).to.equal(503);
      expect(refused.body).to.deep.equal({ type: 'about:blank', title: 'Service Unavailable', status: 503 });
      expect((await consume(service.url, 'wrong', '/secrets/password?environment=local')).status).to.equal(401);
      // Values that are not sealed are still served.
      expect((await consume(service.url, applicationKey, '/configurations/key?environment=local')).status).to.equal(200);
      expect((await manage(service.url, 'GET', '/app/secrets/password/versions/local')).status).to.equal(200);

      const right = await start(key('a', 1));
      expect(await readiness(right)).to.deep.equal({ ok: true });
      expect(member(await read(right), 'value')).to.equal(value);
    });

  it('in a file that is missing, cannot be read or stands beside the setting itself make it unready with the reason, and do not end the start', async () => {
    for (const [file, masterKeys, reason] of [
      ['/nowhere/keys', '', 'Encryption__MasterKeys cannot be read from the file in Encryption__MasterKeys_FILE (ENOENT)'],
      ['/', '', 'Encryption__MasterKeys cannot be read from the file in Encryption__MasterKeys_FILE (EISDIR)'],
      ['/nowhere/keys', key('a', 1), 'Encryption__MasterKeys and Encryption__MasterKeys_FILE are both set; leave one'],
    ] as const) {
      const service = await start(masterKeys, { Encryption__MasterKeys_FILE: file });
      expect(await readiness(service)).to.deep.equal({ ok: false, detail: reason });
      await refusesEveryWrite(service, 'nobody');
    }
  });

  it('that are malformed from the very first start leave no key check value behind', async () => {
    const service = await start('nothing that is a key');
    await refusesEveryWrite(service, 'nobody');
    expect((await service.database.driver.query('select 1 from master_keys')).rowCount).to.equal(0);
  });

  it('may be retired once no value needs them', async () => {
    const { slug } = await withData(key('a', 1));
    const old = await start(key('a', 1));
    await manage(old.url, 'DELETE', `/${slug}/secrets/password`);
    expect(await readiness(await start(key('b', 2)))).to.deep.equal({ ok: true });
  });

  it('that are lost are given up as docs/backup.md says: values that they sealed are deleted, and new ones are written', async () => {
    const { slug, read } = await withData(key('key-1', 1));
    const service = await start(key('key-2', 2));
    await refusesEveryWrite(service, slug);
    const [statement = ''] = /delete from [^"]+/.exec(readFileSync(backupPage, 'utf8')) ?? [];
    expect((await service.database.driver.query(statement)).rowCount).to.equal(1);
    expect(await readiness(service)).to.deep.equal({ ok: true });
    const value = secretValue('new');
    await putSecret(service.url, slug, 'password', { value });
    expect(member(await read(service), 'value')).to.equal(value);
  });

  it('change by a new first one: new values under it, old ones readable, all of it without a pause', async () => {
    const { read, slug, value } = await withData(key('a', 1));
    const both = await start(`${key('b', 2)},${key('a', 1)}`);
    expect(member(await read(both), 'value')).to.equal(value);
    const next = secretValue('new');
    await putSecret(both.url, slug, 'password', { value: next });
    expect(member(await read(both), 'value')).to.equal(next);
    const { rows } = await both.database.driver.query('select version, master_key_id from secret_versions order by version');
    expect(rows).to.deep.equal([
      { version: 1, master_key_id: 'a' },
      { version: 2, master_key_id: 'b' },
    ]);
  });

  it('that a replica lacks make it unready as soon as another one has used them, and it answers 503 for what it cannot open', async () => {
    const { read, slug } = await withData(key('a', 1));
    const [old] = services;
    if (!old) throw new Error('there is no service');
    const fresh = await start(`${key('b', 2)},${key('a', 1)}`);
    await putSecret(fresh.url, slug, 'password', { value: secretValue('new') });
    expect(await readiness(old)).to.deep.equal({ ok: false, detail: "master key 'b' is not configured, and stored values need it" });
    expect((await read(old)).status).to.equal(503);
    expect((await manage(old.url, 'POST', `/${slug}/rotate-key`)).status).to.equal(503);
  });

  it('of two replicas that begin at once with different keys of one id are caught: at most one of them writes', async () => {
    const both = await Promise.all([start(key('a', 1)), start(key('a', 2))]);
    const created = await Promise.all(both.map(({ url }) => manage(url, 'POST', '', { name: 'app' })));
    expect(created.map(({ status }) => status).sort()).to.deep.equal([201, 503]);
    expect((await Promise.all(both.map(readiness))).filter((check) => check?.ok === true)).to.have.length(1);
  });
});
