// Reads in the form of Vault's KV version 2: the wire form, and the client node-vault as its users install it.
import { connect } from 'node:net';
import { expect } from 'chai';
import nodeVault from 'node-vault';
import { adminToken, call, manage, newApplication, putSecret, secretValue, type TestApplication, useService } from '../service.ts';
import { eventually } from '../../../support/wait.ts';
import { auditOf } from '../consumer/audited.ts';

describe('reads in the form of Vault', () => {
  const running = useService({ environment: { Compatibility__Vault: 'on' } });
  let application: TestApplication;
  beforeEach(async () => (application = await newApplication(running.url)));

  const put = async (name: string, item: Readonly<Record<string, unknown>> = {}) => {
    const value = secretValue(name);
    await putSecret(running.url, application.slug, name, { value, ...item });
    return value;
  };
  const get = (path: string, token = application.key) => call(running.url, { path: `/v1${path}`, headers: { 'X-Vault-Token': token } });
  const denied = { status: 403, body: { errors: ['permission denied'] } };
  const missing = { status: 404, body: { errors: [] } };

  it('answers a value as the member `value`, with the metadata of its version', async () => {
    const value = await put('db-password');
    const answer = await get('/local/data/db-password');
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    expect(answer.headers.get('content-type')).to.equal('application/json');
    const { data, ...envelope } = answer.body as { data: { data: object; metadata: { created_time: string } } };
    expect(envelope).to.include({ lease_id: '', renewable: false, lease_duration: 0, wrap_info: null, warnings: null, auth: null });
    expect(data.data).to.deep.equal({ value });
    expect(data.metadata).to.deep.include({ version: 1, deletion_time: '', destroyed: false, custom_metadata: null });
    expect(new Date(data.metadata.created_time).toISOString()).to.equal(data.metadata.created_time);
  });

  it('answers a value that is a JSON object as its members, to the last digit', async () => {
    await put('json', { value: '{"user":"app","port":5432,"big":12345678901234567890,"deep":{"a":[1]}}' });
    expect((await get('/local/data/json')).text).to.contain('"data":{"user":"app","port":5432,"big":12345678901234567890,"deep":{"a":[1]}}');
    for (const value of ['["no object but a list"]', '"a text in quotes"', '12345678901234567890', '{"a": "is not closed"']) {
      await put('other', { value });
      expect((await get('/local/data/other')).body).to.have.deep.nested.property('data.data', { value });
    }
  });

  it('takes the key as a bearer token, also beside an empty X-Vault-Token', async () => {
    const value = await put('a');
    for (const empty of [{}, { 'X-Vault-Token': '' }]) {
      const headers = { Authorization: `Bearer ${application.key}`, ...empty };
      expect((await call(running.url, { path: '/v1/local/data/a', headers })).body).to.have.nested.property('data.data.value', value);
    }
  });

  it('reads names with slashes, spaces and colons', async () => {
    for (const [name, path] of [
      ['team/db', 'team/db'],
      ['a b', 'a%20b'],
      ['team/a:b', 'team/a:b'],
      ['x/y', 'x%2Fy'],
    ] as const) {
      const value = await put(name);
      expect((await get(`/local/data/${path}`)).body, name).to.have.nested.property('data.data.value', value);
    }
  });

  it('reads a version by its number while it is active, 0 for the newest', async () => {
    const [first, second] = [await put('a'), await put('a')];
    await put('a', { isEnabled: false });
    const read = async (version: string) => get(`/local/data/a?version=${version}`);
    expect((await read('1')).body).to.deep.nested.include({ 'data.data.value': first, 'data.metadata.version': 1 });
    expect((await read('0')).body).to.deep.nested.include({ 'data.data.value': second, 'data.metadata.version': 2 });
    expect(await read('3')).to.deep.include(missing);
    expect(await read('4')).to.deep.include(missing);
    expect((await read('x')).status).to.equal(400);
  });

  it('reads what the environment inherits', async () => {
    const value = await put('a');
    await manage(running.url, 'POST', `/${application.slug}/environments`, { name: 'Staging' });
    expect(await get('/staging/data/a')).to.deep.include(missing);
    await manage(running.url, 'PUT', `/${application.slug}/environments/staging`, { inherits: 'local' });
    expect((await get('/staging/data/a')).body).to.have.nested.property('data.data.value', value);
  });

  it('answers one 404 whatever is missing, and one 403 whatever is wrong with the token', async () => {
    await put('a');
    await put('over', { expiresAt: '2020-01-01T00:00:00Z' });
    for (const path of [
      '/local/data/none',
      '/local/data/over',
      '/moon/data/a',
      '/local/metadata/none?list=true',
      '/local/metadata/none',
      '/nothing',
      '/sys/policies',
    ])
      expect(await get(path), path).to.deep.include(missing);
    const other = await newApplication(running.url);
    expect(await get('/local/data/a', other.key)).to.deep.include(missing);
    for (const path of [
      '/local/data/a',
      '/local/metadata?list=true',
      '/local/metadata/a',
      '/auth/token/lookup-self',
      '/sys/mounts',
      '/sys/internal/ui/mounts/local/a',
      '/nothing',
    ])
      for (const token of ['', 'hvs.wrong', `key_${'0'.repeat(40)}`]) expect(await get(path, token), `${path} ${token}`).to.deep.include(denied);
  });

  it('answers a request that is not valid to the holder of a token only', async () => {
    for (const path of [
      '/local/data/a?version=x',
      '/local/data/a?version=1&version=2',
      '/local/metadata?list=perhaps',
      '/local/data/%zz',
      '/local/data/a?version=%zz',
    ]) {
      expect((await get(path)).status, path).to.equal(400);
      for (const token of ['', 'hvs.wrong']) expect(await get(path, token), path).to.deep.include(denied);
    }
  });

  it('refuses writes as Vault does for a token that may only read', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const refused = await call(running.url, { method, path: '/v1/local/data/a', headers: { 'X-Vault-Token': application.key } });
      expect(refused, method).to.deep.include(denied);
    }
  });

  it('takes the token as a bearer token, too', async () => {
    const value = await put('a');
    const answer = await call(running.url, { path: '/v1/local/data/a', headers: { Authorization: `Bearer ${application.key}` } });
    expect(answer.body).to.have.nested.property('data.data.value', value);
  });

  it('answers the look at a token and at a mount, with which clients begin', async () => {
    expect((await get('/auth/token/lookup-self')).body).to.deep.nested.include({ 'data.type': 'service', 'data.ttl': 0, 'data.expire_time': null });
    expect((await get('/sys/internal/ui/mounts/local/team/db')).body).to.deep.nested.include({
      'data.path': 'local/',
      'data.type': 'kv',
      'data.options': { version: '2' },
    });
  });

  it('tells the environments as mounts, in `data` and beside it', async () => {
    await manage(running.url, 'POST', `/${application.slug}/environments`, { name: 'Staging' });
    const { body } = await get('/sys/mounts');
    expect(body).to.have.all.keys('local/', 'staging/', 'data');
    expect(body).to.deep.nested.include({ 'local/.options': { version: '2' }, 'data.staging/.type': 'kv' });
  });

  it('renews a token, which changes nothing', async () => {
    for (const method of ['POST', 'PUT']) {
      const ask = (token: string) => call(running.url, { method, path: '/v1/auth/token/renew-self', headers: { 'X-Vault-Token': token }, body: {} });
      const { status, body } = await ask(application.key);
      expect({ status, body }).to.deep.nested.include({ status: 200, 'body.auth.renewable': false, 'body.auth.lease_duration': 0 });
      expect(await ask('wrong')).to.deep.include(denied);
    }
  });

  it('refuses to wrap an answer, and tells that to the holder of a token only', async () => {
    const value = await put('a');
    const ask = (ttl: string, token = application.key) =>
      call(running.url, { path: '/v1/local/data/a', headers: { 'X-Vault-Token': token, 'X-Vault-Wrap-TTL': ttl } });
    expect(await ask('5m')).to.deep.include({ status: 400, body: { errors: ['response wrapping is not supported'] } });
    expect(await ask('5m', 'wrong')).to.deep.include(denied);
    for (const none of ['', '0', '0s']) expect((await ask(none)).body, none).to.have.nested.property('data.data.value', value);
  });

  it('answers its state without a token, as probes and clients ask for it', async () => {
    const ask = (path: string) => call(running.url, { path: `/v1/sys/${path}` });
    for (const path of ['health', 'seal-status']) {
      const { status, body } = await ask(path);
      expect({ status, body }, path).to.deep.nested.include({
        status: 200,
        'body.initialized': true,
        'body.sealed': false,
        'body.standby': false,
        'body.t': 1,
      });
      expect(body)
        .to.have.property('version')
        .that.matches(/^\d+\.\d+\.\d+/);
    }
    let isReady = false;
    running.service.health.addCheck('test', () => ({ ok: isReady }));
    expect(await ask('health')).to.deep.nested.include({ status: 503, 'body.sealed': true });
    expect(await ask('seal-status')).to.deep.nested.include({ status: 200, 'body.sealed': true });
    isReady = true;
    expect((await ask('health')).status).to.equal(200);
    expect(await ask('init')).to.deep.include({ status: 200, body: { initialized: true } });
    expect(await ask('leader')).to.deep.nested.include({ status: 200, 'body.ha_enabled': false });
  });

  it('lists names as folders, and facts of one secret', async () => {
    for (const name of ['db', 'team/a', 'team/b/c', 'team/b/d', 'teams']) await put(name);
    await put('team/off', { isEnabled: false });
    const keys = async (path: string) => ((await get(path)).body as { data: { keys: string[] } }).data.keys;
    expect(await keys('/local/metadata?list=true')).to.deep.equal(['db', 'team/', 'teams']);
    for (const yes of ['1', 't', 'TRUE']) expect(await keys(`/local/metadata/?list=${yes}`), yes).to.deep.equal(['db', 'team/', 'teams']);
    expect(await get('/local/metadata/db?list=0')).to.have.property('status', 200);
    expect(await keys('/local/metadata/team?list=true')).to.deep.equal(['a', 'b/']);
    expect(await keys('/local/metadata/team/b/?list=true')).to.deep.equal(['c', 'd']);
    const list = (path: string, token = application.key) => call(running.url, { method: 'LIST', path: `/v1${path}`, headers: { 'X-Vault-Token': token } });
    expect((await list('/local/metadata')).body).to.have.deep.nested.property('data.keys', ['db', 'team/', 'teams']);
    expect((await list('/local/metadata/team')).body).to.have.deep.nested.property('data.keys', ['a', 'b/']);
    expect(await list('/local/metadata/none')).to.deep.include(missing);
    expect(await list('/local/metadata', 'wrong')).to.deep.include(denied);
    expect((await get('/local/metadata/db')).body).to.deep.nested.include({ 'data.current_version': 1, 'data.versions.1.destroyed': false });
  });

  it('leaves a body as it is where a part of it reads like that method', async () => {
    const parts = ['{"name":"lists","description":"', 'LIST /v1"}'];
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
    let answered = '';
    socket.on('data', (chunk) => (answered += chunk.toString()));
    const length = parts.join('').length;
    const headers = [`Authorization: Bearer ${adminToken}`, 'Content-Type: application/json', `Content-Length: ${length}`, 'Expect: 100-continue', 'Host: x'];
    socket.write(`POST /api/management/applications HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${parts[0]}`);
    await eventually(() => answered.includes('100 Continue'));
    socket.write(String(parts[1]));
    await eventually(() => answered.includes(' 201 '));
    socket.destroy();
    expect((await manage(running.url, 'GET', '/lists')).body).to.have.property('description', 'LIST /v1');
  });

  it('records each read in the audit, as any other read', async () => {
    await put('a');
    await get('/local/data/a');
    await get('/local/data/none');
    await get('/local/metadata?list=true');
    const entries = await auditOf(running.service, application.slug, { plane: 'consumer', count: 3 });
    expect(entries.map(({ action, environment, subject, outcome }) => [action, environment, subject, outcome])).to.have.deep.members([
      ['secret.read', 'local', 'a', 'done'],
      ['secret.read', 'local', 'none', 'not-found'],
      ['secret.list', 'local', null, 'done'],
    ]);
  });

  describe('by node-vault', () => {
    const client = (token = application.key) => nodeVault({ endpoint: running.url, token });
    /** Its answers have no type. */
    const valueOf = (answer: unknown, ...path: string[]) => path.reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), answer);

    it('reads a secret, and looks at its token', async () => {
      const value = await put('team/db');
      expect(valueOf(await client().read('local/data/team/db'), 'data', 'data', 'value')).to.equal(value);
      expect(valueOf(await client().tokenLookupSelf(), 'data', 'type')).to.equal('service');
      await put('team/mail');
      expect(valueOf(await client().list('local/metadata/team'), 'data', 'keys')).to.deep.equal(['db', 'mail']);
    });

    it('reports what is missing and what is denied', async () => {
      const statusOf = async (reading: Promise<unknown>) => {
        const error: unknown = await reading.then(
          () => 'an answer',
          (thrown: unknown) => thrown,
        );
        return valueOf(error, 'response', 'statusCode');
      };
      expect(await statusOf(client().read('local/data/none'))).to.equal(404);
      expect(await statusOf(client('wrong').read('local/data/none'))).to.equal(403);
      expect(await statusOf(client().write('local/data/a', { data: { a: 1 } }))).to.equal(403);
    });
  });
});

describe('reads in the form of Vault, by default', () => {
  const running = useService();

  it('are not there', async () => {
    const { key } = await newApplication(running.url);
    expect((await call(running.url, { path: '/v1/local/data/a', headers: { 'X-Vault-Token': key } })).body).to.deep.include({
      status: 404,
      title: 'Not Found',
    });
  });
});
