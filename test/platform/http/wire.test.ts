import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import request from 'supertest';
import { z } from 'zod';
import { createByteBudget } from '../../../services/platform/http/byte-budget.ts';
import { authorization, createCredentials } from '../../../services/platform/http/credentials.ts';
import { rawBody, route } from '../../../services/platform/http/route.ts';
import { Secret } from '../../../services/platform/config/secret.ts';
import { eventually } from '../../support/wait.ts';
import { startApp, stopApps } from './app-fixture.ts';

const guard = authorization('Bearer', createCredentials([new Secret('good')]));
const Any = z.unknown();
const maxBytes = 1_000_000;
const routes = [
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

type Answered = { readonly status: number; readonly type: string | undefined; readonly document: { readonly status?: number; readonly title?: string } };
function readAnswer(text: string): Answered {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const type = /^content-type: (.*)$/im.exec(head)?.[1];
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), type, document: JSON.parse(body) as Answered['document'] }; // the tests below look at it
}

describe('what is on the wire', () => {
  after(stopApps);

  it('guards a path however it is spelled', async () => {
    const { url, raw } = await start();
    for (const path of ['/%61pi/notes/1', '/api/n%6Ftes/1', '/ap%69/nothing', '/%41PI/nothing', '//x/api/notes/1']) {
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`))?.[1]);
      expect(status, path).to.equal(path.startsWith('//') ? 404 : 401);
    }
    expect((await request(url).get('/%61pi/notes/1').set('Authorization', 'Bearer good')).status).to.equal(200);
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

  it('words as a problem what the HTTP parser refuses', async () => {
    const { raw } = await start();
    const cases = {
      'GET / HTTP/9.9\r\n\r\n': 400,
      'nonsense\r\n\r\n': 400,
      'GET /hook HTTP/1.1\r\n\r\n': 400,
      [`GET /hook HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`]: 431,
      [post('/hook', 'Expect: tea')]: 417,
      [post('/hook', 'Content-Length: 5', 'Transfer-Encoding: chunked')]: 400,
    };
    for (const [bytes, status] of Object.entries(cases)) {
      const answered = readAnswer(await raw(bytes));
      expect(answered.status, bytes.slice(0, 40)).to.equal(status);
      expect(answered.type).to.equal('application/problem+json');
      expect(answered.document).to.include({ status, type: 'about:blank' });
    }
  });

  it('uses the words of the service for that, too', async () => {
    const refusals = { mediaType: 'application/json', schema: z.object({ success: z.boolean() }), render: () => ({ success: false }) };
    const { raw } = await startApp({ routes, refusals });
    expect(await raw('nonsense\r\n\r\n')).to.match(/^HTTP\/1\.1 400 [^]*Content-Type: application\/json\r\n[^]*\{"success":false\}$/);
  });

  describe('Expect: 100-continue', () => {
    const talk = async (port: number, head: string, body: string) => {
      const socket = connect(port, '127.0.0.1').setEncoding('latin1');
      let heard = '';
      socket.on('data', (chunk: string) => (heard += chunk));
      socket.write(head);
      await eventually(() => heard !== '');
      if (heard.startsWith('HTTP/1.1 100 Continue')) socket.write(body);
      await once(socket, 'close');
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

  describe('a body that nobody reads', () => {
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
        await once(socket, 'close');
        expect(heard, path)
          .to.match(new RegExp(`^HTTP/1\\.1 ${status} `))
          .and.to.match(/^Connection: close\r$/m);
      }
    });

    it('is read on when it had been paused, for memory that did not come', async () => {
      const budget = createByteBudget(10 * megabyte.length);
      const holder = await budget.acquire(budget.capacity, 0);
      const memory = { budget, waitMs: 10 };
      const body = rawBody({ mediaTypes: ['text/plain'], maxBytes: 8 * megabyte.length, timeoutMs: 60_000, memory });
      const { port } = await startApp({ routes: [route({ method: 'post', path: '/hook', summary: 's', body, answers: { 200: Any }, handle: () => ({}) })] });
      const socket = connect(port, '127.0.0.1').setEncoding('latin1');
      let heard = '';
      socket.on('data', (chunk: string) => (heard += chunk));
      socket.write(post('/hook', `Content-Length: ${8 * megabyte.length}`));
      for (let sent = 0; sent < 8; sent++) await new Promise<void>((resolve, reject) => socket.write(megabyte, (error) => (error ? reject(error) : resolve())));
      await once(socket, 'close');
      expect(heard).to.match(/^HTTP\/1\.1 503 /);
      holder?.release();
    });

    it('is dropped up to a bound, however long it goes on', async () => {
      const { port } = await start();
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined).resume(); // a reset is what the test waits for
      socket.write(post('/api/notes/1', 'Transfer-Encoding: chunked'));
      let sent = 0;
      const chunk = `100000\r\n${megabyte}\r\n`;
      const send = () => {
        while (!socket.destroyed && socket.writableLength < chunk.length) {
          socket.write(chunk);
          sent += 1;
        }
      };
      socket.on('drain', send);
      send();
      await eventually(() => socket.destroyed, { withinMs: 30_000 });
      expect(sent).to.be.lessThan(128);
    });

    it('costs no connection when it is short', async () => {
      const { raw } = await start();
      const answers = await raw(`${post('/nothing', 'Content-Length: 4')}four${post('/nothing', 'Content-Length: 4', 'Connection: close')}four`);
      expect(answers.match(/HTTP\/1\.1 404 /g)).to.have.length(2);
    });
  });
});
