// Who may ask: two planes that do not know each other's credentials, one 401 each, and what is open.
import { get } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';
import { z } from 'zod';
import { createApp } from '../../../services/platform/http/app.ts';
import { createHealth } from '../../../services/platform/health.ts';
import { route } from '../../../services/platform/http/route.ts';
import { listen } from '../../../services/platform/http/server.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { applicationGuard, consumerRoutes } from '../../../services/secrets/consumer/reads.ts';
import { createSecretReader } from '../../../services/secrets/consumer/reader.ts';
import { createConsumerStore } from '../../../services/secrets/consumer/store.ts';
import { unusableKeyring } from '../../../services/secrets/encryption/master-keys.ts';
import { captureLog } from '../../platform/captured-log.ts';
import { type Answer, adminToken, call, newApplication, putSecret, secretValue, type TestApplication, useService } from './service.ts';

const whole = ({ status, headers, text }: Answer) => ({
  status,
  text,
  headers: Object.fromEntries([...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')),
});

/** The refusal of missing and of wrong credentials. */
const refusalOf = (form: string) =>
  JSON.stringify({ type: 'about:blank', title: 'Unauthorized', status: 401, detail: `The credential is missing or wrong. Send \`${form}\`.` });

describe('credentials of the secrets service', () => {
  const nextToken = secretValue('the next token');
  const running = useService({ environment: { Management__AdminApiKey: `${adminToken},${nextToken}` } });
  let application: TestApplication;
  before(async () => {
    application = await newApplication(running.url, 'app');
    await putSecret(running.url, 'app', 'password', { value: secretValue('password') });
  });

  const managementPaths = [
    ['GET', ''],
    ['POST', ''],
    ['GET', '/app'],
    ['PUT', '/app'],
    ['DELETE', '/app'],
    ['POST', '/app/rotate-key'],
    ['GET', '/app/environments'],
    ['POST', '/app/environments'],
    ['DELETE', '/app/environments/local'],
    ['GET', '/app/secrets'],
    ['POST', '/app/secrets'],
    ['POST', '/app/secrets/password/values'],
    ['GET', '/app/secrets/password'],
    ['GET', '/app/secrets/password/versions/local'],
    ['DELETE', '/app/secrets/password'],
    ['GET', '/app/configurations'],
    ['POST', '/app/configurations'],
    ['PUT', '/app/configurations/local/key'],
    ['DELETE', '/app/configurations/local/key'],
    ['GET', '/unknown/route/of/all'],
    ['PATCH', '/app'],
    ['GET', '/%zz'],
  ] as const;

  for (const [method, path] of managementPaths)
    it(`${method} /api/management/applications${path} answers one and the same 401 to a missing and to a wrong credential`, async () => {
      const wrongs: Readonly<Record<string, string>>[] = [
        { Authorization: 'Bearer wrong' },
        { Authorization: 'Bearer ' },
        { Authorization: `Basic ${adminToken}` },
        { Authorization: adminToken },
        { Authorization: `Bearer ${application.key}` },
        { 'X-Api-Key': application.key },
        { 'X-Api-Key': adminToken },
      ];
      const full = `/api/management/applications${path}`;
      const missing = whole(await call(running.url, { method, path: full }));
      expect(missing).to.deep.include({ status: 401, text: refusalOf('Authorization: Bearer <value>') });
      expect(missing.headers).to.include({ 'content-type': 'application/problem+json', 'www-authenticate': 'Bearer' });
      for (const headers of wrongs) expect(whole(await call(running.url, { method, path: full, headers }))).to.deep.equal(missing);
    });

  const consumerPaths = [
    ['GET', '/secrets/password?environment=local'],
    ['GET', '/secrets/password/'],
    ['GET', '/secrets/password'],
    ['GET', '/secrets/unknown?environment=local'],
    ['GET', '/secrets/%zz?environment=local'],
    ['GET', '/secrets/password?environment=%zz'],
    ['GET', '/secrets/password?environment=local&environment=other'],
    ['GET', '/configurations?environment=local'],
    ['GET', '/configurations/'],
    ['GET', '/configurations/key?environment=local'],
    ['GET', '/configurations/a/b'],
    ['GET', ''],
    ['GET', '/secrets'],
    ['GET', '/secrets/'],
    ['GET', '/secrets/a/b?environment=local'],
    ['POST', '/secrets/password?environment=local'],
    ['GET', '/nothing'],
  ] as const;

  for (const [method, path] of consumerPaths)
    it(`${method} /api/consumer${path} answers one and the same 401 to a missing and to a wrong credential`, async () => {
      const wrongs: Readonly<Record<string, string>>[] = [
        { 'X-Api-Key': '' },
        { 'X-Api-Key': 'key_' },
        { 'X-Api-Key': `key_${'0'.repeat(40)}` },
        { 'X-Api-Key': application.key.toUpperCase() },
        { 'X-Api-Key': `${application.key}, ${application.key}` },
        { 'X-Api-Key': adminToken },
        { Authorization: `Bearer ${application.key}` },
        { Authorization: `Bearer ${adminToken}` },
      ];
      const full = `/api/consumer${path}`;
      const missing = whole(await call(running.url, { method, path: full }));
      expect(missing).to.deep.include({ status: 401, text: refusalOf('X-Api-Key: <value>') });
      expect(missing.headers).to.include({ 'content-type': 'application/problem+json', 'www-authenticate': 'X-Api-Key' });
      for (const headers of wrongs) expect(whole(await call(running.url, { method, path: full, headers }))).to.deep.equal(missing);
    });

  it('guards a new route below /api/consumer that declares nothing of its credential', async () => {
    const store = createConsumerStore(running.service.database, () => new Date());
    const unused = () => {
      throw new Error('no test asks for it');
    };
    const shared = { log: captureLog().log, metrics: createMetrics() };
    const parts = { store, keyUses: { note: () => undefined, noteRead: () => undefined }, clock: () => new Date() };
    const sealing = { keyring: unusableKeyring('none'), keyCheck: { state: unused }, audit: { record: unused, hasRoom: true } };
    const reader = createSecretReader({ ...parts, tokens: undefined, ...sealing, ...shared });
    const added = route({ method: 'get', path: '/api/consumer/secrets/{name}/names', summary: 's', answers: { 200: z.object({}) }, handle: () => ({}) });
    const app = createApp({
      description: { title: 'secrets', summary: 's', version: '1' },
      routes: [added, ...consumerRoutes({ reader, ...parts })],
      areas: [{ prefix: '/api/consumer', guard: applicationGuard(reader) }],
      health: createHealth(),
      ...shared,
    });
    const listening = await listen(app.handler, { port: 0, host: '127.0.0.1' });
    const status = async (headers?: Readonly<Record<string, string>>) =>
      (await fetch(`http://127.0.0.1:${listening.port}/api/consumer/secrets/a/names`, { ...(headers && { headers }) })).status;
    try {
      expect(await status()).to.equal(401);
      expect(await status({ 'X-Api-Key': `key_${'0'.repeat(40)}` })).to.equal(401);
      expect(await status({ 'X-Api-Key': application.key })).to.equal(200);
    } finally {
      await listening.close();
    }
  });

  it('answers 404, 405 and 400 below /api/consumer only to the holder of a key', async () => {
    const headers = { 'X-Api-Key': application.key };
    const status = async (method: string, path: string) => (await call(running.url, { method, path: `/api/consumer${path}`, headers })).status;
    expect(await status('GET', '/nothing')).to.equal(404);
    expect(await status('GET', '/secrets/a/b')).to.equal(404);
    expect(await status('POST', '/secrets/password')).to.equal(405);
    expect(await status('GET', '/secrets/%zz?environment=local')).to.equal(400);
    expect(await status('GET', '/secrets/password?environment=local&environment=local')).to.equal(400);
    expect(await status('GET', '/secrets/password/?environment=local')).to.equal(200);
  });

  it('answers 401 to a credential whose header is sent twice', async () => {
    const { hostname, port } = new URL(running.url);
    const ask = (path: string, header: string, values: string[]) =>
      new Promise<number | undefined>((resolve, reject) => {
        get({ hostname, port, path, agent: false, headers: { [header]: values } }, (response) => {
          void textOf(response).then(() => resolve(response.statusCode), reject);
        }).on('error', reject);
      });
    for (const [path, header, value] of [
      ['/api/management/applications', 'Authorization', `Bearer ${adminToken}`],
      ['/api/consumer/secrets/password?environment=local', 'X-Api-Key', application.key],
    ] as const) {
      expect(await ask(path, header, [value]), header).to.equal(200);
      expect(await ask(path, header, [value, value]), header).to.equal(401);
    }
  });

  it('reads the path of a request in absolute form as it reads any other', async () => {
    const { hostname, port } = new URL(running.url);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      get({ hostname, port, path: `${running.url}/api/consumer/secrets/password?environment=local` }, (response) => {
        void textOf(response).then(() => resolve(response.statusCode), reject);
      }).on('error', reject);
    });
    expect(status).to.equal(401);
  });

  it('takes every administrator token of the list, the word Bearer in any case', async () => {
    for (const value of [`Bearer ${adminToken}`, `bearer ${adminToken}`, `BEARER ${nextToken}`])
      expect((await call(running.url, { path: '/api/management/applications', headers: { Authorization: value } })).status).to.equal(200);
  });

  it('has open health, readiness and API description, and nothing else', async () => {
    for (const path of ['/health', '/health/ready', '/swagger/v1/swagger.json', '/swagger/index.html'])
      expect((await call(running.url, { path })).status, path).to.equal(200);
    for (const path of ['/', '/api', '/metrics']) expect((await call(running.url, { path })).status, path).to.equal(404);
  });

  it('keeps the plain key nowhere, and of it a hash only', async () => {
    const { rows } = await running.service.database.driver.query<{ all: string; hash: string }>(
      `select a::text || k::text as all, encode(key_hash, 'hex') as hash from applications a join application_keys k on k.application_id = a.id where slug = 'app'`,
    );
    expect(rows[0]?.all).not.to.contain(application.key).and.not.to.contain(application.key.slice(4));
    expect(rows[0]?.hash).to.match(/^[0-9a-f]{64}$/);
  });
});

describe('failed credentials on the management plane', () => {
  const running = useService({ environment: { Management__MaxFailedCredentials: '2' } });

  it('are answered 429 when an address had too many; right ones pass, and the consumer plane goes on', async () => {
    const path = '/api/management/applications';
    const wrong = { Authorization: 'Bearer wrong' };
    const right = { Authorization: `Bearer ${adminToken}` };
    for (const status of [401, 401, 429]) {
      expect((await call(running.url, { path, headers: right })).status).to.equal(200);
      const refused = await call(running.url, { path, headers: wrong });
      expect(refused.status).to.equal(status);
      if (status === 429) expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 300);
    }
    expect((await call(running.url, { path, headers: right })).status).to.equal(200);
    expect((await call(running.url, { path: '/api/consumer/secrets?environment=local', headers: wrong })).status).to.equal(401);
    expect((await call(running.url, { path: '/health' })).status).to.equal(200);
  });
});
