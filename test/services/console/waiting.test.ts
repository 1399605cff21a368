// The badges of the navigation, on link digests that answer, fail and never answer.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { expect } from 'chai';
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
