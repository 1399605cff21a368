import { expect } from 'chai';
import pg from 'pg';
import request from 'supertest';
import { z } from 'zod';
import type { Limit } from '../../../services/platform/http/credentials.ts';
import { createAddressOf } from '../../../services/platform/client-address.ts';
import { authorization, byCredential, byCredentialAndAddress } from '../../../services/platform/http/credentials.ts';
import { Common, problems } from '../../../services/platform/problem.ts';
import { answer, type AnyRoute, rawBody, route } from '../../../services/platform/http/route.ts';
import { queryInteger, text } from '../../../services/platform/schema.ts';
import { Secret } from '../../../services/platform/config/secret.ts';
import { startApp, stopApps } from './app-fixture.ts';

const guard = authorization('Bearer', [new Secret('good')]);
const good = { Authorization: 'Bearer good' };
const Notes = problems({ noteMissing: { status: 404, title: 'No such note' } });

const Note = z.object({ title: text({ min: 1, max: 10 }), tags: z.array(z.string()), size: z.int() });
const Echo = z.unknown();
const notes = [
  route({
    method: 'post',
    path: '/api/notes/{id}',
    summary: 'Changes a note',
    params: z.object({ id: z.string() }),
    query: z.object({ limit: queryInteger({ min: 1, max: 9, default: 5 }) }),
    body: Note,
    answers: { 200: Echo },
    problems: [Notes.noteMissing],
    handle: ({ params, query, body }) => {
      if (params.id === 'nowhere') throw Notes.noteMissing({ detail: 'Nothing is there.' });
      return { params, query, body };
    },
  }),
  route({
    method: 'get',
    path: '/api/notes/{id}',
    summary: 'A note',
    params: z.object({ id: z.string() }),
    answers: { 200: Echo },
    handle: ({ params }) => params,
  }),
  route({ method: 'get', path: '/open', access: 'open', summary: 'Open', answers: { 200: Echo }, handle: () => ({ isOpen: true }) }),
  route({
    method: 'get',
    path: '/broken',
    access: 'open',
    summary: 'Fails',
    answers: { 200: Echo },
    handle: () => {
      throw new Error('the password is hunter2');
    },
  }),
];

/** Lets `allowed` requests through and says what it was asked. */
function countingLimit(allowed: number): Limit & { readonly keys: string[] } {
  const keys: string[] = [];
  const count = (key: string) => {
    keys.push(key);
    if (keys.length > allowed) return Promise.reject(Common.tooMany({ headers: { 'Retry-After': '7' } }));
    return Promise.resolve({ 'X-Left': String(allowed - keys.length) });
  };
  return { keys, count };
}

