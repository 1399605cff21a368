// The area of links, on a real link digest and a real catalogue of bookmarks.
import { expect } from 'chai';
import { apiKey, startService, migrations as catalogueMigrations, type TestService } from '../../bookmarks/service.ts';
import { createNewsletterReader } from '../../../../services/link-digest/mails/reader.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { useService } from '../../link-digest/service.ts';
import { author, environmentOf, link, mail, newsletter } from '../../link-digest/store.ts';
import { type Proxy, startProxy } from '../proxy.ts';
import { useConsole } from '../service.ts';

const hostile = '<script>alert(1)</script>';
const unknownId = '0197c000-0000-7000-8000-000000000000';

describe('console links', () => {
  const digest = useService();
  let catalogueDatabase: TestDatabase;
  let catalogue: TestService;
  let proxy: Proxy;
  const console = useConsole(async () => {
    catalogueDatabase = await createTestDatabase({ schema: 'bookmarks', migrations: catalogueMigrations });
    catalogue = await startService({ databaseUrl: catalogueDatabase.url });
    proxy = await startProxy(() => digest.url);
    return {
      environment: {
        Console__BookmarksUrl: catalogue.url,
        Console__BookmarksKey: apiKey,
        Console__DigestUrl: proxy.url,
        Console__DigestKey: environmentOf(digest.database.url).Jwt__Key,
      },
    };
  });
  beforeEach(() => proxy.meet(() => undefined));
  beforeEach(() => catalogue.database.driver.query('truncate bookmarks, folders, tags'));
  after(async () => {
    proxy.close();
    await catalogue.close();
    await catalogueDatabase.drop();
  });

  const store = (links: readonly ReturnType<typeof link>[], more = {}) => digest.database.newsletters.store(mail(), newsletter(links, more));
  const statusOf = async (url: string) => (await digest.database.query('select status from links where url = $1', [url]))[0]?.status;
  const idOf = async (url: string): Promise<string> => (await digest.database.query('select id from links where url = $1', [url]))[0].id;
  const saved = async () => (await catalogue.database.driver.query('select title, url from bookmarks')).rows;
  const url = 'https://blog.example/a';

  it('lists what waits without the statistics that do not come in time', async () => {
    await store([link(url, { title: 'New' })]);
    proxy.meet(({ path }) => (path.startsWith('/api/stats') ? 'hang' : undefined));
    const { status, text } = await (await console.loggedIn()).get('/links');
    expect(status).to.equal(200);
    expect(text).to.include('>New<').and.include('does not answer in time');
  }).timeout(20_000);

  it('lists what waits, the best first, with the reasons of its score', async () => {
    await store([link('https://blog.example/old', { title: 'Old' })], { receivedDate: new Date('2020-01-01T00:00:00Z') });
    await store([link(url, { title: 'New', authors: [author('Ada')] })], { receivedDate: new Date() });
    const { status, text } = await (await console.loggedIn()).get('/links');
    expect(status).to.equal(200);
    expect(text.indexOf('>New<')).to.be.within(1, text.indexOf('>Old<'));
    expect(text)
      .to.match(/fresh \+(1|0\.99)/)
      .and.to.include('in 1 newsletter +0.33')
      .and.to.include('Ada');
    expect(text).to.include('Links per day');
  });

  it('takes the day from which links are shown in the zone of the person', async () => {
    await store([link(url, { title: 'Late' })]);
    await digest.database.query(`update links set first_seen = '2026-03-14T23:30:00Z'`);
    const browser = await console.loggedIn();
    const isShown = async () => (await browser.get('/links?from=2026-03-15')).text.includes('>Late<');
    expect(await isShown()).to.equal(false);
    await console.query(`update people set zone = 'Europe/Berlin'`);
    expect(await isShown()).to.equal(true);
  });

  it('shows titles, authors and subjects as text, and no link that runs', async () => {
    await store([link(url, { title: hostile, authors: [author(hostile)] })], { title: hostile });
    const browser = await console.loggedIn();
    const [{ id }] = await digest.database.query('select id from newsletters');
    const [{ id: authorId }] = await digest.database.query('select id from authors');
    for (const path of ['/links', `/links/${await idOf(url)}`, '/newsletters', `/newsletters/${id}`, '/authors', `/authors/${authorId}`]) {
      const { status, text } = await browser.get(path);
      expect([path, status]).to.deep.equal([path, 200]);
      expect(text, path).to.include('&lt;script>').and.not.to.include('<script>alert').and.not.to.include('javascript:');
    }
  });

  it('decides, says so, and takes it back', async () => {
    await store([link(url, { title: 'Partitions' })]);
    const id = await idOf(url);
    const browser = await console.loggedIn();
    for (const status of ['Liked', 'Discarded', 'DiscardedAfterReview', 'Awaiting']) {
      const before = await statusOf(url);
      const { message, undo } = JSON.parse((await browser.act(`/links/${id}/decide`, { status })).text);
      expect(message).to.include('“Partitions”');
      expect(undo).to.deep.equal({ path: `/links/${id}/decide`, fields: { status: before } });
      expect(await statusOf(url)).to.equal(status);
    }
    const posted = await browser.post(`/links/${id}/decide`, { status: 'Liked' });
    expect(posted.status).to.equal(303);
    expect((await browser.get('/links')).text)
      .to.include('“Partitions” is liked')
      .and.to.include('No links are waiting');
  });

  it('says how the first newsletter is sent, at the address of the digest', async () => {
    const browser = await console.loggedIn();
    expect((await browser.get('/links')).text).to.include('href="/newsletters">Send the first newsletter');
    expect((await browser.get('/newsletters')).text)
      .to.match(/--data-binary @newsletter\.eml .*X-Ingest-Token: \$\{Ingest__Token%%,\*\}/)
      .and.to.match(/http:\/\/127\.0\.0\.1:\d+\/api\/ingest\/email'/);
  });

  it('decides on several, and takes that back', async () => {
    const urls = ['https://blog.example/1', 'https://blog.example/2', 'https://blog.example/3'];
    await store(urls.map((one) => link(one)));
    const ids = await Promise.all(urls.map(idOf));
    const browser = await console.loggedIn();
    const { message, undo } = JSON.parse((await browser.act('/links/decide', { id: ids, status: 'Discarded', was: 'Awaiting' })).text);
    expect(message).to.equal('3 links are discarded');
    expect(await Promise.all(urls.map(statusOf))).to.deep.equal(['Discarded', 'Discarded', 'Discarded']);
    expect((await browser.act(undo.path, undo.fields)).status).to.equal(200);
    expect(await Promise.all(urls.map(statusOf))).to.deep.equal(['Awaiting', 'Awaiting', 'Awaiting']);
  });

  it('puts a link into the bookmarks once, likes it, and takes both back', async () => {
    await store([link(url, { title: 'Partitions' })]);
    const id = await idOf(url);
    const browser = await console.loggedIn();
    const first = JSON.parse((await browser.act(`/links/${id}/bookmark`)).text);
    expect(await saved()).to.deep.equal([{ title: 'Partitions', url }]);
    expect(await statusOf(url)).to.equal('Liked');
    expect(JSON.parse((await browser.act(`/links/${id}/bookmark`)).text).message).to.include('in the bookmarks before');
    expect(await saved()).to.have.length(1);
    expect((await browser.act(first.undo.path, first.undo.fields)).status).to.equal(200);
    expect(await saved()).to.deep.equal([]);
    expect(await statusOf(url)).to.equal('Awaiting');
  });

  it('refuses another status, no selection, and what is not there', async () => {
    const browser = await console.loggedIn();
    expect((await browser.act(`/links/${unknownId}/decide`, { status: 'Loved' })).status).to.equal(400);
    expect((await browser.act('/links/decide', { status: 'Liked' })).status).to.equal(400);
    expect((await browser.act(`/links/${unknownId}/decide`, { status: 'Liked' })).status).to.equal(404);
    for (const path of [`/links/${unknownId}`, `/newsletters/${unknownId}`, `/newsletters/${unknownId}/mail`, `/authors/${unknownId}`]) {
      expect([path, (await browser.get(path)).status]).to.deep.equal([path, 404]);
    }
  });

  it('filters by status, text, host and time, in the address', async () => {
    await store([link(url, { title: 'Partitions' }), link('https://other.example/b', { title: 'Queues' })]);
    const browser = await console.loggedIn();
    for (const query of ['search=parti', 'host=blog.example', 'search=parti&sort=title&from=2020-01-01']) {
      expect((await browser.get(`/links?${query}`)).text, query)
        .to.include('>Partitions<')
        .and.not.to.include('>Queues<');
    }
    expect((await browser.get('/links?search=nothing')).text).to.include('Clear filters');
    expect((await browser.get('/links?status=Liked')).text).to.include('No links here yet');
    expect((await browser.get('/links?status=Loved')).status).to.equal(400);
  });

  it('pages by a cursor, each link once', async () => {
    await store(Array.from({ length: 60 }, (_, index) => link(`https://blog.example/${index}`, { title: `link-${index}.` })));
    const browser = await console.loggedIn();
    const titles = (text: string) => [...text.matchAll(/>(link-\d+\.)</g)].map(([, title]) => title);
    const { text } = await browser.get('/links?sort=title');
    const [, next = ''] = /href="(\/links\?[^"]*after=[^"]+)"/.exec(text) ?? [];
    const all = [...titles(text), ...titles((await browser.get(next.replaceAll('&amp;', '&'))).text)];
    expect(new Set(all).size).to.equal(60);
    expect(all).to.have.length(60);
  });

  it('shows the mail in a frame that runs nothing and, until asked, fetches nothing', async function () {
    this.timeout(60_000);
    const html = '<p onclick=x>Read <a href="https://blog.example/a">this</a><script>x</script><img src="https://blog.example/a.png" alt="A picture"></p>';
    const raw = mail(['From: Weekly <weekly@news.example>', 'Subject: Number 1', 'Content-Type: text/html', '', html].join('\r\n'));
    const parsed = await createNewsletterReader()(raw);
    await digest.database.newsletters.store(raw, parsed.kind === 'parsed' ? parsed.value : newsletter([]));
    const [{ id }] = await digest.database.query('select id from newsletters');
    const browser = await console.loggedIn();
    const page = await browser.get(`/newsletters/${id}`);
    expect(page.text)
      .to.include('sandbox="allow-popups allow-popups-to-escape-sandbox"')
      .and.to.include('Show 1 image of another site')
      .and.to.include('Weekly &lt;weekly@news.example>');
    const frame = await browser.get(`/newsletters/${id}/mail`);
    expect(frame.headers.get('content-security-policy'))
      .to.include("default-src 'none'")
      .and.to.include('sandbox')
      .and.to.include('img-src data:;')
      .and.to.include("frame-ancestors 'self'");
    expect(frame.text)
      .to.include('Read <a href="https://blog.example/a"')
      .and.not.to.include('<script')
      .and.not.to.include('a.png')
      .and.not.to.include('onclick');
    const shown = await browser.get(`/newsletters/${id}/mail?images=true`);
    expect(shown.text).to.include('https://blog.example/a.png');
    expect(shown.headers.get('content-security-policy')).to.include('img-src data: https:');
  });

  it('shows a mail of text as text', async function () {
    this.timeout(60_000);
    const raw = mail(['From: a@news.example', 'Subject: Text', 'Content-Type: text/plain', '', `${hostile} https://blog.example/a`].join('\r\n'));
    const parsed = await createNewsletterReader()(raw);
    await digest.database.newsletters.store(raw, parsed.kind === 'parsed' ? parsed.value : newsletter([]));
    const [{ id }] = await digest.database.query('select id from newsletters');
    expect((await (await console.loggedIn()).get(`/newsletters/${id}/mail`)).text)
      .to.include('&lt;script>')
      .and.not.to.include('<script');
  });

  it('shows an author with the share that is liked', async () => {
    await store([link(url, { authors: [author('Ada')] }), link('https://blog.example/b', { authors: [author('Ada')] })]);
    await digest.database.query(`update links set status = 'Liked' where url = $1`, [url]);
    await digest.database.query(`update links set status = 'Discarded' where url <> $1`, [url]);
    const [{ id }] = await digest.database.query('select id from authors');
    expect((await (await console.loggedIn()).get(`/authors/${id}`)).text).to.include('>50%<');
  });

  it('offers a reader no decision, and an editor of links alone no bookmark', async () => {
    await store([link(url)]);
    const id = await idOf(url);
    const reader = await console.personWith({ links: 'reader' });
    expect((await reader.get('/links')).text).not.to.include('/decide');
    expect((await reader.act(`/links/${id}/decide`, { status: 'Liked' })).status).to.equal(403);
    const editor = await console.personWith({ links: 'editor' });
    expect((await editor.get('/links')).text)
      .to.include('/decide')
      .and.not.to.include('/bookmark"');
    expect((await editor.act(`/links/${id}/bookmark`)).status).to.equal(403);
    expect(await saved()).to.deep.equal([]);
  });
});
