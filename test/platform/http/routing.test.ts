import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import request from 'supertest';
import { z } from 'zod';
import { answer, Content, type Returned, route, type RouteRequest } from '../../../services/platform/http/route.ts';
import { authorization, type Guard, headerGuard } from '../../../services/platform/http/credentials.ts';
import { Secret } from '../../../services/platform/config/secret.ts';
import { Timestamp } from '../../../services/platform/schema.ts';
import { takeUndescribed } from '../../support/described-answers.ts';
import { eventually } from '../../support/wait.ts';
import { startApp, type Started, stopApps } from './app-fixture.ts';

const answers = { 200: z.unknown(), 201: z.object({ at: Timestamp }), 202: null, 204: null, 301: null } as const;
const serve = (handle: () => Returned<typeof answers>): Promise<Started> =>
  startApp({ routes: [route({ method: 'get', path: '/x', summary: 's', answers, handle })] });
const get = async (handle: Parameters<typeof serve>[0]) =>
  request((await serve(handle)).url)
    .get('/x')
    .redirects(0);

describe('an answer', () => {
  after(stopApps);

  it('is 200 and JSON unless said otherwise', async () => {
    const { status, headers, body } = await get(() => ({ a: [1, null, '🚂'] }));
    expect({ status, body }).to.deep.equal({ status: 200, body: { a: [1, null, '🚂'] } });
    expect(headers).to.include({ 'content-type': 'application/json; charset=utf-8', 'content-length': String(Buffer.byteLength('{"a":[1,null,"🚂"]}')) });
  });

  it('has the status and headers it was given, times in UTC with milliseconds', async () => {
    const { status, headers, text } = await get(() => answer(201, { at: new Date('2026-01-02T03:04:05Z') }, { Location: '/x/1' }));
    expect({ status, text }).to.deep.equal({ status: 201, text: '{"at":"2026-01-02T03:04:05.000Z"}' });
    expect(headers).to.include({ location: '/x/1' });
  });

  it('is sent, and fails its test, when its headers are not those that it is described with', async () => {
    const describedAnswerHeaders = { 200: { 'X-Rows': 'How many', 'X-More': { description: 'Whether there are more', isOptional: true } } } as const;
    for (const [headers, faults] of [
      [{ 'X-Rows': '1' }, []],
      [{ 'X-Rows': '1', 'X-More': 'true' }, []],
      [{}, ['describedAnswerHeaders of listRows 200 has X-Rows, which was not sent']],
      [{ 'X-Rows': '1', 'X-Other': '1' }, ['describedAnswerHeaders of listRows 200 has no X-Other']],
    ] as const) {
      const rows = route({
        method: 'get',
        path: '/x',
        operationId: 'listRows',
        summary: 's',
        answers,
        describedAnswerHeaders,
        handle: () => answer(200, {}, { ...headers }),
      });
      expect((await request((await startApp({ routes: [rows] })).url).get('/x')).status).to.equal(200);
      expect(takeUndescribed()).to.deep.equal(faults);
    }
  });

  it('keeps its status when it has no body', async () => {
    for (const status of [202, 204] as const) {
      const got = await get(() => answer(status, null));
      expect({ status: got.status, text: got.text, type: got.headers['content-type'] }).to.deep.equal({ status, text: '', type: undefined });
    }
    expect((await get(() => answer(301, null, { Location: '/y' }))).headers).to.include({ location: '/y', 'content-length': '0' });
  });

  it('sends text that looks like markup as what it is declared', async () => {
    const { headers, text } = await get(() => new Content('text/plain; charset=utf-8', '<b>hi</b>'));
    expect({ type: headers['content-type'], text }).to.deep.equal({ type: 'text/plain; charset=utf-8', text: '<b>hi</b>' });
  });

  it('sends bytes as they are', async () => {
    const { headers, body } = await get(() => new Content('image/png', Buffer.from([0x89, 0x50, 0xff])));
    expect(headers).to.include({ 'content-type': 'image/png', 'content-length': '3' });
    expect(body).to.deep.equal(Buffer.from([0x89, 0x50, 0xff]));
  });

  it('sends a stream piece by piece, with a status and headers of its own', async () => {
    const { status, headers, text } = await get(() =>
      answer(200, new Content('application/x-ndjson', Readable.from(['{"a":1}\n', '{"a":2}\n'])), { 'X-Rows': '2' }),
    );
    expect({ status, text }).to.deep.equal({ status: 200, text: '{"a":1}\n{"a":2}\n' });
    expect(headers).to.include({ 'x-rows': '2', 'content-type': 'application/x-ndjson', 'transfer-encoding': 'chunked' });
  });

  it('breaks the connection when its stream fails, so that no client takes half of it for all, and logs why', async () => {
    const { raw, lines } = await serve(
      () =>
        new Content(
          'text/csv',
          Readable.from(
            (async function* () {
              yield 'one,';
              await new Promise((resolve) => setImmediate(resolve));
              throw new Error('the disk is gone');
            })(),
          ),
        ),
    );
    const answered = await raw('GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(answered).to.include('one,').and.to.not.include('\r\n0\r\n');
    const broken = await eventually(() => lines().find(({ msg }) => msg === 'response aborted') ?? false);
    expect(broken['error']).to.include({ message: 'the disk is gone' });
  });

  it('ends its stream when the reader goes away', async () => {
    const stream = new Readable({
      read() {
        this.push('x'.repeat(65_536));
      },
    });
    const { port } = await serve(() => new Content('text/plain', stream));
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.destroy();
    await eventually(() => stream.destroyed);
  });

  it('ends the stream of a HEAD request unread', async () => {
    const stream = Readable.from(['x']);
    const { url } = await serve(() => new Content('text/plain', stream));
    expect((await request(url).head('/x')).status).to.equal(200);
    await eventually(() => stream.destroyed);
  });

  it('is a 500 when it cannot be written as JSON', async () => {
    const { url, lines } = await serve(() => ({ big: 1n }));
    expect((await request(url).get('/x')).status).to.equal(500);
    expect(lines().filter(({ level }) => level === 'error')).to.have.length(1);
  });
});

describe('the credential of a route', () => {
  after(stopApps);

  const guard = authorization('Bearer', [new Secret('good')]);
  const good = { Authorization: 'Bearer good' };
  const areas = [{ prefix: '/api', guard } as const];
  const plain = { method: 'get', summary: 's', answers: { 200: z.unknown() }, handle: () => ({}) } as const;
  const named = route({
    ...plain,
    path: '/api/names/{name}',
    access: 'checkedByHandler',
    params: z.object({ name: z.string().max(3, 'is too long') }),
    query: z.object({ x: z.string().optional() }),
  });
  const sent = route({ ...plain, method: 'post', path: '/api/names', access: 'checkedByHandler', body: z.object({}) });

  it('is that of its prefix where it declares nothing', async () => {
    const { url } = await startApp({ routes: [named, route({ ...plain, path: '/api/added' })], areas });
    expect((await request(url).get('/api/added')).status).to.equal(401);
    expect((await request(url).get('/api/added').set(good)).status).to.equal(200);
  });

  it('must be declared where no guard covers its path, or the app does not start', async () => {
    for (const unguarded of [[], [{ prefix: '/api' } as const, ...areas], [{ prefix: '/other', guard } as const]]) {
      const failure = await startApp({ routes: [route({ ...plain, path: '/api/added' })], areas: [...unguarded, { prefix: '/elsewhere', guard }] }).catch(
        (error: unknown) => error,
      );
      expect(failure)
        .to.be.instanceOf(TypeError)
        .with.property('message', "access of GET /api/added must be 'open' or 'checkedByHandler': no guarded area covers it");
    }
  });

  it('is none where it declares itself open', async () => {
    const { url } = await startApp({ routes: [route({ ...plain, path: '/api/open', access: 'open' })], areas });
    expect((await request(url).get('/api/open')).status).to.equal(200);
    expect((await request(url).get('/api/open/nothing')).status).to.equal(401);
  });

  it('gives the handler the principal, which is anonymous on an open route', async () => {
    const who = { 200: z.object({ credential: z.string(), rights: z.array(z.string()) }) };
    const tell = {
      ...plain,
      answers: who,
      handle: ({ principal: { credential, rights } }: RouteRequest<undefined, undefined, undefined>) => ({ credential, rights: [...rights] }),
    };
    const { url } = await startApp({ routes: [route({ ...tell, path: '/api/me' }), route({ ...tell, path: '/api/open', access: 'open' })], areas });
    expect((await request(url).get('/api/me').set(good)).body).to.deep.equal({ credential: 'bearer', rights: ['read', 'write'] });
    expect((await request(url).get('/api/open').set(good)).body).to.deep.equal({ credential: 'none', rights: [] });
  });

  it('is that of the route where it names a guard of its own', async () => {
    const own = headerGuard([new Secret('machine')], 'X-Machine', { description: '' });
    const { url } = await startApp({
      routes: [route({ ...plain, path: '/api/machines', guard: own }), route({ ...plain, path: '/loose', guard: own })],
      areas,
    });
    for (const path of ['/api/machines', '/loose']) {
      expect((await request(url).get(path).set(good)).status, path).to.equal(401);
      expect((await request(url).get(path).set('X-Machine', 'machine')).status, path).to.equal(200);
    }
  });

  it('answers 403 when the credential does not allow the method', async () => {
    const reader: Guard = { schemes: {}, forms: [], challenges: [], check: () => ({ id: 'r', credential: 'reader', rights: ['read'] }) };
    const { url } = await startApp({
      routes: [route({ ...plain, path: '/api/x' }), route({ ...plain, method: 'delete', path: '/api/x' })],
      areas: [{ prefix: '/api', guard: reader }],
    });
    expect((await request(url).get('/api/x')).status).to.equal(200);
    expect((await request(url).head('/api/x')).status).to.equal(200);
    expect((await request(url).delete('/api/x')).status).to.equal(403);
    expect((await request(url).put('/api/x')).status).to.equal(405);
  });

  it('is asked for by the handler where it declares that', async () => {
    const { url } = await startApp({ routes: [named], areas });
    expect((await request(url).get('/api/names/abc')).status).to.equal(200);
  });

  it('is asked for by the guard when a request never gets to that handler, so that a stranger learns nothing', async () => {
    const { url } = await startApp({ routes: [named, sent], areas });
    for (const path of ['/api/names/abcd', '/api/names/abc?x=1&x=2', '/api/names/%zz', '/api/names/abc?x=%zz']) {
      expect((await request(url).get(path)).status, path).to.equal(401);
      expect((await request(url).get(path).set(good)).status, path).to.equal(400);
    }
    expect((await request(url).delete('/api/names/abc')).status).to.equal(401);
    expect((await request(url).delete('/api/names/abc').set(good)).status).to.equal(405);
    for (const [type, status] of [
      ['text', 415],
      ['json', 400],
    ] as const) {
      expect((await request(url).post('/api/names').type(type).send('x')).status, type).to.equal(401);
      expect((await request(url).post('/api/names').set(good).type(type).send('x')).status, type).to.equal(status);
    }
  });

  it('is refused when its header is sent twice, though both be right, in the one way of all', async () => {
    const { raw } = await startApp({ routes: [named, route({ ...plain, path: '/api/added' })], areas });
    const ask = async (path: string, ...values: string[]) => {
      const lines = [`GET ${path} HTTP/1.1`, 'Host: x', 'X-Request-Id: one', 'Connection: close', ...values.map((one) => `Authorization: ${one}`), '', ''];
      return (await raw(lines.join('\r\n'))).replace(/^Date: .*$/m, '');
    };
    expect(await ask('/api/added', 'Bearer good')).to.match(/^HTTP\/1.1 200 /);
    for (const path of ['/api/added', '/api/nothing', '/api/names/%zz']) {
      const missing = await ask(path);
      expect(missing).to.match(/^HTTP\/1.1 401 /);
      for (const second of ['Bearer good', 'wrong', '']) expect(await ask(path, 'Bearer good', second), `${path} ${second}`).to.equal(missing);
    }
  });
});
