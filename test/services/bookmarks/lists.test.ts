// The lists: their order, filters, pages and entity tags.
import { expect } from 'chai';
import pg from 'pg';
import { unknownId, useService } from './service.ts';

type Listed = { readonly id: string; readonly title: string }[];
const titles = (list: Listed) => list.map(({ title }) => title);

describe('lists', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const catalogue = useService({ clock: () => clock.now });
  const list = async (query = '') => (await catalogue.get(`/api/bookmarks${query}`)).body as Listed;
  const later = (ms: number) => (clock.now = new Date(clock.now.getTime() + ms));

  describe('GET /api/bookmarks', () => {
    it('answers 200 with an empty array when there is none', async () => {
      const { status, headers, text } = await catalogue.get('/api/bookmarks');
      expect([status, text]).to.deep.equal([200, '[]']);
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
      expect((await catalogue.get('/api/bookmarks?limit=5')).text).to.equal('[]');
    });

    it('answers the whole array in order of dateAdded, then id', async () => {
      const added = [];
      for (const ms of [0, 0, -1000, 5, 0]) {
        later(ms);
        added.push(await catalogue.bookmark());
      }
      const expected = added.sort((a, b) => (a.dateAdded + a.id < b.dateAdded + b.id ? -1 : 1));
      expect(await list()).to.deep.equal(expected);
      expect(await list('?limit=100')).to.deep.equal(expected);
    });

    it('answers the bookmark as it is answered alone', async () => {
      const folder = await catalogue.folder();
      const given = { description: 'd', thumbnail: 't', tags: ['b', 'a'], folderId: folder.id, favorite: true };
      const alone = await catalogue.bookmark(given);
      for (const query of ['', '?limit=1', '?q=title', '?q=title&limit=1', '?tag=a', '?tag=a&limit=1']) expect(await list(query)).to.deep.equal([alone]);
    });

    it('is whole where it is longer than what is read at once', async () => {
      await catalogue.query(`insert into bookmarks (id, title, url, url_sha256, description, thumbnail, tags, favorite, date_added)
        select gen_random_uuid(), n, 'https://example.org/' || n, sha256(n::text::bytea), '', '', '{}', false, now() from generate_series(1, 401) n`);
      const all = await list();
      expect(new Set(all.map(({ id }) => id)).size).to.equal(401);
      for (const rows of [400, 200]) {
        await catalogue.query('delete from bookmarks where title::int > $1', [rows]);
        expect(await list()).to.have.length(rows);
      }
    });

    it('filters by tag, folderId and favorite, by all that are given', async () => {
      const folder = await catalogue.folder();
      await catalogue.bookmark({ title: 'tagged', tags: ['a', 'b'] });
      await catalogue.bookmark({ title: 'in the folder', folderId: folder.id });
      await catalogue.bookmark({ title: 'favorite', favorite: true });
      await catalogue.bookmark({ title: 'all', tags: ['a'], folderId: folder.id, favorite: true });
      for (const limit of ['', '&limit=10']) {
        expect(titles(await list(`?tag=a${limit}`))).to.deep.equal(['tagged', 'all']);
        expect(titles(await list(`?folderId=${folder.id}${limit}`))).to.deep.equal(['in the folder', 'all']);
        expect(titles(await list(`?favorite=true${limit}`))).to.deep.equal(['favorite', 'all']);
        expect(titles(await list(`?favorite=FALSE${limit}`))).to.deep.equal(['tagged', 'in the folder']);
        expect(titles(await list(`?tag=a&folderId=${folder.id}&favorite=true&q=all${limit}`))).to.deep.equal(['all']);
        expect(titles(await list(`?tag=b&favorite=true${limit}`))).to.deep.equal([]);
      }
    });

    it('tells tags apart by case, and looks at whole tags', async () => {
      await catalogue.bookmark({ tags: ['News'] });
      for (const [tag, found] of [
        ['News', 1],
        ['%20News%20', 1],
        ['news', 0],
        ['New', 0],
        ['%25', 0],
        ['', 1],
        ['%00', 0],
      ] as const)
        expect(await list(`?tag=${tag}`), tag).to.have.length(found);
    });

    it('finds nothing in a folder that is not there', async () => {
      await catalogue.bookmark();
      for (const id of [unknownId, 'x']) expect(await list(`?folderId=${id}`)).to.deep.equal([]);
    });

    for (const query of [
      'favorite=1',
      'limit=0',
      'limit=1001',
      'limit=x',
      'limit=1.5',
      'after=x',
      'after=WzEsMl0',
      ...[-1e308, -1e-320, 1].map((rank) => `after=${Buffer.from(JSON.stringify([1, unknownId, rank])).toString('base64url')}&q=a`),
      'q=a&q=b',
      `q=${'q'.repeat(2049)}`,
      `q=${Array.from({ length: 101 }, (_, index) => `w${index}`).join('+')}`,
      'sort=random',
      'url=example.org',
      'untagged=1',
      'dead=1',
      'subfolders=1',
      'include=everything',
      `tag=${'t'.repeat(101)}`,
    ])
      it(`answers 400 to ${query.slice(0, 20)}`, async () => {
        const { status, body } = await catalogue.get(`/api/bookmarks?${query}`);
        expect([status, Object.keys(body.errors).map((name) => name.replace(/\[\d+\]$/, ''))]).to.deep.equal([400, [query.split('=', 1)[0]]]);
      });

    it('takes empty parameters as absent', async () => {
      await catalogue.bookmark();
      expect(await list('?favorite=&limit=&after=&folderId=&tag=&q=')).to.have.length(1);
    });

    it('takes a limit of 1000', async () => {
      expect(await list('?limit=1000')).to.deep.equal([]);
    });
  });

  describe('pages', () => {
    async function pages(query: string): Promise<Listed[]> {
      const found: Listed[] = [];
      for (let target: string | undefined = query; target !== undefined;) {
        const { status, headers, body } = await catalogue.get(`/api/bookmarks${target}`);
        expect(status).to.equal(200);
        found.push(body);
        target = /^<(\?[^>]+)>; rel="next"$/.exec(headers.get('link') ?? '?')?.[1];
      }
      return found;
    }

    it('are linked until the last, which has no Link', async () => {
      for (let index = 0; index < 7; index++) await catalogue.bookmark({ title: `${index}` });
      expect((await pages('?limit=3')).map(titles)).to.deep.equal([['0', '1', '2'], ['3', '4', '5'], ['6']]);
      expect((await pages('?limit=7')).map((page) => page.length)).to.deep.equal([7]);
    });

    it('keep the filters that they were asked with', async () => {
      const folder = await catalogue.folder();
      const given = { tags: ['a & b', 'é'], folderId: folder.id, favorite: true };
      for (let index = 0; index < 5; index++) {
        await catalogue.bookmark({ title: `match ${index}`, ...given });
        await catalogue.bookmark({ title: `match of another folder ${index}`, tags: given.tags, favorite: true });
      }
      for (const query of [`?tag=a%20%26%20b&folderId=${folder.id}&favorite=true&limit=2`, `?q=match&folderId=${folder.id}&limit=2`])
        expect((await pages(query)).map((page) => page.length)).to.deep.equal([2, 2, 1]);
    });

    it('of a search go on in its order, each bookmark once', async () => {
      for (let index = 0; index < 10; index++)
        await catalogue.bookmark({ title: index % 3 === 0 ? 'tulip' : `a field of tulips ${index}`, description: index % 2 === 0 ? 'tulip' : '' });
      const whole = await list('?q=tulip');
      expect(whole).to.have.length(10);
      expect((await pages('?q=tulip&limit=3')).flat()).to.deep.equal(whole);
    });

    it('begin behind the last one, whatever was added or deleted meanwhile', async () => {
      const added = [];
      for (let index = 0; index < 4; index++) added.push(await catalogue.bookmark({ title: `${index}` }));
      const first = await catalogue.get('/api/bookmarks?limit=2');
      const next = /<(.*)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
      await catalogue.remove(`/api/bookmarks/${added[1].id}`);
      later(-60_000);
      await catalogue.bookmark({ title: 'earlier' });
      expect(titles(await list(next))).to.deep.equal(['2', '3']);
    });

    it('of a search and of a list without one have cursors of their own', async () => {
      for (let index = 0; index < 2; index++) await catalogue.bookmark();
      const after = async (query: string) => /after=([^&>]+)/.exec((await catalogue.get(query)).headers.get('link') ?? '')?.[1];
      expect((await catalogue.get(`/api/bookmarks?limit=1&q=title&after=${await after('/api/bookmarks?limit=1')}`)).status).to.equal(400);
      expect((await catalogue.get(`/api/bookmarks?limit=1&after=${await after('/api/bookmarks?limit=1&q=title')}`)).status).to.equal(400);
    });

    it('after a cursor without a limit come all that are left', async () => {
      for (let index = 0; index < 4; index++) await catalogue.bookmark({ title: `title ${index}` });
      for (const query of ['', 'q=title&']) {
        const link = (await catalogue.get(`/api/bookmarks?${query}limit=1`)).headers.get('link');
        const after = /after=([^&>]+)/.exec(link ?? '')?.[1];
        const left = await catalogue.get(`/api/bookmarks?${query}after=${after}`);
        expect(left.body).to.have.length(3);
        expect(left.headers.get('link')).to.equal(null);
      }
    });
  });

  describe('GET /api/folders', () => {
    it('answers a flat array in order of creation', async () => {
      const first = await catalogue.folder({ name: 'first' });
      later(1000);
      const second = await catalogue.folder({ name: 'second', parentId: first.id, icon: 'i' });
      expect((await catalogue.get('/api/folders')).body).to.deep.equal([first, second]);
      await catalogue.put(`/api/folders/${first.id}`, { name: 'first again' });
      expect((await catalogue.get('/api/folders')).body[0]).to.include({ id: first.id, name: 'first again' });
    });

    it('answers an empty array when there is none', async () => {
      expect((await catalogue.get('/api/folders')).text).to.equal('[]');
    });
  });

  describe('GET /api/tags', () => {
    it('answers the names in alphabetical order; unused ones stay', async () => {
      expect((await catalogue.get('/api/tags')).text).to.equal('[]');
      const { id } = await catalogue.bookmark({ tags: ['b', 'B', 'ä'] });
      await catalogue.bookmark({ tags: ['b', 'z', '\u{1F600}', '\uFF5A'] });
      await catalogue.remove(`/api/bookmarks/${id}`);
      expect((await catalogue.get('/api/tags')).body).to.deep.equal(['\u{1F600}', 'ä', 'b', 'B', 'z', '\uFF5A']);
    });
  });

  it('refuses a query parameter that /api/tags has not; the lists of the interface document ignore it', async () => {
    const refused = await catalogue.get('/api/tags?q=b');
    expect(refused.status).to.equal(400);
    expect(JSON.parse(refused.text)).to.deep.include({ errors: { q: ['is not known here; known: none'] } });
    for (const path of ['/api/bookmarks?_=1', '/api/folders?_=1']) expect((await catalogue.get(path)).status, path).to.equal(200);
  });

  describe('ETag', () => {
    const paths = ['/api/bookmarks', '/api/bookmarks?limit=1', '/api/bookmarks?q=title', '/api/folders', '/api/tags'];
    const tagOf = async (path: string) => (await catalogue.get(path)).headers.get('etag') ?? '';

    for (const path of paths)
      it(`of ${path} is strong, and stays until something is written`, async () => {
        await catalogue.bookmark({ tags: ['a'] });
        const tag = await tagOf(path);
        expect(tag).to.match(/^"[^"]+"$/);
        expect(await tagOf(path)).to.equal(tag);
        await catalogue.bookmark({ tags: ['b'] });
        expect(await tagOf(path)).not.to.equal(tag);
      });

    it('is the same for all lists, folders and counts of one state', async () => {
      await catalogue.bookmark();
      const tags = await Promise.all([...paths, '/api/bookmarks/counts', '/api/bookmarks?sort=newest&limit=1'].map(tagOf));
      expect(new Set(tags).size).to.equal(1);
    });

    it('is another one after each kind of write, and the same after a write that was refused', async () => {
      const folder = await catalogue.folder();
      const { id } = await catalogue.bookmark();
      const seen = new Set([await tagOf('/api/bookmarks')]);
      const body = { title: 't', url: 'https://example.org/' };
      const writes = [
        () => catalogue.put(`/api/bookmarks/${id}`, body),
        () => catalogue.post('/api/folders', { name: 'n' }),
        () => catalogue.put(`/api/folders/${folder.id}`, { name: 'n' }),
        () => catalogue.remove(`/api/folders/${folder.id}?cascade=true`),
        () => catalogue.remove(`/api/bookmarks/${id}`),
      ];
      for (const [index, write] of writes.entries()) {
        expect((await write()).status).to.be.lessThan(300);
        expect(seen.add(await tagOf('/api/bookmarks')).size).to.equal(index + 2);
      }
      await catalogue.put(`/api/bookmarks/${id}`, body);
      await catalogue.remove(`/api/folders/${folder.id}`);
      await catalogue.post('/api/bookmarks', { ...body, folderId: unknownId });
      expect(seen).to.include(await tagOf('/api/bookmarks'));
    });

    for (const path of paths)
      it(`of ${path} is answered 304 without a body to who has it`, async () => {
        await catalogue.bookmark();
        const tag = await tagOf(path);
        for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
          const { status, headers, text } = await catalogue.get(path, { 'If-None-Match': known });
          expect([status, text, headers.get('etag')]).to.deep.equal([304, '', tag]);
        }
        for (const known of ['"other"', tag.slice(1, -1)]) expect((await catalogue.get(path, { 'If-None-Match': known })).status).to.equal(200);
      });

    it('is compared without reading a row of the list', async () => {
      const tag = await tagOf('/api/bookmarks');
      const client = new pg.Client({ connectionString: catalogue.databaseUrl });
      await client.connect();
      try {
        // Readers of the table wait for this lock.
        await client.query('begin');
        await client.query('lock table bookmarks.bookmarks in access exclusive mode');
        expect((await catalogue.get('/api/bookmarks', { 'If-None-Match': tag })).status).to.equal(304);
      } finally {
        await client.end();
      }
    });

    it('belongs to the rows that it comes with, however many writes there are meanwhile', async () => {
      let isOver = false;
      const writing = (async () => {
        for (let index = 0; !isOver; index++) await catalogue.bookmark({ title: `${index}`, tags: [`${index}`] });
      })();
      const byTag = new Map<string, string>();
      for (let round = 0; round < 60; round++) {
        const path = ['/api/bookmarks', '/api/bookmarks?limit=1000', '/api/tags'][round % 3] ?? '';
        const { headers, text } = await catalogue.get(path);
        const key = `${headers.get('etag')} ${path}`;
        expect(byTag.get(key) ?? text).to.equal(text);
        byTag.set(key, text);
        const count = JSON.parse(text).length;
        const same = byTag.get(`${headers.get('etag')} /api/tags`);
        if (same !== undefined) expect(JSON.parse(same).length).to.equal(count);
      }
      isOver = true;
      await writing;
    });
  });
});
