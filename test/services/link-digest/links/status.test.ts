// Decisions on links: what they change, what they teach, and what the score is then and why.
import { expect } from 'chai';
import { linkStatuses } from '../../../../services/link-digest/contract.ts';
import type { FoundLink } from '../../../../services/link-digest/extraction/extraction.ts';
import { useService } from '../service.ts';
import { author, link, mail, newsletter } from '../store.ts';

const unknownId = '0197c000-0000-7000-8000-000000000000';

describe('PUT /api/links/{id}/status', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now });
  const { query } = running.database;
  beforeEach(() => void (clock.now = new Date('2026-03-15T12:00:00Z')));

  const later = (ms: number) => void (clock.now = new Date(clock.now.getTime() + ms));
  const store = (...links: FoundLink[]) => running.database.newsletters.store(mail(undefined, clock.now), newsletter(links));
  const idOf = async (url: string): Promise<string> => (await query('select id from links where url = $1', [url]))[0].id;
  const put = (id: string, status: unknown) => running.ask('PUT', `/api/links/${id}/status`, { status });
  const a = link('https://example.org/a', { title: 'Caching with Postgres', authors: [author('Ann')] });
  const b = link('https://example.org/b', { title: 'Caching elsewhere', authors: [author('Ann'), author('Bob')] });
  const weights = async () => [
    ...(await query('select name, weight from authors order by name')).map(({ name, weight }) => [name, weight]),
    ...(await query('select keyword, weight from keywords order by keyword')).map(({ keyword, weight }) => [keyword, weight]),
  ];

  it('answers 200 with the list item in its new status and with its new score', async () => {
    await store(a, b);
    const id = await idOf(a.url);
    const { status, body } = await put(id, 'Liked');
    expect(status).to.equal(200);
    const listed = (await running.get('/api/links?status=Liked')).body.data[0];
    expect(body).to.deep.equal({ success: true, data: listed });
    // The link itself is one liked link of its author, and both words of its title are at 0.10.
    expect(body.data).to.include({ id, status: 'Liked', priorityScore: 8.21 });
  });

  it('takes every status from every status', async () => {
    await store(a);
    const id = await idOf(a.url);
    const all = ['Awaiting', 'Liked', 'Discarded', 'DiscardedAfterReview'];
    for (const from of all)
      for (const to of all) {
        await put(id, from);
        expect((await put(id, to)).body.data.status).to.equal(to);
      }
  });

  for (const [status, ...lesson] of [
    ['Liked', 0.2, 0.1],
    ['DiscardedAfterReview', -0.1, -0.05],
    ['Discarded', -0.2, -0.1],
  ] as const)
    it(`${status} teaches the author ${lesson[0]} and each keyword ${lesson[1]}`, async () => {
      await store(a, b);
      await put(await idOf(a.url), status);
      expect(await weights()).to.deep.equal([
        ['Ann', lesson[0]],
        ['Bob', 0],
        ['caching', lesson[1]],
        ['postgres', lesson[1]],
      ]);
    });

  it('Awaiting teaches nothing', async () => {
    await store(a);
    await put(await idOf(a.url), 'Liked');
    const before = await weights();
    later(10 * 60_000 + 1);
    await put(await idOf(a.url), 'Awaiting');
    expect(await weights()).to.deep.equal(before);
  });

  describe('a change back within ten minutes', () => {
    it('takes back what the change before it taught, for every status', async () => {
      await store(a, b);
      const id = await idOf(a.url);
      const before = await weights();
      for (const status of ['Liked', 'Discarded', 'DiscardedAfterReview']) {
        await put(id, status);
        expect(await weights()).not.to.deep.equal(before);
        later(10 * 60_000);
        const { body } = await put(id, 'Awaiting');
        expect(body.data.status).to.equal('Awaiting');
        expect(await weights()).to.deep.equal(before);
      }
      expect((await running.get(`/api/links/${id}/score`)).body.data.factors.keyword.sampleSize).to.equal(0);
    });

    it('takes back only the last change', async () => {
      await store(a);
      const id = await idOf(a.url);
      await put(id, 'Liked');
      const liked = await weights();
      await put(id, 'Discarded');
      await put(id, 'Liked');
      expect(await weights()).to.deep.equal(liked);
      // It is a change of its own, since the one before it is undone already.
      await put(id, 'Awaiting');
      expect(await weights()).to.deep.equal(liked);
    });

    it('takes back no more than was taught at a limit', async () => {
      await store(a);
      await query('update authors set weight = 0.9');
      await query(`insert into keywords (keyword, weight) values ('caching', 0.95)`);
      const id = await idOf(a.url);
      await put(id, 'Liked');
      expect(await weights()).to.deep.equal([
        ['Ann', 1],
        ['caching', 1],
        ['postgres', 0.1],
      ]);
      await put(id, 'Awaiting');
      expect(await weights()).to.deep.equal([
        ['Ann', 0.9],
        ['caching', 0.95],
      ]);
    });

    it('leaves what other decisions taught meanwhile', async () => {
      await store(a, b);
      await put(await idOf(a.url), 'Liked');
      await put(await idOf(b.url), 'Liked');
      await put(await idOf(a.url), 'Awaiting');
      expect(await weights()).to.deep.equal([
        ['Ann', 0.2],
        ['Bob', 0.2],
        ['caching', 0.1],
        ['elsewhere', 0.1],
      ]);
    });
  });

  it('an unchanged status teaches nothing a second time', async () => {
    await store(a);
    const id = await idOf(a.url);
    await put(id, 'Liked');
    const before = await weights();
    expect((await put(id, 'Liked')).status).to.equal(200);
    expect(await weights()).to.deep.equal(before);
  });

  it('keeps what was learned between -1 and 1', async () => {
    await store(a);
    const id = await idOf(a.url);
    for (const [status, most] of [
      ['Liked', 1],
      ['Discarded', -1],
    ] as const) {
      for (let round = 0; round < 24; round++) {
        await put(id, status);
        later(10 * 60_000 + 1);
        await put(id, 'Awaiting');
        later(10 * 60_000 + 1);
      }
      for (const [, weight] of await weights()) expect(weight).to.equal(most);
    }
  });

  it('ends the score of that link alone; those of others stay for an hour', async () => {
    await store(a, b);
    const bBefore = await query('select priority_score as score, scored_at from links where url = $1', [b.url]);
    await put(await idOf(a.url), 'Liked');
    expect(await query('select priority_score as score, scored_at from links where url = $1', [b.url])).to.deep.equal(bBefore);
    clock.now = new Date('2026-03-15T13:00:00Z');
    const [shown] = (await running.get('/api/links/prioritized')).body.data;
    // Half of +1.75, since one of two authors has a liked link; one of its two words at 0.10; an hour older.
    expect(shown).to.include({ url: b.url, priorityScore: 7.33 });
  });

  for (const body of [{ status: 'Wrong' }, { status: 'liked' }, { status: 1 }, { status: null }, {}, [], 'x', null])
    it(`answers 400 for ${JSON.stringify(body)}, before it looks for the link`, async () => {
      await store(a);
      for (const id of [await idOf(a.url), unknownId]) {
        const answer = await running.ask('PUT', `/api/links/${id}/status`, JSON.stringify(body));
        expect(answer.status).to.equal(400);
        expect(answer.body.success).to.equal(false);
      }
      expect(await query('select status from links')).to.deep.equal([{ status: 'Awaiting' }]);
    });

  for (const id of [unknownId, 'x']) it(`answers 404 for ${id}`, async () => expect((await put(id, 'Liked')).status).to.equal(404));

  it('two changes to the same status at once teach once', async () => {
    await store(a);
    const id = await idOf(a.url);
    const answers = await Promise.all(Array.from({ length: 8 }, () => put(id, 'Liked')));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 8 }, () => 200));
    expect(await weights()).to.deep.equal([
      ['Ann', 0.2],
      ['caching', 0.1],
      ['postgres', 0.1],
    ]);
  });

  it('each of several changes at once is answered with the status that it set', async () => {
    await store(a);
    const id = await idOf(a.url);
    const wanted = Array.from({ length: 12 }, (_, index) => linkStatuses[index % linkStatuses.length] ?? 'Awaiting');
    const answers = await Promise.all(wanted.map((status) => put(id, status)));
    expect(answers.map(({ body }) => body.data.status)).to.deep.equal(wanted);
  });

  it('many changes of links with the same authors and words at once all teach, and newsletters come in meanwhile', async () => {
    const links = Array.from({ length: 8 }, (_, index) =>
      link(`https://example.org/${index}`, { title: 'Zebra Caching', authors: [author('Bob'), author('Ann')] }),
    );
    await store(...links);
    await query('update authors set weight = -1');
    const ids = await Promise.all(links.map(({ url }) => idOf(url)));
    const changes = ids.map(async (id) => (await put(id, 'Liked')).status);
    const arrivals = Array.from({ length: 8 }, () => store(...links));
    expect(await Promise.all(changes)).to.deep.equal(ids.map(() => 200));
    await Promise.all(arrivals);
    expect(await weights()).to.deep.equal([
      ['Ann', 0.6],
      ['Bob', 0.6],
      ['caching', 0.8],
      ['zebra', 0.8],
    ]);
  });

  it('changes nothing when learning fails', async () => {
    await store(a);
    await query('alter table keywords add constraint refused check (weight < 0) not valid');
    const { status } = await put(await idOf(a.url), 'Liked');
    await query('alter table keywords drop constraint refused');
    expect(status).to.equal(500);
    expect(await weights()).to.deep.equal([['Ann', 0]]);
    expect(await query('select status, scored_at from links')).to.deep.equal([{ status: 'Awaiting', scored_at: clock.now }]);
  });

  describe('GET /api/links/{id}/score', () => {
    it('explains each factor, its weight and its sample, and adds up to the score', async () => {
      await store(a, b);
      await store(a);
      await put(await idOf(b.url), 'Discarded');
      const id = await idOf(a.url);
      clock.now = new Date('2026-03-18T12:00:00Z');
      const { status, body } = await running.get(`/api/links/${id}/score`);
      expect(status).to.equal(200);
      const [{ id: annId }] = await query(`select id from authors where name = 'Ann'`);
      expect(body).to.deep.equal({
        success: true,
        data: {
          id,
          priorityScore: 4.69,
          base: 5,
          factors: {
            author: {
              value: -1,
              weight: 0.35,
              contribution: -1.75,
              sampleSize: 1,
              authors: [{ id: annId, name: 'Ann', weight: -0.2, value: -1, sampleSize: 1 }],
            },
            keyword: { value: -0.1, weight: 0.25, contribution: -0.125, sampleSize: 1, keywords: [{ keyword: 'caching', weight: -0.1 }] },
            recency: { value: 0.9, weight: 0.2, contribution: 0.9, sampleSize: 1 },
            popularity: { value: 0.666667, weight: 0.2, contribution: 0.666667, sampleSize: 2 },
          },
        },
      });
      const sum = [-1.75, -0.125, 0.9, 0.666667].reduce((total, one) => total + one, body.data.base);
      expect(sum).to.be.closeTo(body.data.priorityScore, 0.005);
    });

    it('counts a decided link for an author whom a later newsletter names, until it waits again', async () => {
      const c = link('https://example.org/c', { title: 'Elsewhere', authors: [author('Bob')] });
      const sampled = async () => (await running.get(`/api/links/${await idOf(c.url)}/score`)).body.data.factors.author;
      await store(a, c);
      await put(await idOf(a.url), 'Liked');
      expect(await sampled()).to.include({ value: 0, sampleSize: 0 });
      await store({ ...a, authors: [author('Bob')] });
      expect(await sampled()).to.include({ value: 1, sampleSize: 1 });
      await put(await idOf(a.url), 'Discarded');
      expect(await sampled()).to.include({ value: -1, sampleSize: 1 });
      await put(await idOf(a.url), 'Awaiting');
      expect(await sampled()).to.include({ value: 0, sampleSize: 0 });
    });

    it('is the score that the link shows from then on', async () => {
      await store(a, b);
      await put(await idOf(b.url), 'Liked');
      const id = await idOf(a.url);
      const explained = (await running.get(`/api/links/${id}/score`)).body.data.priorityScore;
      expect(explained).to.equal(8.21);
      expect((await running.get(`/api/links/${id}`)).body.data.priorityScore).to.equal(explained);
    });

    for (const id of [unknownId, 'x']) it(`answers 404 for ${id}`, async () => expect((await running.get(`/api/links/${id}/score`)).status).to.equal(404));
  });
});
