import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { z } from 'zod';
import { type Area, authorization } from '../../../services/platform/http/credentials.ts';
import { rawBody, route, streamedBody } from '../../../services/platform/http/route.ts';
import { Common } from '../../../services/platform/problem.ts';
import { startApp, stopApps } from './app-fixture.ts';

const mediaTypes = ['application/octet-stream'];
const usedUp: NonNullable<Area['limit']> = { counter: { count: () => Promise.reject(Common.tooMany()) }, by: () => 'all' };
const taking = { method: 'post', access: 'open', summary: 's', answers: { 200: z.unknown() }, handle: () => ({}) } as const;
const raw = rawBody({ mediaTypes, maxBytes: 1000, timeoutMs: 5000 });

const start = (lingerMs = 30_000) =>
  startApp(
    {
      areas: [
        { prefix: '/guarded', guard: authorization('Bearer', []) },
        { prefix: '/limited', limit: usedUp },
      ],
      routes: [
        route({ ...taking, path: '/raw', body: raw }),
        route({ ...taking, path: '/json', body: z.unknown() }),
        route({ ...taking, path: '/unread', body: streamedBody({ mediaTypes, maxBytes: 100_000_000 }) }),
        route({ ...taking, path: '/limited', body: raw }),
      ],
    },
    { lingerMs },
  );

/** Sends a whole request before it reads anything, as Python's urllib does; fails when the connection breaks meanwhile. */
async function sendThenRead(port: number, head: readonly string[], body: readonly Buffer[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' }).pause();
  await once(socket, 'connect');
  for (const part of [Buffer.from([...head, '', ''].join('\r\n')), ...body]) if (!socket.write(part)) await once(socket, 'drain');
  return textOf(socket.resume());
}

const mebibyte = Buffer.alloc(1_048_576, 'x');
const bodyOf = (mebibytes: number) => Array.from({ length: mebibytes }, () => mebibyte);
const chunked = (body: readonly Buffer[]) => [
  ...body.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
  Buffer.from('0\r\n\r\n'),
];

const refusals = [
  { path: '/guarded', type: 'application/octet-stream', status: 401 },
  { path: '/raw', type: 'application/octet-stream', status: 413 },
  { path: '/json', type: 'application/json', status: 413 },
  { path: '/raw', type: 'text/plain', status: 415 },
  { path: '/limited', type: 'application/octet-stream', status: 429 },
  { path: '/nothing', type: 'application/octet-stream', status: 404 },
  { path: '/unread', type: 'application/octet-stream', status: 200 },
];

describe('an answer to a sender that closes its connection and is still sending', () => {
  after(stopApps);

  for (const mebibytes of [6, 60])
    for (const { path, type, status } of mebibytes === 6 ? refusals : refusals.slice(0, 2))
      it(`arrives: ${status} of ${path} to a body of ${mebibytes} MiB, by HTTP/1.0 and in chunks, too`, async () => {
        const { port } = await start();
        const body = bodyOf(mebibytes);
        const length = `Content-Length: ${mebibytes * mebibyte.length}`;
        const head = [`Content-Type: ${type}`, 'Host: x', 'Connection: close'];
        const answers = [
          await sendThenRead(port, [`POST ${path} HTTP/1.1`, ...head, length], body),
          await sendThenRead(port, [`POST ${path} HTTP/1.0`, `Content-Type: ${type}`, length], body),
          await sendThenRead(port, [`POST ${path} HTTP/1.1`, ...head, 'Transfer-Encoding: chunked'], chunked(body)),
        ];
        for (const answer of answers) expect(answer).to.match(new RegExp(`^HTTP/1.1 ${status} `));
      });

  const endless = ['POST /raw HTTP/1.1', 'Host: x', 'Connection: close', 'Content-Type: application/octet-stream', 'Transfer-Encoding: chunked', '', ''].join(
    '\r\n',
  );

  it('is followed by no more than 128 MiB of a body that does not end', async () => {
    const { port } = await start();
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setMaxListeners(0).resume();
    socket.on('error', () => undefined); // the server closed it
    socket.write(endless);
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), mebibyte, Buffer.from('\r\n')]);
    while (!socket.closed) if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
    expect(socket.bytesWritten).to.be.within(100 * mebibyte.length, 400 * mebibyte.length);
  });

  it('is followed by no more than a while of a body that comes slowly', async () => {
    const { port } = await start(600);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setMaxListeners(0).resume();
    socket.on('error', () => undefined); // the server closed it
    socket.write(endless + '7d0\r\n' + 'x'.repeat(2000) + '\r\n');
    const startedAt = performance.now();
    while (!socket.closed && performance.now() - startedAt < 10_000) {
      socket.write('1\r\nx\r\n');
      await pause(50);
    }
    expect(socket.closed).to.equal(true);
    expect(performance.now() - startedAt).to.be.greaterThan(500);
  });

  it('is the last one of its connection', async () => {
    const { port } = await start();
    const request = ['POST /raw HTTP/1.1', 'Host: x', 'Connection: close', 'Content-Type: application/octet-stream', `Content-Length: ${mebibyte.length}`];
    const answered = await sendThenRead(port, request, [mebibyte, Buffer.from('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')]);
    expect(answered)
      .to.match(/^HTTP\/1.1 413 /)
      .and.not.to.include('alive');
  });
});
