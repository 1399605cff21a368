// One decision on many links: what it changes and teaches, all or nothing, beside other decisions.
import { expect } from 'chai';
import { useService } from '../service.ts';
import { author, link, mail, newsletter } from '../store.ts';

const unknownId = '0197c000-0000-7000-8000-000000000000';

describe('POST /api/links/bulk', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now });
  const { query } = running.database;
  beforeEach(() => void (clock.now = new Date('2026-03-15T12:00:00Z')));

  const later = (ms: number) => void (clock.now = new Date(clock.now.getTime() + ms));
  async function store(count: number, title = (index: number) => `Caching ${index}`): Promise<string[]> {
    const links = Array.from({ length: count }, (_, index) => link(`https://example.org/${index}`, { title: title(index), authors: [author('Ann')] }));
    await running.database.newsletters.store(mail(undefined, clock.now), newsletter(links));
    return (await query('select id from links order by url')).map(({ id }) => String(id));
  }
  const bulk = (ids: unknown, status: unknown) => running.ask('POST', '/api/links/bulk', { ids, status });
  const statuses = async () =>
    Object.fromEntries((await query('select status, count(*)::int as n from links group by status')).map(({ status, n }) => [status, n]));
  const weights = async () => [
    ...(await query('select name, weight from authors order by name')).map(({ name, weight }) => [name, weight]),
    ...(await query('select keyword, weight from keywords order by keyword')).map(({ keyword, weight }) => [keyword, weight]),
  ];

  it('sets the status of each, teaches of each, and makes its score stale', async () => {
    const ids = await store(3);
    const { status, body } = await bulk(ids.slice(0, 2), 'Liked');
    expect([status, body]).to.deep.equal([200, { success: true, data: { updated: 2 } }]);
    expect(await statuses()).to.deep.equal({ Liked: 2, Awaiting: 1 });
    expect(await weights()).to.deep.equal([
      ['Ann', 0.4],
      ['caching', 0.2],
    ]);
    expect(await query('select from links where scored_at is null')).to.have.length(2);
  });

  it('teaches as decisions on one link after the other do, up to the limits', async () => {
    const ids = await store(12);
    await bulk(ids, 'Discarded');
    const together = await weights();
    await query('truncate newsletters, newsletter_links, links, link_authors, authors, keywords cascade');
    for (const id of await store(12)) await running.ask('PUT', `/api/links/${id}/status`, { status: 'Discarded' });
    expect(together).to.deep.equal(await weights());
    expect(together).to.deep.equal([
      ['Ann', -1],
      ['caching', -1],
    ]);
  });

  it('a change back within ten minutes takes back what was taught, of all or of one of them', async () => {
    const ids = await store(8);
    const before = await weights();
    await bulk(ids, 'Liked');
    later(10 * 60_000);
    expect((await bulk(ids, 'Awaiting')).body.data.updated).to.equal(8);
    // A word that several decisions have taught keeps a weight, of 0.
    expect((await weights()).filter(([, weight]) => weight !== 0)).to.deep.equal(before.filter(([, weight]) => weight !== 0));
    await bulk(ids.slice(0, 2), 'Liked');
    await running.ask('PUT', `/api/links/${ids[0]}/status`, { status: 'Awaiting' });
    expect(await weights()).to.deep.equal([
      ['Ann', 0.2],
      ['caching', 0.1],
    ]);
  });

  it('takes back only of those that had that status before, and later nothing', async () => {
    const ids = await store(2);
    await running.ask('PUT', `/api/links/${ids[0]}/status`, { status: 'DiscardedAfterReview' });
    await bulk(ids, 'Liked');
    await bulk(ids, 'DiscardedAfterReview');
    // Liked is taken back of the first, which had that status; the second learns the new one.
    expect(await weights()).to.deep.equal([
      ['Ann', 0],
      ['caching', 0],
    ]);
    later(10 * 60_000 + 1);
    await bulk(ids, 'Awaiting');
    expect(await weights()).to.deep.equal([
      ['Ann', 0],
      ['caching', 0],
    ]);
  });

  it('ignores unknown ids, texts that are no ids, repeats, and links that have the status', async () => {
    const [first = '', second = ''] = await store(2);
    await bulk([first], 'Liked');
    const given = [first, second, second, second.toUpperCase(), unknownId, 'x', '\0', ''];
    expect((await bulk(given, 'Liked')).body).to.deep.equal({ success: true, data: { updated: 1 } });
    expect(await weights()).to.deep.equal([
      ['Ann', 0.4],
      ['caching', 0.2],
    ]);
    expect((await bulk([unknownId], 'Liked')).body).to.deep.equal({ success: true, data: { updated: 0 } });
  });

  it('takes 500 ids', async () => {
    const ids = await store(500, (index) => `Title${index} Other${index} Third${index % 7}`);
    expect((await bulk(ids, 'Discarded')).body.data.updated).to.equal(500);
    expect(await statuses()).to.deep.equal({ Discarded: 500 });
    expect(await query(`select from keywords where keyword like 'title%'`)).to.have.length(500);
  });

  for (const [name, body] of Object.entries({
    'no id': { ids: [], status: 'Liked' },
    '501 ids': { ids: Array.from({ length: 501 }, () => unknownId), status: 'Liked' },
    'an id that is no text': { ids: [1], status: 'Liked' },
    'ids that are no list': { ids: unknownId, status: 'Liked' },
    'no ids': { status: 'Liked' },
    'no status': { ids: [unknownId] },
    'a wrong status': { ids: [unknownId], status: 'liked' },
    'no object': [],
  }))
    it(`answers 400 for ${name}, and changes nothing`, async () => {
      await store(1);
      const { status, body: answered } = await running.ask('POST', '/api/links/bulk', JSON.stringify(body));
      expect([status, answered.success, typeof answered.message]).to.deep.equal([400, false, 'string']);
      expect(await statuses()).to.deep.equal({ Awaiting: 1 });
    });

  it('changes nothing when learning of one fails', async () => {
    const ids = await store(3, (index) => `Word${index}`);
    await query(`alter table keywords add constraint refused check (keyword <> 'word2') not valid`);
    const { status } = await bulk(ids, 'Liked');
    await query('alter table keywords drop constraint refused');
    expect(status).to.equal(500);
    expect([await statuses(), await weights()]).to.deep.equal([{ Awaiting: 3 }, [['Ann', 0]]]);
  });

  it('and other decisions at once, in any order, all teach once, and newsletters come in meanwhile', async () => {
    const ids = await store(20, (index) => `Word${index} Word${(index * 7) % 20}x`);
    const shuffled = (by: number) => ids.map((_, at) => ids[(at * 7 + by) % 20] ?? '');
    const single = ids.map((id) => running.ask('PUT', `/api/links/${id}/status`, { status: 'Liked' }));
    const many = [0, 3, 9].map((by) => bulk(shuffled(by), 'Liked'));
    const arrivals = Array.from({ length: 4 }, () => store(20, (index) => `Word${index}`));
    const answers = await Promise.all([...single, ...many]);
    await Promise.all(arrivals);
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
    expect(await statuses()).to.deep.equal({ Liked: 20 });
    expect((await weights())[0]).to.deep.equal(['Ann', 1]);
    for (const [, weight] of (await weights()).slice(1)) expect(weight).to.equal(0.1);
  });
});
