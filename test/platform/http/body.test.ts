import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';
import request from 'supertest';
import { z } from 'zod';
import { type BodyMemory, createBodyMemory } from '../../../services/platform/http/body-memory.ts';
import { answer, type RawBody, rawBody, route } from '../../../services/platform/http/route.ts';
import { eventually } from '../../support/wait.ts';
import { startApp, type Started, stopApps } from './app-fixture.ts';

const length = z.object({ length: z.number() });

function startHooks(body: Partial<RawBody> = {}): Promise<Started> {
  const spec = rawBody({ mediaTypes: ['application/json'], maxBytes: 1000, timeoutMs: 20_000, ...body });
  return startApp({
    routes: [
      route({ method: 'post', path: '/hooks', summary: 's', body: spec, answers: { 200: length }, handle: (delivery) => ({ length: delivery.body.length }) }),
      route({
        method: 'post',
        path: '/json',
        summary: 's',
        body: z.unknown(),
        maxBodyBytes: 1000,
        answers: { 200: z.unknown() },
        handle: (sent) => ({ sent: sent.body }),
      }),
      route({ method: 'post', path: '/default', summary: 's', body: z.unknown(), answers: { 204: null }, handle: () => answer(204, null) }),
    ],
  });
}

const head = (...lines: string[]) => ['POST /hooks HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...lines, '', ''].join('\r\n');
const json = (bytes: number) => `POST /json HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
const statusOf = (answered: string) => Number(/^HTTP\/1.1 (\d{3}) /.exec(answered)?.[1]);
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

describe('the body of a request', () => {
  after(stopApps);

  describe('its type', () => {
    it('is asked for: 415 without a Content-Type or with another', async () => {
      const { raw, url } = await startHooks();
      const untyped = await raw('POST /json HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}');
      expect(statusOf(untyped)).to.equal(415);
      expect(untyped).to.include('The body must be application/json, and came without a Content-Type.');
      const { status, body } = await request(url).post('/json').type('text/plain').send('{}');
      expect({ status, body }).to.deep.equal({
        status: 415,
        body: { type: 'about:blank', title: 'Unsupported Media Type', status: 415, detail: 'The body must be application/json, not text/plain.' },
      });
    });

    it('is taken with parameters, in any case, and with a +json suffix', async () => {
      const { url } = await startHooks();
      for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/merge-patch+json']) {
        expect((await request(url).post('/json').set('Content-Type', type).send('{}')).status, type).to.equal(200);
      }
    });
  });

  describe('its coding', () => {
    it('is none: 415 to a Content-Encoding, whatever the bytes are', async () => {
      const { url } = await startHooks();
      for (const path of ['/json', '/hooks']) {
        for (const coding of ['gzip', 'deflate', 'x']) {
          const { status, headers, body } = await request(url).post(path).type('application/json').set('Content-Encoding', coding).send('{}');
          expect([status, headers['accept-encoding']], `${path} ${coding}`).to.deep.equal([415, 'identity']);
          expect(body).to.have.property('detail', 'The body must come without a Content-Encoding.');
        }
        expect((await request(url).post(path).type('application/json').set('Content-Encoding', 'identity').send('{}')).status).to.equal(200);
      }
    });
  });

  describe('its JSON', () => {
    it('is 400 when malformed, empty or no UTF-8', async () => {
      const { url, raw } = await startHooks();
      for (const sent of ['{', '', 'undefined', "{'a':1}"]) {
        const { status, body } = await request(url).post('/json').type('json').send(sent);
        expect({ status, detail: body.detail }).to.deep.equal({ status: 400, detail: `The body is ${sent === '' ? 'empty' : 'not valid JSON'}.` });
      }
      const latin1 = Buffer.concat([Buffer.from(json(3)), Buffer.from([0x22, 0xff, 0x22])]);
      expect(statusOf(await raw(latin1))).to.equal(400);
    });

    it('is refused when it begins with a byte order mark, which readers of the bytes need not know', async () => {
      const { raw } = await startHooks();
      const bytes = Buffer.concat([Buffer.from(json(5)), Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{}')]);
      expect(await raw(bytes)).to.match(/^HTTP\/1.1 400 /);
    });

    it('is at most 1 MiB unless the route says otherwise', async () => {
      const { url } = await startHooks();
      const text = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));
      const send = (path: string, bytes: number) => request(url).post(path).type('json').send(text(bytes));
      expect((await send('/default', 1_048_576)).status).to.equal(204);
      expect((await send('/default', 1_048_577)).status).to.equal(413);
      expect((await send('/json', 1000)).status).to.equal(200);
      expect((await send('/json', 1001)).status).to.equal(413);
    });
  });

  describe('its length', () => {
    it('may be exactly the limit, declared or in chunks', async () => {
      const { raw } = await startHooks();
      const full = 'x'.repeat(1000);
      expect(await raw(head('Connection: close', 'Content-Length: 1000') + full)).to.include('{"length":1000}');
      expect(await raw(head('Connection: close', 'Transfer-Encoding: chunked') + chunk(full.slice(0, 600)) + chunk(full.slice(600)) + '0\r\n\r\n')).to.include(
        '{"length":1000}',
      );
    });

    it('is 413 one byte above, declared or in chunks', async () => {
      const { raw } = await startHooks();
      const over = 'x'.repeat(1001);
      expect(statusOf(await raw(head('Connection: close', 'Content-Length: 1001') + over))).to.equal(413);
      expect(
        statusOf(await raw(head('Connection: close', 'Transfer-Encoding: chunked') + chunk(over.slice(0, 600)) + chunk(over.slice(600)) + '0\r\n\r\n')),
      ).to.equal(413);
    });

    it('is 413 by what is declared, before any of it arrives', async () => {
      const { port } = await startHooks();
      const socket = connect(port, '127.0.0.1');
      socket.write(head('Content-Length: 999999999'));
      const [answered] = await once(socket, 'data');
      expect(statusOf(String(answered))).to.equal(413);
      socket.destroy();
    });

    it('is what was declared, though more follows: the rest is no part of it', async () => {
      const { port } = await startHooks();
      const socket = connect(port, '127.0.0.1');
      socket.write(`${head('Content-Length: 5')}hello`);
      expect(String((await once(socket, 'data'))[0])).to.include('{"length":5}');
      socket.write(' and more that is no HTTP\r\n\r\n');
      expect(statusOf(await textOf(socket))).to.equal(400);
    });

    it('cannot be declared in two ways', async () => {
      const { raw } = await startHooks();
      expect(statusOf(await raw(head('Content-Length: 5', 'Transfer-Encoding: chunked') + '0\r\n\r\n'))).to.equal(400);
      expect(statusOf(await raw(head('Content-Length: 5', 'Content-Length: 6') + 'hello'))).to.equal(400);
      expect(statusOf(await raw(head('Content-Length: -5')))).to.equal(400);
    });

    it('leaves the connection usable after a refusal', async () => {
      const { raw } = await startHooks();
      const answered = await raw(head('Content-Length: 1001') + 'x'.repeat(1001) + head('Content-Length: 2', 'Connection: close') + '{}');
      expect(answered.match(/HTTP\/1.1 \d+/g)).to.deep.equal(['HTTP/1.1 413', 'HTTP/1.1 200']);
    });
  });

  describe('its time', () => {
    it('is limited: 408 when the declared bytes do not come, and the connection closes', async () => {
      const { port } = await startHooks({ timeoutMs: 100 });
      for (const beginning of [head('Content-Length: 10') + 'four', head('Transfer-Encoding: chunked') + chunk('four')]) {
        const socket = connect(port, '127.0.0.1');
        socket.write(beginning);
        const answered = await textOf(socket);
        expect(statusOf(answered)).to.equal(408);
        expect(answered).to.match(/^Connection: close\r$/m);
      }
    });
  });

  describe('its memory', () => {
    const withMemory = (shared: BodyMemory, waitMs: number) => startHooks({ maxBytes: 600, memory: { shared, waitMs } });
    /** Bodies in work that hold so much. */
    function hold(memory: BodyMemory, bytes: number): () => void {
      const share = memory.open(() => undefined);
      expect(share.take(bytes)).to.equal(undefined); // at once
      share.complete();
      return share.release;
    }

    it('waits for room in the budget, unread, and is answered once there is some', async () => {
      const memory = createBodyMemory(1000, 600);
      const { raw, url } = await withMemory(memory, 20_000);
      const release = hold(memory, 900);
      const waiting = raw(head('Connection: close', 'Content-Length: 500') + 'x'.repeat(500));
      expect((await request(url).get('/health')).status).to.equal(200);
      expect(memory.used).to.equal(900);
      release();
      expect(await waiting).to.include('{"length":500}');
      expect(memory.used).to.equal(0);
    });

    it('is 503 with Retry-After when there is no room in time', async () => {
      const memory = createBodyMemory(1000, 600);
      const { raw } = await withMemory(memory, 10);
      const release = hold(memory, 900);
      const answered = await raw(head('Connection: close', 'Content-Length: 500') + 'x'.repeat(500));
      expect(statusOf(answered)).to.equal(503);
      expect(answered).to.match(/^Retry-After: \d+\r$/m);
      expect(memory.used).to.equal(900);
      release();
    });

    it('is charged as it comes, and given back behind the answer', async () => {
      const memory = createBodyMemory(1000, 600);
      const { port } = await withMemory(memory, 10);
      const sending = httpRequest({ port, host: '127.0.0.1', path: '/hooks', method: 'POST', headers: { 'Content-Type': 'application/json' } });
      sending.write('x'.repeat(10));
      await eventually(() => memory.used === 10);
      sending.end();
      const [response] = await once(sending, 'response');
      expect(await textOf(response)).to.equal('{"length":10}');
      expect(memory.used).to.equal(0);
    });

    it('is not taken by what is only announced: neither by heads alone nor by a large body that has barely begun', async () => {
      const memory = createBodyMemory(4_000_000, 3_000_000);
      const { port } = await startHooks({ maxBytes: 3_000_000, memory: { shared: memory, waitMs: 20_000 } });
      const sockets = Array.from({ length: 20 }, (_, index) => {
        const socket = connect(port, '127.0.0.1');
        socket.write(head('Content-Length: 3000000') + (index < 10 ? '' : 'x'));
        return socket;
      });
      await eventually(() => memory.used === 10);
      const answered = httpRequest({ port, host: '127.0.0.1', path: '/hooks', method: 'POST', headers: { 'Content-Type': 'application/json' } });
      answered.end('x'.repeat(3_000_000));
      const [response] = await once(answered, 'response');
      expect(await textOf(response)).to.equal('{"length":3000000}');
      for (const socket of sockets) socket.destroy();
      await eventually(() => memory.used === 0);
    });

    it('is taken from bodies that stall while others wait: 503 with Retry-After, and those go on', async () => {
      const memory = createBodyMemory(4_000_000, 3_000_000);
      const { port } = await startHooks({ maxBytes: 3_000_000, timeoutMs: 20_000, memory: { shared: memory, waitMs: 20_000 } });
      const stalling: Socket[] = [];
      // One after the other: the first to want more than is shared is the one that memory is kept for.
      for (const bytes of [1_500_000, 440_000, 60_000]) {
        const expected = memory.used + bytes;
        const socket = connect(port, '127.0.0.1');
        socket.write(head('Content-Length: 3000000') + 'x'.repeat(bytes));
        stalling.push(socket);
        await eventually(() => memory.used === expected);
      }
      expect(memory.used).to.equal(2_000_000);
      const heard = stalling.map(async (socket) => String((await once(socket, 'data'))[0]));
      const sending = httpRequest({ port, host: '127.0.0.1', path: '/hooks', method: 'POST', headers: { 'Content-Type': 'application/json' } });
      sending.end('x'.repeat(2_500_000));
      const [response] = await once(sending, 'response');
      expect(await textOf(response)).to.equal('{"length":2500000}');
      for (const answered of await Promise.all(heard)) {
        expect(statusOf(answered)).to.equal(503);
        expect(answered).to.match(/^Retry-After: \d+\r$/m);
      }
      for (const socket of stalling) socket.destroy();
    });

    it('has a part that large bodies leave: one of at most 64 KiB does not wait behind them', () => {
      const memory = createBodyMemory(1_800_000, 1_000_000);
      const release = hold(memory, 700_000);
      const large = Array.from({ length: 3 }, () => memory.open(() => undefined));
      expect(large.map((body) => body.take(90_000)).at(-1)).to.be.a('promise');
      const small = memory.open(() => undefined);
      expect(small.take(60_000)).to.equal(undefined);
      for (const body of [...large, small]) body.release();
      release();
      expect(memory.used).to.equal(0);
    });

    it('lets bodies that together need far more come to their end one after the other', async () => {
      const memory = createBodyMemory(1_500_000, 1_000_000);
      const { url } = await startHooks({ maxBytes: 1_000_000, memory: { shared: memory, waitMs: 20_000 } });
      const sent = await Promise.all(Array.from({ length: 20 }, () => request(url).post('/hooks').type('json').send('x'.repeat(1_000_000))));
      expect(sent.map(({ status }) => status)).to.deep.equal(Array.from({ length: 20 }, () => 200));
      expect(memory.used).to.equal(0);
    });

    it('is 503, not 408, when the time went by in waiting for room', async () => {
      const memory = createBodyMemory(1000, 600);
      const { port } = await startHooks({ maxBytes: 600, timeoutMs: 400, memory: { shared: memory, waitMs: 20_000 } });
      const release = hold(memory, 900);
      const waiting = connect(port, '127.0.0.1');
      waiting.write(head('Content-Length: 500') + 'x'.repeat(400));
      const answered = String((await once(waiting, 'data'))[0]);
      expect(statusOf(answered)).to.equal(503);
      expect(answered).to.match(/^Retry-After: \d+\r$/m);
      expect(memory.used).to.equal(900);
      release();
      waiting.destroy();
    });

    it('is kept by a large body that stalls while no other waits', async () => {
      const memory = createBodyMemory(4_000_000, 3_000_000);
      const { port } = await startHooks({ maxBytes: 3_000_000, timeoutMs: 2000, memory: { shared: memory, waitMs: 1000 } });
      const stalling = connect(port, '127.0.0.1');
      stalling.write(head('Content-Length: 3000000') + 'x'.repeat(200_000));
      expect(statusOf(await textOf(stalling))).to.equal(408);
    });

    it('is given back when the body is refused, invalid, too slow, or its sender goes away', async () => {
      const memory = createBodyMemory(10_000, 600);
      const { raw, port } = await withMemory(memory, 20_000);
      const { port: impatient } = await startHooks({ maxBytes: 600, timeoutMs: 100, memory: { shared: memory, waitMs: 20_000 } });
      expect(statusOf(await raw(head('Connection: close', 'Transfer-Encoding: chunked') + chunk('x'.repeat(601)) + '0\r\n\r\n'))).to.equal(413);
      const socket = connect(impatient, '127.0.0.1');
      socket.write(head('Content-Length: 10') + 'four');
      expect(statusOf(await textOf(socket))).to.equal(408);
      const leaving = connect(port, '127.0.0.1');
      leaving.write(head('Content-Length: 10') + 'four');
      await eventually(() => memory.used === 4);
      leaving.resetAndDestroy();
      await eventually(() => memory.used === 0);
    });

    it('is given back at once by a sender that left while it waited for room', async () => {
      const memory = createBodyMemory(1000, 600);
      const { port } = await startHooks({ maxBytes: 600, timeoutMs: 3_600_000, memory: { shared: memory, waitMs: 20_000 } });
      const release = hold(memory, 900);
      const leaving = connect(port, '127.0.0.1');
      leaving.write(head('Content-Length: 500') + 'four');
      const other = connect(port, '127.0.0.1');
      const hear = async () => {
        other.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
        await once(other, 'data');
      };
      await hear(); // by now the server has read the head of the first, too
      leaving.resetAndDestroy();
      await hear();
      await hear(); // and by now its end
      release();
      await eventually(() => memory.used === 0);
      other.destroy();
    });
  });
});
