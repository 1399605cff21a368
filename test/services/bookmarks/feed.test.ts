// The Atom feed: what it holds, and that a strict reader of XML takes it whatever bookmarks hold.
import { expect } from 'chai';
import { DomUtils, parseDocument } from 'htmlparser2';
import { useService } from './service.ts';

describe('GET /api/feed', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const catalogue = useService({ clock: () => clock.now });
  const add = (given: object) => {
    clock.now = new Date(clock.now.getTime() + 1000);
    return catalogue.bookmark(given);
  };
  async function feed(query = '') {
    const { status, text, headers } = await catalogue.get(`/api/feed${query}`);
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/atom+xml; charset=utf-8']);
    const document = parseDocument(text, { xmlMode: true });
    const textOf = (name: string, from = document) => DomUtils.textContent(DomUtils.getElementsByTagName(name, from.children, true, 1));
    return {
      text,
      id: textOf('id'),
      updated: textOf('updated'),
      titles: DomUtils.getElementsByTagName('entry', document.children).map((entry) =>
        DomUtils.textContent(DomUtils.getElementsByTagName('title', entry.children)),
      ),
    };
  }

  it('holds the newest first, with address, description, tags and time', async () => {
    await add({ title: 'old' });
    const { id } = await add({ title: 'new', url: 'https://a.example/?a=1&b=2', description: 'About', tags: ['maps'] });
    const { text, titles, updated } = await feed();
    expect(titles).to.deep.equal(['new', 'old']);
    expect(updated).to.equal('2026-03-15T12:00:02.000Z');
    for (const part of [
      `<id>urn:uuid:${id}</id>`,
      'href="https://a.example/?a=1&amp;b=2"',
      'About',
      'term="maps"',
      '<published>2026-03-15T12:00:02.000Z</published>',
    ])
      expect(text).to.contain(part);
  });

  it('takes the filters of the list', async () => {
    const folder = await catalogue.folder();
    await add({ title: 'tagged', tags: ['a', 'b'] });
    await add({ title: 'in the folder', folderId: folder.id });
    expect((await feed('?tag=a&tag=b')).titles).to.deep.equal(['tagged']);
    expect((await feed(`?folderId=${folder.id}&subfolders=true`)).titles).to.deep.equal(['in the folder']);
    expect((await feed('?q=-tagged')).titles).to.deep.equal(['in the folder']);
    expect((await feed('?tag=a')).id).not.to.equal((await feed('?tag=b')).id);
    expect((await feed('?tag=a')).id).to.equal((await feed('?tag=a')).id);
    expect((await catalogue.get('/api/feed?favorite=1')).status).to.equal(400);
  });

  it('has 50 entries at most, and none where there is no bookmark', async () => {
    expect(await feed()).to.deep.include({ titles: [], updated: '1970-01-01T00:00:00.000Z' });
    for (let index = 0; index < 51; index += 1) await add({ title: `${index}` });
    expect((await feed()).titles).to.have.length(50);
  });

  it('is well-formed whatever bookmarks hold, and shows their texts as they are', async () => {
    const odd = 'a <b>&amp; "q" ]]> \u0001\u001b\ufffe <script>alert(1)</script>';
    await add({ title: odd, description: odd, url: 'https://a.example/?"<>&', tags: ['x<y', '"&', '\u0007'] });
    const { text } = await feed(`?q=${encodeURIComponent('&amp; ]]>')}`);
    expect(text).to.not.match(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe]/); // eslint-disable-line no-control-regex -- these are what XML has not
    expect(text).to.contain('&lt;script&gt;').and.to.not.contain('<script>');
    expect(text).to.not.match(/="[^"]*<[^"]*"/);
  });

  it('answers 304 while nothing has changed', async () => {
    await add({});
    const etag = (await catalogue.get('/api/feed')).headers.get('etag') ?? '';
    expect((await catalogue.get('/api/feed', { 'If-None-Match': etag })).status).to.equal(304);
    await add({});
    expect((await catalogue.get('/api/feed', { 'If-None-Match': etag })).status).to.equal(200);
  });
});
