// The failure envelope of the link digest: every refusal, those of the router and of the platform too.
import { expect } from 'chai';
import { call, useService } from './service.ts';

describe('a refusal of the link digest', () => {
  const running = useService();
  const login = (body: unknown, headers = {}) => call(running.url, 'POST', '/api/auth/login', { body, headers });

  for (const [what, status, refused] of [
    ['of a missing token', 401, () => call(running.url, 'GET', '/api/links')],
    ['of an unknown route', 404, () => call(running.url, 'GET', '/unknown')],
    ['of an unknown route below /api', 404, () => running.get('/api/unknown')],
    ['of another method', 405, () => call(running.url, 'POST', '/health')],
    ['of a body that is no JSON', 400, () => login('{')],
    ['of a body that is not valid', 400, () => login({ username: 1 })],
    ['of a malformed percent escape', 400, () => running.get('/api/%zz')],
    ['of another media type', 415, () => login('x', { 'Content-Type': 'text/plain' })],
    ['of a body that is too large', 413, () => login(JSON.stringify({ username: 'x'.repeat(1_100_000) }))],
    ['of wrong credentials', 401, () => login({ username: 'admin', password: 'wrong' })],
  ] as const)
    it(`${what} is ${status} and the failure envelope`, async () => {
      const answer = await refused();
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('content-type')).to.equal('application/json');
      expect(Object.keys(answer.body)).to.deep.equal(['success', 'message']);
      expect(answer.body.success).to.equal(false);
      expect(answer.body.message).to.be.a('string').that.is.not.empty;
    });

  it('names every member at fault in its message', async () => {
    expect((await login({ username: 1 })).body.message).to.equal('username: must be a string, not a number; password: is required');
  });

  it('keeps its headers: Allow of a 405, WWW-Authenticate of a 401', async () => {
    expect((await call(running.url, 'POST', '/health')).headers.get('allow')).to.equal('GET, HEAD');
    expect((await call(running.url, 'GET', '/api/links')).headers.get('www-authenticate')).to.equal('Bearer');
  });

  it('is described as the failure envelope in the API description', async () => {
    const { body } = await call(running.url, 'GET', '/swagger/v1/swagger.json');
    expect(body.components.schemas).to.have.property('Failure');
    expect(JSON.stringify(body)).not.to.contain('problem+json');
    expect(body.paths['/api/auth/login'].post.responses['401'].content).to.deep.equal({
      'application/json': { schema: { $ref: '#/components/schemas/Failure' }, example: { success: false, message: 'Unauthorized' } },
    });
  });
});

describe('a failure of the link digest', () => {
  const running = useService();

  it('is 500 and the failure envelope without what failed', async () => {
    await running.database.query('alter table administrators rename column last_login to renamed');
    const answer = await call(running.url, 'POST', '/api/auth/login', { body: { username: 'admin', password: 'the password of the tests' } });
    await running.database.query('alter table administrators rename column renamed to last_login');
    expect(answer.status).to.equal(500);
    expect(answer.body).to.deep.equal({ success: false, message: `Request ${answer.headers.get('x-request-id') ?? ''} failed.` });
  });

  it('is 503 and the failure envelope while the database cannot be asked', async () => {
    await running.database.query('alter table administrators rename to renamed');
    const answer = await call(running.url, 'POST', '/api/auth/login', { body: { username: 'admin', password: 'the password of the tests' } });
    await running.database.query('alter table renamed rename to administrators');
    expect([answer.status, answer.body.success]).to.deep.equal([503, false]);
    expect(answer.headers.get('retry-after')).to.equal('5');
  });
});
