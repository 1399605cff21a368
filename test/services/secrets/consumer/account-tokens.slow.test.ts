// Reads with tokens of ServiceAccounts, which a real API server makes and reviews.
import { expect } from 'chai';
import nodeVault from 'node-vault';
import { createTransport } from '../../../../services/platform/api-server.ts';
import { createFaultProxy, type FaultProxy } from '../../../support/fault-proxy.ts';
import { kubernetes, sharedApiServer } from '../../../support/kubernetes.ts';
import { describeWith } from '../../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import {
  adminToken,
  type Answer,
  call,
  manage,
  member,
  migrations,
  newApplication,
  putSecret,
  secretValue,
  startService,
  type TestService,
} from '../service.ts';
import { auditOf } from './audited.ts';
import { type ClusterAccounts, createClusterAccounts } from './cluster-accounts.ts';

describeWith(kubernetes, 'reads with the token of a ServiceAccount', () => {
  let cluster: ClusterAccounts;
  let proxy: FaultProxy;
  let database: TestDatabase;
  let service: TestService;
  let slug: string;
  let value: string;
  const closing = new AbortController();
  /** The clock of the service is ahead by this. */
  let aheadMs = 0;
  before(async () => {
    cluster = await createClusterAccounts();
    proxy = await createFaultProxy((await sharedApiServer()).config);
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startAgain();
  });
  const startAgain = () =>
    startService({
      databaseUrl: database.url,
      environment: { Compatibility__Vault: 'on', Compatibility__KeyVault: 'on' },
      clock: () => new Date(Date.now() + aheadMs),
      apiServer: createTransport(proxy.config, closing.signal, { answerMs: 1000 }),
    });
  after(async () => {
    closing.abort();
    await service?.close();
    await database?.drop();
    await proxy?.close();
    await cluster?.close();
  });
  beforeEach(async () => {
    aheadMs = 0;
    ({ slug } = await newApplication(service.url));
    value = secretValue('read without a key');
    await putSecret(service.url, slug, 'password', { value });
    await manage(service.url, 'POST', `/${slug}/configurations`, { environmentSlug: 'local', key: 'entry', value: 'on' });
    await bind();
    proxy.takeCalls();
  });
  afterEach(async () => {
    proxy.set('none');
    await manage(service.url, 'DELETE', `/${slug}`);
  });
  const bind = (account = 'web') => manage(service.url, 'PUT', `/${slug}/service-accounts/${cluster.namespace}/${account}`);
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const read = (token: string, path = '/secrets/password', headers: Readonly<Record<string, string>> = bearer(token)) =>
    call(service.url, { path: `/api/consumer${path}?environment=local`, headers });
  const reviews = () => proxy.takeCalls().filter(({ url }) => url.includes('tokenreviews'));
  const refusal = async () => call(service.url, { path: '/api/consumer/secrets/password?environment=local' });
  const expectRefused = async (answer: Answer) => {
    expect(answer.status).to.equal(401);
    expect(answer.text).to.equal((await refusal()).text);
    expect(answer.headers.get('www-authenticate')).to.equal('X-Api-Key, Bearer');
  };
  /** Later than an answer of the API server counts. */
  const later = () => void (aheadMs += 10_001);

  it('are those of the application that the account is bound to, on every route', async () => {
    const token = await cluster.tokenOf();
    const answer = await read(token);
    expect(answer.status).to.equal(200);
    expect(answer.body).to.include({ name: 'password', value });
    expect((await read(token, '/secrets')).body).to.have.nested.property('items[0].name', 'password');
    expect((await read(token, '/configurations')).body).to.have.nested.property('items[0].key', 'entry');
    expect((await read(token, '/configurations/entry')).body).to.include({ value: 'on' });
    expect((await read(token, '/nothing')).status).to.equal(404);
    expect((await read(token, '/secrets/none')).status).to.equal(404);
    expect((await call(service.url, { path: '/api/consumer/secrets/password', headers: bearer(token) })).status).to.equal(400);
  });

  it('work wherever a key is sent, so that a client that reads its key from a file needs no change', async () => {
    const token = await cluster.tokenOf();
    expect((await read(token, '/secrets/password', { 'X-Api-Key': token })).status).to.equal(200);
  });

  it('are in the audit by namespace and name, and the account shows its last use', async () => {
    await read(await cluster.tokenOf());
    const [entry] = await auditOf(service, slug, { plane: 'consumer', count: 1 });
    expect(entry).to.include({ keyId: `account ${cluster.namespace}/web`, action: 'secret.read', subject: 'password', outcome: 'done' });
    await eventually(async () => {
      const items = member(await manage(service.url, 'GET', `/${slug}/service-accounts`), 'items');
      expect(items).to.have.nested.property('[0].lastUsedAt').that.is.a('string');
    });
  });

  it('are refused for another audience, without asking the API server', async () => {
    await expectRefused(await read(await cluster.tokenOf({ audience: 'another-service' })));
    expect(reviews()).to.deep.equal([]);
  });

  it('are refused for a token that has expired, also one that was accepted a moment before', async () => {
    const token = await cluster.tokenOf({ seconds: 600 });
    expect((await read(token)).status).to.equal(200);
    aheadMs = 600_000 + 61_000;
    await expectRefused(await read(token));
  });

  it('are refused for an account that is not bound, as for one that was unbound a moment ago', async () => {
    await cluster.createAccount('other');
    await expectRefused(await read(await cluster.tokenOf({ account: 'other' })));
    const token = await cluster.tokenOf();
    expect((await read(token)).status).to.equal(200);
    await manage(service.url, 'DELETE', `/${slug}/service-accounts/${cluster.namespace}/web`);
    await expectRefused(await read(token));
  });

  it('are refused for an account of the same name in another namespace', async () => {
    const other = await createClusterAccounts();
    try {
      await expectRefused(await read(await other.tokenOf()));
    } finally {
      await other.close();
    }
  });

  it('are refused once the account is deleted, and for an account that was made again by its name until there is a new token', async () => {
    await cluster.createAccount('short-lived');
    await bind('short-lived');
    const token = await cluster.tokenOf({ account: 'short-lived' });
    expect((await read(token)).status).to.equal(200);
    await cluster.remove('serviceaccounts', 'short-lived');
    await eventually(async () => (later(), (await read(token)).status === 401));
    await cluster.createAccount('short-lived');
    later();
    await expectRefused(await read(token));
    expect((await read(await cluster.tokenOf({ account: 'short-lived' }))).status).to.equal(200);
  });

  it('are refused once the pod is deleted that the token is bound to', async () => {
    const pod = await cluster.createPod('reader', 'web');
    const token = await cluster.tokenOf({ pod });
    expect((await read(token)).status).to.equal(200);
    await cluster.remove('pods', 'reader');
    await eventually(async () => (later(), (await read(token)).status === 401));
    expect((await read(await cluster.tokenOf())).status).to.equal(200);
  });

  it('are refused for a token whose signature, claims or head were changed, without asking the API server', async () => {
    const [head = '', claims = '', signature = ''] = (await cluster.tokenOf()).split('.');
    const encode = (text: object) => Buffer.from(JSON.stringify(text)).toString('base64url');
    const decoded = JSON.parse(Buffer.from(claims, 'base64url').toString()) as object;
    const forged = [
      [head, claims, signature.replace(/^./, (one) => (one === 'A' ? 'B' : 'A'))],
      [head, encode({ ...decoded, sub: `system:serviceaccount:${cluster.namespace}:default` }), signature],
      [encode({ alg: 'none' }), claims, 'x'],
      [encode({ alg: 'HS256', kid: 'x' }), claims, signature],
      [encode({ alg: 'RS256', kid: 'unknown' }), claims, signature],
      ['x', 'y', 'z'],
    ];
    for (const parts of forged) await expectRefused(await read(parts.join('.')));
    expect(reviews()).to.deep.equal([]);
  });

  it('are not open to the administrator, whose token is sent nowhere, nor to the name of an account', async () => {
    for (const credential of [adminToken, `${cluster.namespace}/web`, `system:serviceaccount:${cluster.namespace}:web`]) {
      await expectRefused(await read(credential));
      await expectRefused(await read('', '/secrets/password', { 'X-Api-Key': credential }));
    }
    expect(proxy.takeCalls()).to.deep.equal([]);
  });

  it('open no management route', async () => {
    const answer = await call(service.url, { path: '/api/management/applications', headers: bearer(await cluster.tokenOf()) });
    expect(answer.status).to.equal(401);
  });

  it('share one review of the API server within ten seconds, also when many come at once', async () => {
    const token = await cluster.tokenOf();
    const answers = await Promise.all(Array.from({ length: 200 }, () => read(token)));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(reviews()).to.have.length(1);
    await read(token);
    expect(reviews()).to.have.length(0);
    later();
    await read(token);
    expect(reviews()).to.have.length(1);
  });

  it('are right for many tokens of many accounts at once', async () => {
    const accounts = Array.from({ length: 30 }, (_, index) => `many-${index}`);
    await Promise.all(accounts.map((account) => cluster.createAccount(account)));
    const bound = accounts.filter((_, index) => index % 2 === 0);
    await Promise.all(bound.map((account) => bind(account)));
    const tokens = await Promise.all(accounts.map((account) => cluster.tokenOf({ account })));
    const statuses = await Promise.all(tokens.map(async (token) => (await read(token)).status));
    expect(statuses).to.deep.equal(accounts.map((_, index) => (index % 2 === 0 ? 200 : 401)));
  });

  describe('while the API server is away', () => {
    for (const fault of ['cut', 'hang', 500, 429] as const)
      it(`answer 503 with Retry-After, and not that the token is wrong (${fault})`, async () => {
        const token = await cluster.tokenOf();
        const unbound = await cluster.tokenOf({ account: 'default' });
        proxy.set(fault);
        for (const one of [token, unbound]) {
          const answer = await read(one);
          expect(answer.status).to.equal(503);
          expect(answer.headers.get('retry-after')).to.equal('5');
        }
        expect(await service.metrics.text()).to.match(/token_reviews_total\{outcome="failed"\} [1-9]/);
        proxy.set('none');
        expect((await read(token)).status).to.equal(200);
        await expectRefused(await read(unbound));
      });

    it('go on with a key, and with a token that was reviewed within ten seconds', async () => {
      const { slug: other, key } = await newApplication(service.url);
      await putSecret(service.url, other, 'password', { value: secretValue('read with a key') });
      const token = await cluster.tokenOf();
      await read(token);
      proxy.set('cut');
      expect((await read(token)).status).to.equal(200);
      expect((await read('', '/secrets/password', { 'X-Api-Key': key })).status).to.equal(200);
      later();
      expect((await read(token)).status).to.equal(503);
    });

    it('answer 503 from the start, where its signing keys were never read', async () => {
      proxy.set('cut');
      const started = await startAgain();
      try {
        const token = await cluster.tokenOf();
        const ask = () => call(started.url, { path: '/api/consumer/secrets/password?environment=local', headers: bearer(token) });
        expect((await ask()).status).to.equal(503);
        expect(await started.metrics.text()).to.match(/token_reviews_total\{outcome="keys-failed"\} [1-9]/);
        proxy.set('none');
        expect((await ask()).status).to.equal(200);
      } finally {
        await started.close();
      }
    });
  });

  describe('in the forms of other products', () => {
    type Sending = { readonly method?: string; readonly headers?: Readonly<Record<string, string>> };
    const login = (body: unknown, { method = 'POST', headers = { 'Content-Type': 'application/json' } }: Sending = {}) =>
      fetch(`${service.url}/v1/auth/kubernetes/login`, { method, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) });

    it('begin with the login of Vault, whose token reads until it expires', async () => {
      const jwt = await cluster.tokenOf();
      for (const [method, headers] of [
        ['POST', { 'Content-Type': 'application/json' }],
        ['POST', { 'Content-Type': 'application/x-www-form-urlencoded' }],
        ['PUT', {}],
      ] as const) {
        const answer = await login({ role: 'any', jwt }, { method, headers });
        expect(answer.status, method).to.equal(200);
        expect(answer.headers.get('cache-control')).to.equal('no-store');
        const { auth } = (await answer.json()) as { auth: { client_token: string; lease_duration: number } };
        expect(auth.lease_duration).to.be.within(3500, 3600);
        const got = await call(service.url, { path: '/v1/local/data/password', headers: { 'X-Vault-Token': auth.client_token } });
        expect(got.body).to.have.nested.property('data.data.value', value);
        const self = await call(service.url, { path: '/v1/auth/token/lookup-self', headers: { 'X-Vault-Token': auth.client_token } });
        expect(self.body).to.have.nested.property('data.ttl').that.is.within(3500, 3600);
      }
    });

    it('end with the logout of Vault, which revokes nothing, and which a key is refused', async () => {
      const { key } = await newApplication(service.url);
      const jwt = await cluster.tokenOf();
      const logOut = (method: string, token: string) => call(service.url, { method, path: '/v1/auth/token/revoke-self', headers: { 'X-Vault-Token': token } });
      expect((await Promise.all([logOut('POST', jwt), logOut('PUT', jwt)])).map(({ status }) => status)).to.deep.equal([204, 204]);
      expect((await Promise.all([logOut('POST', key), logOut('POST', 'x.y.z')])).map(({ status }) => status)).to.deep.equal([403, 403]);
    });

    it('begin with the login of node-vault, as its users have it', async () => {
      const client = nodeVault({ endpoint: service.url });
      await client.kubernetesLogin({ mount_point: 'kubernetes', role: 'any', jwt: await cluster.tokenOf() });
      const answer: unknown = await client.read('local/data/password');
      expect(answer).to.have.nested.property('data.data.value', value);
    });

    it('are refused by the login of Vault for anything but the token of a bound account', async () => {
      const { key } = await newApplication(service.url);
      const unbound = await cluster.tokenOf({ account: 'default' });
      for (const jwt of [key, unbound, 'x.y.z']) {
        const answer = await login({ role: 'any', jwt });
        expect(answer.status).to.equal(403);
        expect(await answer.json()).to.deep.equal({ errors: ['permission denied'] });
      }
      for (const body of ['', '{', '[]', '{"role":"x"}', '{"jwt":""}', '{"jwt":5}']) expect((await login(body)).status, body).to.equal(400);
      expect((await login('x'.repeat(17_000))).status).to.equal(413);
      proxy.set('cut');
      expect((await login({ jwt: await cluster.tokenOf() })).status).to.equal(503);
    });

    it("have the time to live that is left by the service's clock", async () => {
      const jwt = await cluster.tokenOf();
      aheadMs = 1_800_000;
      const { auth } = (await (await login({ jwt })).json()) as { auth: { lease_duration: number } };
      expect(auth.lease_duration).to.be.within(1700, 1800);
      const self = await call(service.url, { path: '/v1/auth/token/lookup-self', headers: { 'X-Vault-Token': jwt } });
      expect(self.body).to.have.nested.property('data.ttl').that.is.within(1700, 1800);
      expect((await azureLogin({ client_secret: jwt })).body)
        .to.have.property('expires_in')
        .that.is.within(1700, 1800);
    });

    it('read as the token of a vault of Azure', async () => {
      const token = await cluster.tokenOf();
      const answer = await call(service.url, { path: '/local/secrets/password', headers: bearer(token) });
      expect(answer.body).to.include({ value });
    });

    const azureLogin = (form: Readonly<Record<string, string>>) =>
      call(service.url, {
        method: 'POST',
        path: '/adfs/oauth2/token',
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'any', ...form }).toString(),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      });
    const asAssertion = (client_assertion: string) =>
      azureLogin({ client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', client_assertion });

    it('are the assertion of a workload identity at the login of Azure, and its token for as long as they live', async () => {
      const token = await cluster.tokenOf({ seconds: 600 });
      const { status, body, headers } = await asAssertion(token);
      expect(status).to.equal(200);
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(body).to.include({ access_token: token, token_type: 'Bearer' });
      expect(body).to.have.property('expires_in').that.is.within(500, 600);
    });

    it('are refused at the login of Azure for anything but the token of a bound account', async () => {
      const { key } = await newApplication(service.url);
      for (const assertion of [
        key,
        await cluster.tokenOf({ account: 'default' }),
        await cluster.tokenOf({ audience: 'api://AzureADTokenExchange' }),
        'x.y.z',
        '',
      ]) {
        const answer = await asAssertion(assertion);
        expect(answer.status).to.equal(401);
        expect(answer.body).to.have.property('error', 'invalid_client');
      }
      proxy.set('cut');
      expect((await asAssertion(await cluster.tokenOf())).body).to.have.property('error', 'temporarily_unavailable');
    });
  });
});
