import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import request from 'supertest';
import { z } from 'zod';
import { createBodyMemory } from '../../../services/platform/http/body-memory.ts';
import { authorization } from '../../../services/platform/http/credentials.ts';
import { rawBody, route } from '../../../services/platform/http/route.ts';
import { Secret } from '../../../services/platform/config/secret.ts';
import { eventually } from '../../support/wait.ts';
import { startApp, stopApps } from './app-fixture.ts';

const guard = authorization('Bearer', [new Secret('good')]);
const Any = z.unknown();
const maxBytes = 1_000_000;
const query = z.object({ limit: z.literal('1').optional(), after: z.string().optional() });
const routes = [
  route({ method: 'get', path: '/closed', access: 'open', isQueryClosed: true, summary: 's', query, answers: { 200: Any }, handle: () => ({}) }),
  route({ method: 'get', path: '/closed/without', access: 'open', isQueryClosed: true, summary: 's', answers: { 200: Any }, handle: () => ({}) }),
  route({ method: 'get', path: '/api/notes/{id}', summary: 's', query: z.object({ x: z.string().optional() }), answers: { 200: Any }, handle: () => ({}) }),
  route({
    method: 'post',
    path: '/hook',
    access: 'open',
    summary: 's',
    body: rawBody({ mediaTypes: ['text/plain'], maxBytes, timeoutMs: 60_000 }),
    answers: { 200: Any },
    handle: ({ body }) => ({ length: body.length }),
  }),
];
const start = () => startApp({ routes, areas: [{ prefix: '/api', guard }] });
const post = (path: string, ...headers: string[]) => ['POST ' + path + ' HTTP/1.1', 'Host: x', 'Content-Type: text/plain', ...headers, '', ''].join('\r\n');

