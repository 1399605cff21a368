// Reads in the form of Azure Key Vault: the wire form, the login, and the client @azure/keyvault-secrets with its own credential.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { describeWith } from '../../../support/need.ts';
import { commandLine } from '../../../support/programs.ts';
import { type Answer, call, consume, manage, newApplication, putSecret, secretValue, type TestApplication, useService } from '../service.ts';
import { auditOf } from '../consumer/audited.ts';
import { type HttpsFront, startHttpsFront } from './https-front.ts';

const host = 'local.vault.example.test';

const asHost = (name: string) => ({ Host: name });

/** By node:http, as `fetch` sends no Host of its caller. */
async function requestAs(url: string, path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const [response] = (await once(request(url + path, { headers: { ...asHost(host), ...headers } }).end(), 'response')) as [IncomingMessage];
  const content = await text(response);
  const sent = Object.entries(response.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]));
  return { status: response.statusCode ?? 0, headers: new Headers(sent.map(([name, value]) => [name, value])), text: content, body: JSON.parse(content) };
}

describe('reads in the form of Azure Key Vault', () => {
  const running = useService({ environment: { Compatibility__KeyVault: 'on' } });
  let application: TestApplication;
  beforeEach(async () => (application = await newApplication(running.url)));

  const put = async (name: string, item: Readonly<Record<string, unknown>> = {}) => {
    const value = secretValue(name);
    await putSecret(running.url, application.slug, name, { value, ...item });
    return value;
  };
  const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
  const get = (path: string, headers: Readonly<Record<string, string>> = bearer(application.key)): Promise<Answer> => requestAs(running.url, path, headers);

  it('answers a value with its address and its times in seconds, below the path of the environment', async () => {
    const value = await put('db-password', { notBefore: '2026-01-02T03:04:05.678Z', expiresAt: '2999-01-01T00:00:00Z' });
    const answer = await get('/local/secrets/db-password/?api-version=7.6');
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    const { attributes, ...rest } = answer.body as { attributes: Record<string, unknown> };
    expect(rest).to.deep.equal({ value, id: `https://${host}/secrets/db-password/1` });
    expect(attributes).to.include({ enabled: true, nbf: 1767323045, exp: 32472144000 });
    expect(attributes['created']).to.be.a('number').and.to.equal(attributes['updated']);
  });

  it('takes the first label of the host for the environment where the path names none', async () => {
    const value = await put('a');
    for (const name of [host, host.toUpperCase()])
      expect((await get('/secrets/a', { ...bearer(application.key), ...asHost(name) })).body, name).to.include({ value });
    expect((await get('/secrets/a', { ...bearer(application.key), ...asHost('moon.vault.example.test') })).status).to.equal(404);
  });

  it('answers a request that is not valid to the holder of a key only', async () => {
    const refused = await get('/local/secrets/a', {});
    expect(refused.status).to.equal(401);
    for (const path of ['/local/secrets?maxresults=0', '/secrets?$skiptoken=x', '/local/secrets?maxresults=1&maxresults=2', '/local/secrets/%zz']) {
      expect((await get(path)).status, path).to.equal(400);
      for (const headers of [{}, bearer('wrong')]) {
        const answer = await get(path, headers);
        expect([answer.status, answer.text, answer.headers.get('www-authenticate')], path).to.deep.equal([
          401,
          refused.text,
          refused.headers.get('www-authenticate'),
        ]);
      }
    }
  });

  it('reads a version by its number while it is active', async () => {
    const [first, second] = [await put('a'), await put('a')];
    await put('a', { isEnabled: false });
    expect((await get('/local/secrets/a/1')).body).to.include({ value: first, id: `https://${host}/secrets/a/1` });
    expect((await get('/local/secrets/a/2')).body).to.include({ value: second });
    for (const version of ['3', '0', 'x', '4f9b1d']) expect((await get(`/local/secrets/a/${version}`)).status, version).to.equal(404);
  });

  it('lists secrets in pages, and the version that is served', async () => {
    for (const name of ['a', 'b', 'c']) await put(name);
    await put('off', { isEnabled: false });
    const first = await get('/local/secrets?api-version=7.6&maxresults=2');
    const { value, nextLink } = first.body as { value: { id: string }[]; nextLink: string };
    expect(value.map(({ id }) => id)).to.deep.equal(['a', 'b'].map((name) => `https://${host}/secrets/${name}`));
    const { pathname, search } = new URL(nextLink);
    const second = await get(pathname + search);
    expect(second.body).to.have.nested.property('value[0].id', `https://${host}/secrets/c`);
    expect(second.body).to.have.property('nextLink', null);
    expect((await get('/local/secrets/a/versions')).body).to.have.nested.property('value[0].id', `https://${host}/secrets/a/1`);
    expect((await get('/local/secrets?maxresults=26')).body).to.have.nested.property('error.code', 'BadParameter');
  });

  it('answers one 401 to a missing and a wrong key, with the way to the login', async () => {
    const challenge = `Bearer authorization="https://${host}/adfs", resource="https://vault.example.test"`;
    for (const path of ['/secrets/a', '/local/secrets/a', '/secrets', '/local/secrets/a/versions', '/secrets/a/1']) {
      for (const headers of [{}, bearer('wrong'), bearer(`key_${'0'.repeat(40)}`)]) {
        const refused = await get(path, headers);
        expect(refused.status).to.equal(401);
        expect(refused.headers.get('www-authenticate')).to.equal(challenge);
        expect(refused.body).to.deep.equal({ error: { code: 'Unauthorized', message: 'The key is missing or wrong.' } });
      }
    }
    const resourceOf = async (name: string) => (await get('/secrets/a', asHost(name))).headers.get('www-authenticate')?.split('resource=')[1];
    expect(await resourceOf('127.0.0.1:8084')).to.equal('"https://127.0.0.1"');
    expect(await resourceOf('secrets:8443')).to.equal('"https://secrets"');
  });

  it('answers one 404 whatever is missing, and refuses writes', async () => {
    await put('a');
    await put('over', { expiresAt: '2020-01-01T00:00:00Z' });
    for (const path of ['/local/secrets/none', '/local/secrets/over', '/moon/secrets/a', '/moon/secrets', '/local/secrets/none/versions'])
      expect((await get(path)).body, path).to.have.nested.property('error.code', 'SecretNotFound');
    for (const method of ['PUT', 'PATCH', 'POST', 'DELETE']) {
      const write = (key: string) => call(running.url, { method, path: '/local/secrets/a', headers: bearer(key) });
      expect((await write(application.key)).body).to.have.nested.property('error.code', 'Forbidden');
      expect((await write('wrong')).status).to.equal(401);
    }
  });

  it('records each read in the audit', async () => {
    await put('a');
    await get('/local/secrets/a');
    await get('/local/secrets');
    const entries = await auditOf(running.service, application.slug, { plane: 'consumer', count: 2 });
    expect(entries.map(({ action, subject }) => [action, subject])).to.have.deep.members([
      ['secret.read', 'a'],
      ['secret.list', null],
    ]);
  });

  describe('the login', () => {
    const login = (form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}, path = '/adfs/oauth2/token') =>
      call(running.url, {
        method: 'POST',
        path,
        body: new URLSearchParams(form).toString(),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      });
    const grant = { grant_type: 'client_credentials', client_id: 'any', scope: 'https://vault.example.test/.default' };

    it('names its addresses', async () => {
      const found = await get('/adfs/.well-known/openid-configuration', asHost(host));
      expect(found.body).to.deep.include({ issuer: `https://${host}/adfs`, token_endpoint: `https://${host}/adfs/oauth2/token` });
    });

    it('answers the key as the token', async () => {
      const granted = await login({ ...grant, client_secret: application.key });
      expect(granted.headers.get('cache-control')).to.equal('no-store');
      expect(granted.body).to.deep.equal({ access_token: application.key, token_type: 'Bearer', expires_in: 3600 });
      expect((await login({ ...grant, client_secret: application.key }, {}, '/adfs/oauth2/v2.0/token')).body).to.deep.equal(granted.body);
      const basic = Buffer.from(`any:${application.key}`).toString('base64');
      expect((await login(grant, { Authorization: `Basic ${basic}` })).body).to.include({ access_token: application.key });
    });

    it('refuses another secret, another grant and what is no form', async () => {
      for (const secret of [{}, { client_secret: '' }, { client_secret: 'wrong' }])
        expect(await login({ ...grant, ...secret })).to.deep.include({ status: 401 });
      expect((await login({ ...grant, client_secret: 'wrong' })).body).to.have.property('error', 'invalid_client');
      expect((await login({ ...grant, grant_type: 'password', client_secret: application.key })).body).to.have.property('error', 'invalid_request');
      const large = await login({ ...grant, client_secret: 'x'.repeat(20_000) });
      expect(large).to.deep.include({ status: 413 });
      const json = await call(running.url, { method: 'POST', path: '/adfs/oauth2/token', body: {} });
      expect(json.status).to.equal(415);
    });
  });

  describeWith(commandLine('openssl'), 'by @azure/keyvault-secrets and @azure/identity', () => {
    let front: HttpsFront;
    before(async () => (front = await startHttpsFront(running.url)));
    after(() => front.close());

    async function run(vault: string, secret: string, ...names: readonly string[]) {
      const credential = { AZURE_TENANT_ID: 'adfs', AZURE_CLIENT_ID: 'any', AZURE_CLIENT_SECRET: secret, AZURE_AUTHORITY_HOST: `https://${host}` };
      const { PATH = '', HOME = '' } = process.env;
      const program = join(import.meta.dirname, 'azure-client-process.ts');
      const env = { PATH, HOME, ...front.environment, ...credential };
      const { stdout } = await promisify(execFile)(process.execPath, [program, vault, ...names], { env, timeout: 60_000 });
      return JSON.parse(stdout) as { secrets: unknown[]; listed: string[]; refused: unknown };
    }

    it('reads and lists with no change but the address and the credential', async () => {
      const value = await put('db-password');
      await put('other');
      const { secrets, listed, refused } = await run(`https://${host}`, application.key, 'db-password', 'none');
      const read = { value, name: 'db-password', version: '1', enabled: true, expiresOn: null, again: value, versions: ['1'] };
      expect(secrets).to.deep.equal([read, { statusCode: 404, code: 'SecretNotFound' }]);
      expect(listed).to.deep.equal(['db-password', 'other']);
      expect(refused).to.equal(null);
    }).timeout(60_000);

    it('follows the pages of a list below the path of an environment', async () => {
      for (let number = 10; number < 40; number++) await put(`secret-${number}`);
      const { listed } = await run('https://secrets.vault.example.test/local', application.key);
      expect(listed).to.have.length(30);
    }).timeout(60_000);

    it('is refused with a wrong key', async () => {
      expect((await run(`https://${host}`, 'wrong')).refused).to.be.a('string');
    }).timeout(60_000);
  });
});

describe('reads in the form of Azure Key Vault, by default', () => {
  const running = useService();

  it('are not there', async () => {
    const { key } = await newApplication(running.url);
    for (const path of ['/secrets/a', '/local/secrets/a', '/adfs/.well-known/openid-configuration'])
      expect((await call(running.url, { path, headers: { Authorization: `Bearer ${key}` } })).body).to.include({ title: 'Not Found' });
    expect((await consume(running.url, key, '/secrets?environment=local')).status).to.equal(200);
    expect((await manage(running.url, 'GET')).status).to.equal(200);
  });
});
