// Lists of links: their parameters and faults, orders and ties, search and pages.
import { expect } from 'chai';
import { createDatabaseOfLocaleC, createTestDatabase } from '../../../support/postgres.ts';
import { useService } from '../service.ts';
import { author, link, mail, newsletter, withoutIds } from '../store.ts';

const unknownId = '0197c000-0000-7000-8000-000000000000';

describe('GET /api/links', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now });
  const { query } = running.database;
  beforeEach(() => void (clock.now = new Date('2026-03-15T12:00:00Z')));

  type Given = Parameters<typeof link>[1] & { readonly status?: string; readonly score?: number; readonly firstSeen?: string };
  /** Each link in a newsletter of its own; the last part of its address names it. */
  async function fill(links: Readonly<Record<string, Given>>): Promise<void> {
    for (const [name, { status, score, firstSeen, ...more }] of Object.entries(links)) {
      await running.database.newsletters.store(mail(undefined, clock.now), newsletter([link(`https://example.org/${name}`, { title: name, ...more })]));
      await query(
        'update links set status = coalesce($2, status), priority_score = coalesce($3, priority_score), first_seen = coalesce($4, first_seen) where url = $1',
        [...[`https://example.org/${name}`, status, score, firstSeen]],
      );
    }
  }
  const names = (items: { url: string }[]) => items.map(({ url }) => url.split('/').at(-1));
  const list = async (parameters = '') => {
    const { status, body, text } = await running.get(`/api/links${parameters}`);
    if (status !== 200) throw new Error(text);
    return names(body.data);
  };

  it('answers items with every documented property, and pagination', async () => {
    await fill({ a: { title: 'Caching', authors: [author('Bob'), author('ann', { handle: 'ann' })] } });
    const { status, headers, body } = await running.get('/api/links');
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(body).to.deep.equal({
      success: true,
      data: [
        {
          id: body.data[0].id,
          url: 'https://example.org/a',
          title: 'Caching',
          status: 'Awaiting',
          priorityScore: 6.33,
          firstSeen: '2026-03-15T12:00:00.000Z',
          lastSeen: '2026-03-15T12:00:00.000Z',
          authorNames: ['ann', 'Bob'],
          newsletterAppearanceCount: 1,
        },
      ],
      pagination: { page: 1, perPage: 20, totalItems: 1, totalPages: 1 },
    });
    expect(body.data[0].id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  it('answers an empty list with no pages', async () => {
    expect((await running.get('/api/links')).body).to.deep.equal({
      success: true,
      data: [],
      pagination: { page: 1, perPage: 20, totalItems: 0, totalPages: 0 },
    });
  });

  describe('parameters', () => {
    const wrong = { status: 'status=Wrong', sort: 'sort=wrong', page: 'page=0', per_page: 'per_page=0' };
    for (const [index, [name, fault]] of Object.entries(wrong).entries())
      it(`answers 422 for a wrong ${name} before it looks at what stands behind it in: status, sort, page, per_page`, async () => {
        const later = Object.values(wrong).slice(index + 1);
        for (const parameters of [
          [fault, ...later],
          [...later, fault],
        ]) {
          const { status, body } = await running.get(`/api/links?${parameters.join('&')}`);
          expect(status).to.equal(422);
          expect(body.success).to.equal(false);
          expect(body.message).to.match(new RegExp(`^${name} must be`));
        }
      });

    for (const parameters of [
      ...[
        'status=1',
        'status=0',
        'status=Liked,Awaiting',
        'sort=score',
        'sort=priority%20desc',
        'page=-1',
        'page=1.5',
        'page=two',
        'page=%2B1',
        'page=+1',
        'per_page=%205%20',
      ],
      ...['page=99999999999999999999', 'per_page=101', 'per_page=-5', 'per_page=x', 'per_page=0x10', 'per_page=%00'],
    ])
      it(`answers 422 for ${parameters}`, async () => expect((await running.get(`/api/links?${parameters}`)).status).to.equal(422));

    for (const name of ['status', 'sort', 'page', 'per_page', 'search'])
      it(`answers 400 for ${name} given twice, as for every query`, async () => {
        const { status, body } = await running.get(`/api/links?${name}=1&${name}=1`);
        expect([status, body]).to.deep.equal([400, { success: false, message: `${name}: is given more than once` }]);
      });

    it('takes a trailing slash, as every route does', async () => expect((await running.get('/api/links/')).status).to.equal(200));

    it('takes status and sort in any case, and blank ones as absent', async () => {
      await fill({ a: { status: 'DiscardedAfterReview' }, b: {} });
      expect(await list('?status=discardedAFTERreview&sort=TITLE')).to.deep.equal(['a']);
      expect(await list('?status=&sort=%20&search=&page=&per_page=')).to.have.members(['a', 'b']);
      expect(await list('?page=1e0&per_page=2.0')).to.have.members(['a', 'b']);
    });

    for (const given of ['Awaiting', 'Liked', 'Discarded', 'DiscardedAfterReview'])
      it(`lists the links of status ${given} alone`, async () => {
        await fill(Object.fromEntries(['Awaiting', 'Liked', 'Discarded', 'DiscardedAfterReview'].map((status) => [status, { status }])));
        expect(await list(`?status=${given}`)).to.deep.equal([given]);
      });

    it('pages through everything once, and past the end answers nothing with true totals', async () => {
      await fill(Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`l${index}`, {}])));
      const pages = await Promise.all([1, 2, 3].map((page) => list(`?per_page=3&page=${page}`)));
      expect(pages.map(({ length }) => length)).to.deep.equal([3, 3, 1]);
      expect(new Set(pages.flat())).to.have.property('size', 7);
      const past = await running.get('/api/links?per_page=3&page=999999999999999');
      expect(past.body).to.deep.equal({ success: true, data: [], pagination: { page: 999_999_999_999_999, perPage: 3, totalItems: 7, totalPages: 3 } });
    });

    it('takes per_page of 1 and of 100', async () => {
      await fill({ a: {}, b: {} });
      expect((await running.get('/api/links?per_page=1')).body.pagination).to.deep.equal({ page: 1, perPage: 1, totalItems: 2, totalPages: 2 });
      expect((await running.get('/api/links?per_page=100')).body.pagination).to.deep.equal({ page: 1, perPage: 100, totalItems: 2, totalPages: 1 });
    });
  });

  describe('orders', () => {
    const early = '2026-03-01T00:00:00Z';
    const late = '2026-03-02T00:00:00Z';
    const links = {
      c: { score: 9, firstSeen: early },
      a: { score: 5, firstSeen: early },
      B: { score: 5, firstSeen: late },
      a2: { title: 'a', score: 5, firstSeen: late },
    };
    beforeEach(() => fill(links));

    it('by priority unless given: score descending, then firstSeen descending, then id', async () => {
      expect(await list()).to.deep.equal(['c', 'B', 'a2', 'a']);
      expect(await list('?sort=priority')).to.deep.equal(['c', 'B', 'a2', 'a']);
    });
    it('newest: firstSeen descending, then id', async () => expect(await list('?sort=newest')).to.deep.equal(['B', 'a2', 'c', 'a']));
    it('oldest: firstSeen, then id', async () => expect(await list('?sort=oldest')).to.deep.equal(['c', 'a', 'B', 'a2']));
    it('title: in any case, then id', async () => expect(await list('?sort=title')).to.deep.equal(['a', 'a2', 'B', 'c']));
  });

  describe('search', () => {
    it('finds a part of the title or of an author, in any case', async () => {
      await fill({ a: { title: 'On Caching' }, b: { title: 'x', authors: [author('Ann Cachet', { handle: null, customDomain: 'a.example' })] }, c: {} });
      expect(await list('?search=cACH&sort=title')).to.deep.equal(['a', 'b']);
      expect(await list('?search=%20Cachet%20')).to.deep.equal(['b']);
      expect(await list('?search=cach&status=Liked')).to.deep.equal([]);
      expect((await running.get('/api/links?search=cach')).body.pagination.totalItems).to.equal(2);
    });

    it('takes %, _ and \\ for themselves', async () => {
      await fill({ a: { title: '100% of a_b\\c' }, b: { title: '100 of axb/c' } });
      for (const text of ['100%', 'a_b', 'b\\c']) expect(await list(`?search=${encodeURIComponent(text)}`)).to.deep.equal(['a']);
    });

    it('finds nothing for text that Postgres could not store, and refuses none', async () => {
      await fill({ a: {} });
      for (const text of ['%00', "'", '%F0%9F%98%80', 'x'.repeat(5000)]) expect((await running.get(`/api/links?search=${text}`)).status).to.equal(200);
    });
  });

  it('shows scores that are no older than an hour, and its order is theirs', async () => {
    await fill({ a: { firstSeen: '2026-03-14T12:00:00Z' }, b: { score: 1 } });
    await query(`update links set scored_at = '2026-03-15T11:00:00Z'`);
    expect(await list()).to.deep.equal(['b', 'a']);
    expect(await query('select scored_at from links')).to.deep.equal([{ scored_at: clock.now }, { scored_at: clock.now }]);
  });

  describe('GET /api/links/{id}', () => {
    it('answers the detail: authors, and newsletters newest first', async () => {
      const found = link('https://example.org/a', { title: 'Caching', authors: [author('Ann')] });
      for (const day of [1, 2]) {
        const receivedDate = new Date(`2026-03-0${day}T00:00:00Z`);
        await running.database.newsletters.store(mail(undefined, clock.now), newsletter([found], { title: `Number ${day}`, receivedDate }));
      }
      const { id } = (await running.get('/api/links')).body.data[0];
      const { status, body } = await running.get(`/api/links/${id}`);
      expect(status).to.equal(200);
      expect(Object.keys(body.data)).to.have.members(['id', 'url', 'title', 'status', 'priorityScore', 'firstSeen', 'lastSeen', 'authors', 'newsletters']);
      expect(body.data).to.include({ id, url: 'https://example.org/a', title: 'Caching', status: 'Awaiting', priorityScore: 6.67 });
      expect(body.data.authors).to.deep.equal([{ id: body.data.authors[0].id, name: 'Ann' }]);
      expect(withoutIds(body.data.newsletters)).to.deep.equal([
        { title: 'Number 2', receivedDate: '2026-03-02T00:00:00.000Z' },
        { title: 'Number 1', receivedDate: '2026-03-01T00:00:00.000Z' },
      ]);
    });

    for (const id of [unknownId, 'x', '1', '%20', 'x'.repeat(3000)])
      it(`answers 404 for ${id.slice(0, 40)}`, async () => {
        const { status, body } = await running.get(`/api/links/${id}`);
        expect(status).to.equal(404);
        expect(body).to.deep.equal({ success: false, message: 'No such link' });
      });
  });

  describe('GET /api/links/prioritized', () => {
    it('answers all that wait, best first, when called bare, with pagination', async () => {
      await fill({ a: { score: 1 }, b: { score: 9 }, c: { status: 'Liked', score: 10 } });
      const { status, headers, body } = await running.get('/api/links/prioritized');
      expect(status).to.equal(200);
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
      expect(names(body.data)).to.deep.equal(['b', 'a']);
      expect(Object.keys(body.data[0])).to.have.members(Object.keys((await running.get('/api/links')).body.data[0]));
      expect(body.pagination).to.deep.equal({ page: 1, perPage: 2, totalItems: 2, totalPages: 1 });
    });

    it('answers none with pagination when none wait', async () => {
      const nothing = { success: true, data: [], pagination: { page: 1, perPage: 20, totalItems: 0, totalPages: 0 } };
      expect((await running.get('/api/links/prioritized')).body).to.deep.equal(nothing);
    });

    it('answers more than one piece of its answer holds, each once', async () => {
      const found = Array.from({ length: 2500 }, (_, index) => link(`https://example.org/${index}`));
      await running.database.newsletters.store(mail(undefined, clock.now), newsletter(found));
      const { body } = await running.get('/api/links/prioritized');
      expect(new Set(names(body.data))).to.have.property('size', 2500);
      expect(body.data).to.have.length(2500);
      expect(body.pagination).to.deep.equal({ page: 1, perPage: 2500, totalItems: 2500, totalPages: 1 });
    });

    it('takes page and per_page with the same 422s', async () => {
      await fill({ a: { score: 1 }, b: { score: 9 }, c: { score: 5 } });
      const { body } = await running.get('/api/links/prioritized?page=2&per_page=2');
      expect(names(body.data)).to.deep.equal(['a']);
      expect(body.pagination).to.deep.equal({ page: 2, perPage: 2, totalItems: 3, totalPages: 2 });
      expect(names((await running.get('/api/links/prioritized?per_page=1')).body.data)).to.deep.equal(['b']);
      expect((await running.get('/api/links/prioritized?page=2')).body.pagination).to.deep.equal({ page: 2, perPage: 20, totalItems: 3, totalPages: 1 });
      for (const parameters of ['page=0', 'page=x', 'per_page=0', 'per_page=101', 'per_page=1.5'])
        expect((await running.get(`/api/links/prioritized?${parameters}`)).status).to.equal(422);
    });

    it('leads on by a cursor with limit or after, skipping nothing that waits, whatever is decided meanwhile', async () => {
      await fill({ a: { score: 1 }, b: { score: 9 }, c: { status: 'Liked', score: 10 }, d: { score: 5 }, e: { score: 5 } });
      const first = (await running.get('/api/links/prioritized?limit=2')).body;
      expect(Object.keys(first)).to.have.members(['success', 'data', 'next']);
      const seen = names(first.data);
      await query(`update links set status = 'Discarded' where url like '%b'`);
      const second = (await running.get(`/api/links/prioritized?limit=2&after=${encodeURIComponent(first.next)}`)).body;
      seen.push(...names(second.data));
      expect(second.next).to.equal(null);
      expect(seen.toSorted()).to.deep.equal(['a', 'b', 'd', 'e']);
      expect([seen[0], seen[3]]).to.deep.equal(['b', 'a']);
      expect((await running.get('/api/links/prioritized?limit=4')).body.next).to.equal(null);
    });

    it('answers 422 for a wrong limit or cursor, and for a page with them', async () => {
      await fill({ a: { score: 1 }, b: { score: 9 } });
      const { next } = (await running.get('/api/links?sort=newest&limit=1')).body;
      for (const parameters of ['limit=0', 'limit=101', 'limit=x', 'after=x', `after=${encodeURIComponent(next)}`, 'page=1&limit=2', 'per_page=2&after=x'])
        expect((await running.get(`/api/links/prioritized?${parameters}`)).status, parameters).to.equal(422);
    });

    it('computes scores that are missing or an hour old before the first page by a cursor', async () => {
      await fill({ missing: { score: 1 }, fresh: { score: 3 } });
      await query(`update links set scored_at = null where url like '%missing'`);
      expect(names((await running.get('/api/links/prioritized?limit=1')).body.data)).to.deep.equal(['missing']);
    });

    it('computes scores that are missing or an hour old, and stores them; fresh ones stay', async () => {
      await fill({ missing: { score: 1 }, old: { score: 2 }, fresh: { score: 3 } });
      await query(`update links set scored_at = null where url like '%missing'`);
      await query(`update links set scored_at = '2026-03-15T11:00:00Z' where url like '%old'`);
      await query(`update links set scored_at = '2026-03-15T11:00:00.001Z' where url like '%fresh'`);
      expect(names((await running.get('/api/links/prioritized')).body.data)).to.deep.equal(['missing', 'old', 'fresh']);
      expect(await query('select priority_score as score from links order by score')).to.deep.equal([{ score: 3 }, { score: 6.33 }, { score: 6.33 }]);
    });
  });
});

