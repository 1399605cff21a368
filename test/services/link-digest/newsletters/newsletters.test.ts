// Newsletters, authors and totals as they are read.
import { expect } from 'chai';
import { useService } from '../service.ts';
import { author, link, mail, newsletter, withoutIds } from '../store.ts';

const unknownId = '0197c000-0000-7000-8000-000000000000';
const now = new Date('2026-03-15T12:00:00Z');

describe('what is read of newsletters', () => {
  const running = useService({ clock: () => now });
  const { query } = running.database;
  const day = (number: number) => new Date(`2026-03-0${number}T08:00:00Z`);
  const titles = (body: { data: { title: string }[] }) => body.data.map(({ title }) => title);

  async function fill(count: number): Promise<void> {
    for (let number = 1; number <= count; number++) {
      const links = Array.from({ length: number }, (_, index) => link(`https://example.org/${number}/${index}`));
      await running.database.newsletters.store(mail(undefined, now), newsletter(links, { title: `Number ${number}`, receivedDate: day(number) }));
    }
  }

  it('have the title null where the mail has no subject, wherever they are shown', async () => {
    const found = newsletter([link('https://example.org/a')], { title: null });
    await running.database.newsletters.store(mail(undefined, now), found);
    const [{ id }] = await query('select id from newsletters');
    const [{ id: linkId }] = await query('select id from links');
    expect((await running.get('/api/newsletters')).body.data[0]).to.include({ id, title: null });
    expect((await running.get(`/api/newsletters/${id}`)).body.data).to.include({ id, title: null });
    expect((await running.get(`/api/links/${linkId}`)).body.data.newsletters[0]).to.include({ id, title: null });
    expect((await running.get('/api/stats')).body.data.recentNewsletters[0]).to.include({ id, title: null });
  });

  describe('GET /api/newsletters', () => {
    it('answers newest first with link counts, all when called bare, and then without pagination', async () => {
      await fill(2);
      const { body } = await running.get('/api/newsletters');
      expect(body).to.deep.equal({
        success: true,
        data: [2, 1].map((number, index) => ({
          id: body.data[index].id,
          title: `Number ${number}`,
          receivedDate: day(number).toISOString(),
          destinationEmail: 'reader@example.org',
          linkCount: number,
        })),
      });
    });

    it('answers a page when one is asked for, with the same 422s as links', async () => {
      await fill(3);
      const { body } = await running.get('/api/newsletters?page=2&per_page=2');
      expect(titles(body)).to.deep.equal(['Number 1']);
      expect(body.pagination).to.deep.equal({ page: 2, perPage: 2, totalItems: 3, totalPages: 2 });
      for (const parameters of ['page=0', 'per_page=101', 'page=x', 'status=wrong'])
        expect((await running.get(`/api/newsletters?${parameters}`)).status).to.equal(422);
    });

    it('shows refused mails with their reasons under status=rejected, and nowhere else', async () => {
      await fill(1);
      await running.database.newsletters.reject(mail('refused', now), 'more than 2000 parts');
      const { body } = await running.get('/api/newsletters?status=REJECTED');
      expect(body).to.deep.equal({
        success: true,
        data: [
          {
            id: body.data[0].id,
            title: null,
            receivedDate: now.toISOString(),
            destinationEmail: null,
            linkCount: 0,
            reason: 'more than 2000 parts',
          },
        ],
      });
      expect((await running.get('/api/newsletters?status=rejected&page=1')).body.pagination.totalItems).to.equal(1);
      expect(titles((await running.get('/api/newsletters')).body)).to.deep.equal(['Number 1']);
      expect(titles((await running.get('/api/newsletters?status=stored')).body)).to.deep.equal(['Number 1']);
      expect((await running.get(`/api/newsletters/${body.data[0].id}`)).status).to.equal(404);
      expect((await running.get('/api/stats')).body.data.totalNewsletters).to.equal(1);
    });
  });

  describe('lists by cursor', () => {
    const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);
    async function walk(path: string, member: string): Promise<unknown[]> {
      const seen: unknown[] = [];
      for (let next: string | null = ''; next !== null;) {
        const answer = await running.get(`${path}limit=2${next === '' ? '' : `&after=${next}`}`);
        if (answer.status !== 200) throw new Error(answer.text);
        const body: { data: Readonly<Record<string, unknown>>[]; next: string | null } = answer.body;
        expect(Object.keys(body)).to.have.members(['success', 'data', 'next']);
        seen.push(...body.data.map((item) => item[member]));
        ({ next } = body);
      }
      return seen;
    }

    it('have all newsletters, newest first, each once, those of one time by id', async () => {
      await fill(5);
      await query(`update newsletters set received_date = $1 where title in ('Number 1', 'Number 2', 'Number 3')`, [day(1)]);
      const all = idsOf((await running.get('/api/newsletters')).body);
      expect(await walk('/api/newsletters?', 'id')).to.deep.equal(all);
    });

    it('have all refused mails with their reasons, apart from newsletters', async () => {
      await fill(1);
      for (const reason of ['one', 'two', 'three']) await running.database.newsletters.reject(mail(undefined, now), reason);
      expect(await walk('/api/newsletters?status=rejected&', 'reason')).to.have.members(['one', 'two', 'three']);
      const { next } = (await running.get('/api/newsletters?status=rejected&limit=1')).body;
      expect((await running.get(`/api/newsletters?after=${next}`)).status).to.equal(422);
    });

    it('have all authors by name, each once, whatever the case and equal names', async () => {
      const names = ['bob', 'Ann', 'Éva', 'eve', 'ann'];
      const authors = names.map((name, at) => author(name, { handle: null, customDomain: `${at}.example` }));
      await running.database.newsletters.store(mail(undefined, now), newsletter([link('https://example.org/a', { authors })]));
      const all = idsOf((await running.get('/api/authors')).body);
      expect(await walk('/api/authors?', 'id')).to.deep.equal(all);
    });

    for (const path of ['/api/newsletters', '/api/newsletters?status=rejected', '/api/authors'])
      for (const fault of ['limit=0', 'limit=101', 'limit=x', 'after=x', 'limit=1&page=1', 'limit=1&per_page=1'])
        it(`answer 422 for ${path} with ${fault}`, async () =>
          expect((await running.get(`${path}${path.includes('?') ? '&' : '?'}${fault}`)).status).to.equal(422));
  });

  describe('GET /api/stats/series', () => {
    it('has an item for each day, today last, with links, decisions and newsletters of that day in UTC', async () => {
      const stored = (at: string, ...names: string[]) =>
        running.database.newsletters.store(mail(undefined, new Date(at)), newsletter(names.map((name) => link(`https://example.org/${name}`))));
      await stored('2026-03-13T23:59:59.999Z', 'a', 'b');
      await stored('2026-03-14T00:00:00Z', 'b', 'c');
      await stored('2026-03-12T23:59:59.999Z', 'old');
      await running.database.newsletters.reject(mail(undefined, now), 'refused');
      const [{ id }] = await query(`select id from links where url like '%/a'`);
      await running.ask('PUT', `/api/links/${id}/status`, { status: 'Liked' });
      const { status, body } = await running.get('/api/stats/series?days=3');
      expect([status, body]).to.deep.equal([
        200,
        {
          success: true,
          data: [
            { day: '2026-03-13', linksIn: 2, decided: 0, newsletters: 1 },
            { day: '2026-03-14', linksIn: 1, decided: 0, newsletters: 1 },
            { day: '2026-03-15', linksIn: 0, decided: 1, newsletters: 0 },
          ],
        },
      ]);
      // A decision that is taken back does not count.
      await running.ask('PUT', `/api/links/${id}/status`, { status: 'Awaiting' });
      expect((await running.get('/api/stats/series?days=1')).body.data).to.deep.equal([{ day: '2026-03-15', linksIn: 0, decided: 0, newsletters: 0 }]);
    });

    it('has 30 days unless told otherwise, and at most 366', async () => {
      expect((await running.get('/api/stats/series')).body.data).to.have.length(30);
      const { data }: { data: { day: string }[] } = (await running.get('/api/stats/series?days=366')).body;
      expect([data.length, data[0]?.day, data.at(-1)?.day]).to.deep.equal([366, '2025-03-15', '2026-03-15']);
    });

    for (const days of ['0', '367', 'x', '1.5', '-1'])
      it(`answers 422 for days=${days}`, async () => {
        const { status, body } = await running.get(`/api/stats/series?days=${days}`);
        expect([status, body]).to.deep.equal([422, { success: false, message: 'days must be a whole number between 1 and 366' }]);
      });
  });

  describe('GET /api/newsletters/{id}', () => {
    it('answers every link in the order of the mail', async () => {
      const links = ['z', 'a', 'm'].map((name) => link(`https://example.org/${name}`, { title: name }));
      await running.database.newsletters.store(mail(undefined, now), newsletter(links));
      const { id } = (await running.get('/api/newsletters')).body.data[0];
      const { body } = await running.get(`/api/newsletters/${id}`);
      expect(body.data).to.include({ id, title: 'A newsletter', destinationEmail: 'reader@example.org', linkCount: 3 });
      expect(withoutIds(body.data.links)).to.deep.equal(
        ['z', 'a', 'm'].map((name) => ({ url: `https://example.org/${name}`, title: name, status: 'Awaiting' })),
      );
    });
    for (const id of [unknownId, 'x'])
      it(`answers 404 for ${id}`, async () =>
        expect((await running.get(`/api/newsletters/${id}`)).body).to.deep.equal({ success: false, message: 'No such newsletter' }));
  });

  describe('GET /api/stats', () => {
    it('answers a count of each status, the totals and the five newest newsletters', async () => {
      await fill(6);
      await query(`update links set status = 'Liked' where url like '%/6/%'`);
      await query(`update links set status = 'Discarded' where url like '%/2/%'`);
      await query(`update links set status = 'DiscardedAfterReview' where url like '%/1/%'`);
      const { body } = await running.get('/api/stats');
      expect(body.data).to.deep.include({
        statusCounts: { Awaiting: 12, Liked: 6, Discarded: 2, DiscardedAfterReview: 1 },
        totalLinks: 21,
        totalNewsletters: 6,
        totalAuthors: 0,
      });
      expect(withoutIds(body.data.recentNewsletters)).to.deep.equal(
        [6, 5, 4, 3, 2].map((number) => ({ title: `Number ${number}`, receivedDate: day(number).toISOString(), linkCount: number })),
      );
    });

    it('answers zeros when there is nothing', async () => {
      const statusCounts = { Awaiting: 0, Liked: 0, Discarded: 0, DiscardedAfterReview: 0 };
      expect((await running.get('/api/stats')).body).to.deep.equal({
        success: true,
        data: { statusCounts, totalLinks: 0, totalNewsletters: 0, totalAuthors: 0, recentNewsletters: [] },
      });
    });
  });

  describe('GET /api/authors', () => {
    const bob = author('Bob', { handle: null, customDomain: 'bob.example' });
    beforeEach(async () => {
      const links = [link('https://example.org/a', { authors: [author('zoe'), bob] }), link('https://example.org/b', { authors: [bob, author('Ann')] })];
      await running.database.newsletters.store(mail(undefined, now), newsletter(links));
    });

    it('answers alphabetically, in any case, with link counts, all when called bare', async () => {
      const { body } = await running.get('/api/authors');
      expect(body).to.deep.equal({
        success: true,
        data: [
          { id: body.data[0].id, name: 'Ann', handle: 'ann', customDomain: null, linkCount: 1 },
          { id: body.data[1].id, name: 'Bob', handle: null, customDomain: 'bob.example', linkCount: 2 },
          { id: body.data[2].id, name: 'zoe', handle: 'zoe', customDomain: null, linkCount: 1 },
        ],
      });
    });

    it('answers a page when one is asked for, with the same 422s as links', async () => {
      const { body } = await running.get('/api/authors?per_page=2&page=2');
      expect(body.data).to.have.length(1);
      expect(body.data[0].name).to.equal('zoe');
      expect(body.pagination).to.deep.equal({ page: 2, perPage: 2, totalItems: 3, totalPages: 2 });
      for (const parameters of ['page=0', 'per_page=101', 'page=x']) expect((await running.get(`/api/authors?${parameters}`)).status).to.equal(422);
    });

    it('has the decisions on the links of each with include=interactions, in every form of the list', async () => {
      await query(`update links set status = 'Liked' where url like '%/a'`);
      await query(`insert into authors (id, identity, name) values (gen_random_uuid(), 'none', 'zz')`);
      const counts = (liked: number, waiting: number) => ({ Awaiting: waiting, Liked: liked, Discarded: 0, DiscardedAfterReview: 0 });
      const expected = [
        ['Ann', counts(0, 1)],
        ['Bob', counts(1, 1)],
        ['zoe', counts(1, 0)],
        ['zz', counts(0, 0)],
      ];
      for (const parameters of ['', '&limit=4', '&page=1']) {
        const { data }: { data: { name: string; interactionCounts: object }[] } = (await running.get(`/api/authors?include=interactions${parameters}`)).body;
        expect(
          data.map(({ name, interactionCounts }) => [name, interactionCounts]),
          parameters,
        ).to.deep.equal(expected);
      }
      expect((await running.get('/api/authors?include=links')).status).to.equal(422);
    });

    it('answers one with every link and the counts of its factor of the score', async () => {
      await query(`update links set status = 'Liked' where url like '%/a'`);
      const { id } = (await running.get('/api/authors')).body.data[1];
      const { body } = await running.get(`/api/authors/${id}`);
      expect(body.data).to.deep.equal({
        ...{ id, name: 'Bob', handle: null, customDomain: 'bob.example', linkCount: 2 },
        interactionCounts: { Awaiting: 1, Liked: 1, Discarded: 0, DiscardedAfterReview: 0 },
        links: [
          { id: body.data.links[0].id, url: 'https://example.org/a', title: 'At https://example.org/a', status: 'Liked' },
          { id: body.data.links[1].id, url: 'https://example.org/b', title: 'At https://example.org/b', status: 'Awaiting' },
        ],
      });
    });

    for (const id of [unknownId, 'x'])
      it(`answers 404 for ${id}`, async () =>
        expect((await running.get(`/api/authors/${id}`)).body).to.deep.equal({ success: false, message: 'No such author' }));
  });
});