describe('createApp', () => {
  after(stopApps);

  describe('the order of checks', () => {
    it('counts a valid credential by itself, and all other requests by address, before it answers 401', async () => {
      const counter = countingLimit(2);
      const { url } = await startApp({ routes: notes, areas: [{ prefix: '/api', limit: { counter, by: byCredentialAndAddress }, guard }] });
      const first = await request(url).get('/api/notes/1');
      expect({ status: first.status, left: first.headers['x-left'] }).to.deep.equal({ status: 401, left: '1' });
      expect((await request(url).get('/api/notes/1').set(good)).status).to.equal(200);
      const third = await request(url).get('/api/nothing');
      expect({ status: third.status, after: third.headers['retry-after'] }).to.deep.equal({ status: 429, after: '7' });
      expect((await request(url).get('/open')).status).to.equal(200);
      expect(counter.keys).to.deep.equal(['127.0.0.1', counter.keys[1], '127.0.0.1']);
      expect(counter.keys[1]).to.match(/^bearer [0-9a-f]{8} 127\.0\.0\.1$/);
    });

    it('counts valid credentials alone where a limit is theirs', async () => {
      const counter = countingLimit(1);
      const { url } = await startApp({ routes: notes, areas: [{ prefix: '/api', limit: { counter, by: byCredential }, guard }] });
      for (const status of [401, 401]) expect((await request(url).get('/api/notes/1')).status).to.equal(status);
      for (const status of [200, 429]) expect((await request(url).get('/api/notes/1').set(good)).status).to.equal(status);
      expect((await request(url).get('/api/notes/1')).status).to.equal(401);
    });

    it('answers refused credentials 429 once an address has had too many, and right ones always', async () => {
      const failureLimit = countingLimit(2);
      const { url } = await startApp({ routes: notes, areas: [{ prefix: '/api', guard, failureLimit }] });
      const statuses = [];
      for (const credential of [good, {}, good, { Authorization: 'Bearer bad' }, good, {}, good])
        statuses.push((await request(url).get('/api/notes/1').set(credential)).status);
      expect(statuses).to.deep.equal([200, 401, 200, 401, 200, 429, 200]);
      expect((await request(url).get('/api/nothing')).status).to.equal(429);
      expect((await request(url).get('/open')).status).to.equal(200);
      expect(new Set(failureLimit.keys)).to.deep.equal(new Set(['127.0.0.1']));
    });

    it('answers 401 before 404, 405, 415 and 400, so that unknown paths reveal nothing', async () => {
      const { url, raw } = await startApp({ routes: notes, areas: [{ prefix: '/api', guard }] });
      for (const path of ['/api', '/api/', '/api/nothing', '/API/nothing', '/api/notes/1?limit=x', '/api/%zz']) {
        expect((await request(url).get(path)).status, path).to.equal(401);
      }
      expect((await request(url).put('/api/notes/1')).status).to.equal(401);
      expect((await request(url).post('/api/notes/1').type('text').send('x')).status).to.equal(401);
      expect(await raw('GET http://elsewhere/api/notes/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).to.match(/^HTTP\/1.1 401 /);
      expect((await request(url).get('/apiary')).status).to.equal(404);
    });

    it('tells faults of the body before the existence of what is named', async () => {
      const { url } = await startApp({ routes: notes });
      const valid = { title: 't', tags: [], size: 1 };
      expect((await request(url).post('/api/notes/nowhere').send({})).status).to.equal(400);
      const missing = await request(url).post('/api/notes/nowhere').send(valid);
      expect(missing.status).to.equal(404);
      expect(missing.body).to.deep.equal({ type: 'urn:signalbox:problem:note-missing', title: 'No such note', status: 404, detail: 'Nothing is there.' });
    });

    it('looks at the first area that covers the path', async () => {
      const areas = [{ prefix: '/api/notes', guard } as const, { prefix: '/api' } as const, { prefix: '/', guard } as const];
      const { url } = await startApp({ routes: notes.map(({ access: _, ...one }): AnyRoute => one), areas });
      expect((await request(url).get('/api/notes/1')).status).to.equal(401);
      expect((await request(url).head('/api/notes/1')).status).to.equal(401);
      expect((await request(url).get('/api/nothing')).status).to.equal(404);
      expect((await request(url).get('/open')).status).to.equal(401);
    });
  });

  describe('refusals', () => {
    it('gives a missing and a wrong credential byte-identical answers', async () => {
      const { raw } = await startApp({ routes: notes, areas: [{ prefix: '/api', guard }] });
      const ask = (path: string, header: string) => raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: same\r\nConnection: close\r\n${header}\r\n`);
      const answers = await Promise.all([
        ask('/api/notes/1', ''),
        ask('/api/notes/1', 'Authorization: Bearer bad\r\n'),
        ask('/api/nothing', 'Authorization: Basic Zm9v\r\n'),
      ]);
      const [first, ...others] = answers.map((one) => one.replace(/^Date: .*$/m, 'Date'));
      expect(first)
        .to.match(/^HTTP\/1.1 401 Unauthorized\r\n/)
        .and.to.match(/^WWW-Authenticate: Bearer\r$/m);
      for (const one of others) expect(one).to.equal(first);
    });

    it('tells all faults of parameters, query and body at once, by member', async () => {
      const { url } = await startApp({ routes: notes });
      const { status, headers, body } = await request(url)
        .post('/api/notes/1?limit=many')
        .send({ title: ' ', tags: ['a', 7], extra: true });
      expect(status).to.equal(400);
      expect(headers['content-type']).to.equal('application/problem+json');
      expect(body).to.include({ type: 'urn:signalbox:problem:invalid', title: 'Bad Request', status: 400 });
      expect(body.errors).to.have.all.keys('limit', 'title', 'tags[1]', 'size');
      expect(body.errors).to.deep.include({ limit: ['must be a whole number'], title: ['must not be empty'], size: ['is required'] });
    });

    it('names what is wrong in an array at the root, and the root itself', async () => {
      const items = route({
        method: 'post',
        path: '/items',
        summary: 's',
        body: z.array(z.object({ expiresAt: z.string() })),
        answers: { 200: Echo },
        handle: ({ body }) => body,
      });
      const { url } = await startApp({ routes: [items] });
      const faults = async (value: object | string) => (await request(url).post('/items').type('json').send(JSON.stringify(value))).body.errors;
      expect(await faults([{ expiresAt: 'x' }, { expiresAt: 1 }, {}])).to.have.all.keys('[1].expiresAt', '[2].expiresAt');
      expect(await faults('text')).to.have.all.keys('body');
      expect(
        await request(url)
          .post('/items')
          .send([{ expiresAt: 'x' }]),
      ).to.deep.include({ status: 200, body: [{ expiresAt: 'x' }] });
    });

    it('reads the headers that a route declares, in any case, and tells their faults with the others', async () => {
      const counted = route({
        method: 'get',
        path: '/counted',
        summary: 's',
        query: z.object({ limit: queryInteger({ min: 1, max: 9 }) }),
        headers: z.object({ 'X-Pages': queryInteger({ min: 1, max: 9, default: 2 }), 'X-Owner': z.string() }),
        answers: { 200: Echo },
        handle: ({ headers }) => headers,
      });
      const { url } = await startApp({ routes: [counted] });
      const valid = await request(url).get('/counted?limit=1').set({ 'x-owner': 'me', 'X-Other': 'a' });
      expect(valid.body).to.deep.equal({ 'X-Pages': 2, 'X-Owner': 'me' });
      const { status, body } = await request(url).get('/counted?limit=0').set({ 'x-PAGES': '10' });
      expect(status).to.equal(400);
      expect(body.errors).to.deep.equal({ limit: ['must be between 1 and 9'], 'X-Pages': ['must be between 1 and 9'], 'X-Owner': ['is required'] });
    });

    it('ignores unknown members and takes names as they are spelled', async () => {
      const { url } = await startApp({ routes: notes });
      const sent = await request(url).post('/api/notes/a%20b?LIMIT=x').send({ title: 't', tags: [], size: 1, Size: 'no', __proto__x: 1 });
      expect(sent.body).to.deep.equal({ params: { id: 'a b' }, query: { limit: 5 }, body: { title: 't', tags: [], size: 1 } });
      const hostile = await request(url).post('/api/notes/1').type('json').send('{"title":"t","tags":[],"size":1,"__proto__":{"title":"other"}}');
      expect(hostile.body).to.deep.equal({ params: { id: '1' }, query: { limit: 5 }, body: { title: 't', tags: [], size: 1 } });
    });

    it('answers 404 for an unknown path and 405 with Allow for an unknown method', async () => {
      const { url } = await startApp({ routes: notes });
      const unknown = await request(url).get('/nothing');
      expect(unknown.status).to.equal(404);
      expect(unknown.body).to.deep.equal({ type: 'about:blank', title: 'Not Found', status: 404 });
      const wrong = await request(url).delete('/api/notes/1');
      expect(wrong.status).to.equal(405);
      expect(wrong.headers['allow']?.split(', ')).to.have.members(['GET', 'HEAD', 'POST']);
      expect((await request(url).options('/open')).status).to.equal(405);
    });

    it('answers 400 for a malformed percent escape in path or query, and takes well-formed ones', async () => {
      const { url, raw } = await startApp({ routes: notes });
      for (const target of ['/api/notes/%', '/api/notes/%zz', '/api/notes/%ff', '/open?x=%e0%a4', '/nothing%2']) {
        const answered = await raw(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
        expect(answered, target)
          .to.match(/^HTTP\/1.1 400 /)
          .and.to.include('malformed percent escape');
      }
      expect((await request(url).get('/api/notes/%F0%9F%9A%82%2F')).body).to.deep.equal({ id: '🚂/' });
    });

    it('takes a trailing slash, and another case only where paths have none', async () => {
      const { url } = await startApp({ routes: notes });
      expect((await request(url).get('/open/')).status).to.equal(200);
      expect((await request(url).get('/Open')).status).to.equal(404);
      const insensitive = await startApp({ routes: notes, caseSensitivePaths: false });
      expect((await request(insensitive.url).get('/Open')).status).to.equal(200);
    });

    it('makes one opaque 500 of an unexpected error, and logs it once with the id that the answer names', async () => {
      const { url, lines, text: logged } = await startApp({ routes: notes });
      const { status, body, headers, text: sent } = await request(url).get('/broken');
      expect(status).to.equal(500);
      expect(body).to.deep.equal({ type: 'about:blank', title: 'Internal Server Error', status: 500, detail: `Request ${headers['x-request-id']} failed.` });
      expect(sent).to.not.include('hunter2');
      const errors = lines().filter(({ level }) => level === 'error');
      expect(errors).to.have.length(1);
      expect(errors[0]).to.include({ requestId: headers['x-request-id'], msg: 'request failed' });
      expect(logged().match(/the password is/g)).to.have.length(2); // message and stack of that one line
    });

    it('makes a 503 of a database that cannot be asked', async () => {
      const down = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
      const { url } = await startApp({ routes: [route({ method: 'get', path: '/down', summary: 's', answers: { 200: Echo }, handle: down })] });
      const { status, headers, body } = await request(url).get('/down');
      expect(status).to.equal(503);
      expect(headers['retry-after']).to.match(/^\d+$/);
      expect(JSON.stringify(body)).to.not.include('ECONNREFUSED');
    });

    for (const code of ['57014', '55P03'])
      it(`makes a 503 of a statement that ran out of time or waited too long for a lock (${code})`, async () => {
        const slow = () => Promise.reject(Object.assign(new pg.DatabaseError('canceling statement due to a timeout', 1, 'error'), { code }));
        const { url } = await startApp({ routes: [route({ method: 'get', path: '/slow', summary: 's', answers: { 200: Echo }, handle: slow })] });
        const { status, headers } = await request(url).get('/slow');
        expect([status, headers['retry-after']]).to.deep.equal([503, '5']);
      });
  });

  describe('HEAD', () => {
    it('answers the headers of GET without its body', async () => {
      const { raw } = await startApp({ routes: notes });
      const [got, asked] = await Promise.all(
        ['GET', 'HEAD'].map((method) => raw(`${method} /open HTTP/1.1\r\nHost: x\r\nX-Request-Id: same\r\nConnection: close\r\n\r\n`)),
      );
      const [head, body] = (got ?? '').replace(/^Date: .*$/m, 'Date').split('\r\n\r\n');
      expect(body).to.include('isOpen');
      expect(asked?.replace(/^Date: .*$/m, 'Date')).to.equal(`${head}\r\n\r\n`);
    });

    it('has the length of an answer without a body, too', async () => {
      const moved = route({ method: 'get', path: '/moved', summary: 's', access: 'open', answers: { 301: null }, handle: () => answer(301, null) });
      const { raw } = await startApp({ routes: [moved] });
      for (const method of ['GET', 'HEAD'])
        expect(await raw(`${method} /moved HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`), method).to.match(/^Content-Length: 0$/im);
    });
  });

  describe('CORS', () => {
    const origin = 'https://dashboard.example.org';
    const preflight = { Origin: origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization' };

    it('answers a preflight of an allowed origin without a credential', async () => {
      const limit = countingLimit(0);
      const { url } = await startApp({
        routes: notes,
        areas: [{ prefix: '/', guard, limit: { counter: limit, by: byCredentialAndAddress } }],
        corsOrigins: [origin],
      });
      const { status, headers } = await request(url).options('/api/notes/1').set(preflight);
      expect(status).to.equal(204);
      expect(headers).to.include({ 'access-control-allow-origin': origin, 'access-control-allow-headers': 'authorization' });
      expect(headers['access-control-allow-methods']).to.include('POST');
      expect(limit.keys).to.deep.equal([]);
    });

    it('lets the page read answers and refusals alike', async () => {
      const { url } = await startApp({ routes: notes, areas: [{ prefix: '/api', guard }], corsOrigins: [origin] });
      for (const [path, status] of [
        ['/open', 200],
        ['/api/notes/1', 401],
        ['/nothing', 404],
        ['/broken', 500],
      ] as const) {
        const answered = await request(url).get(path).set('Origin', origin);
        expect(answered.status).to.equal(status);
        expect(answered.headers, path).to.include({ 'access-control-allow-origin': origin });
        expect(answered.headers['access-control-expose-headers'], path).to.include('ETag').and.to.include('Link');
      }
    });

    it('tells caches that the origin makes a difference, also in what another origin or none is answered', async () => {
      const { url } = await startApp({ routes: notes, corsOrigins: [origin] });
      for (const headers of [{}, { Origin: origin }, { Origin: 'https://evil.example.org' }])
        expect((await request(url).get('/open').set(headers)).headers).to.include({ vary: 'Origin' });
      const { headers } = await request(url).get('/swagger/swagger-ui.css');
      expect(headers).to.include({ vary: 'Origin, Accept-Encoding' });
    });

    it('says nothing to other origins, and nothing at all where none is allowed', async () => {
      const { url } = await startApp({ routes: notes, areas: [{ prefix: '/api', guard }], corsOrigins: [origin] });
      expect((await request(url).get('/open').set('Origin', 'https://evil.example.org')).headers).to.not.have.property('access-control-allow-origin');
      expect(
        (
          await request(url)
            .options('/api/notes/1')
            .set({ ...preflight, Origin: 'https://evil.example.org' })
        ).status,
      ).to.equal(401);
      const closed = await startApp({ routes: notes });
      expect((await request(closed.url).get('/open').set('Origin', origin)).headers).to.not.have.property('access-control-allow-origin');
    });
  });

  it('counts by the address that a trusted proxy forwards', async () => {
    const limit = countingLimit(9);
    const { url } = await startApp({
      routes: notes,
      areas: [{ prefix: '/', limit: { counter: limit, by: byCredentialAndAddress } }],
      addressOf: createAddressOf(['127.0.0.1']),
    });
    await request(url).get('/open').set('X-Forwarded-For', '1.1.1.1, 198.51.100.7');
    expect(limit.keys).to.deep.equal(['198.51.100.7']);
  });

  it('asks clients to close their connection once it is stopping', async () => {
    const { url, health, raw } = await startApp({ routes: notes });
    health.markStopping();
    expect(await raw('GET /open HTTP/1.1\r\nHost: x\r\n\r\n'))
      .to.match(/^HTTP\/1.1 200 /)
      .and.to.match(/^Connection: close\r$/m);
    expect((await request(url).get('/health')).status).to.equal(200);
    expect((await request(url).get('/health/ready')).status).to.equal(503);
  });

  it('hands raw bytes to a route that wants them', async () => {
    const hook = route({
      method: 'post',
      path: '/hooks',
      summary: 's',
      body: rawBody({ mediaTypes: ['application/json'], maxBytes: 99, timeoutMs: 20_000 }),
      answers: { 202: null },
      handle: ({ body }) => answer(202, null, { 'X-Bytes': body.toString('hex') }),
    });
    const { url } = await startApp({ routes: [hook] });
    const { status, headers, text: sent } = await request(url).post('/hooks').type('json').send('{"a" :  1}\n');
    expect({ status, sent, bytes: headers['x-bytes'] }).to.deep.equal({ status: 202, sent: '', bytes: Buffer.from('{"a" :  1}\n').toString('hex') });
  });
});
