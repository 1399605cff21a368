// One bookmark: what is taken, what is refused, and in which order it is looked at.
import { expect } from 'chai';
import pg from 'pg';
import { apiKey, call, startService, unknownId, useService } from './service.ts';

const members = ['id', 'title', 'url', 'description', 'thumbnail', 'tags', 'folderId', 'favorite', 'dateAdded'];

describe('bookmarks', () => {
  const clock = { now: new Date('2026-03-15T12:00:00.123Z') };
  const catalogue = useService({ clock: () => clock.now });

  describe('POST /api/bookmarks', () => {
    it('answers 201 with the bookmark and its Location', async () => {
      const folder = await catalogue.folder();
      const given = {
        title: 'Example',
        url: 'https://example.org/a?b#c',
        description: 'About it',
        thumbnail: 'https://example.org/i.png',
        tags: ['b', 'a'],
        folderId: folder.id,
        favorite: true,
      };
      const { status, headers, body } = await catalogue.post('/api/bookmarks', given);
      expect(status).to.equal(201);
      expect(Object.keys(body)).to.deep.equal(members);
      expect(body).to.deep.include({ ...given, tags: ['a', 'b'], dateAdded: '2026-03-15T12:00:00.123Z' });
      expect(headers.get('location')).to.equal(`/api/bookmarks/${body.id}`);
      expect((await catalogue.get(`/api/bookmarks/${body.id}`)).body).to.deep.equal(body);
    });

    it('gives ids of UUID version 7', async () => {
      expect((await catalogue.bookmark()).id).to.match(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    });

    it('needs title and url alone; the rest has its defaults', async () => {
      const created = await catalogue.bookmark();
      expect(created).to.deep.include({ description: '', thumbnail: '', tags: [], folderId: null, favorite: false });
    });

    it('takes null as omitted for every optional member', async () => {
      const created = await catalogue.bookmark({ description: null, thumbnail: null, tags: null, folderId: null, favorite: null });
      expect(created).to.deep.include({ description: '', thumbnail: '', tags: [], folderId: null, favorite: false });
    });

    it('takes ids in upper case, as other services do', async () => {
      const folder = await catalogue.folder();
      const created = await catalogue.bookmark({ folderId: String(folder.id).toUpperCase() });
      expect(created.folderId).to.equal(folder.id);
      expect((await catalogue.get(`/api/bookmarks/${String(created.id).toUpperCase()}`)).body).to.deep.equal(created);
      expect((await catalogue.get(`/api/folders/${String(folder.id).toUpperCase()}`)).body).to.deep.equal(folder);
      expect((await catalogue.get(`/api/bookmarks?folderId=${String(folder.id).toUpperCase()}`)).body).to.deep.equal([created]);
    });

    it('trims title and url, and stores the url as it was given otherwise', async () => {
      const created = await catalogue.bookmark({ title: '  Example \n', url: ' HTTPS://Example.ORG/%7Ea b ' });
      expect(created).to.include({ title: 'Example', url: 'HTTPS://Example.ORG/%7Ea b' });
    });

    it('encodes quotes and angle brackets of a url, which would end the attribute of a page', async () => {
      const created = await catalogue.bookmark({ url: 'https://example.org/?q="><b>`' });
      expect(created.url).to.equal('https://example.org/?q=%22%3E%3Cb%3E%60');
    });

    it('trims tags, drops blank ones and repeats, tells cases apart, and answers them in code-point order', async () => {
      const tags = ['\u{1F600}', '\uFF5A', ' b', 'a', 'B', '', '  ', 'b', 'ä'];
      const created = await catalogue.bookmark({ tags });
      expect(created.tags).to.deep.equal(['B', 'a', 'b', 'ä', '\uFF5A', '\u{1F600}']);
      expect((await catalogue.get(`/api/bookmarks/${created.id}`)).body.tags).to.deep.equal(created.tags);
    });

    it("ignores the client's id and dateAdded, and members that it does not know", async () => {
      const created = await catalogue.bookmark({ id: unknownId, dateAdded: '2001-01-01T00:00:00Z', Title: 'x', more: 1 });
      expect(created).to.include({ title: 'a title', dateAdded: clock.now.toISOString() });
      expect(created.id).not.to.equal(unknownId);
      expect(created).to.have.all.keys(members);
    });

    it('takes everything at its limit, counted in code points', async () => {
      const wide = (length: number) => '\u{1F600}'.repeat(length);
      const tags = Array.from({ length: 100 }, (_, index) => `${wide(97)}${100 + index}`);
      const url = `https://example.org/${'a'.repeat(2048 - 20)}`;
      const created = await catalogue.bookmark({ title: wide(500), url, description: wide(10_000), thumbnail: wide(8192), tags });
      expect(created.tags).to.deep.equal(tags);
      expect([...created.description]).to.have.length(10_000);
    });

    const refusals: readonly (readonly [what: string, given: object, member: string])[] = [
      ['a missing title', { title: undefined }, 'title'],
      ['a blank title', { title: ' \t' }, 'title'],
      ['a title that is null', { title: null }, 'title'],
      ['a title that is a number', { title: 7 }, 'title'],
      ['a title of 501 characters', { title: 't'.repeat(501) }, 'title'],
      ['a title with NUL', { title: 'a\0b' }, 'title'],
      ['a missing url', { url: undefined }, 'url'],
      ['a relative url', { url: '/a' }, 'url'],
      ['a url without slashes, which parses', { url: 'https:example.org' }, 'url'],
      ['a url of another scheme', { url: 'javascript:alert(1)//https://' }, 'url'],
      ['a url that does not parse', { url: 'http://[::1' }, 'url'],
      ['a url without a host', { url: 'http://' }, 'url'],
      ['a url of 2049 characters', { url: `https://example.org/${'a'.repeat(2029)}` }, 'url'],
      ['a description of 10 001 characters', { description: 'd'.repeat(10_001) }, 'description'],
      ['a url with a password', { url: 'https://ada:lovelace@example.org/' }, 'url'],
      ['a thumbnail that a browser would run', { thumbnail: ' javascript:alert(1)' }, 'thumbnail'],
      ['a thumbnail of bytes that are no picture', { thumbnail: 'data:text/html,<script>alert(1)</script>' }, 'thumbnail'],
      ['a thumbnail of 8193 characters', { thumbnail: 't'.repeat(8193) }, 'thumbnail'],
      ['tags that are no array', { tags: 'a,b' }, 'tags'],
      ['a tag that is no text', { tags: ['a', 1] }, 'tags[1]'],
      ['a tag of 101 characters', { tags: ['t'.repeat(101)] }, 'tags[0]'],
      ['101 tags', { tags: Array.from({ length: 101 }, (_, index) => `tag ${index}`) }, 'tags'],
      ['a favorite that is text', { favorite: 'true' }, 'favorite'],
      ['an unknown folderId', { folderId: unknownId }, 'folderId'],
      ['a folderId that is no id', { folderId: 'no id' }, 'folderId'],
      ['an empty folderId', { folderId: '' }, 'folderId'],
      ['a folderId that is a number', { folderId: 1 }, 'folderId'],
    ];
    for (const [what, given, member] of refusals)
      it(`answers 400 to ${what}`, async () => {
        const refused = await catalogue.post('/api/bookmarks', { title: 'a title', url: 'https://example.org/', ...given });
        expect(refused.status).to.equal(400);
        expect(refused.headers.get('content-type')).to.contain('application/problem+json');
        expect(Object.keys(refused.body.errors)).to.deep.equal([member]);
        expect(await catalogue.query('select 1 from bookmarks union all select 1 from tags')).to.have.length(0);
      });

    it('takes 100 tags that were more before repeats and blanks went', async () => {
      const tags = Array.from({ length: 100 }, (_, index) => `tag ${index}`);
      expect((await catalogue.bookmark({ tags: [...tags, ...tags, ''] })).tags).to.have.length(100);
    });

    it('tells all faults at once', async () => {
      const { body } = await catalogue.post('/api/bookmarks', { tags: [1], favorite: 0 });
      expect(body.errors).to.have.all.keys('title', 'url', 'tags[0]', 'favorite');
    });

    for (const body of ['', '{', '[]', 'null', '"text"'])
      it(`answers 400 to the body ${JSON.stringify(body)}`, async () => {
        expect((await catalogue.post('/api/bookmarks', body)).status).to.equal(400);
      });
  });

  describe('GET /api/bookmarks/{id}', () => {
    it('answers each of many at once with its own, the same one again, and 404 for those that are not there', async () => {
      const created = await Promise.all(['a', 'b', 'c'].map((title) => catalogue.bookmark({ title })));
      const wanted = Array.from({ length: 300 }, (_, index) => created[index % 5]);
      const answers = await Promise.all(wanted.map((bookmark) => catalogue.get(`/api/bookmarks/${bookmark?.id ?? unknownId}`)));
      answers.forEach(({ status, body }, index) => {
        if (wanted[index]) expect(body).to.deep.equal(wanted[index]);
        else expect(status).to.equal(404);
      });
    });

    for (const id of [unknownId, 'x', '%20', unknownId.toUpperCase(), '%00', "'", '00000000-0000-0000-0000-000000000000'])
      it(`answers 404 to ${id}`, async () => {
        const { status, body } = await catalogue.get(`/api/bookmarks/${id}`);
        expect([status, body.title]).to.deep.equal([404, 'No such bookmark']);
      });
  });

  describe('PUT /api/bookmarks/{id}', () => {
    it('replaces everything but id and dateAdded: what is omitted returns to its default', async () => {
      const folder = await catalogue.folder();
      const before = await catalogue.bookmark({ description: 'd', thumbnail: 't', tags: ['a'], folderId: folder.id, favorite: true });
      clock.now = new Date(clock.now.getTime() + 1000);
      const { status, body } = await catalogue.put(`/api/bookmarks/${before.id}`, { title: ' new ', url: 'http://example.org' });
      expect(status).to.equal(200);
      expect(body).to.deep.equal({
        id: before.id,
        title: 'new',
        url: 'http://example.org',
        description: '',
        thumbnail: '',
        tags: [],
        folderId: null,
        favorite: false,
        dateAdded: before.dateAdded,
      });
      expect((await catalogue.get(`/api/bookmarks/${before.id}`)).body).to.deep.equal(body);
    });

    it('looks at the fields, then at the folder, then at the id', async () => {
      const faulty = await catalogue.put(`/api/bookmarks/${unknownId}`, { title: '', url: 'https://example.org', folderId: unknownId });
      expect([faulty.status, Object.keys(faulty.body.errors)]).to.deep.equal([400, ['title']]);
      const homeless = await catalogue.put(`/api/bookmarks/${unknownId}`, { title: 't', url: 'https://example.org', folderId: unknownId });
      expect([homeless.status, Object.keys(homeless.body.errors)]).to.deep.equal([400, ['folderId']]);
      const missing = await catalogue.put(`/api/bookmarks/${unknownId}`, { title: 't', url: 'https://example.org' });
      expect(missing.status).to.equal(404);
    });

    it('adds no tag of a bookmark that is not there', async () => {
      await catalogue.put(`/api/bookmarks/${unknownId}`, { title: 't', url: 'https://example.org', tags: ['new'] });
      expect((await catalogue.get('/api/tags')).body).to.deep.equal([]);
    });
  });

  describe('DELETE /api/bookmarks/{id}', () => {
    it('answers 204 without a body, and then 404', async () => {
      const { id } = await catalogue.bookmark();
      const { status, text } = await catalogue.remove(`/api/bookmarks/${id}`);
      expect([status, text]).to.deep.equal([204, '']);
      expect((await catalogue.remove(`/api/bookmarks/${id}`)).status).to.equal(404);
      expect((await catalogue.get(`/api/bookmarks/${id}`)).status).to.equal(404);
    });
  });

  it('answers 404 to a write whose bookmark another one deletes, and never 500', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await catalogue.bookmark();
      const path = `/api/bookmarks/${id}`;
      const answers = await Promise.all([
        catalogue.remove(path),
        catalogue.put(path, { title: 'x', url: 'https://example.org/', tags: ['t'] }),
        catalogue.remove(path),
        catalogue.put(path, { title: 'y', url: 'https://example.org/' }),
      ]);
      expect(answers.filter(({ status }) => status === 204)).to.have.length(1);
      for (const { status } of answers) expect(status).to.be.oneOf([200, 204, 404]);
    }
  });

  it('answers 503 with Retry-After to a write while another session holds the catalogue, and every read', async () => {
    const service = await startService({ databaseUrl: catalogue.databaseUrl, statementMs: 200 });
    const client = new pg.Client({ connectionString: catalogue.databaseUrl });
    await client.connect();
    try {
      await client.query('begin');
      await client.query('select 1 from bookmarks.catalogue for update');
      const body = { title: 't', url: 'https://example.org/' };
      const writes = Array.from({ length: 6 }, () => call(service.url, 'POST', '/api/bookmarks', { body, headers: { 'X-Api-Key': apiKey } }));
      for (const path of ['/api/bookmarks', '/api/bookmarks?limit=1', '/api/folders', '/api/export'])
        expect((await call(service.url, 'GET', path)).status).to.equal(200);
      for (const { status, headers } of await Promise.all(writes)) expect([status, headers.get('retry-after')]).to.deep.equal([503, '5']);
    } finally {
      await client.end();
      await service.close();
    }
  });

  it('answers 405 with Allow to another method', async () => {
    const refused = await call(catalogue.url, 'PATCH', '/api/bookmarks', { headers: { 'X-Api-Key': 'a key of the tests' } });
    expect([refused.status, refused.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD, POST']);
  });
});
