// Services that are away, slow, refuse the credential or answer nonsense, as the console meets them.
import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { z } from 'zod';
import { Secret } from '../../../services/platform/config/secret.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { Problem } from '../../../services/platform/problem.ts';
import { eventually } from '../../support/wait.ts';
import { createUpstream, pathOf } from '../../../services/console/upstream/client.ts';

const key = new Secret('a key of the tests');

describe('console upstream', () => {
  let server: Server;
  let handle: RequestListener = (_, response) => response.end('{}');
  let asked: { method?: string; url?: string; headers: Readonly<Record<string, unknown>> }[] = [];
  let url = '';
  before(async () => {
    server = createServer((request, response) => {
      asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
      handle(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => void (asked = []));
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  let now = 0;
  const metrics = createMetrics();
  const create = (parts: { url?: string; timeoutMs?: number } = {}) =>
    createUpstream({
      service: 'bookmarks',
      url,
      authorize: async () => ({ 'X-Api-Key': key.reveal() }),
      log: silentLog,
      metrics,
      now: () => now,
      ...parts,
    }).for({
      person: 'Éamon, admin',
      requestId: 'request-1',
      signal: new AbortController().signal,
    });
  const answering = (status: number, body: string, headers: Readonly<Record<string, string>> = {}) =>
    void (handle = (_, response) => response.writeHead(status, headers).end(body));
  const problemOf = async (work: Promise<unknown>): Promise<Problem> => {
    const error: unknown = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof Problem)) throw new Error(`no problem was thrown but ${String(error)}`);
    return error;
  };

  it('sends the credential, the id of the request, and the person, percent-encoded', async () => {
    answering(200, '{"a":1}');
    expect(await create().get('/api/things', z.object({ a: z.number() }), { q: 'x y', tag: ['a', 'b'], empty: '', none: undefined })).to.deep.equal({ a: 1 });
    const [{ url: path, headers } = { headers: {} }] = asked;
    expect(path).to.equal('/api/things?q=x+y&tag=a&tag=b');
    expect(headers).to.include({
      'x-api-key': key.reveal(),
      'x-request-id': 'request-1',
      'x-signalbox-actor': '%C3%89amon%2C%20admin',
      accept: 'application/json',
    });
  });

  it('names the service that is away', async () => {
    const { status, members } = await problemOf(create({ url: 'http://127.0.0.1:9' }).get('/', z.unknown()));
    expect([status, members['service']]).to.deep.equal([502, 'bookmarks']);
  });

  it('gives up a service that is slow, also in the middle of its answer', async () => {
    handle = () => undefined;
    expect((await problemOf(create({ timeoutMs: 50 }).get('/', z.unknown()))).status).to.equal(504);
    handle = (_, response) => void response.writeHead(200).write('{"a":');
    expect((await problemOf(create({ timeoutMs: 50 }).get('/', z.unknown()))).status).to.equal(504);
  });

  it('keeps connections, and asks once more where one was closed just then', async () => {
    answering(200, '{}');
    const ports = new Set<number | undefined>();
    server.on('connection', (socket) => ports.add(socket.remotePort));
    await create().get('/', z.unknown());
    await create().get('/', z.unknown());
    expect(ports.size, 'connections for two calls').to.be.at.most(1);
    handle = (request) => request.socket.destroy();
    expect((await problemOf(create().get('/', z.unknown()))).status, 'closed each time').to.equal(502);
    answering(200, '{}');
    await create().get('/', z.unknown());
    asked = [];
    handle = (request, response) => (asked.length === 1 ? request.socket.destroy() : response.end('{"a":1}'));
    expect(await create().get('/', z.object({ a: z.number() }))).to.deep.equal({ a: 1 });
    expect(asked).to.have.length(2);
    asked = [];
    expect((await problemOf(create().send({ method: 'POST', path: '/' }, z.unknown()))).status, 'a change is not repeated').to.equal(502);
    expect(asked).to.have.length(1);
  });

  it('tells how much of a body of bytes the service has taken', async () => {
    const body = Buffer.alloc(32 * 1_048_576, 1);
    const reading = Promise.withResolvers<void>();
    let received = 0;
    handle = (request, response) =>
      void reading.promise.then(() => request.on('data', (chunk: Buffer) => (received += chunk.length)).on('end', () => response.end('{}')));
    let taken = 0;
    const sent = create().send({ method: 'POST', path: '/', body, onSent: (bytes) => (taken = bytes) }, z.unknown());
    await eventually(() => expect(taken).to.be.above(0));
    expect(taken, 'while it reads nothing').to.be.below(body.length);
    reading.resolve();
    await sent;
    expect([taken, received]).to.deep.equal([body.length, body.length]);
    expect(asked[0]?.headers['content-length']).to.equal(String(body.length));
  });

  it('says that an answer broke off, also where it is read later, and that one is too long', async () => {
    handle = (request, response) => {
      response.writeHead(200, { 'Content-Length': '10' }).write('x');
      setImmediate(() => request.socket.destroy());
    };
    const opened = await create().open({ path: '/' });
    await eventually(() => expect(opened.body.closed).to.equal(true));
    expect((await problemOf(opened.bytes())).status).to.equal(502);
    expect((await problemOf(create().get('/', z.unknown()))).status).to.equal(502);
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    handle = (_, response) => {
      // Without an end: it is refused before.
      const more = () => {
        while (response.write(chunk));
      };
      response.on('drain', more);
      more();
    };
    expect((await problemOf(create().get('/', z.unknown()))).detail).to.equal('Its answer is too long.');
  });

  it('ends with the person who asked', async () => {
    const left = new AbortController();
    let closed: Promise<unknown> | undefined;
    handle = (_, response) => {
      closed = once(response, 'close');
      left.abort();
    };
    const upstream = createUpstream({ service: 'bookmarks', url, authorize: async () => ({}), log: silentLog, metrics: createMetrics() });
    const asking = upstream.for({ person: 'admin', requestId: 'request-1', signal: left.signal }).get('/', z.unknown());
    expect((await problemOf(asking)).status).to.equal(502);
    await closed;
  });

  it('gives the answer of before while its entity tag counts, and the new one then', async () => {
    let [tag, body] = ['"one"', '{"a":1}'];
    handle = (request, response) => {
      const isKnown = request.headers['if-none-match'] === tag;
      response.writeHead(isKnown ? 304 : 200, { ETag: tag }).end(isKnown ? undefined : body);
    };
    const upstream = create();
    const answerOf = () => upstream.getKept('/api/things', z.object({ a: z.number() }));
    expect([await answerOf(), await answerOf()]).to.deep.equal([{ a: 1 }, { a: 1 }]);
    [tag, body] = ['"two"', '{"a":2}'];
    expect([await answerOf(), await answerOf()]).to.deep.equal([{ a: 2 }, { a: 2 }]);
    expect(asked.map(({ headers }) => headers['if-none-match'])).to.deep.equal([undefined, '"one"', '"one"', '"two"']);
    asked = [];
    expect(await upstream.getKept('/api/things', z.object({ a: z.number() }), '"two"')).to.deep.equal({ a: 2 });
    expect(asked, 'its tag is that of another answer').to.deep.equal([]);
    [tag, body] = ['"three"', '{"a":3}'];
    expect(await upstream.getKept('/api/things', z.object({ a: z.number() }), '"three"')).to.deep.equal({ a: 3 });
    expect(asked.length).to.equal(1);
    for (let count = 0; count < 20; count++) await upstream.getKept(`/api/things/${count}`, z.unknown());
    asked = [];
    await upstream.getKept('/api/things/19', z.unknown());
    expect(asked[0]?.headers['if-none-match'], 'not all are kept').to.equal(undefined);
  });

  it('says what a service refuses, with the faults of each member', async () => {
    answering(400, JSON.stringify({ title: 'Bad Request', detail: 'not valid', errors: { title: ['must not be empty'] } }));
    const { status, detail, members } = await problemOf(create().get('/', z.unknown()));
    expect([status, detail, members['errors']]).to.deep.equal([400, 'not valid', { title: ['must not be empty'] }]);
  });

  it('reads the envelope of the link digest', async () => {
    answering(422, JSON.stringify({ success: false, message: 'no such status' }));
    expect((await problemOf(create().get('/', z.unknown()))).detail).to.equal('no such status');
  });

  for (const [given, expected] of [
    [404, 404],
    [410, 404],
    [409, 409],
    [412, 409],
    [403, 409],
    [429, 503],
    [503, 503],
    [500, 502],
    [301, 409],
  ] as const) {
    it(`answers ${expected} for ${given} of a service`, async () => {
      answering(given, 'not JSON', { 'Retry-After': '7', Location: 'https://evil.example/' });
      const problem = await problemOf(create().get('/', z.unknown()));
      expect(problem.status).to.equal(expected);
      if (expected === 503) expect(problem.headers).to.deep.equal({ 'Retry-After': '7' });
      expect(asked).to.have.length(1);
    });
  }

  it('says that an answer is no JSON', async () => {
    answering(200, '<html>');
    expect((await problemOf(create().get('/', z.unknown()))).status).to.equal(502);
  });

  it('stops asking after a first 401, for five minutes, and says so in its metrics', async () => {
    answering(401, '{}');
    const upstream = create();
    expect((await problemOf(upstream.get('/', z.unknown()))).members['service']).to.equal('bookmarks');
    answering(200, '{}');
    now += 299_000;
    expect((await problemOf(upstream.get('/', z.unknown()))).kind.title).to.include('credential');
    expect(asked).to.have.length(1);
    expect(await metrics.text()).to.include('signalbox_console_credential_refused{service="bookmarks"} 1');
    now += 2000;
    await upstream.get('/', z.unknown());
    expect(asked).to.have.length(2);
  });

  it('reads the cursor of a list from its Link', async () => {
    answering(200, '[1]', { Link: '<?limit=50&after=a%2Fb>; rel="next"' });
    expect(await create().getLinked('/', z.array(z.number()))).to.deep.equal({ items: [1], next: 'a/b', tag: undefined });
    answering(200, '[]');
    expect(await create().getLinked('/', z.array(z.number()))).to.deep.equal({ items: [], next: null, tag: undefined });
  });

  it('makes one segment of each value, and none of a step in the path', () => {
    expect(pathOf`/api/things/${'a/b?c#d'}/parts/${7}`).to.equal('/api/things/a%2Fb%3Fc%23d/parts/7');
    for (const value of ['', '.', '..']) expect(() => pathOf`/api/things/${value}`, value).to.throw(Problem);
    expect(pathOf`/x/${'\ud800'}`).to.equal('/x/%EF%BF%BD');
  });
});