describe('a request', () => {
  after(stopApps);

  it('guards a path however it is spelled', async () => {
    const { url, raw } = await start();
    for (const path of ['/%61pi/notes/1', '/api/n%6Ftes/1', '/ap%69/nothing', '/%41PI/nothing', '//x/api/notes/1']) {
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`))?.[1]);
      expect(status, path).to.equal(path.startsWith('//') ? 404 : 401);
    }
    expect((await request(url).get('/%61pi/notes/1').set('Authorization', 'Bearer good')).status).to.equal(200);
  });

  it('takes an empty query parameter as absent', async () => {
    const { url } = await start();
    expect((await request(url).get('/closed?limit=&after=')).status).to.equal(200);
    expect((await request(url).get('/closed?limit=&limit=1')).status).to.equal(400);
  });

  it('refuses a query parameter that is given twice', async () => {
    const { url } = await start();
    const { status, body } = await request(url).get('/api/notes/1?x=1&y=2&x=3').set('Authorization', 'Bearer good');
    expect(status).to.equal(400);
    expect(body.errors).to.deep.equal({ x: ['is given more than once'] });
  });

  it('refuses one of any name, also one that every object has', async () => {
    const { url } = await start();
    for (const name of ['__proto__', 'constructor']) {
      const { status, text } = await request(url).get(`/api/notes/1?${name}=1&${name}=2`).set('Authorization', 'Bearer good');
      expect(status, name).to.equal(400);
      expect(text).to.include(`"${name}":["is given more than once"]`);
    }
  });

  it('may have query parameters that are not declared, unless its query is closed: then they are refused, and the known ones named', async () => {
    const { url, app } = await start();
    const ask = async (path: string) => {
      const { status, text } = await request(url).get(path).set('Authorization', 'Bearer good');
      return [status, z.looseObject({ errors: z.record(z.string(), z.array(z.string())).optional() }).parse(JSON.parse(text)).errors];
    };
    const unknown = ['is not known here; known: limit, after'];
    expect(await ask('/api/notes/1?lim=1')).to.deep.equal([200, undefined]);
    expect(await ask('/closed?limit=1&after=')).to.deep.equal([200, undefined]);
    expect(await ask('/closed?lim=1&Limit=1&limit=2&=')).to.deep.equal([400, { lim: unknown, Limit: unknown, '': unknown, limit: ['must be 1'] }]);
    expect(await ask('/closed?constructor=1&after=1&after=2')).to.deep.equal([400, { constructor: unknown, after: ['is given more than once'] }]);
    expect(await ask('/closed/without')).to.deep.equal([200, undefined]);
    expect(await ask('/closed/without?limit=1')).to.deep.equal([400, { limit: ['is not known here; known: none'] }]);
    expect(app.openapi()).to.have.nested.property('paths./closed/without.get.responses.400');
  });

  it('is refused by status alone where it is no request at all', async () => {
    const { raw } = await start();
    const cases = {
      'GET / HTTP/9.9\r\n\r\n': 400,
      'nonsense\r\n\r\n': 400,
      'GET /hook HTTP/1.1\r\n\r\n': 400,
      [`GET /hook HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`]: 431,
      [post('/hook', 'Expect: tea', 'Connection: close')]: 417,
      [post('/hook', 'Content-Length: 5', 'Transfer-Encoding: chunked')]: 400,
    };
    for (const [bytes, status] of Object.entries(cases)) expect(await raw(bytes), bytes.slice(0, 40)).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  describe('Expect: 100-continue', () => {
    const talk = async (port: number, head: string, body: string) => {
      const socket = connect(port, '127.0.0.1').setEncoding('latin1');
      const closed = once(socket, 'close');
      let heard = '';
      socket.on('data', (chunk: string) => (heard += chunk));
      socket.write(head);
      await eventually(() => heard !== '');
      if (heard.startsWith('HTTP/1.1 100 Continue')) socket.write(body);
      await closed;
      return heard;
    };

    it('is asked to go on when the body will be read', async () => {
      const { port } = await start();
      const heard = await talk(port, post('/hook', 'Expect: 100-continue', 'Content-Length: 4', 'Connection: close'), 'four');
      expect(heard).to.match(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*\{"length":4\}$/);
    });

    it('is refused without one when it is too long, of a wrong type or not allowed', async () => {
      const { port } = await start();
      const ask = (path: string, ...headers: string[]) => talk(port, post(path, 'Expect: 100-continue', 'Connection: close', ...headers), '');
      expect(await ask('/hook', `Content-Length: ${maxBytes + 1}`)).to.match(/^HTTP\/1\.1 413 /);
      expect(await ask('/api/notes/1', 'Content-Length: 4')).to.match(/^HTTP\/1\.1 401 /);
      expect(await ask('/nothing', 'Content-Length: 4')).to.match(/^HTTP\/1\.1 404 /);
    });
  });

  describe('a body that the handler does not read', () => {
    const megabyte = 'x'.repeat(1_048_576);

    it('does not keep its sender from the answer', async () => {
      const { port } = await start();
      for (const [path, status] of [
        ['/api/notes/1', 401],
        ['/nothing', 404],
        ['/hook', 413],
      ] as const) {
        const socket = connect(port, '127.0.0.1').setEncoding('latin1');
        let heard = '';
        socket.on('data', (chunk: string) => (heard += chunk));
        socket.write(post(path, `Content-Length: ${8 * megabyte.length}`));
        for (let sent = 0; sent < 8; sent++) await new Promise((resolve) => socket.write(megabyte, resolve));
        // And on the same connection its next request.
        socket.write(post(path, 'Content-Length: 0', 'Connection: close'));
        await once(socket, 'close');
        expect(heard, path).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(heard.match(/HTTP\/1\.1 /g), path).to.have.length(2);
      }
    });

    it('is read on when it had been paused, for memory that did not come', async () => {
      const shared = createBodyMemory(10 * megabyte.length, 8 * megabyte.length);
      const holder = shared.open(() => undefined);
      void holder.take(10 * megabyte.length);
      holder.complete();
      const memory = { shared, waitMs: 10 };
      const body = rawBody({ mediaTypes: ['text/plain'], maxBytes: 8 * megabyte.length, timeoutMs: 60_000, memory });
      const { port } = await startApp({ routes: [route({ method: 'post', path: '/hook', summary: 's', body, answers: { 200: Any }, handle: () => ({}) })] });
      const socket = connect(port, '127.0.0.1').setEncoding('latin1');
      let heard = '';
      socket.on('data', (chunk: string) => (heard += chunk));
      socket.write(post('/hook', `Content-Length: ${8 * megabyte.length}`));
      for (let sent = 0; sent < 8; sent++) await new Promise<void>((resolve, reject) => socket.write(megabyte, (error) => (error ? reject(error) : resolve())));
      await eventually(() => heard !== '');
      expect(heard).to.match(/^HTTP\/1\.1 503 /);
      socket.destroy();
      holder.release();
    });

    it('costs no connection when it is short', async () => {
      const { raw } = await start();
      const answers = await raw(`${post('/nothing', 'Content-Length: 4')}four${post('/nothing', 'Content-Length: 4', 'Connection: close')}four`);
      expect(answers.match(/HTTP\/1\.1 404 /g)).to.have.length(2);
    });
  });
});
