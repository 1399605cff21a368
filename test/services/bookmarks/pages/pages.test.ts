// A bookmark that is added by its address alone: what its page says about itself.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { factsOf } from '../../../../services/bookmarks/pages/page.ts';
import { apiKey, call, startService, type TestService, useService } from '../service.ts';
import { expectLinearTime } from '../../../support/linear-time.ts';

const at = new URL('https://a.example/b/c');

describe('factsOf', () => {
  for (const [what, html, facts] of [
    ['the title of the page', '<title> A\n page &amp; more </title>', { title: 'A page & more' }],
    ['the title for sharing before it', '<title>A page | Site</title><meta property="og:title" content="A page">', { title: 'A page' }],
    ['its description', '<meta name="Description" content="About it">', { description: 'About it' }],
    ['a picture, relative to the page', '<meta property="og:image" content="x.png">', { picture: 'https://a.example/b/x.png' }],
    ['a picture, relative to its base', '<base href="/d/"><meta name="twitter:image" content="x.png">', { picture: 'https://a.example/d/x.png' }],
    ['no picture that a browser would run', '<meta property="og:image" content="javascript:alert(1)">', { picture: '' }],
    ['no picture that is a data URL', '<meta property="og:image" content="data:text/html,x">', { picture: '' }],
    ['nothing of its body', '<body><title>of a drawing</title><meta name="description" content="x">', { title: '', description: '' }],
    ['no characters that turn a text around', '<title>a\u202eb\u0000c</title>', { title: 'a b c' }],
    ['at most 500 characters of a title', `<title>${'x'.repeat(600)}</title>`, { title: 'x'.repeat(500) }],
    ['nothing of an empty page', '', { title: '', description: '', picture: '' }],
  ] as const)
    it(`reads ${what}`, () => expect(factsOf(html, at)).to.deep.include(facts));

  it('reads elements that never end, and ends without a beginning, in linear time', () =>
    expectLinearTime((parts) => factsOf('<i>'.repeat(parts * 3000) + '</b>'.repeat(parts * 3000), at)));
  it('reads a long page in linear time', () => expectLinearTime((parts) => factsOf('<meta property="og:title" content="'.repeat(parts * 6000), at)));
});

describe('POST /api/bookmarks?fetch=true', () => {
  const catalogue = useService();
  let service: TestService;
  let page: Server;
  let address: string;
  let answer: { status: number; type: string; body: string | Buffer } = { status: 200, type: 'text/html', body: '' };
  let asked = 0;
  before(async () => {
    page = createServer((_, response) => {
      asked += 1;
      response.writeHead(answer.status, { 'Content-Type': answer.type }).end(answer.body);
    }).listen(0, '127.0.0.1');
    await once(page, 'listening');
    address = `http://127.0.0.1:${(page.address() as AddressInfo).port}/page`; // listening on TCP
    service = await startService({ databaseUrl: catalogue.databaseUrl, environment: { Pages__AllowedAddresses: '127.0.0.1' } });
  });
  beforeEach(() => {
    asked = 0;
    answer = { status: 200, type: 'text/html', body: '<title>Title</title><meta name=description content=About><meta property=og:image content=/x.png>' };
  });
  after(async () => {
    await service.close();
    page.close();
  });
  const add = (body: object, query = '?fetch=true', url = service.url) =>
    call(url, 'POST', `/api/bookmarks${query}`, { body, headers: { 'X-Api-Key': apiKey } });

  it('takes title, description and picture from the page', async () => {
    const { status, body } = await add({ url: address, tags: ['a'] });
    expect(status).to.equal(201);
    expect(body).to.deep.include({ title: 'Title', description: 'About', thumbnail: new URL('/x.png', address).href, tags: ['a'] });
  });

  it('keeps what the body has', async () => {
    const given = { title: 'mine', description: 'my words', thumbnail: 'https://x/y.png', url: address };
    expect((await add(given)).body).to.deep.include(given);
  });

  it('reads the character set of the page', async () => {
    answer = { status: 200, type: 'text/html; charset=iso-8859-1', body: Buffer.from('<title>Café</title>', 'latin1') };
    expect((await add({ url: address })).body.title).to.equal('Café');
    answer = { status: 200, type: 'text/html', body: Buffer.from('<meta charset=windows-1252><title>Café</title>', 'latin1') };
    expect((await add({ url: address })).body.title).to.equal('Café');
  });

  it('stores the bookmark under its address where the page cannot be had', async () => {
    for (const broken of [{ status: 404 }, { type: 'application/pdf' }, { body: '' }]) {
      answer = { ...answer, ...broken };
      expect((await add({ url: address })).body).to.deep.include({ title: address, description: '', thumbnail: '' });
    }
    expect((await add({ url: 'http://127.0.0.1:1/' })).body.title).to.equal('http://127.0.0.1:1/');
  });

  it('asks no address that is not public', async () => {
    expect((await add({ url: address }, '?fetch=true', catalogue.url)).body.title).to.equal(address);
    expect(asked).to.equal(0);
  });

  describe('POST /api/bookmarks/preview', () => {
    const preview = (body: object, url = service.url, headers: Record<string, string> = { 'X-Api-Key': apiKey }) =>
      call(url, 'POST', '/api/bookmarks/preview', { body, headers });

    it('answers the facts of the page and adds nothing', async () => {
      const { status, body } = await preview({ url: address });
      expect([status, body]).to.deep.equal([200, { title: 'Title', description: 'About', thumbnail: new URL('/x.png', address).href, existing: [] }]);
      expect((await call(service.url, 'GET', '/api/bookmarks')).body).to.deep.equal([]);
    });

    it('names the bookmarks of the page, the oldest first, however its address is spelled', async () => {
      const [first, second] = [(await add({ url: address, title: 'one' }, '')).body, (await add({ url: `${address}#part`, title: 'two' }, '')).body];
      await add({ url: `${address}/other`, title: 'other' }, '');
      expect((await preview({ url: `${address}/?utm_source=mail` })).body.existing).to.deep.equal([first, second]);
    });

    it('has no facts of a page that cannot be had, or is not public', async () => {
      answer = { ...answer, status: 404 };
      const nothing = { title: '', description: '', thumbnail: '', existing: [] };
      expect((await preview({ url: address })).body).to.deep.equal(nothing);
      asked = 0;
      expect((await preview({ url: address }, catalogue.url)).body).to.deep.equal(nothing);
      expect(asked).to.equal(0);
    });

    it('needs a key and an address', async () => {
      expect((await preview({ url: address }, service.url, {})).status).to.equal(401);
      expect(Object.keys((await preview({ url: 'ftp://a.example' })).body.errors)).to.deep.equal(['url']);
      expect((await preview({})).status).to.equal(400);
      expect(asked).to.equal(0);
    });
  });

  it('asks only for `fetch=true`, and then a title is not required', async () => {
    await add({ title: 't', url: address }, '');
    await add({ title: 't', url: address }, '?fetch=false');
    expect(asked).to.equal(0);
    expect(Object.keys((await add({ url: 'x' }, '')).body.errors)).to.deep.equal(['title', 'url']);
    expect(Object.keys((await add({ url: 'x' })).body.errors)).to.deep.equal(['url']);
  });
});
