// The list of an environment's secrets, for the application that holds the key.
import { expect } from 'chai';
import { createConsumerStore, hashOfKey } from '../../../../services/secrets/consumer/store.ts';
import { consume, manage, member, newApplication, putSecret, secretValue, type TestApplication, useService } from '../service.ts';
import { auditOf } from './audited.ts';

describe('GET /api/consumer/secrets', () => {
  const running = useService();
  let application: TestApplication;
  beforeEach(async () => (application = await newApplication(running.url)));

  const list = (query = '', environment = 'local') => consume(running.url, application.key, `/secrets?environment=${environment}${query}`);
  const items = async (query = '', environment = 'local') =>
    member(await list(query, environment), 'items') as { name: string; value?: string; properties: object }[];
  const names = async (query = '', environment = 'local') => (await items(query, environment)).map(({ name }) => name);
  const put = async (name: string, item: Readonly<Record<string, unknown>> = {}) => {
    const value = secretValue(name);
    await putSecret(running.url, application.slug, name, { value, ...item });
    return value;
  };

  it('answers names and properties of what is served, in the order of the bytes of their names', async () => {
    for (const name of ['b', 'a/b', 'Z', 'ü', 'a']) await put(name);
    await put('disabled', { isEnabled: false });
    await put('over', { expiresAt: '2020-01-01T00:00:00Z' });
    await put('later', { notBefore: '2999-01-01T00:00:00Z' });
    await manage(running.url, 'POST', `/${application.slug}/secrets`, { name: 'empty' });
    const answer = await list();
    expect(await names()).to.deep.equal(['Z', 'a', 'a/b', 'b', 'ü']);
    expect(answer.body).to.have.property('next', null);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    const [first] = await items();
    expect(first).to.have.all.keys('name', 'properties');
    const one = await consume(running.url, application.key, '/secrets/Z?environment=local');
    expect(first?.properties).to.deep.equal(member(one, 'properties'));
  });

  it('answers their values where values=true, each the newest that is active', async () => {
    await put('a');
    const newest = await put('a');
    await put('a', { isEnabled: false });
    const other = await put('b');
    expect((await items('&values=TRUE')).map(({ name, value }) => [name, value])).to.deep.equal([
      ['a', newest],
      ['b', other],
    ]);
  });

  it('reads no ciphertext for a list without values', async () => {
    await put('a');
    const asked = { keyHash: hashOfKey(application.key), environment: 'local', after: '', prefix: '', limit: 10 };
    const [row] = await createConsumerStore(running.service.database, () => new Date()).listSecrets({ ...asked, withValues: false });
    expect(row).to.include({ name: 'a', ciphertext: null });
    expect(Object.values(row ?? {}).filter((value) => Buffer.isBuffer(value) && value.length === secretValue('a').length)).to.deep.equal([]);
  });

  it('answers 500 where one value is broken, and records that value as refused and no other one as read', async () => {
    for (const name of ['a', 'b', 'c']) await put(name);
    const { driver } = running.service.database;
    await driver.query(
      `update secret_versions v set version = 9 from secrets s join applications a on a.id = s.application_id
       where v.secret_id = s.id and s.name = 'b' and a.slug = $1`,
      [application.slug],
    );
    expect((await list('&values=true')).status).to.equal(500);
    expect((await list()).status).to.equal(200);
    const entries = await auditOf(running.service, application.slug, { plane: 'consumer', count: 2 });
    expect(entries.map(({ action, subject, outcome }) => [action, subject, outcome])).to.deep.equal([
      ['secret.list', null, 'done'],
      ['secret.read', 'b', 'refused'],
    ]);
  });

  it('refuses a cursor with NUL, and a stranger by the key', async () => {
    const after = Buffer.from('["consumer-secrets","\\u0000"]').toString('base64url');
    expect((await list(`&after=${after}`)).status).to.equal(400);
    expect((await consume(running.url, 'no key', `/secrets?environment=local&after=${after}`)).status).to.equal(401);
  });

  it('is paged by a cursor that loses and repeats nothing, also while secrets come and go', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await put(name);
    const first = await list('&limit=2');
    expect((member(first, 'items') as { name: string }[]).map(({ name }) => name)).to.deep.equal(['a', 'b']);
    await manage(running.url, 'DELETE', `/${application.slug}/secrets/b`);
    await put('bb');
    const after = encodeURIComponent(String(member(first, 'next')));
    expect(await names(`&limit=10&after=${after}`)).to.deep.equal(['bb', 'c', 'd', 'e']);
    expect(member(await list('&limit=4&after='), 'next')).to.be.a('string');
    expect(member(await list('&limit=5'), 'next')).to.equal(null);
  });

  it('ends a page with values once they are 2 MiB, and goes on behind it', async () => {
    const value = 'v'.repeat(65_536);
    for (let number = 10; number < 50; number++) await put(String(number), { value });
    const first = await list('&values=true');
    const served = (member(first, 'items') as unknown[]).length;
    expect(served).to.be.within(30, 34);
    const rest = await list(`&values=true&after=${encodeURIComponent(String(member(first, 'next')))}`);
    expect((member(rest, 'items') as unknown[]).length).to.equal(40 - served);
    expect(member(rest, 'next')).to.equal(null);
    expect((await names()).length).to.equal(40);
  });

  it('lists what an environment inherits, and says so', async () => {
    await manage(running.url, 'POST', `/${application.slug}/environments`, { name: 'Staging' });
    await manage(running.url, 'PUT', `/${application.slug}/environments/staging`, { inherits: 'local' });
    const [inherited, own] = [await put('a'), secretValue('own')];
    await put('b');
    await putSecret(running.url, application.slug, 'b', { environmentSlug: 'staging', value: own });
    await put('c');
    await putSecret(running.url, application.slug, 'c', { environmentSlug: 'staging', value: secretValue('c'), isEnabled: false });
    const listed = await items('&values=true', 'staging');
    expect(listed.map(({ name, value }) => [name, value])).to.deep.equal([
      ['a', inherited],
      ['b', own],
    ]);
    expect(listed.map(({ properties }) => Reflect.get(properties, 'inheritedFrom') as unknown)).to.deep.equal(['local', undefined]);
  });

  it('answers 401 before 400, 404 for an unknown environment, and 400 for what it does not know', async () => {
    const status = async (query: string, key = application.key) => (await consume(running.url, key, `/secrets${query}`)).status;
    expect(await status('')).to.equal(400);
    expect(await status('', 'key_wrong')).to.equal(401);
    expect(await status('?environment=moon')).to.equal(404);
    expect(await status('?environment=local&limit=201')).to.equal(400);
    expect(await status('?environment=local&limit=0')).to.equal(400);
    expect(await status('?environment=local&values=yes')).to.equal(400);
    expect(await status('?environment=local&after=x')).to.equal(400);
    expect(await status('?environment=local&value=true')).to.equal(400);
    expect(await status('?environment=local&after=x', 'key_wrong')).to.equal(401);
  });

  it('never lists what is of another application', async () => {
    await put('mine');
    const other = await newApplication(running.url);
    expect((await consume(running.url, other.key, '/secrets?environment=local')).body).to.deep.equal({ items: [], next: null });
  });

  it('records a list as one entry, and each value that is listed as a read', async () => {
    await put('a');
    await put('b');
    await list();
    await list('&values=true');
    await list('', 'moon');
    const entries = await auditOf(running.service, application.slug, { plane: 'consumer', count: 4 });
    expect(entries.map(({ action, subject, outcome, version }) => [action, subject, outcome, version])).to.have.deep.members([
      ['secret.list', null, 'done', null],
      ['secret.list', null, 'not-found', null],
      ['secret.read', 'a', 'done', 1],
      ['secret.read', 'b', 'done', 1],
    ]);
  });
});
