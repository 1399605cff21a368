// Login and access tokens: who gets one, and which are taken.
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { expect } from 'chai';
import { readConfig } from '../../../../services/link-digest/config.ts';
import { hashPassword } from '../../../../services/platform/password.ts';
import { type Answer, call, useService } from '../service.ts';
import { environmentOf } from '../store.ts';

const now = new Date('2026-03-15T12:00:00Z');
const key = 'a key of the tests with 32 bytes or more';
const seconds = Math.floor(now.getTime() / 1000);

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');
const decode = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString());
const claims = { sub: 'x', unique_name: 'x', jti: 'x', iat: seconds, exp: seconds + 600, iss: 'signalbox', aud: 'link-digest' };

/** A token made by hand. */
function token(more: object = {}, { header = {}, hash = 'sha256', signedWith = key } = {}): string {
  const signed = `${encode({ alg: 'HS256', typ: 'JWT', ...header })}.${encode({ ...claims, ...more })}`;
  return `${signed}.${createHmac(hash, signedWith).update(signed).digest('base64url')}`;
}

const whole = ({ status, headers, text }: Answer) => ({
  status,
  text,
  headers: Object.fromEntries([...headers].filter(([name]) => !['x-request-id', 'date'].includes(name) && !name.startsWith('ratelimit'))),
});

describe('POST /api/auth/login', () => {
  const running = useService({ clock: () => now });
  const login = (body: unknown) => call(running.url, 'POST', '/api/auth/login', { body });
  const right = { username: 'admin', password: 'the password of the tests' };

  it('answers a token, when it expires, and who it is for', async () => {
    const { status, body } = await login(right);
    expect(status).to.equal(200);
    const { id } = body.data.user;
    expect(body).to.deep.equal({
      success: true,
      data: {
        token: body.data.token,
        expiresAt: '2026-03-15T13:00:00.000Z',
        user: { id, username: 'admin', lastLogin: now.toISOString() },
      },
    });
    const [header, payload] = String(body.data.token).split('.');
    expect(decode(header)).to.deep.equal({ alg: 'HS256', typ: 'JWT' });
    expect(decode(payload)).to.deep.equal({
      ...{ sub: id, unique_name: 'admin', jti: decode(payload).jti, iat: seconds, exp: seconds + 3600 },
      ...{ iss: 'signalbox', aud: 'link-digest' },
    });
    expect((await call(running.url, 'GET', '/api/links', { headers: { Authorization: `Bearer ${body.data.token}` } })).status).to.equal(200);
  });

  it('keeps the id of the administrator and the time of the last login', async () => {
    const ids = [(await login(right)).body.data.user.id, (await login(right)).body.data.user.id];
    expect(ids[0]).to.equal(ids[1]);
    expect(await running.database.query('select id, username, last_login from administrators')).to.deep.equal([
      { id: ids[0], username: 'admin', last_login: now },
    ]);
  });

  it('answers one and the same 401 to a wrong user and a wrong password', async () => {
    const wrong = await login({ ...right, password: 'wrong' });
    expect(wrong.status).to.equal(401);
    expect(wrong.body).to.deep.equal({ success: false, message: 'The user name or the password is wrong.' });
    for (const body of [
      { ...right, username: 'nobody' },
      { username: 'x', password: 'y' },
      { username: '', password: '' },
      { ...right, username: 'ADMIN' },
    ])
      expect(whole(await login(body))).to.deep.equal(whole(wrong));
    expect(await running.database.query('select from administrators')).to.have.length(0);
  });

  for (const body of [{}, { username: 'admin' }, { ...right, password: 1 }, [], null, 'x'])
    it(`answers 400 for ${JSON.stringify(body)}`, async () => expect((await login(JSON.stringify(body))).status).to.equal(400));
});

describe('POST /api/auth/login with a hashed password', () => {
  const environment: Record<string, string> = { Digest__AdminUsername: 'Ada' };
  before(async () => void (environment['Digest__AdminPasswordHash'] = await hashPassword('pass word: ü')));
  const running = useService({ environment });
  const login = async (password: string) => (await call(running.url, 'POST', '/api/auth/login', { body: { username: 'Ada', password } })).status;

  it('takes the password that was hashed, and no other', async () => {
    expect(await login('pass word: ü')).to.equal(200);
    for (const wrong of ['pass word: u', '', 'the password of the tests', 'x'.repeat(100_000)]) expect(await login(wrong)).to.equal(401);
  });

  it('answers many at once', async () => {
    expect(await Promise.all(Array.from({ length: 6 }, (_, index) => login(index % 2 ? 'pass word: ü' : 'wrong')))).to.deep.equal([
      401, 200, 401, 200, 401, 200,
    ]);
  });
});

