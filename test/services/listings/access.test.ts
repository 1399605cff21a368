// Who may ask the listing triage service: the bearer token for everything but health, and the rate limit before it.
import { request } from 'node:http';
import { expect } from 'chai';
import { readServiceConfig } from '../../../services/listings/config.ts';
import { ask, type Answer, call, listing, token, useService } from './service.ts';

const whole = ({ status, headers, text }: Answer) => ({
  status,
  text,
  headers: Object.fromEntries([...headers].filter(([name]) => !['x-request-id', 'date'].includes(name) && !name.startsWith('ratelimit'))),
});

describe('access to the listing triage service', () => {
  const next = 'the next token of the tests';
  const running = useService({ environment: { Listings__AccessTokens: `${token},${next}` } });

  for (const [method, path] of [
    ['GET', '/api/properties'],
    ['GET', '/api/properties/x'],
    ['GET', '/api/properties/x/history'],
    ['PATCH', '/api/properties/x'],
    ['POST', '/api/properties/bulk'],
    ['GET', '/api/stats'],
    ['GET', '/api/presets'],
    ['GET', '/api/presets/x'],
    ['POST', '/api/presets'],
    ['PUT', '/api/presets/x'],
    ['DELETE', '/api/presets/x'],
    ['POST', '/api/ingest/properties'],
    ['POST', '/api/ingest/email'],
    ['GET', '/api/unknown'],
    ['DELETE', '/api/stats'],
    ['GET', '/API/Stats'],
    ['GET', '/swagger'],
    ['GET', '/swagger/index.html'],
    ['GET', '/swagger/v1/swagger.json'],
    ['GET', '/swagger/unknown'],
  ] as const)
    it(`${method} ${path} answers one and the same 401 to a missing and to a wrong token`, async () => {
      const missing = await call(running.url, { method, path });
      expect(missing.status).to.equal(401);
      expect(missing.headers.get('www-authenticate')).to.equal('Bearer');
      expect(missing.headers.get('content-type')).to.equal('application/problem+json');
      for (const Authorization of ['Bearer wrong', 'Bearer', token, `token ${token}`, `Bearer ${token}x`, 'Basic eDp5'])
        expect(whole(await call(running.url, { method, path, headers: { Authorization } }))).to.deep.equal(whole(missing));
    });

  it('takes either of two tokens, and the scheme in any case', async () => {
    for (const Authorization of [`Bearer ${token}`, `bearer ${token}`, `BEARER ${next}`])
      expect((await call(running.url, { path: '/api/stats', headers: { Authorization } })).status).to.equal(200);
  });

  it('answers 401 to the token given twice', async () => {
    const status = await new Promise((resolve, reject) => {
      const headers = ['Authorization', `Bearer ${token}`, 'Authorization', `Bearer ${token}`, 'Host', 'localhost'];
      request(`${running.url}/api/stats`, { headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).to.equal(401);
  });

  it('asks for the token before it looks at body and query', async () => {
    expect((await call(running.url, { method: 'POST', path: '/api/properties/bulk', body: '{' })).status).to.equal(401);
    expect((await call(running.url, { path: '/api/properties?status=x' })).status).to.equal(401);
  });

  it('answers /health and /health/ready to everybody', async () => {
    expect((await call(running.url, { path: '/health' })).status).to.equal(200);
    expect((await call(running.url, { path: '/health/ready' })).status).to.be.oneOf([200, 503]);
  });

  it('describes its API to who has the token', async () => {
    const described = await ask(running.url, { path: '/swagger/v1/swagger.json' });
    expect(described.status).to.equal(200);
    expect(Object.keys(Object(Object(described.body).paths))).to.have.members([
      ...['/api/properties', '/api/properties/{id}', '/api/properties/{id}/history', '/api/properties/bulk', '/api/stats'],
      ...['/api/properties/map', '/api/properties/facets', '/api/properties/histogram', '/api/properties/{id}/neighbours'],
      ...['/api/presets', '/api/presets/counts', '/api/presets/{id}', '/api/ingest/properties', '/api/ingest/email', '/health', '/health/ready'],
    ]);
    expect((await ask(running.url, { path: '/swagger/index.html' })).text).to.contain('swagger-ui');
    expect((await ask(running.url, { path: '/api/unknown' })).status).to.equal(404);
  });

  it('does not start without a token, or in production with a short one', () => {
    const settings = { DATABASE_URL: 'postgres://x@localhost/x' };
    expect(() => readServiceConfig(settings)).to.throw('Listings__AccessTokens is required and not set');
    expect(() => readServiceConfig({ ...settings, Listings__AccessTokens: 'short' })).to.throw('Listings__AccessTokens must have at least 16 characters');
  });
});

describe('the listing triage service in development', () => {
  const running = useService({ environment: { APP_ENV: 'development' } });

  it('describes its API to everybody, and asks for the token else', async () => {
    expect((await call(running.url, { path: '/swagger/v1/swagger.json' })).status).to.equal(200);
    expect((await call(running.url, { path: '/swagger/index.html' })).status).to.equal(200);
    expect((await call(running.url, { path: '/api/stats' })).status).to.equal(401);
  });
});

describe('the rate limit of the listing triage service', () => {
  const running = useService({ environment: { RateLimit__PerMinute: '3' } });

  it('counts every request below /api, and none to health', async () => {
    const paths = ['/api/stats', '/api/unknown', '/api/properties?status=x'];
    for (const [index, path] of paths.entries()) {
      const passed = await ask(running.url, { path });
      expect(passed.headers.get('ratelimit')).to.match(new RegExp(`^"requests";r=${2 - index};t=\\d+$`));
    }
    const refused = await ask(running.url, { method: 'POST', path: '/api/ingest/properties', body: [listing('a')] });
    expect(refused.status).to.equal(429);
    expect(refused.headers.get('content-type')).to.equal('application/problem+json');
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    expect((await call(running.url, { path: '/health' })).status).to.equal(200);
    expect((await call(running.url, { path: '/health/ready' })).status).not.to.equal(429);
    expect((await ask(running.url, { path: '/swagger/v1/swagger.json' })).status).to.equal(200);
  });
});

describe('the rate limit of requests without the token of the listing triage service', () => {
  const running = useService({ environment: { RateLimit__PerMinute: '3' } });

  it('is by address, before their 401, and refuses no right token', async () => {
    for (const status of [401, 401, 401, 429, 429]) expect((await call(running.url, { path: '/api/stats' })).status).to.equal(status);
    for (const status of [200, 200, 200, 429]) expect((await ask(running.url, { path: '/api/stats' })).status).to.equal(status);
  });
});
