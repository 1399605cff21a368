import { expect } from 'chai';
import request from 'supertest';
import { Secret } from '../../../services/platform/config/secret.ts';
import { authorization } from '../../../services/platform/http/credentials.ts';
import { startApp, stopApps } from './app-fixture.ts';

describe('the pages of the API description', () => {
  after(stopApps);

  it('GET /swagger/v1/swagger.json answers the description', async () => {
    const { url, app } = await startApp({});
    const { status, headers, body } = await request(url).get('/swagger/v1/swagger.json');
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(body).to.deep.equal(JSON.parse(JSON.stringify(app.openapi())));
  });

  it('GET /swagger leads to the page', async () => {
    const { url } = await startApp({});
    const { status, headers } = await request(url).get('/swagger').redirects(0);
    expect({ status, location: headers['location'] }).to.deep.equal({ status: 301, location: '/swagger/index.html' });
  });

  it('GET /swagger/index.html answers a page all of whose references are served here', async () => {
    const { url } = await startApp({});
    const page = await request(url).get('/swagger/index.html');
    expect(page.headers['content-type']).to.equal('text/html; charset=utf-8');
    expect(page.text).to.include('<title>Signalbox test</title>').and.to.not.match(/\/\//);
    const references = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, reference]) => reference ?? '');
    expect(references).to.have.members(['swagger-ui.css', 'swagger-ui-bundle.js', 'initializer.js', 'favicon-32x32.png']);
    for (const reference of references) {
      const { status, headers } = await request(url).get(`/swagger/${reference}`);
      expect(status, reference).to.equal(200);
      expect(headers['content-type'], reference).to.match(/^(text\/(css|javascript); charset=utf-8|image\/png)$/);
    }
  });

  for (const path of ['/swagger/swagger-ui-bundle.js', '/swagger/swagger-ui.css', '/swagger/v1/swagger.json'])
    it(`GET ${path} is compressed for clients that accept gzip, and only for them`, async () => {
      const { url } = await startApp({});
      const get = (coding: string) => fetch(`${url}${path}`, { headers: { 'Accept-Encoding': coding } });
      const plain = await get('identity');
      const text = await plain.text();
      expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).to.deep.equal([null, 'Accept-Encoding']);
      expect(Number(plain.headers.get('content-length'))).to.equal(Buffer.byteLength(text));
      for (const coding of ['gzip', 'br, gzip', '*']) {
        const compressed = await get(coding);
        expect([compressed.headers.get('content-encoding'), compressed.headers.get('vary')], coding).to.deep.equal(['gzip', 'Accept-Encoding']);
        expect(Number(compressed.headers.get('content-length'))).to.be.below(Buffer.byteLength(text) / 2);
        expect(await compressed.text()).to.equal(text); // fetch has unpacked it
      }
      for (const coding of ['gzip;q=0', 'br', 'identity;q=0, br']) expect((await get(coding)).headers.get('content-encoding'), coding).to.equal(null);
    });

  it('tells browsers to load nothing from elsewhere, and to show it in no other page', async () => {
    const { url } = await startApp({});
    const { headers } = await request(url).get('/swagger/index.html');
    expect(headers['content-security-policy']).to.include("default-src 'none'").and.to.include("frame-ancestors 'none'");
    expect(headers).to.include({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  });

  it('asks no validator elsewhere about the description', async () => {
    const { url } = await startApp({});
    const { text } = await request(url).get('/swagger/initializer.js');
    expect(text).to.include('validatorUrl: null').and.to.include("url: 'v1/swagger.json'");
  });

  it('keeps what was entered under Authorize over a reload', async () => {
    const { url } = await startApp({});
    expect((await request(url).get('/swagger/initializer.js')).text).to.include('persistAuthorization: true');
  });

  it('asks for a credential where the service has a guard for it, on unknown paths too', async () => {
    const guard = authorization('Bearer', [new Secret('the token')]);
    const { url } = await startApp({ descriptionGuard: guard });
    for (const path of ['/swagger', '/swagger/index.html', '/swagger/v1/swagger.json', '/swagger/swagger-ui.css', '/swagger/unknown', '/SWAGGER/'])
      expect((await request(url).get(path)).status, path).to.equal(401);
    expect((await request(url).get('/swagger/v1/swagger.json').set('Authorization', 'Bearer the token')).status).to.equal(200);
    expect((await request(url).get('/health')).status).to.equal(200);
  });

  it('serves nothing but its own files', async () => {
    const { url, raw } = await startApp({});
    expect((await request(url).get('/swagger/package.json')).status).to.equal(404);
    expect(await raw('GET /swagger/../package.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).to.match(/^HTTP\/1.1 404 /);
    expect(await raw('GET /swagger/%2e%2e%2fpackage.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).to.match(/^HTTP\/1.1 404 /);
  });
});
