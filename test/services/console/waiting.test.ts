// The badges of the navigation, on link digests that answer, fail and never answer.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { expect } from 'chai';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createUpstream } from '../../../services/console/upstream/client.ts';
import { createWaiting } from '../../../services/console/waiting.ts';
import { eventually, freePort } from '../../support/wait.ts';
import { useConsole } from './service.ts';

describe('the badges of the console', () => {
  let server: Server;
  let asked = 0;
  let answerStatistics: RequestListener;
  const statistics = (waiting: number): RequestListener => {
    return (_, answered) => answered.setHeader('Content-Type', 'application/json').end(JSON.stringify({ data: { statusCounts: { Awaiting: waiting } } }));
  };
  const console = useConsole(async () => {
    server = createServer((request, answered) => {
      if (!request.url?.startsWith('/api/stats')) return void answered.writeHead(404).end('{}');
      asked += 1;
      answerStatistics(request, answered);
    });
    const port = await freePort();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return { environment: { Console__DigestUrl: `http://127.0.0.1:${port}`, Console__DigestKey: 'a key of the tests with 32 bytes or more' } };
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('shows how much waits, by one call for several pages', async () => {
    answerStatistics = statistics(24);
    const browser = await console.loggedIn();
    await eventually(async () => expect((await browser.get('/me')).text).to.match(/href="\/links"[^>]*>.*?24 wait/));
    const before = asked;
    for (let pages = 0; pages < 3; pages++) expect((await browser.get('/me')).text).to.include('24 wait');
    expect(asked).to.equal(before);
  });

  it('shows nothing to a person without the area', async () => {
    answerStatistics = statistics(24);
    expect((await (await console.personWith({ bookmarks: 'reader' })).get('/me')).text).not.to.include('class="waiting"');
  });
});

describe('numbers of what waits', () => {
  let server: Server;
  let waits = 1;
  /** The service answers after it. */
  let held: Promise<unknown> | undefined;
  let url = '';
  before(async () => {
    server = createServer((_, answered) => {
      void Promise.resolve(held).then(() => answered.end(JSON.stringify({ data: { statusCounts: { Awaiting: waits } } })));
    });
    const port = await freePort();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('are waited for a moment where they are old, and none is shown that is older than a minute', async () => {
    let now = 0;
    const upstream = createUpstream({ service: 'digest', url, authorize: async () => ({}), log: silentLog, metrics: createMetrics() });
    const waiting = createWaiting({ upstreams: { has: () => true, ask: (_, behalf) => upstream.for(behalf) }, log: silentLog, now: () => now });
    const look = async () => {
      waiting.begin(['links'], { person: 'admin', requestId: 'request-1' });
      await waiting.ready();
      return waiting.of('links');
    };
    await eventually(async () => expect(await look()).to.equal(1));
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    waits = 2;
    now = 59_000;
    let isThere = false;
    const looking = look().finally(() => (isThere = true));
    await new Promise((resolveNext) => setImmediate(resolveNext));
    expect(isThere).to.equal(false);
    expect(await looking).to.equal(1);
    now = 61_000;
    expect(await look()).to.equal(undefined);
    resolve();
    await eventually(async () => {
      now += 10_000;
      expect(await look()).to.equal(2);
    });
  });
});

describe('the badges of the console, where the service never answers', () => {
  let server: Server;
  const console = useConsole(async () => {
    server = createServer(() => undefined);
    const port = await freePort();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return { environment: { Console__DigestUrl: `http://127.0.0.1:${port}`, Console__DigestKey: 'a key of the tests with 32 bytes or more' } };
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('says nothing, and a page does not wait for the call to end', async () => {
    const browser = await console.loggedIn();
    const { status, text } = await browser.get('/me');
    expect(status).to.equal(200);
    expect(text).to.include('href="/links"').and.not.include('class="waiting"');
    // The call of the first page goes on: it is given up after two seconds, and the page was there before.
    expect(await new Promise((resolve) => server.getConnections((_, count) => resolve(count)))).to.equal(1);
  });
});
