// Lists by cursor: every order, ties, and listings that leave the list between two pages.
import { expect } from 'chai';
import { faults, fill, listing, member, sourceIds, useService } from './service.ts';

describe('GET /api/properties by limit and after', () => {
  const running = useService();
  const get = (query: string) => running.ask('GET', `/api/properties?status=${query.includes('status=') ? '' : 'inbox&'}${query.replace('status=', '')}`);
  let ids: Record<string, string>;

  const names = [...'abcdefghijklm'];
  beforeEach(async () => {
    ids = await fill(
      running,
      names.map((name, index) =>
        listing(name, {
          priceMonthly: 1000 + (index % 3) * 0.5,
          beds: index % 2,
          receivedAt: `2026-11-2${index % 4}T12:00:00.00${index % 2}Z`,
        }),
      ),
    );
  });

  /** The whole list, page after page. */
  async function through(query: string, limit: number, between: (page: number) => Promise<void> = () => Promise.resolve()): Promise<unknown[]> {
    const found: unknown[] = [];
    let after = '';
    for (let page = 0; page < 50; page += 1) {
      const answer = await get(`${query}&limit=${limit}${after}`);
      expect(answer.status, answer.text).to.equal(200);
      const items = sourceIds(answer);
      expect(items.length).to.be.at.most(limit);
      found.push(...items);
      const next = member(answer, 'next');
      if (typeof next !== 'string') return found;
      expect(items).to.have.length(limit);
      expect(next).to.match(/^[\w-]+$/);
      after = `&after=${next}`;
      await between(page);
    }
    throw new Error('the list has no end');
  }

  for (const sortBy of ['receivedAt', 'price', 'beds'])
    for (const sortDir of ['asc', 'desc'])
      for (const limit of [1, 2, 5, 12, 13, 14])
        it(`leads through the list by ${sortBy} ${sortDir}, ${limit} at a time, in the order of its pages`, async () => {
          const query = `sortBy=${sortBy}&sortDir=${sortDir}`;
          expect(await through(query, limit)).to.deep.equal(sourceIds(await get(`${query}&pageSize=100`)));
        });

  for (const sortDir of ['asc', 'desc'])
    it(`leads through the list by approvedAt ${sortDir}, those that were never approved last`, async () => {
      for (const name of ['d', 'b', 'k']) await running.ask('PATCH', `/api/properties/${ids[name]}`, { status: 'approved' });
      // They keep their time when they are recycled, and others have none.
      for (const name of names) await running.ask('PATCH', `/api/properties/${ids[name]}`, { status: 'recycled' });
      const query = `status=recycled&sortBy=approvedAt&sortDir=${sortDir}`;
      const whole = sourceIds(await get(`${query}&pageSize=100`));
      expect(whole.slice(0, 3)).to.deep.equal(sortDir === 'asc' ? ['d', 'b', 'k'] : ['k', 'b', 'd']);
      for (const limit of [1, 2, 3, 4]) expect(await through(query, limit), String(limit)).to.deep.equal(whole);
    });

  it('skips nothing when what was read before has left the list', async () => {
    const query = 'sortBy=price&sortDir=desc';
    const whole = sourceIds(await get(`${query}&pageSize=100`));
    const read: string[] = [];
    const found = await through(query, 3, async () => {
      const page = whole.slice(read.length, read.length + 3).map(String);
      read.push(...page);
      await running.ask('POST', '/api/properties/bulk', { ids: page.map((name) => ids[name]), action: 'recycle' });
    });
    expect(found).to.deep.equal(whole);
  });

  it('keeps the filters, and repeats nothing when a listing comes in at the top', async () => {
    const whole = sourceIds(await get('minBeds=1&pageSize=100'));
    const found = await through('minBeds=1', 2, async (page) => {
      await running.ask('POST', '/api/ingest/properties', [listing(`new${page}`, { beds: 1 })]);
    });
    expect(found).to.deep.equal(whole);
  });

  it('answers the members of a page, with the total unless it is not wanted', async () => {
    expect((await get('limit=5')).body)
      .to.include({ total: 13, page: 1, pageSize: 5 })
      .and.to.have.property('next')
      .that.is.a('string');
    expect((await get('limit=5&total=false')).body).to.not.have.property('total');
    expect((await get('limit=13')).body).to.include({ next: null });
    expect((await get('pageSize=5')).body).to.not.have.property('next');
    const next = String(member(await get('limit=5'), 'next'));
    expect((await get(`after=${next}&pageSize=3`)).body)
      .to.include({ pageSize: 3 })
      .and.to.have.property('next')
      .that.is.a('string');
    expect(sourceIds(await get(`after=${next}&limit=3&page=2`))).to.deep.equal(sourceIds(await get('pageSize=100')).slice(8, 11));
  });

  it('answers 400 to a cursor that is none, of another order, or of another list, and to a limit outside of 1 to 100', async () => {
    const next = String(member(await get('limit=5'), 'next'));
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const id = ids['a'];
    for (const [query, name] of [
      ['after=nonsense', 'after'],
      [`after=${next.slice(0, -4)}`, 'after'],
      [`after=${next}&sortBy=price`, 'after'],
      [`after=${next}&sortDir=asc`, 'after'],
      [`after=${encode(['events', 'receivedAt', 'desc', 1, id])}`, 'after'],
      [`after=${encode(['properties', 'receivedAt', 'desc', 'x', id])}`, 'after'],
      [`after=${encode(['properties', 'receivedAt', 'desc', 1e300, id])}`, 'after'],
      [`after=${encode(['properties', 'receivedAt', 'desc', null, id])}`, 'after'],
      [`after=${encode(['properties', 'receivedAt', 'desc', 1, 'x'])}`, 'after'],
      [`sortBy=beds&after=${encode(['properties', 'beds', 'desc', 2 ** 40, id])}`, 'after'],
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=x', 'limit'],
    ] as const)
      expect(faults(await get(query)), query).to.deep.equal([name]);
    expect((await get(`sortBy=price&after=${encode(['properties', 'price', 'desc', 1e300, id])}`)).status).to.equal(200);
  });
});
