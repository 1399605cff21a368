// Orders and filters of the list beyond tag, folder and favorite, and the counts.
import { expect } from 'chai';
import { useService } from './service.ts';

type Listed = { readonly id: string; readonly title: string }[];
const titles = (list: Listed) => list.map(({ title }) => title);

describe('orders and filters of bookmarks', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const catalogue = useService({ clock: () => clock.now });
  const list = async (query: string) => {
    const { status, body, text } = await catalogue.get(`/api/bookmarks?${query}`);
    expect(status, text).to.equal(200);
    return body as Listed;
  };
  const add = (given: object) => {
    clock.now = new Date(clock.now.getTime() + 1000);
    return catalogue.bookmark(given);
  };
  /** The list and its pages, which must agree. */
  async function found(query: string): Promise<string[]> {
    const whole = titles(await list(query));
    const paged: string[] = [];
    for (let target: string | undefined = `?${query}&limit=2`; target !== undefined;) {
      const { headers, body } = await catalogue.get(`/api/bookmarks${target}`);
      paged.push(...titles(body));
      target = /^<(\?[^>]+)>; rel="next"$/.exec(headers.get('link') ?? '?')?.[1];
    }
    expect(paged).to.deep.equal(whole);
    return whole;
  }

  describe('sort', () => {
    it('is by time in either direction, or by title as people expect', async () => {
      for (const title of ['Zoe', 'eve', 'Éamon', 'Adam', 'eve']) await add({ title });
      expect(await found('sort=oldest')).to.deep.equal(['Zoe', 'eve', 'Éamon', 'Adam', 'eve']);
      expect(await found('sort=NEWEST')).to.deep.equal(['eve', 'Adam', 'Éamon', 'eve', 'Zoe']);
      expect(await found('sort=title')).to.deep.equal(['Adam', 'Éamon', 'eve', 'eve', 'Zoe']);
      expect(await found('sort=title&q=e')).to.deep.equal(['Adam', 'Éamon', 'eve', 'eve', 'Zoe']);
    });

    it('goes on where a page ended, whatever comes before it meanwhile', async () => {
      for (const title of ['b', 'c', 'd']) await add({ title });
      const { headers } = await catalogue.get('/api/bookmarks?sort=title&limit=2');
      await add({ title: 'a' });
      const next = /<(\?[^>]+)>/.exec(headers.get('link') ?? '')?.[1] ?? '';
      expect(titles((await catalogue.get(`/api/bookmarks${next}`)).body)).to.deep.equal(['d']);
    });

    it('answers 400 to the cursor of another order', async () => {
      for (const title of ['a', 'b']) await add({ title });
      const { headers } = await catalogue.get('/api/bookmarks?sort=title&limit=1');
      const after = /after=([^&>]+)/.exec(headers.get('link') ?? '')?.[1] ?? '';
      for (const query of ['sort=newest', 'sort=oldest', 'q=a', '']) {
        const { status, body } = await catalogue.get(`/api/bookmarks?${query}&limit=1&after=${after}`);
        expect([status, Object.keys(body.errors)]).to.deep.equal([400, ['after']]);
      }
    });

    it('pages long titles', async () => {
      await add({ title: '\u{10000}'.repeat(500) });
      await add({ title: '\u{10001}'.repeat(500) });
      await add({ title: '\u{10002}'.repeat(500) });
      expect(await found('sort=title')).to.have.length(3);
    });
  });

  it('subfolders takes the folders below, at any depth', async () => {
    const top = await catalogue.folder({ name: 'top' });
    const below = await catalogue.folder({ name: 'below', parentId: top.id });
    const deep = await catalogue.folder({ name: 'deep', parentId: below.id });
    const other = await catalogue.folder({ name: 'other' });
    for (const [title, folderId] of Object.entries({ top: top.id, below: below.id, deep: deep.id, other: other.id, none: null }))
      await add({ title, folderId });
    expect(await found(`folderId=${top.id}&subfolders=true`)).to.deep.equal(['top', 'below', 'deep']);
    expect(await found(`folderId=${below.id}&subfolders=true&sort=newest`)).to.deep.equal(['deep', 'below']);
    expect(await found(`folderId=${top.id}&subfolders=false`)).to.deep.equal(['top']);
    expect(await found('subfolders=true')).to.have.length(5);
    expect(await found('folderId=x&subfolders=true')).to.deep.equal([]);
  });

  it('several tags want all of them', async () => {
    await add({ title: 'both', tags: ['a', 'b, c'] });
    await add({ title: 'one', tags: ['a'] });
    expect(await found('tag=a&tag=b,%20c')).to.deep.equal(['both']);
    expect(await found('tag=a&tag=')).to.deep.equal(['both', 'one']);
    expect(await found('tag=a&tag=x')).to.deep.equal([]);
  });

  it('untagged leaves what has no tag, or what has one', async () => {
    await add({ title: 'tagged', tags: ['a'] });
    await add({ title: 'bare' });
    expect(await found('untagged=true')).to.deep.equal(['bare']);
    expect(await found('untagged=false')).to.deep.equal(['tagged']);
  });

  describe('url', () => {
    it('finds every bookmark of the page, however its address is spelled', async () => {
      const spellings = [
        'https://A.example/post/?utm_source=x#top',
        'https://a.example:443/post',
        'https://www.google.com/url?q=https%3A%2F%2Fa.example%2Fpost',
      ];
      for (const url of spellings) await add({ title: url, url });
      await add({ title: 'another', url: 'https://a.example/post?page=2' });
      for (const url of [...spellings, ' https://a.example/post ']) expect(await found(`url=${encodeURIComponent(url)}`)).to.deep.equal(spellings);
      expect(await found('url=https://a.example/')).to.deep.equal([]);
    });

    it('follows a change of the address', async () => {
      const { id } = await add({ title: 'moved', url: 'https://a.example/old' });
      await catalogue.put(`/api/bookmarks/${id}`, { title: 'moved', url: 'https://a.example/new' });
      expect(await found('url=https://a.example/old')).to.deep.equal([]);
      expect(await found('url=https://a.example/new')).to.deep.equal(['moved']);
    });

    it('takes the longest address', async () => {
      const url = `https://a.example/${'é'.repeat(2030)}`;
      await add({ title: 'long', url });
      expect(await found(`url=${encodeURIComponent(url)}`)).to.deep.equal(['long']);
    });

    it('is answered by an index', async () => {
      const rows = await catalogue.query(`explain select id from bookmarks where url_sha256 = '\\x00'`);
      expect(JSON.stringify(rows)).to.contain('bookmarks_by_identity');
    });
  });

  describe('include=check and dead', () => {
    it('tell the last check of each page, and leave those whose page is gone', async () => {
      const gone = await add({ title: 'gone' });
      const fresh = await add({ title: 'fresh' });
      await catalogue.query(`update bookmarks set checked_at = '2026-03-20T04:10:00Z', status = 404, dead = true where id = $1`, [gone.id]);
      expect(await found('dead=true')).to.deep.equal(['gone']);
      expect(await found('dead=false')).to.deep.equal(['fresh']);
      const checks = [
        { ...gone, checked: '2026-03-20T04:10:00.000Z', status: 404, dead: true },
        { ...fresh, checked: null, status: null, dead: false },
      ];
      expect(await list('include=check')).to.deep.equal(checks);
      expect(await list('include=CHECK&limit=2')).to.deep.equal(checks);
      expect((await catalogue.get(`/api/bookmarks/${gone.id}?include=check`)).body).to.deep.equal(checks[0]);
      expect(await list('')).to.deep.equal([gone, fresh]);
    });

    it('forget the check of another address', async () => {
      const { id } = await add({ url: 'https://a.example/old' });
      const check = async () => {
        const { body } = await catalogue.get(`/api/bookmarks/${id}?include=check`);
        return [body.checked !== null, body.status, body.dead];
      };
      await catalogue.query('update bookmarks set checked_at = now(), status = 404, dead = true, failures = 3');
      await catalogue.put(`/api/bookmarks/${id}`, { title: 'new title', url: 'https://a.example/old' });
      expect(await check()).to.deep.equal([true, 404, true]);
      await catalogue.patch(`/api/bookmarks/${id}`, { url: 'https://a.example/new' });
      expect(await check()).to.deep.equal([false, null, false]);
      expect(await catalogue.query('select failures from bookmarks')).to.deep.equal([{ failures: 0 }]);
    });
  });

  describe('GET /api/bookmarks/counts', () => {
    const counts = async () => (await catalogue.get('/api/bookmarks/counts')).body;

    it('counts all, by folder and by tag', async () => {
      const folder = await catalogue.folder();
      const empty = await catalogue.folder();
      await add({ tags: ['b', 'A'], folderId: folder.id, favorite: true });
      const { id } = await add({ tags: ['b', 'unused'], folderId: folder.id });
      await catalogue.put(`/api/bookmarks/${id}`, { title: 't', url: 'http://x', tags: ['b'], folderId: folder.id });
      await add({});
      await catalogue.query('update bookmarks set dead = true where favorite');
      expect(await counts()).to.deep.equal({
        total: 3,
        favorites: 1,
        untagged: 1,
        withoutFolder: 1,
        dead: 1,
        folders: [
          { id: folder.id, count: 2 },
          { id: empty.id, count: 0 },
        ],
        tags: [
          { name: 'A', count: 1 },
          { name: 'b', count: 2 },
          { name: 'unused', count: 0 },
        ],
      });
    });

    it('answers zeros for an empty catalogue', async () => {
      expect(await counts()).to.deep.equal({ total: 0, favorites: 0, untagged: 0, withoutFolder: 0, dead: 0, folders: [], tags: [] });
    });

    it('sees each write, and answers 304 between them', async () => {
      for (const total of [1, 2]) {
        await add({});
        const { body, headers } = await catalogue.get('/api/bookmarks/counts');
        expect(body.total).to.equal(total);
        expect((await catalogue.get('/api/bookmarks/counts', { 'If-None-Match': headers.get('etag') ?? '' })).status).to.equal(304);
      }
    });
  });
});
