// The list of pages that have several bookmarks: what is one page, and pages of the list.
import { expect } from 'chai';
import { useService } from './service.ts';

type Group = { count: number; bookmarks: { id: string; title: string; url: string }[] };

describe('GET /api/bookmarks/duplicates', () => {
  const catalogue = useService();
  const get = async (query = '') => {
    const { status, body, text } = await catalogue.get(`/api/bookmarks/duplicates${query}`);
    expect(status, text).to.equal(200);
    return body as { items: Group[]; next: string | null };
  };
  /** All groups by their titles, page after page. */
  async function all(limit: number): Promise<string[]> {
    const groups: string[] = [];
    let after = '';
    for (let page = 0; page < 100; page += 1) {
      const { items, next } = await get(`?limit=${limit}${after}`);
      expect(items.length).to.be.at.most(limit);
      groups.push(...items.map(({ bookmarks }) => bookmarks.map(({ title }) => title).join()));
      if (next === null) return groups;
      after = `&after=${next}`;
    }
    throw new Error('the list has no end');
  }
  const insert = (count: number, page: string) =>
    catalogue.query(`
      insert into bookmarks (id, title, url, url_sha256, description, thumbnail, tags, favorite, date_added)
      select gen_random_uuid(), n::text, 'https://example.org/', ${page}, '', '', '{}', false, timestamptz '2026-01-01' + n * interval '1 second'
      from generate_series(1, ${count}) n`);

  it('answers the bookmarks of each page that has several, the oldest first, and no others', async () => {
    for (const [title, url] of [
      ['a', 'https://example.org/page'],
      ['b', 'HTTPS://Example.org:443/page/?utm_source=mail#part'],
      ['c', 'https://example.org/other'],
      ['d', 'https://nam02.safelinks.protection.outlook.com/?url=https%3A%2F%2Fexample.org%2Fpage&data=x'],
      ['e', 'http://example.org/page'],
    ] as const)
      await catalogue.bookmark({ title, url });
    const { items, next } = await get();
    expect(next).to.equal(null);
    expect(items.map(({ count, bookmarks }) => [count, bookmarks.map(({ title }) => title)])).to.deep.equal([[3, ['a', 'b', 'd']]]);
    expect(items[0]?.bookmarks[0]).to.deep.equal(((await catalogue.get('/api/bookmarks')).body as unknown[])[0]);
    expect(await get('?limit=1')).to.deep.equal({ items, next: null });
  });

  it('answers nothing of an empty catalogue, or of one without duplicates', async () => {
    expect(await get()).to.deep.equal({ items: [], next: null });
    await catalogue.bookmark({ title: 'a', url: 'https://example.org/' });
    expect(await get()).to.deep.equal({ items: [], next: null });
  });

  it('leads through all groups once, whatever the limit', async () => {
    for (let number = 0; number < 12; number += 1)
      for (let copy = 0; copy <= number % 3; copy += 1) await catalogue.bookmark({ title: `${number}`, url: `https://example.org/${number}#${copy}` });
    const whole = await all(50);
    expect(whole.map((titles) => titles.split(',').length).sort()).to.deep.equal([2, 2, 2, 2, 3, 3, 3, 3]);
    for (const limit of [1, 2, 3, 7, 8, 9]) expect(await all(limit), String(limit)).to.deep.equal(whole);
  });

  it('looks at ten thousand bookmarks for an answer, and leads on', async () => {
    await insert(25_000, `sha256(convert_to((n % 20000)::text, 'UTF8'))`);
    const first = await get('?limit=50');
    expect(first.items).to.have.length(50);
    let answers = 0;
    const groups: number[] = [];
    for (let after: string | null = ''; after !== null && answers < 600; answers += 1) {
      const { items, next }: { items: Group[]; next: string | null } = await get(`?limit=50${after === '' ? '' : `&after=${after}`}`);
      groups.push(...items.map(({ count }) => count));
      after = next;
    }
    expect(groups).to.deep.equal(Array<number>(5000).fill(2));
    // None but the last of a span has less than it may have.
    expect(answers).to.be.within(100, 105);
  });

  it('counts a page with more bookmarks than it looks at, and lists the first twenty', async () => {
    await insert(10_050, `sha256('b')`);
    await insert(2, `sha256('a')`);
    const { items, next } = await get();
    expect(items.map(({ count, bookmarks }) => [count, bookmarks.length, bookmarks[0]?.title])).to.deep.equal([[10_050, 20, '1']]);
    expect((await get(`?after=${next}`)).items.map(({ count }) => count)).to.deep.equal([2]);
  });

  it('answers 400 to a cursor that is none, a limit outside of 1 to 50 and another parameter', async () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const [query, member] of [
      ['after=x', 'after'],
      [`after=${encode(['duplicates', 'x'])}`, 'after'],
      [`after=${encode(['bookmarks', '0'.repeat(64)])}`, 'after'],
      ['limit=0', 'limit'],
      ['limit=51', 'limit'],
      ['q=x', 'q'],
    ] as const) {
      const { status, body } = await catalogue.get(`/api/bookmarks/duplicates?${query}`);
      expect([status, Object.keys(Object(body).errors)], query).to.deep.equal([400, [member]]);
    }
  });
});
