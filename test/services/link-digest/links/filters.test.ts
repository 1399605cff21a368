// Lists of links by cursor, by filters, and with the parts of their scores.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { useService } from '../service.ts';
import { author, link, mail, newsletter, withoutIds } from '../store.ts';

const unknownId = '0197c000-0000-7000-8000-000000000000';

describe('GET /api/links, what is added to its document', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now });
  const { query } = running.database;
  beforeEach(() => void (clock.now = new Date('2026-03-15T12:00:00Z')));

  type Given = Parameters<typeof link>[1] & { readonly url?: string; readonly receivedAt?: string };
  async function store(name: string, { url = `https://example.org/${name}`, receivedAt, ...more }: Given = {}): Promise<void> {
    const raw = mail(undefined, receivedAt === undefined ? clock.now : new Date(receivedAt));
    await running.database.newsletters.store(raw, newsletter([link(url, { title: name, ...more })], { title: name }));
  }
  const ok = async (path: string) => {
    const { status, body, text } = await running.get(path);
    if (status !== 200) throw new Error(text);
    return body;
  };
  const titles = (items: readonly { title: string }[]) => items.map(({ title }) => title);
  const list = async (parameters: string) => titles((await ok(`/api/links?${parameters}`)).data);

  async function walk(parameters: string, each: (page: number) => Promise<unknown> = () => Promise.resolve()): Promise<string[]> {
    const seen: string[] = [];
    let next: string | null = '';
    for (let page = 0; next !== null; page++) {
      const body: { data: { title: string }[]; next: string | null } = await ok(`/api/links?${parameters}&limit=3${next === '' ? '' : `&after=${next}`}`);
      expect(Object.keys(body)).to.have.members(['success', 'data', 'next']);
      seen.push(...titles(body.data));
      ({ next } = body);
      await each(page);
    }
    return seen;
  }

  describe('by cursor', () => {
    const names = ['a', 'B', 'c', 'É', 'e', 'f', 'g'];
    beforeEach(async () => {
      // Scores and times with ties.
      for (const [index, name] of names.entries()) await store(name, { receivedAt: `2026-03-0${1 + Math.floor(index / 3)}T00:00:00Z` });
      await query(`update links set priority_score = case when title in ('a', 'B', 'c', 'g') then 5 else 7 end, scored_at = $1`, [clock.now]);
    });

    for (const sort of ['priority', 'newest', 'oldest', 'title'])
      it(`answers the same links in the order of ${sort} as numbered pages do, each once`, async () => {
        expect(await walk(`sort=${sort}`)).to.deep.equal(await list(`sort=${sort}`));
        expect((await ok(`/api/links?sort=${sort}&limit=7`)).next).to.equal(null);
      });

    it('takes a page of 20 where only `after` is given, and ends behind the last link', async () => {
      const { next } = await ok('/api/links?limit=1&sort=title');
      const { data, next: last } = await ok(`/api/links?after=${next}&sort=title`);
      expect([titles(data), last]).to.deep.equal([['B', 'c', 'e', 'É', 'f', 'g'], null]);
    });

    it('skips no link when what was read before is decided on meanwhile, or others come in', async () => {
      const seen = await walk('status=Awaiting&sort=priority', async (page) => {
        await query(`update links set status = 'Discarded' where title in (select title from links order by priority_score desc limit 2)`);
        await store(`new ${page}`, { receivedAt: '2026-03-02T00:00:00Z' });
      });
      expect(seen).to.include.members(['a', 'B', 'c', 'g']);
    });

    it('skips no link whose old score is computed while it is read', async () => {
      await query(`update links set scored_at = null, priority_score = case when title = 'g' then 1 else priority_score end`);
      const seen = await walk('sort=priority');
      expect(seen.toSorted()).to.deep.equal(names.toSorted());
      expect(await query('select distinct priority_score as score from links where title = $1', ['g'])).to.deep.equal([{ score: 5.92 }]);
    });

    for (const include of ['', '&include=score'])
      it(`answers each of 25 links once, whose scores are two days old${include && `, with ${include.slice(1)}`}`, async () => {
        for (let index = names.length; index < 25; index++) await store(`link ${index}`, { receivedAt: `2026-03-${10 + (index % 5)}T00:00:00Z` });
        clock.now = new Date('2026-03-17T12:00:00Z');
        const { data: first, next } = await ok(`/api/links?limit=20${include}`);
        const { data: second, next: last } = await ok(`/api/links?limit=20&after=${next}${include}`);
        expect([first.length, new Set(titles([...first, ...second])).size, second.length, last]).to.deep.equal([20, 25, 5, null]);
      });

    it('keeps the scores behind a cursor by priority, also where their parts are shown', async () => {
      const { next } = await ok('/api/links?limit=2');
      await query('update links set priority_score = 1, scored_at = null');
      const { data } = await ok(`/api/links?limit=5&after=${next}&include=score`);
      expect(data[0]).to.deep.include({ priorityScore: 5.92 });
      expect(await query('select distinct priority_score as score, scored_at as at from links')).to.deep.equal([{ score: 1, at: null }]);
    });

    it('shows scores of the last hour', async () => {
      await query('update links set scored_at = null, priority_score = 1');
      const { data } = await ok('/api/links?limit=2&sort=newest');
      expect(data[0].priorityScore).to.equal(5.92);
    });

    for (const [parameters, message] of [
      ['limit=0', 'limit must be a whole number between 1 and 100'],
      ['limit=101', 'limit must be a whole number between 1 and 100'],
      ['limit=x', 'limit must be a whole number between 1 and 100'],
      ['after=nonsense', 'after must be the `next` of another page of this list'],
      ['after=WyJsaW5rcy5wcmlvcml0eSIsMSwyXQ', 'after must be the `next` of another page of this list'],
      ['limit=2&page=1', 'page and per_page must not be given with limit or after'],
      ['after=x&per_page=2', 'page and per_page must not be given with limit or after'],
      ['limit=0&per_page=0', 'per_page must be a whole number between 1 and 100'],
    ] as const)
      it(`answers 422 for ${parameters}`, async () => {
        const { status, body } = await running.get(`/api/links?${parameters}`);
        expect([status, body]).to.deep.equal([422, { success: false, message }]);
      });

    it('answers 422 for the cursor of another order', async () => {
      const { next } = await ok('/api/links?limit=1&sort=newest');
      expect((await running.get(`/api/links?limit=1&sort=oldest&after=${next}`)).status).to.equal(422);
    });

    it('takes a title with what Postgres could not store in a cursor, and one of the longest', async () => {
      const cursor = (...keys: unknown[]) => Buffer.from(JSON.stringify(['links.title', ...keys])).toString('base64url');
      expect((await running.get(`/api/links?sort=title&after=${cursor('\0\ud800', unknownId)}`)).status).to.equal(200);
      await store('𝒯'.repeat(500));
      await store('𝒯'.repeat(499));
      expect(await walk('sort=title')).to.have.length(9);
    });
  });

  describe('filters', () => {
    beforeEach(async () => {
      await store('first', { authors: [author('Ann')], receivedAt: '2026-03-01T00:00:00Z' });
      await store('second', { authors: [author('Ann'), author('Bob')], url: 'https://blog.example:8443/second', receivedAt: '2026-03-02T00:00:00Z' });
      await store('third', { url: 'https://www.blog.example/third?x=blog.example', receivedAt: '2026-03-03T00:00:00Z' });
      await store('fourth', { url: 'http://[2001:db8::1]/', receivedAt: '2026-03-04T00:00:00Z' });
      await store('fifth', { url: 'https://xn--bcher-kva.example/', receivedAt: '2026-03-05T00:00:00Z' });
    });
    const authorId = async (name: string) => String((await query('select id from authors where name = $1', [name]))[0].id);

    it('author: the links that any newsletter names the author for', async () => {
      expect(await list(`sort=oldest&author=${await authorId('Ann')}`)).to.deep.equal(['first', 'second']);
      expect(await list(`author=${(await authorId('Bob')).toUpperCase()}`)).to.deep.equal(['second']);
      expect(await list(`author=${unknownId}`)).to.deep.equal([]);
    });

    it('newsletter: the links that it holds', async () => {
      const [{ id }] = await query(`select id from newsletters where title = 'third'`);
      expect(await list(`newsletter=${id}`)).to.deep.equal(['third']);
      expect(await list(`newsletter=${unknownId}`)).to.deep.equal([]);
    });

    it('host: whatever its case, the port, and the script of its name', async () => {
      for (const [host, found] of [
        ['BLOG.example', ['second']],
        ['www.blog.example', ['third']],
        ['[2001:DB8::1]', ['fourth']],
        [encodeURIComponent('Bücher.example'), ['fifth']],
        ['blog', []],
      ] as const)
        expect(await list(`host=${host}`), host).to.deep.equal(found);
    });

    it('host: a link on one of a length that no index takes is kept like others', async () => {
      const host = `${Array.from({ length: 200 }, () => randomUUID()).join('.')}.example`;
      await store('long', { url: `https://${host}/long` });
      expect(await list('search=long')).to.deep.equal(['long']);
    });

    it('from and to: first seen at or after the one, before the other', async () => {
      expect(await list('sort=oldest&from=2026-03-02T00:00:00Z&to=2026-03-04T00:00:00Z')).to.deep.equal(['second', 'third']);
      expect(await list('sort=oldest&from=2026-03-05T00:00:00%2B02:00')).to.deep.equal(['fifth']);
      expect(await list('from=2026-03-02T00:00:00Z&to=2026-03-02T00:00:00Z')).to.deep.equal([]);
    });

    it('work together, with status, search and cursor, and count in the totals', async () => {
      const id = await authorId('Ann');
      const { data, pagination } = await ok(`/api/links?author=${id}&host=example.org&status=Awaiting&search=FIRST&to=2026-03-02T00:00:00Z&per_page=1`);
      expect([titles(data), pagination.totalItems]).to.deep.equal([['first'], 1]);
      expect(await walk(`author=${id}&sort=newest`)).to.deep.equal(['second', 'first']);
    });

    it('count as absent where they are blank', async () =>
      expect(await list('author=&newsletter=%20&host=&from=&to=&include=&after=&limit=')).to.have.length(5));

    for (const [parameters, message] of [
      ['author=Ann', 'author must be an id'],
      ['newsletter=1', 'newsletter must be an id'],
      ['host=https://blog.example/', 'host must be a host name, such as blog.example'],
      ['host=a%20b', 'host must be a host name, such as blog.example'],
      ['host=%00', 'host must be a host name, such as blog.example'],
      ['from=yesterday', 'from must be an ISO 8601 date and time with an offset or Z, such as 2026-03-15T12:00:00Z'],
      ['to=2026-02-30T00:00:00Z', 'to must be an ISO 8601 date and time with an offset or Z, such as 2026-03-15T12:00:00Z'],
      ['from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z', 'from must not be later than to'],
      ['include=authors', 'include must be one of score'],
    ] as const)
      it(`answers 422 for ${parameters}`, async () => {
        const { status, body } = await running.get(`/api/links?${parameters}`);
        expect([status, body]).to.deep.equal([422, { success: false, message }]);
      });
  });

  describe('include=score', () => {
    it('has the parts of each score, words and authors with their weights, as the explanation of the link alone', async () => {
      await store('Caching with Postgres', { authors: [author('Ann'), author('Bob')] });
      await store('Caching elsewhere', { authors: [author('Ann')] });
      const [{ id: liked }] = await query(`select id from links where title = 'Caching elsewhere'`);
      await running.ask('PUT', `/api/links/${liked}/status`, { status: 'Liked' });
      for (const parameters of ['', '&limit=5']) {
        const { data } = await ok(`/api/links?include=score&status=Awaiting${parameters}`);
        expect(data).to.have.length(1);
        const [{ id, priorityScore, score }] = data;
        const explained = (await ok(`/api/links/${id}/score`)).data;
        expect({ id, priorityScore, ...score }).to.deep.equal(explained);
        expect(score.factors.keyword.keywords).to.deep.equal([{ keyword: 'caching', weight: 0.1 }]);
        expect(withoutIds(score.factors.author.authors)).to.deep.equal([
          { name: 'Ann', weight: 0.2, value: 1, sampleSize: 1 },
          { name: 'Bob', weight: 0, value: 0, sampleSize: 0 },
        ]);
      }
    });

    it('is in the order of the scores that it shows', async () => {
      for (const name of ['a', 'b', 'c']) await store(name);
      await query(
        `update links set priority_score = 9, newsletter_count = 3, message_count = case title when 'a' then 1 when 'b' then 3 else 2 end, scored_at = $1`,
        [clock.now],
      );
      const { data }: { data: { title: string; priorityScore: number }[] } = await ok('/api/links?include=score');
      expect(data.map(({ title, priorityScore }) => [title, priorityScore])).to.deep.equal([
        ['b', 7],
        ['c', 6.67],
        ['a', 6.33],
      ]);
    });

    it('has links of one score in the order of the list, newest first', async () => {
      for (const name of ['a', 'b', 'c', 'd']) await store(name);
      // Old scores that differ, and new ones that do not.
      await query(
        `update links set first_seen = case title when 'b' then $1::timestamptz else $1::timestamptz - interval '1 second' end,
          priority_score = case title when 'b' then 1 else 2 end, scored_at = $1`,
        [clock.now],
      );
      const { data }: { data: { id: string; title: string }[] } = await ok('/api/links?include=score');
      expect(data[0]?.title).to.equal('b');
      expect(data.slice(1).map(({ id }) => id)).to.deep.equal(
        data
          .slice(1)
          .map(({ id }) => id)
          .toSorted(),
      );
    });

    it('is absent unless asked for', async () => {
      await store('a');
      expect(Object.keys((await ok('/api/links')).data[0])).not.to.include('score');
    });
  });
});
