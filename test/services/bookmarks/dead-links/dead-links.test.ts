// The watch for dead links, against real servers: the answers that count as gone, and one request at a time for each host.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createDeadLinks } from '../../../../services/bookmarks/dead-links/dead-links.ts';
import { createCheckStore } from '../../../../services/bookmarks/dead-links/store.ts';
import { measureDeadLinks } from '../../../../services/bookmarks/metrics.ts';
import { createOutbox } from '../../../../services/platform/events/events.ts';
import { createPublicFetch } from '../../../../services/platform/http/public-fetch.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { useService } from '../service.ts';

describe('dead links', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const catalogue = useService({ clock: () => clock.now });
  const seen: { host: string; method: string; url: string; startedAt: number; endedAt: number }[] = [];
  let answer: RequestListener;
  let server: Server;
  let port: number;
  let database: Pool;
  before(async () => {
    server = createServer((request, response) => {
      const entry = { host: request.headers.host ?? '', method: request.method ?? '', url: request.url ?? '', startedAt: performance.now(), endedAt: 0 };
      seen.push(entry);
      response.on('close', () => (entry.endedAt = performance.now()));
      answer(request, response);
    }).listen(0, '0.0.0.0');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port; // listening on TCP
    database = createPool(catalogue.databaseUrl, { schema: 'bookmarks', log: silentLog });
  });
  beforeEach(() => {
    seen.length = 0;
    answer = (_, response) => void response.end();
  });
  after(async () => {
    await database.close();
    server.closeAllConnections();
    server.close();
  });
  /** A page at the server, by one of its hosts. */
  const page = (path: string, host = '127.0.0.1') => `http://${host}:${port}/${path}`;
  const add = (url: string) => catalogue.bookmark({ title: url, url });
  const statuses =
    (given: Readonly<Record<string, number>>): RequestListener =>
    ({ url = '' }, response) =>
      void response.writeHead(given[url.slice(1)] ?? 200).end();

  /** All that is due, later by so many days. */
  async function check(days = 2, { allowed = ['127.0.0.0/8'], stopping = new AbortController().signal } = {}): Promise<void> {
    clock.now = new Date(clock.now.getTime() + days * 86_400_000);
    await createDeadLinks({
      config: { checkDays: 30, deadAfter: 3 },
      store: createCheckStore(database),
      fetchPublic: createPublicFetch(allowed),
      outbox: createOutbox({ eventsUrl: 'http://events.example/' }),
      log: silentLog,
      metrics: createMetrics(),
      clock: () => clock.now,
      stopping,
      pauseMs: 1,
    }).run();
  }
  beforeEach(() => catalogue.query('truncate own_events'));
  const dueNow = () => catalogue.query('update bookmarks set check_at = $1', [clock.now]);
  const found = async () => {
    const { body } = await catalogue.get('/api/bookmarks?include=check');
    return (body as { title: string; status: number | null; dead: boolean; checked: string | null }[]).map(({ title, status, dead, checked }) => ({
      page: title.replace(/^.*\//, ''),
      status,
      dead,
      isChecked: checked === clock.now.toISOString(),
    }));
  };
  const events = () => catalogue.query('select type, object, data from own_events order by sequence');

  it('checks no page on the day on which it was saved', async () => {
    await add(page('new'));
    clock.now = new Date();
    await check(0.9);
    expect(seen).to.deep.equal([]);
    await check(0.2);
    expect(seen.map(({ method, url }) => `${method} ${url}`)).to.deep.equal(['HEAD /new']);
  });

  it('records status and time, and asks again only after the interval', async () => {
    await add(page('there'));
    await dueNow();
    await check();
    expect(await found()).to.deep.equal([{ page: 'there', status: 200, dead: false, isChecked: true }]);
    await check(29);
    expect(seen).to.have.length(1);
    await check(5);
    expect(seen).to.have.length(2);
  });

  it('asks by GET where HEAD does not say that the page is there', async () => {
    answer = ({ method, url }, response) => {
      if (method === 'HEAD' && url === '/cut') response.destroy();
      else response.writeHead(method === 'HEAD' ? 405 : 200).end('x'.repeat(100_000));
    };
    await add(page('no-head'));
    await add(page('cut'));
    await dueNow();
    await check();
    expect(seen.map(({ method, url }) => `${method} ${url}`)).to.deep.equal(['HEAD /no-head', 'GET /no-head', 'HEAD /cut', 'GET /cut']);
    expect((await found()).map(({ status, dead }) => [status, dead])).to.deep.equal([
      [200, false],
      [200, false],
    ]);
  });

  it('takes a page for dead after three failed checks in a row, each later than the one before, and tells it once', async () => {
    answer = statuses({ gone: 404, over: 410, broken: 500, private: 401, forbidden: 403 });
    for (const path of ['gone', 'over', 'broken', 'private', 'forbidden']) await add(page(path));
    await dueNow();
    await check();
    expect((await found()).map(({ dead }) => dead)).to.deep.equal([false, false, false, false, false]);
    expect((await found()).map(({ status }) => status)).to.deep.equal([404, 410, 500, 401, 403]);
    await check(1.2);
    await check(1.5);
    expect(seen.filter(({ method, url }) => method === 'GET' && url === '/gone')).to.have.length(2);
    expect(await events()).to.deep.equal([]);
    await check(1);
    const dead = (await catalogue.get('/api/bookmarks?dead=true')).body as { id: string; title: string }[];
    expect(dead.map(({ title }) => title.replace(/^.*\//, ''))).to.deep.equal(['gone', 'over', 'broken']);
    const told = await events();
    expect(told.map(({ type, object }) => [type, object])).to.have.deep.members(dead.map(({ id }) => ['bookmark.dead', id]));
    expect(told[0]?.data).to.deep.include({ id: told[0]?.object, status: 404, url: page('gone'), title: page('gone') });
    await check(40);
    expect(await events()).to.have.length(3);
    expect((await catalogue.get('/api/bookmarks/counts')).body.dead).to.equal(3);
    const metrics = createMetrics();
    measureDeadLinks(createCheckStore(database), metrics);
    expect(await metrics.text()).to.match(/^signalbox_bookmarks_dead 3$/m);
  });

  it('takes a page that answers again for alive', async () => {
    await add(page('back'));
    await catalogue.query('update bookmarks set failures = 5, dead = true, status = 404');
    await dueNow();
    await check();
    expect(await found()).to.deep.equal([{ page: 'back', status: 200, dead: false, isChecked: true }]);
  });

  it('takes a server that does not answer for gone, and one without a public address for neither', async () => {
    await add('http://127.0.0.1:1/closed');
    await add('http://10.0.0.1/inside');
    await dueNow();
    await check();
    expect(await catalogue.query('select failures, status from bookmarks order by id')).to.deep.equal([
      { failures: 1, status: null },
      { failures: 0, status: null },
    ]);
    await check(60, { allowed: [] });
    expect(await catalogue.query('select failures from bookmarks order by id')).to.deep.equal([{ failures: 0 }, { failures: 0 }]);
    expect(seen).to.deep.equal([]);
  });

  it('asks each host one thing at a time, and several hosts at once', async () => {
    answer = (_, response) => void setTimeout(() => response.end(), 20);
    for (let index = 0; index < 12; index += 1) await add(page(`${index}`, `127.0.0.${1 + (index % 3)}`));
    await dueNow();
    await check();
    expect(seen).to.have.length(12);
    const overlap = (a: (typeof seen)[number], b: (typeof seen)[number]) => a.startedAt < b.endedAt - 1 && b.startedAt < a.endedAt - 1;
    const pairs = seen.flatMap((a, index) => seen.slice(index + 1).map((b) => [a, b] as const)).filter(([a, b]) => overlap(a, b));
    expect(pairs.filter(([a, b]) => a.host === b.host)).to.deep.equal([]);
    expect(pairs.length).to.be.greaterThan(0);
  });

  it('leaves a host alone that asks to come back later', async () => {
    answer = (_, response) => void response.writeHead(429, { 'Retry-After': '7200' }).end();
    for (const path of ['a', 'b', 'c']) await add(page(path));
    await dueNow();
    await check();
    expect(seen).to.have.length(1);
    expect((await found()).map(({ isChecked }) => isChecked)).to.deep.equal([false, false, false]);
    await check(1.9 / 24);
    expect(seen).to.have.length(1);
    answer = statuses({});
    await check(0.2 / 24);
    expect(seen).to.have.length(4);
  });

  it('counts nothing when no host answers at all: the network may be down', async () => {
    for (let index = 1; index <= 5; index += 1) await add(`http://127.0.0.${index}:1/`);
    await dueNow();
    await check();
    expect(await catalogue.query('select distinct failures, checked_at from bookmarks')).to.deep.equal([{ failures: 0, checked_at: null }]);
  });

  it('leaves a bookmark alone that has another address by the time of the answer', async () => {
    const { id } = await add(page('old'));
    answer = (_, response) => void catalogue.patch(`/api/bookmarks/${id}`, { url: page('new') }).then(() => response.writeHead(404).end());
    await dueNow();
    await check();
    expect(await catalogue.query('select failures, checked_at, url from bookmarks')).to.deep.equal([{ failures: 0, checked_at: null, url: page('new') }]);
  });

  it('gives a list another entity tag, since it may show the check', async () => {
    await add(page('x'));
    await dueNow();
    const { headers } = await catalogue.get('/api/bookmarks?include=check');
    await check();
    expect((await catalogue.get('/api/bookmarks?include=check', { 'If-None-Match': headers.get('etag') ?? '' })).status).to.equal(200);
  });

  it('ends soon when it is stopped', async () => {
    answer = () => undefined;
    await add(page('slow'));
    await dueNow();
    const stopping = new AbortController();
    const running = check(0, { stopping: stopping.signal });
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stopping.abort();
    await running;
    expect(await catalogue.query('select checked_at from bookmarks')).to.deep.equal([{ checked_at: null }]);
  });
});