describe('credentials of the link digest that are being rotated', () => {
  const next = 'the next key of the tests with 32 bytes or more';
  const login = (url: string, password: string) => call(url, 'POST', '/api/auth/login', { body: { username: 'admin', password } });

  describe('passwords and keys', () => {
    const running = useService({
      clock: () => now,
      environment: { Digest__AdminPassword: 'the next password, the password of the tests', Jwt__Key: `${next}, ${key}` },
    });

    it('are taken, the next and the former password; no other, and not the list', async () => {
      for (const password of ['the next password', 'the password of the tests']) expect((await login(running.url, password)).status).to.equal(200);
      for (const password of ['the next password, the password of the tests', 'another', '']) expect((await login(running.url, password)).status).to.equal(401);
    });

    it('sign with the first key, and tokens of all are taken', async () => {
      const { token: issued } = (await login(running.url, 'the next password')).body.data;
      const [header, payload, signature] = String(issued).split('.');
      expect(signature).to.equal(createHmac('sha256', next).update(`${header}.${payload}`).digest('base64url'));
      const statusOf = async (given: string) => (await call(running.url, 'GET', '/api/stats', { headers: { Authorization: `Bearer ${given}` } })).status;
      for (const given of [issued, token(), token({}, { signedWith: next })]) expect(await statusOf(given)).to.equal(200);
      for (const signedWith of ['x'.repeat(32), `${next}, ${key}`]) expect(await statusOf(token({}, { signedWith }))).to.equal(401);
    });
  });

  describe('password hashes', () => {
    const environment: Record<string, string> = {};
    before(async () => void (environment['Digest__AdminPasswordHash'] = `${await hashPassword('next')},${await hashPassword('former')}`));
    const running = useService({ environment });

    it('are taken, the next and the former, and no other', async () => {
      for (const password of ['next', 'former']) expect((await login(running.url, password)).status).to.equal(200);
      expect((await login(running.url, 'another')).status).to.equal(401);
    });
  });
});

describe('the limit of logins', () => {
  const running = useService({ environment: { Digest__LoginAttempts: '' } });

  it('is five failures in 15 minutes for a user at an address, however many come at once; right ones are not counted', async () => {
    const attempt = (body: unknown) => call(running.url, 'POST', '/api/auth/login', { body });
    const right = { username: 'admin', password: 'the password of the tests' };
    for (let round = 0; round < 6; round++) expect((await attempt(right)).status).to.equal(200);
    expect((await attempt('{')).status).to.equal(400);
    const answers = await Promise.all(Array.from({ length: 8 }, () => attempt({ ...right, password: 'wrong' })));
    expect(answers.filter(({ status }) => status === 401)).to.have.length(5);
    expect(answers.filter(({ status }) => status === 429)).to.have.length(3);
    const refused = await attempt(right);
    expect(refused.status).to.equal(429);
    expect(refused.body).to.include({ success: false });
    expect(refused.body)
      .property('message')
      .to.match(/^At most 5 failed logins in 900 s; the next in \d+ s\.$/);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 900);
    expect((await attempt({ username: 'somebody', password: 'wrong' })).status).to.equal(401);
    expect((await running.get('/api/stats')).status).to.equal(200);
  });
});

