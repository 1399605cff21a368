import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';
import request from 'supertest';
import { z } from 'zod';
import { route, streamedBody } from '../../../services/platform/http/route.ts';
import { eventually } from '../../support/wait.ts';
import { startApp, stopApps } from './app-fixture.ts';

const mediaTypes = ['application/json', 'application/x-ndjson'];

/** An app that counts what came, and one route that answers without reading. */
async function startImports(maxBytes = 100_000) {
  const seen: string[] = [];
  const ended: unknown[] = [];
  const body = streamedBody({ mediaTypes, maxBytes });
  const answers = { 200: z.object({ mediaType: z.string(), bytes: z.number() }) };
  const app = await startApp({
    routes: [
      route({
        method: 'post',
        path: '/imports',
        summary: 's',
        body,
        answers,
        async handle({ body: { mediaType, bytes } }) {
          let count = 0;
          try {
            for await (const chunk of bytes as AsyncIterable<Buffer>) {
              count += chunk.length;
              seen.push(chunk.toString());
            }
          } catch (error) {
            ended.push(error);
            throw error;
          }
          return { mediaType, bytes: count };
        },
      }),
      route({
        method: 'post',
        path: '/begun',
        summary: 's',
        body,
        answers,
        async handle({ body: { mediaType, bytes } }) {
          for await (const chunk of bytes as AsyncIterable<Buffer>) return { mediaType, bytes: chunk.length > 0 ? 1 : 0 };
          return { mediaType, bytes: 0 };
        },
      }),
      route({ method: 'post', path: '/unread', summary: 's', body, answers, handle: ({ body: { mediaType } }) => ({ mediaType, bytes: 0 }) }),
    ],
  });
  return { ...app, seen, ended };
}

const post = (port: number, path: string) => httpRequest({ port, method: 'POST', path, headers: { 'Content-Type': 'application/x-ndjson' } });

describe('a streamed body', () => {
  after(stopApps);

  it('reaches the handler while it is still being sent', async () => {
    const { port, seen } = await startImports();
    const sending = post(port, '/imports');
    const answered = once(sending, 'response');
    sending.write('first\n');
    await eventually(() => expect(seen).to.deep.equal(['first\n']));
    sending.end('second\n');
    const [response] = (await answered) as [NodeJS.ReadableStream];
    expect(JSON.parse(await textOf(response))).to.deep.equal({ mediaType: 'application/x-ndjson', bytes: 13 });
  });

  it('comes with its media type, and is 415 with another', async () => {
    const { url } = await startImports();
    const json = await request(url).post('/imports').set('Content-Type', 'application/json; charset=utf-8').send('{}').expect(200);
    expect(json.body).to.deep.equal({ mediaType: 'application/json', bytes: 2 });
    await request(url).post('/imports').type('text/plain').send('{}').expect(415);
  });

  it('is 413 when its head announces too much, and when more comes than it may have', async () => {
    const { url, port } = await startImports(1000);
    await request(url).post('/imports').type('application/json').send('x'.repeat(1001)).expect(413);
    const sending = post(port, '/imports');
    const answered = once(sending, 'response');
    sending.end('x'.repeat(5000));
    const [response] = (await answered) as [NodeJS.ReadableStream & { statusCode: number }];
    expect(response.statusCode).to.equal(413);
    expect(JSON.parse(await textOf(response))).to.include({ status: 413, detail: 'The body is larger than 1000 bytes.' });
  });

  it('fails for its reader when the sender goes away', async () => {
    const { port, seen, ended } = await startImports();
    const socket = connect(port, '127.0.0.1');
    socket.write('POST /imports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\npart');
    await eventually(() => expect(seen).to.deep.equal(['part']));
    socket.destroy();
    await eventually(() => expect(ended).to.have.length(1));
    expect(ended[0]).to.include({ status: 400, message: 'The request was interrupted.' });
  });

  it('may be left unread: the answer comes, and the next request on the connection is served', async () => {
    const { raw } = await startImports();
    const head = (close: string) => `POST /unread HTTP/1.1\r\nHost: x\r\n${close}Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n`;
    const answered = await raw(`${head('')}${'x'.repeat(60_000)}${head('Connection: close\r\n')}${'x'.repeat(60_000)}`);
    expect(answered.match(/HTTP\/1.1 200 /g)).to.have.length(2);
  });

  it('may be read in part: the next request on the connection is served', async () => {
    const { port } = await startImports(10_000_000);
    const body = Buffer.alloc(5_000_000, 'x');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < 2; round++) {
      const sending = httpRequest({ port, method: 'POST', path: '/begun', agent, headers: { 'Content-Type': 'application/json' } });
      const answered = once(sending, 'response');
      sending.end(body);
      const [response] = (await answered) as [IncomingMessage];
      expect(response.statusCode).to.equal(200);
      response.resume();
      await once(response, 'end');
    }
    agent.destroy();
  });
});