for (const [locale, createDatabase] of Object.entries({ 'its own locale': createTestDatabase, 'locale C': createDatabaseOfLocaleC }))
  describe(`in a database of ${locale}`, () => {
    const running = useService({ createDatabase });
    const titles = ['Zoe', 'eve', 'Éamon', 'Crème brûlée'.normalize('NFD')];
    beforeEach(async () => {
      const links = titles.map((title, at) =>
        link(`https://example.org/${at}`, { title, authors: [author(title, { handle: null, customDomain: 'a.example' })] }),
      );
      await running.database.newsletters.store(mail(), newsletter(links));
    });
    const listed = async (path: string, member: string) => {
      const { data } = (await running.get(path)).body as { data: Readonly<Record<string, string>>[] };
      return data.map((item) => (item[member] ?? '').normalize('NFC'));
    };

    it('links and authors are in alphabetical order', async () => {
      const sorted = ['Crème brûlée', 'Éamon', 'eve', 'Zoe'];
      expect(await listed('/api/links?sort=title', 'title')).to.deep.equal(sorted);
      expect(await listed('/api/authors', 'name')).to.deep.equal(sorted);
    });

    it('a search finds a title or an author whatever the case, accents and normalization', async () => {
      for (const text of ['creme brulee', 'CRÈME', 'brûlée'.normalize('NFC')])
        expect(await listed(`/api/links?search=${encodeURIComponent(text)}`, 'title'), text).to.deep.equal(['Crème brûlée']);
      await running.database.query(`update links set title = 'x'`);
      expect(await listed('/api/links?search=eamon', 'url')).to.deep.equal(['https://example.org/2']);
    });
  });