describe('the bearer token of the link digest', () => {
  const running = useService({ clock: () => now });
  const statusOf = async (Authorization: string) => (await call(running.url, 'GET', '/api/stats', { headers: { Authorization } })).status;

  for (const [method, path] of [
    ['GET', '/api/links'],
    ['GET', '/api/links?status=wrong'],
    ['GET', '/api/links/prioritized'],
    ['GET', '/api/links/x'],
    ['PUT', '/api/links/x/status'],
    ['GET', '/api/links/x/score'],
    ['GET', '/api/newsletters'],
    ['GET', '/api/newsletters/x'],
    ['GET', '/api/authors'],
    ['GET', '/api/authors/x'],
    ['GET', '/api/stats'],
    ['GET', '/api/unknown'],
    ['DELETE', '/api/stats'],
    ['GET', '/API/Stats'],
  ] as const)
    it(`is asked for by ${method} ${path}: a missing and an invalid one get byte-identical 401s`, async () => {
      const missing = await call(running.url, method, path);
      expect(missing.status).to.equal(401);
      expect(missing.headers.get('www-authenticate')).to.equal('Bearer');
      for (const Authorization of ['Bearer wrong', 'Bearer', 'Basic eDp5', `token ${token()}`, `Bearer ${token({ exp: seconds - 61 })}`, `Bearer ${token()}x`])
        expect(whole(await call(running.url, method, path, { headers: { Authorization } }))).to.deep.equal(whole(missing));
    });

  it('is taken with the scheme in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) expect(await statusOf(`${scheme} ${token()}`)).to.equal(200);
  });

  it('is taken until 60 s after it expired, and no longer', async () => {
    expect(await statusOf(`Bearer ${token({ exp: seconds - 59 })}`)).to.equal(200);
    expect(await statusOf(`Bearer ${token({ exp: seconds - 60 })}`)).to.equal(401);
    expect(await statusOf(`Bearer ${token({ nbf: seconds + 61 })}`)).to.equal(401);
    expect(await statusOf(`Bearer ${token({ iat: seconds + 60 })}`)).to.equal(200);
  });

  for (const [what, wrong] of [
    ['another key', token({}, { signedWith: `${key}x` })],
    ['another issuer', token({ iss: 'somebody' })],
    ['another audience', token({ aud: 'others' })],
    ['no expiry', token({ exp: undefined })],
    ['no subject', token({ sub: undefined })],
    ['a number as its subject', token({ sub: 7 })],
    ['null as its subject', token({ sub: null })],
    ['a list as its subject', token({ sub: ['x'] })],
    ['no time of issue', token({ iat: undefined })],
    ['a time of issue that is more than 60 s ahead', token({ iat: seconds + 61 })],
    ['HS512', token({}, { header: { alg: 'HS512' }, hash: 'sha512' })],
    ['HS384', token({}, { header: { alg: 'HS384' }, hash: 'sha384' })],
    ['algorithm none', `${encode({ alg: 'none' })}.${encode(claims)}.`],
    ['algorithm None and a signature', token({}, { header: { alg: 'None' } })],
    ['a critical header that nobody knows', token({}, { header: { crit: ['x'], x: 1 } })],
    ['claims that are no JSON', `${encode({ alg: 'HS256' })}.e30x.${'a'.repeat(43)}`],
    ['padding', `${token()}=`],
    ['a megabyte of nothing', 'a'.repeat(8000)],
  ] as const)
    it(`with ${what} is refused`, async () => expect(await statusOf(`Bearer ${wrong}`)).to.equal(401));

  it('given twice is refused', async () => {
    const status = await new Promise((resolve, reject) => {
      const headers = ['Authorization', `Bearer ${token()}`, 'Authorization', `Bearer ${token()}`, 'Host', 'localhost'];
      request(`${running.url}/api/stats`, { headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).to.equal(401);
  });

  it('is asked for by neither health nor the API description', async () => {
    for (const path of ['/health', '/swagger/v1/swagger.json', '/swagger/index.html']) expect((await call(running.url, 'GET', path)).status).to.equal(200);
    expect((await call(running.url, 'GET', '/health/ready')).status).to.equal(200);
  });
});

describe('the settings of the link digest', () => {
  const given = environmentOf('postgres://x@localhost/x');
  const without = (...names: string[]) => Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)));

  it('are refused together, by name and without their values', async () => {
    const faulty = {
      ...given,
      Jwt__Key: `${'x'.repeat(32)},a key of 31 bytes: one too few.`,
      Digest__AdminPasswordHash: `${await hashPassword('x')},plain`,
      Ingest__Token: '',
      LinkScoring__AuthorWeight: '1.5',
    };
    expect(() => readConfig(faulty))
      .to.throw()
      .with.property('faults')
      .that.has.members([
        'Jwt__Key must have at least 32 bytes in each value',
        'Digest__AdminPasswordHash must be what `signalbox digest hash-password` prints',
        'Ingest__Token is required and not set',
        'LinkScoring__AuthorWeight must be a number 0–1',
      ]);
  });

  it('want a key, a password or its hash, and in production no short ingest token', () => {
    expect(() => readConfig(without('Jwt__Key'))).to.throw('Jwt__Key is required and not set');
    expect(() => readConfig(without('Digest__AdminPassword'))).to.throw('Digest__AdminPasswordHash is required and not set');
    const short = { ...given, APP_ENV: 'production', Ingest__Token: 'short', Digest__AdminPassword: 'short' };
    expect(() => readConfig(short)).to.throw(/Digest__AdminPassword must have at least 16 characters[^]*Ingest__Token must have at least 16 characters/);
  });

  it('are those of the documentation unless given', () => {
    const { maxMailBytes, mailsPerHour, maxRetries, loginAttempts, cacheMinutes, authorWeight, keywordWeight, recencyWeight, popularityWeight } = readConfig(
      without('Digest__LoginAttempts'),
    );
    expect({ maxMailBytes, mailsPerHour, maxRetries, loginAttempts, cacheMinutes }).to.deep.equal({
      maxMailBytes: 10_485_760,
      mailsPerHour: 60,
      maxRetries: 3,
      loginAttempts: 5,
      cacheMinutes: 60,
    });
    expect([authorWeight, keywordWeight, recencyWeight, popularityWeight]).to.deep.equal([0.35, 0.25, 0.2, 0.2]);
  });

  it('take a key of 32 bytes', () => expect(readConfig({ ...given, Jwt__Key: 'ü'.repeat(16) }).keys[0]?.reveal()).to.have.length(16));

  it('refuse hashes whose parameters are weak or cost too much', async () => {
    const hash = await hashPassword('x');
    expect(() => readConfig({ ...given, Digest__AdminPasswordHash: hash })).not.to.throw();
    for (const wrong of [hash.replace(':32768:', ':1024:'), hash.replace(':32768:', ':1048576:'), hash.replace(':32768:', ':32769:'), hash.slice(0, -1)])
      expect(() => readConfig({ ...given, Digest__AdminPasswordHash: wrong })).to.throw('Digest__AdminPasswordHash must be');
  });
});
